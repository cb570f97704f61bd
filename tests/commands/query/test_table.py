"""Tables of records, how they are encoded, and that how they are stored says nothing of them."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import mipaudit
from tests.fixtures.codes import findings, refused
from tests.fixtures.files import save

CELL = "Xylophone"
ROLES = ("members", "holdout", "synthetic")


def frame(n, seed, **columns):
    rng = np.random.default_rng(seed)
    plain = {"age": rng.integers(18, 90, n), "job": rng.choice(["a", "b", "c"], n)}
    return pd.DataFrame({**plain, **columns})


@pytest.fixture
def tables():
    return {"members": frame(30, 0), "holdout": frame(30, 1), "synthetic": frame(50, 2)}


@pytest.fixture
def stored(tmp_path):
    """Return a function that writes tables, each in its form."""

    def run(tables, forms="frame"):
        given = dict(tables if isinstance(tables, dict) else zip(ROLES, tables, strict=True))
        kinds = forms.split() * (3 if " " not in forms else 1)
        for (role, table), form in zip([*given.items()], kinds, strict=True):
            if form != "frame":
                given[role] = save(table, tmp_path / f"{role}.{form}")
        return given

    return run


@pytest.fixture
def ask(stored, tmp_path):
    """Return a function that asks a query of tables, each in its form."""

    def run(tables, forms="frame", words="nn", **settings):
        output = tmp_path / "scores.csv"
        report = mipaudit.query(words, **stored(tables, forms), output=output, **settings)
        return report, pd.read_csv(output)

    return run


@pytest.fixture
def refuse(stored):
    """Return a function that asks what must be refused, without the words of a cell."""

    def run(code, tables, forms="frame", says="", **settings):
        error = refused(code, mipaudit.query, "nn", **stored(tables, forms), says=says, **settings)
        assert CELL not in str(error)
        return error

    return run


def treated(report):
    return {column.column: column.treated for column in report.columns}


def copied(report):
    return [one.copied for one in report.copies]


def test_distances_are_those_of_the_definition(ask, tables):
    low, high = np.quantile(tables["synthetic"]["age"], [0.05, 0.95])
    scored = pd.concat([tables["members"], tables["holdout"]])
    ages = np.abs(scored["age"].to_numpy()[:, None] - tables["synthetic"]["age"].to_numpy())
    jobs = scored["job"].to_numpy()[:, None] != tables["synthetic"]["job"].to_numpy()
    near = ages / (high - low)
    for wanted, asked in (
        (np.sqrt(near**2 + 2 * jobs), {}),
        ((near + jobs) / 2, {"metric": "gower"}),
        ((ages / 100 + jobs) / 2, {"metric": "gower", "range": {"age": (0, 100)}}),
    ):
        _, found = ask(tables, **asked)
        np.testing.assert_allclose(found["nn"], wanted.min(axis=1))
        assert found["member"].tolist() == [True] * 30 + [False] * 30


@pytest.mark.parametrize("form", ["csv", "parquet", "csv.gz"])
def test_the_form_of_the_tables_does_not_matter(ask, tables, tmp_path, form):
    days = pd.date_range("2024-01-01", periods=50).to_numpy()
    for table in tables.values():
        table["day"], table["left"] = days[: len(table)], table["age"] > 50
        table.loc[3, "job"] = None
    _, expected = ask(tables)
    report, found = ask(tables, form)
    for name, part in (("a", tables["synthetic"].head(20)), ("b", tables["synthetic"].tail(30))):
        save(part, tmp_path / "parts" / f"{name}.parquet")
    parted, same = ask({**tables, "synthetic": tmp_path / "parts"})
    pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(same, expected)
    assert [table.rows for table in parted.tables] == [30, 30, 50]
    kinds = {"age": "number", "job": "category", "day": "date", "left": "category"}
    assert treated(report) == kinds


def test_the_encoding_looks_at_no_member(ask, tables):
    """Others' values do not move a record's score: nothing is fitted on records scored."""
    _, before = ask(tables)
    tables["members"].loc[5:, ["age", "job"]] = 10_000_000, "another"
    report, after = ask(tables)
    untouched = [*range(5), *range(30, 60)]
    assert before["nn"][untouched].tolist() == after["nn"][untouched].tolist()
    assert {column.column: column.unseen for column in report.columns} == {"age": 0, "job": 25}
    assert "unseen_words" in findings(report)


def test_a_missing_cell_is_a_category_and_empty_in_every_form(ask):
    synthetic = pd.DataFrame({"age": [50.0, None, 20.0], "job": ["a", "a", None]})
    members = pd.DataFrame({"age": [None, 50.0], "job": ["a", None]})
    given = (members, members, synthetic)
    report, found = ask(given, range={"age": (0, 100)}, metric="gower")
    # The first is the second row; the second is the third but for 30 years.
    assert found["nn"].tolist() == pytest.approx([0.0, 0.15] * 2)
    assert [column.missing for column in report.columns] == [3, 3]
    assert copied(report) == [1, 1]
    table = pd.DataFrame({"z": ["a", "NA", "b", ""] * 5, "x": [*range(20)]})
    report, _ = ask([table] * 3, "parquet csv csv")
    assert (copied(report), report.columns[0].missing) == ([20, 20], 30)


def test_numbers_can_be_categories_and_a_constant_is_one(ask, tables):
    report, found = ask(tables, categorical=["age"], metric="gower")
    assert treated(report)["age"] == "category"
    assert set(found["nn"]) <= {0.0, 0.5, 1.0}
    tables["synthetic"]["age"] = 40
    report, found = ask(tables, metric="gower")
    assert "constant_column" in findings(report)
    assert set(found["nn"]) <= {0.0, 0.5}


def test_row_labels_and_membership_are_passed_over(ask, tables):
    for table in tables.values():
        table["record_id"] = np.arange(len(table))
    tables["members"] = tables["members"].assign(member=True, diagnosis=1.5)
    report, _ = ask(tables)
    assert dict(report.skipped) == {
        "record_id": "labels the rows",
        "member": "says who is a member",
        "diagnosis": "not released",
    }
    assert treated(report).keys() == {"age", "job"}
    assert treated(ask(tables, columns=["record_id"])[0]).keys() == {"record_id"}


def test_exact_copies_and_shared_records_come_first(ask, tables):
    tables["synthetic"] = pd.concat([tables["synthetic"], tables["members"].head(7)])
    tables["holdout"] = pd.concat([tables["holdout"], tables["members"].tail(2)])
    report, found = ask(tables)
    zero = found["nn"] == 0
    counts = [int(zero[found["member"]].sum()), int(zero[~found["member"]].sum())]
    assert copied(report) == counts
    assert counts[0] >= 7
    assert report.answer.code == "copies_released"
    assert {"exact_copies", "shared_records"} <= findings(report).keys()
    assert "share:1e-6" in findings(report)["exact_copies"]
    # Whoever asks how often records are copied is not told to.
    told_already, _ = ask(tables, words=("nn", "share:1e-6"))
    assert "share:1e-6" not in findings(told_already)["exact_copies"]


def test_no_scaling_and_no_unseen_word_makes_copies(ask):
    small = 1e-30 * np.arange(1, 20)
    synthetic = pd.DataFrame({"x": [*small, *range(1, 41)]})
    members = pd.DataFrame({"x": [*(small * 1.5 + 1e-32), *(np.arange(20) + 0.5)]})
    assert copied(ask((members, members + 0.25, synthetic))[0]) == [0, 0]
    plain = pd.DataFrame({"name": ["a", "b"] * 10, "x": range(20)})
    members, holdout = (plain.assign(name=[f"{w}{at}" for at in range(20)]) for w in "mh")
    for other, shared in ((holdout, False), (members.copy(), True)):
        report, _ = ask((members, other, plain))
        assert ("shared_records" in findings(report)) == shared


@pytest.mark.parametrize(
    ("role", "change", "code", "words"),
    [
        ("members", lambda table: table.drop(columns="job"), "columns_differ", ""),
        ("holdout", lambda table: table.assign(age=np.nan), "all_missing", ""),
        ("members", lambda table: table.assign(age=CELL), "types_differ", ""),
        ("members", lambda table: table.assign(age=np.inf), "infinite_cell", ""),
        ("synthetic", lambda table: table.head(0), "no_rows", ""),
        ("holdout", lambda table: table.add_suffix("_x"), "no_common_columns", ""),
        ("holdout", lambda table: table.assign(age=1e300), "too_far", "cells: 30"),
    ],
)
def test_what_is_wrong_with_the_tables_is_said(refuse, tables, role, change, code, words):
    refuse(code, {**tables, role: change(tables[role])}, says=words)


def test_a_bad_cell_is_told_by_its_row(refuse, tables, stored):
    tables["members"] = tables["members"].astype(object)
    tables["members"].loc[3, "age"] = CELL
    assert "--categorical" in refuse("unparsable", tables, "csv", says="5").hint
    paths = stored(tables, "csv")
    refuse("same_file", {**paths, "members": paths["synthetic"]})


def test_a_range_given_holds_any_number(ask, tables):
    tables["holdout"]["age"] = 1e300
    assert ask(tables, range={"age": (0, 1e300)})[0].copies


def test_too_little_memory_is_said_before_anything_is_read(refuse, tables):
    tables["synthetic"] = pd.concat([tables["synthetic"]] * 8000)
    refuse("too_little_memory", tables, memory="16M")


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"columns": ["job"], "ignore": ["job"]}, "two_roles"),
        ({"columns": ["jobb"]}, "unknown_column"),
        ({"ignore": ["jobb"]}, "unknown_column"),
        ({"ignore": ["job", "age"]}, "no_common_columns"),
        ({"categorical": ["x"]}, "unknown_column"),
        ({"range": {"job": (0, 1)}}, "not_a_number"),
        ({"range": {"age": (0, 1)}, "categorical": ["age"]}, "two_roles"),
        ({"metric": "cosine"}, "metric"),
        ({"scale": "z"}, "scale"),
        ({"encode_on": "members"}, "encode_on"),
        ({"encode_on": "reference"}, "needs_reference"),
        ({"seed": -1}, "seed"),
    ],
)
def test_settings_that_cannot_be(refuse, tables, settings, code):
    refuse(code, tables, **settings)


def test_nanoseconds_are_days_and_words_among_days_are_refused(ask, refuse, tables):
    for seed, table in enumerate(tables.values()):
        ticks = np.random.default_rng(seed).integers(0, 10**18, len(table))
        table["at"] = pd.to_datetime(ticks).where(ticks % 7 > 0)
    report, found = ask(tables)
    assert treated(report)["at"] == "date"
    assert np.isfinite(found["nn"]).all()
    tables = {role: table.assign(at="2024-02-29") for role, table in tables.items()}
    tables["members"].loc[3, "at"] = CELL
    refuse("not_a_date", tables)
    assert ask(tables, categorical=["at"])[0].copies


def test_days_with_times_and_zones_are_numbers(ask):
    given = [
        pd.DataFrame({"at": words})
        for words in (
            ("2024-01-01T12:00:00Z", "2024-01-02"),
            ("2024-01-01 13:00+01:00", "2024-01-04"),
            ("2024-01-01T12:00", "2024-01-11"),
        )
    ]
    report, found = ask(given, scale="range")
    assert treated(report) == {"at": "date"}
    assert found["nn"].tolist() == pytest.approx([0, 0.5 / 9.5, 0, 2.5 / 9.5])


# --- how a table is stored


@pytest.mark.parametrize("category", [False, True])
@pytest.mark.parametrize(
    "forms", ["frame", "parquet csv parquet", "csv parquet csv", "parquet csv csv"]
)
def test_single_precision_tells_no_class(ask, forms, category):
    # Text is written in few digits.
    single = not forms.startswith("csv")
    some = [0.1, 0.123456789 if single else 0.2, 3.0, 7.25]
    members, holdout, synthetic = (
        pd.DataFrame({"x": part}) for part in np.random.default_rng(0).choice(some, (3, 100))
    )
    if forms != "parquet csv csv":
        synthetic = synthetic.astype("float32")
    given = (members.astype("float32"), holdout, synthetic)
    report, scores = ask(given, forms, categorical=["x"] if category else [])
    assert copied(report) == [100, 100]
    assert (scores["nn"] == 0).all()
    assert (report.columns[0].unseen, report.columns[0].rounded) == (0, single)
    assert ("rounded_numbers" in findings(report)) == single


def test_equal_precision_is_left_alone(ask):
    tables = [pd.DataFrame({"x": np.arange(30, dtype="float32") / 7}) for _ in range(3)]
    assert not ask(tables)[0].columns[0].rounded


@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_numbers_of_too_many_digits_are_not_taken_for_copies(ask, refuse, form):
    synthetic = pd.DataFrame({"account": 2**60 + 3 * np.arange(40)})
    given = (synthetic + 1, synthetic + 2, synthetic)
    error = refuse("too_many_digits", given, form)
    assert str(2**60)[:6] not in str(error)
    report, _ = ask((synthetic + 1, synthetic, synthetic), form, categorical=["account"])
    assert copied(report) == [0, 40]


def test_whole_numbers_beyond_every_integer_are_refused_as_well(ask, refuse):
    synthetic = pd.DataFrame({"account": [str(10**30 + at) for at in range(40)]})
    refuse("too_many_digits", [synthetic] * 3, "csv")
    tables = (synthetic[:20], synthetic[20:], synthetic[10:30])
    assert copied(ask(tables, "csv", categorical=["account"])[0]) == [10, 10]


@pytest.mark.parametrize("forms", ["parquet csv csv", "csv csv csv", "parquet parquet csv"])
@pytest.mark.parametrize(
    ("members", "holdout"),
    [
        ([1.0, 2.0, 3.0, 2.0], ["1", "2.0", "3", "E11"]),
        ([1, 2, 3, 2], ["01", "2", "3", "1"]),
        ([True, False, False, True], ["true", "FALSE", "False", "True"]),
        (pd.date_range("2024-01-01", periods=4), [f"2024-01-0{day}" for day in range(1, 5)]),
    ],
    ids=["numbers", "padded", "truths", "days"],
)
def test_a_category_is_the_same_however_it_is_written(ask, forms, members, holdout):
    tables = [pd.DataFrame({"z": words * 5}) for words in (list(members), holdout, list(members))]
    report, _ = ask(tables, forms, categorical=["z"])
    # Where no table holds numbers, 01 and 1 are different codes.
    apart = forms == "csv csv csv" and "01" in holdout
    unseen = 5 * ("E11" in holdout or apart)
    assert copied(report) == [20, 20 - unseen]
    assert (report.columns[0].unseen, report.columns[0].unseen_members) == (unseen, 0)


def test_codes_that_begin_as_numbers_can_be_read(ask):
    table = pd.DataFrame({"z": [*map(str, range(60)), "E11", "007"]})
    report, _ = ask([table] * 3, "csv", categorical=["z"])
    assert (copied(report), report.columns[0].levels) == ([62, 62], 62)


def test_a_reference_that_holds_scored_records_or_too_few_is_told(ask):
    rng = np.random.default_rng(0)
    plain = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    tables, reference = (plain[:30], plain[30:60], plain[60:]), plain[40:60].copy()
    report, _ = ask(tables, words=["density"], reference=reference)
    assert "0 members and 20 holdout records" in findings(report)["reference_overlap"]
    assert "reference_overlap" not in findings(ask(tables, reference=reference)[0])
    report, scores = ask(tables, words=["density"], reference=plain[:1] + 9)
    assert (scores["density"] == 0).all()
    assert "constant_query" in findings(report)


# --- columns that go along to the score file


@pytest.fixture
def kept_tables():
    words = ['a,"b', None, "zoë", "x"]
    return {
        "members": frame(4, 0, person=[7, 7, 9, 10], site=words, code=["01", "2", "3", "4"]),
        "holdout": frame(3, 1, person=[12, 12, 13], site=words[:3], code=["5", "6", "7"]),
        "synthetic": frame(50, 2),
    }


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("forms", ["frame", "csv", "parquet"])
def test_keys_people_and_groups_go_along(ask, stored, kept_tables, tmp_path, form, forms):
    path, names = tmp_path / f"kept.{form}", ["person", "site", "code"]
    report = mipaudit.query("nn", **stored(kept_tables, forms), output=path, keep=names)
    plain, scores = ask(kept_tables)
    read = pd.read_parquet(path) if form == "parquet" else pd.read_csv(path, dtype={"code": str})
    assert list(read) == ["member", *names, "nn", "exact_copy"]
    assert read["person"].tolist() == [7, 7, 9, 10, 12, 12, 13]
    assert read["site"].fillna("").tolist()[:4] == ['a,"b', "", "zoë", "x"]
    assert read["code"].tolist() == ["01", "2", "3", "4", "5", "6", "7"]
    assert list(scores) == ["member", "nn", "exact_copy"]
    np.testing.assert_allclose(read["nn"], scores["nn"], rtol=1e-15)
    assert report.following.endswith("--score-col nn")
    assert "--score-col" not in plain.following


def test_a_person_of_several_rows_is_one_unit(ask, tmp_path):
    sides = [frame(200, s, person=[f"{s}-{at // 4}" for at in range(200)]) for s in (0, 1)]
    ask((*sides, frame(90, 2)), keep=["person"])
    design = mipaudit.estimate(tmp_path / "scores.csv", unit_col="person").design
    assert (design.n_members, design.n_holdout, design.score_columns) == (50, 50, ("nn",))


def test_days_and_whole_floats_are_labels(ask, kept_tables):
    for role in ROLES[:2]:
        count = len(kept_tables[role])
        kept_tables[role]["day"] = [dt.date(2024, 2, 29)] * count
        kept_tables[role]["site"] = [np.nan, *range(count - 1)]
    _, read = ask(kept_tables, keep=["day", "site"])
    assert read["day"].tolist() == ["2024-02-29"] * 7
    assert read["site"].tolist()[1:4] == [0, 1, 2]
    assert np.isnan(read["site"][0])


@pytest.mark.parametrize(
    ("keep", "code", "words"),
    [
        ("nn", "keep", ""),
        ("loss", "keep", ""),
        ("split", "keep", ""),
        ("prson", "unknown_column", ""),
        ("site", "unknown_column", "holdout"),
        ("weight", "not_a_label", ""),
    ],
)
def test_what_cannot_be_kept(refuse, kept_tables, tmp_path, keep, code, words):
    for role in ROLES[:2]:
        kept_tables[role] = kept_tables[role].assign(nn=1, loss=1, split="x", weight=0.123456)
    del kept_tables["holdout"]["site"]
    error = refuse(code, kept_tables, output=tmp_path / "s.csv", keep=keep, says=words)
    assert "0.123456" not in str(error)
    assert list(tmp_path.iterdir()) == []


def test_parts_may_store_a_label_in_different_ways(ask, kept_tables, tmp_path):
    for part, site in (("a", [1, 2, 3, 4]), ("b", ["x", "2", "y", None])):
        save(kept_tables["members"].assign(site=site), tmp_path / "parts" / f"{part}.parquet")
    _, read = ask({**kept_tables, "members": tmp_path / "parts"}, keep=["site"])
    assert read["site"].fillna("").tolist()[:8] == ["1", "2", "3", "4", "x", "2", "y", ""]


@pytest.mark.parametrize("cell", ["50{}.25", "{}e3", "1{:021d}", "{},5", "-inf"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_numbers_of_csv_files_do_not_become_scores(refuse, kept_tables, tmp_path, cell, form):
    for role in ROLES[:2]:
        cells = [cell.format(row + 1) for row in range(len(kept_tables[role]))]
        kept_tables[role] = kept_tables[role].assign(income=cells)
    output = tmp_path / f"s.{form}"
    refuse("not_a_label", kept_tables, "csv csv frame", output=output, keep=["income"])
    assert not output.exists()


@pytest.mark.parametrize("cells", [("0417", "8001"), ("+1", "2"), ("true", "false"), ("1.5", "x")])
def test_what_no_reader_takes_for_scores_is_kept_as_it_is(ask, tmp_path, cells):
    sides = [frame(60, seed, site=[*cells] * 30) for seed in (0, 1)]
    ask((*sides, frame(90, 2)), "csv", keep=["site"])
    kept = pd.read_csv(tmp_path / "scores.csv", dtype=str)["site"]
    assert kept.tolist() == [*cells] * 60
    assert mipaudit.estimate(tmp_path / "scores.csv").design.score_columns == ("nn",)
