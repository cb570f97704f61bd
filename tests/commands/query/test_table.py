"""Tables of records, and how they are encoded."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told

CELL = "Xylophone"


def frame(n, seed, **columns):
    rng = np.random.default_rng(seed)
    plain = {"age": rng.integers(18, 90, n), "job": rng.choice(["a", "b", "c"], n)}
    return pd.DataFrame({**plain, **columns})


@pytest.fixture
def tables():
    return {"members": frame(30, 0), "holdout": frame(30, 1), "synthetic": frame(50, 2)}


def nearest(tmp_path, tables, words="nn", **settings):
    report = mipaudit.query(words, **tables, output=tmp_path / "s.csv", **settings)
    return report, pd.read_csv(tmp_path / "s.csv")


def refused(tables, **settings):
    with pytest.raises((InputError, UsageError)) as caught:
        mipaudit.query("nn", **tables, **settings)
    assert CELL not in str(caught.value)
    return caught.value


def treated(report):
    return {column.column: column.treated for column in report.columns}


def test_distances_are_those_of_the_definition(tmp_path, tables):
    low, high = np.quantile(tables["synthetic"]["age"], [0.05, 0.95])
    scored = pd.concat([tables["members"], tables["holdout"]])
    ages = scored["age"].to_numpy()[:, None] - tables["synthetic"]["age"].to_numpy()
    jobs = scored["job"].to_numpy()[:, None] != tables["synthetic"]["job"].to_numpy()

    _, euclidean = nearest(tmp_path, tables)
    _, gower = nearest(tmp_path, tables, metric="gower")
    _, given = nearest(tmp_path, tables, metric="gower", range={"age": (0, 100)})

    apart = np.abs(ages) / (high - low)
    np.testing.assert_allclose(euclidean["nn"], np.sqrt(apart**2 + 2 * jobs).min(axis=1))
    np.testing.assert_allclose(gower["nn"], ((apart + jobs) / 2).min(axis=1))
    np.testing.assert_allclose(given["nn"], ((np.abs(ages) / 100 + jobs) / 2).min(axis=1))
    assert euclidean["member"].tolist() == [True] * 30 + [False] * 30


@pytest.mark.parametrize("form", ["csv", "parquet", "csv.gz", "frame"])
def test_the_form_of_the_tables_does_not_matter(tmp_path, tables, form):
    days = pd.date_range("2024-01-01", periods=50).to_numpy()
    for table in tables.values():
        table["day"] = days[: len(table)]
        table["left"] = table["age"] > 50
        table.loc[3, "job"] = None
    _, expected = nearest(tmp_path, tables)
    stored = dict(tables)
    for name, table in tables.items():
        path = tmp_path / f"{name}.{form}"
        if form == "parquet":
            table.to_parquet(path)
        elif form != "frame":
            table.to_csv(path, index=False)
        stored[name] = table if form == "frame" else path

    report, found = nearest(tmp_path, stored)

    pd.testing.assert_frame_equal(found, expected)
    assert treated(report) == {
        "age": "number",
        "job": "category",
        "day": "date",
        "left": "category",
    }


def test_directories_of_parts_are_one_table(tmp_path, tables):
    _, expected = nearest(tmp_path, tables)
    folder = tmp_path / "parts"
    folder.mkdir()
    tables["synthetic"].head(20).to_parquet(folder / "a.parquet")
    tables["synthetic"].tail(30).to_parquet(folder / "b.parquet")

    report, found = nearest(tmp_path, {**tables, "synthetic": folder})

    pd.testing.assert_frame_equal(found, expected)
    assert [table.rows for table in report.tables] == [30, 30, 50]


def test_the_encoding_looks_at_no_member(tmp_path, tables):
    """Others' values do not move a record's score: nothing is fitted on records scored."""
    _, before = nearest(tmp_path, tables)
    members = tables["members"].copy()
    members.loc[5:, "age"] = 10_000_000
    members.loc[5:, "job"] = "another"

    report, after = nearest(tmp_path, {**tables, "members": members})

    untouched = [*range(5), *range(30, 60)]
    assert before["nn"][untouched].tolist() == after["nn"][untouched].tolist()
    assert {column.column: column.unseen for column in report.columns} == {"age": 0, "job": 25}
    assert "unseen_words" in {finding.code for finding in report.findings}


def test_a_missing_cell_is_a_category(tmp_path, tables):
    synthetic = pd.DataFrame({"age": [50.0, None, 20.0], "job": ["a", "a", None]})
    members = pd.DataFrame({"age": [None, 50.0], "job": ["a", None]})
    given = {"members": members, "holdout": members, "synthetic": synthetic}

    report, found = nearest(tmp_path, given, range={"age": (0, 100)}, metric="gower")

    # The first is the second row; the second is the third but for 30 years.
    assert found["nn"].tolist() == pytest.approx([0.0, 0.15] * 2)
    assert [column.missing for column in report.columns] == [3, 3]
    assert [one.copied for one in report.copies] == [1, 1]


def test_numbers_can_be_categories(tmp_path, tables):
    report, found = nearest(tmp_path, tables, categorical=["age"], metric="gower")

    assert treated(report)["age"] == "category"
    assert set(found["nn"]) <= {0.0, 0.5, 1.0}


def test_row_labels_and_membership_are_passed_over(tmp_path, tables):
    for table in tables.values():
        table["record_id"] = np.arange(len(table))
    tables["members"]["member"] = True
    tables["members"]["diagnosis"] = 1.5

    report, _ = nearest(tmp_path, tables)

    assert dict(report.skipped) == {
        "record_id": "labels the rows",
        "member": "says who is a member",
        "diagnosis": "not released",
    }
    assert treated(report).keys() == {"age", "job"}
    named, _ = nearest(tmp_path, tables, columns=["record_id"])
    assert treated(named).keys() == {"record_id"}


def test_a_constant_column_is_equal_or_not(tmp_path, tables):
    tables["synthetic"]["age"] = 40

    report, found = nearest(tmp_path, tables, metric="gower")

    assert "constant_column" in {finding.code for finding in report.findings}
    assert set(found["nn"]) <= {0.0, 0.5}


def test_exact_copies_and_shared_records_come_first(tmp_path, tables):
    tables["synthetic"] = pd.concat([tables["synthetic"], tables["members"].head(7)])
    tables["holdout"] = pd.concat([tables["holdout"], tables["members"].tail(2)])

    report, found = nearest(tmp_path, tables)

    zero = found["nn"] == 0
    counts = [int(zero[found["member"]].sum()), int(zero[~found["member"]].sum())]
    assert [one.copied for one in report.copies] == counts
    assert counts[0] >= 7
    assert report.answer.code == "copies_released"
    said = {finding.code: told(finding) for finding in report.findings}
    assert {"exact_copies", "shared_records"} <= said.keys()
    assert "share:1e-6" in said["exact_copies"]


def test_who_asks_how_often_records_are_copied_is_not_told_to(tmp_path, tables):
    tables["synthetic"] = pd.concat([tables["synthetic"], tables["members"].head(7)])

    report, _ = nearest(tmp_path, tables, ("nn", "share:1e-6"))

    said = {finding.code: told(finding) for finding in report.findings}
    assert "share:1e-6" not in said["exact_copies"]


def change(role, **columns):
    def apply(tables):
        tables[role] = tables[role].assign(**columns)

    return apply


def drop(role, name):
    def apply(tables):
        tables[role] = tables[role].drop(columns=name)

    return apply


FAULTS = {
    "columns_differ": drop("members", "job"),
    "all_missing": change("holdout", age=np.nan),
    "types_differ": change("members", age=CELL),
    "infinite_cell": change("members", age=np.inf),
    "no_rows": lambda tables: tables.update(synthetic=tables["synthetic"].head(0)),
    "no_common_columns": lambda tables: tables.update(
        members=tables["members"].add_suffix("_x"), holdout=tables["holdout"].add_suffix("_x")
    ),
}


@pytest.mark.parametrize("code", FAULTS)
def test_what_is_wrong_with_the_tables_is_said(tables, code):
    FAULTS[code](tables)

    assert refused(tables).code == code


def test_a_bad_cell_is_told_by_its_row(tmp_path, tables):
    paths = {}
    for name, table in tables.items():
        paths[name] = tmp_path / f"{name}.csv"
        table.to_csv(paths[name], index=False)
    lines = paths["members"].read_text().splitlines()
    lines[4] = f"{CELL},a"
    paths["members"].write_text("\n".join(lines) + "\n")

    error = refused(paths)

    assert error.code == "unparsable"
    assert "5" in str(error)


def test_a_number_beyond_all_measure_is_refused(tables):
    tables["holdout"]["age"] = 1e300

    error = refused(tables)

    assert error.code == "too_far"
    assert "30 cells" in str(error)
    assert mipaudit.query("nn", **tables, range={"age": (0, 1e300)}).copies


def test_nanoseconds_are_days_too(tmp_path, tables):
    for seed, table in enumerate(tables.values()):
        ticks = np.random.default_rng(seed).integers(0, 10**18, len(table))
        table["at"] = pd.to_datetime(ticks).where(ticks % 7 > 0)

    report, found = nearest(tmp_path, tables)

    assert treated(report)["at"] == "date"
    assert np.isfinite(found["nn"]).all()


def test_words_among_days_are_refused(tables):
    for table in tables.values():
        table["day"] = "2024-02-29"
    tables["members"].loc[3, "day"] = CELL

    assert refused(tables).code == "not_a_date"
    assert mipaudit.query("nn", **tables, categorical=["day"]).copies


def test_days_with_times_and_zones_are_numbers(tmp_path):
    def days(*words):
        return pd.DataFrame({"at": words})

    given = {
        "members": days("2024-01-01T12:00:00Z", "2024-01-02"),
        "holdout": days("2024-01-01 13:00+01:00", "2024-01-04"),
        "synthetic": days("2024-01-01T12:00", "2024-01-11"),
    }

    report, found = nearest(tmp_path, given, scale="range")

    assert treated(report) == {"at": "date"}
    assert found["nn"].tolist() == pytest.approx([0, 0.5 / 9.5, 0, 2.5 / 9.5])


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"columns": ["job"], "ignore": ["job"]}, "two_roles"),
        ({"columns": ["jobb"]}, "unknown_column"),
        ({"ignore": ["jobb"]}, "unknown_column"),
        ({"ignore": ["job", "age"]}, "no_common_columns"),
        ({"categorical": ["x"]}, "unknown_column"),
        ({"range": {"job": (0, 1)}}, "not_a_number"),
        ({"range": {"age": (1, 1)}}, "range"),
        ({"range": {"age": (0, 1)}, "categorical": ["age"]}, "two_roles"),
        ({"metric": "cosine"}, "metric"),
        ({"scale": "z"}, "scale"),
        ({"encode_on": "members"}, "encode_on"),
        ({"encode_on": "reference"}, "needs_reference"),
        ({"memory": "lots"}, "memory"),
        ({"memory": "1M"}, "memory"),
        ({"seed": -1}, "seed"),
    ],
)
def test_settings_that_cannot_be(tables, settings, code):
    assert refused(tables, **settings).code == code


def test_too_little_memory_is_said_before_anything_is_read(tables):
    tables["synthetic"] = pd.concat([tables["synthetic"]] * 8000)

    assert refused(tables, memory="16M").code == "too_little_memory"


def test_a_table_given_twice_is_refused(tmp_path, tables):
    tables["members"].to_csv(tmp_path / "m.csv", index=False)
    path = tmp_path / "m.csv"

    assert refused({**tables, "members": path, "synthetic": path}).code == "same_file"
