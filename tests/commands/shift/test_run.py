"""What tells records of the two classes apart: limits, columns, copies, and what is pointed out."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.shift.report import differing
from tests.fixtures.codes import findings, refused

N = 400
FEATURES = "age,ward,smoker"


def table(seed, rows=N, *, age=0.0, gaps=0.1):
    rng = np.random.default_rng(seed)
    smoker = pd.array(rng.random(rows) < 0.3, dtype="boolean")
    smoker[rng.random(rows) < gaps] = pd.NA
    return pd.DataFrame(
        {
            "patient": [f"{seed}-{row}" for row in range(rows)],
            "age": np.round(rng.normal(50 + age, 10, rows), 1),
            "ward": rng.choice(list("abcd"), rows),
            "smoker": smoker,
            "site": "one",
        }
    )


def both(**columns):
    """Return tables of both classes, with these columns of both, a row for each class."""
    found = [table(1), table(2)]
    for name, values in columns.items():
        for one, value in zip(found, values, strict=True):
            one[name] = value
    return found


@pytest.fixture(scope="module")
def apart():
    return mipaudit.shift(table(1, age=8), table(2))


def named_in(report):
    return {(one.column, one.aspect) for one in differing(report)}


def test_alike():
    alike = mipaudit.shift(table(1), table(2))
    assert (alike.estimates[0].lower, named_in(alike)) == (0, set())
    assert alike.answer.code == "records_not_told_apart"
    assert {one.column for one in alike.design.features} == {"age", "ward", "smoker"}
    skipped = {one.column: one.why.code for one in alike.design.skipped}
    assert skipped == {"patient": "another_in_every_row", "site": "same_in_all_rows"}
    assert alike.verdict.status == "no_policy"


def test_apart(apart):
    truth = 0.3108  # of two normal laws 0.8 s.d. apart
    assert 0 < apart.estimates[0].lower < truth
    assert all(one.upper > apart.estimates[0].lower for one in apart.estimates[1:])
    assert named_in(apart) == {("age", "numbers")}
    assert apart.columns[0].effect < -0.2  # members are older: fewer are up to one age
    assert apart.answer.code == "records_told_apart"
    # No value of a record is in the report.
    kept = json.loads(mipaudit.to_json(apart))
    words = json.dumps({name: kept[name] for name in kept.keys() - {"provenance", "design"}})
    assert "1-17" not in words
    assert not any(str(age) in words for age in table(1, age=8)["age"] if abs(age) >= 20)


def test_missing_cells_and_categories_are_named():
    two_words = ["x", "y"] * (N // 2)
    members = table(1, gaps=0.4).assign(note=two_words)
    members.loc[: N // 3, "ward"] = "a"
    found = named_in(mipaudit.shift(members, table(2).assign(note=two_words)))
    assert found == {("smoker", "missing"), ("ward", "categories")}


def test_the_same_for_any_number_of_threads_and_form_of_a_table(tmp_path):
    members, holdout = table(1, age=3), table(2)
    members.to_parquet(tmp_path / "m.parquet", row_group_size=90)
    holdout.to_parquet(tmp_path / "h.parquet", row_group_size=70)
    one = mipaudit.shift(members, holdout, jobs=1)
    many = mipaudit.shift(tmp_path / "m.parquet", str(tmp_path / "h.parquet"), jobs=4)
    assert replace(one, provenance=many.provenance) == many
    # A file and a frame are compared as two files are.
    frames = np.random.default_rng(0).normal(size=(2, 200, 1))
    frames = [pd.DataFrame(one, columns=["a"]) for one in frames]
    paths = [tmp_path / "in.csv", tmp_path / "out.csv"]
    for frame, path in zip(frames, paths, strict=True):
        frame.to_csv(path, index=False)
    mixed, files = (mipaudit.shift(paths[0], other) for other in (frames[1], paths[1]))
    assert mixed.estimates == files.estimates


def test_a_person_counts_once():
    members, holdout = table(1), table(2)
    holdout.loc[:9, "patient"] = members.loc[:9, "patient"]
    members.loc[20, "patient"] = members.loc[21, "patient"]
    report = mipaudit.shift(members, holdout, id_col="patient")
    assert (report.design.n_members, report.design.n_holdout) == (N - 1, N)
    assert report.copies.persons == 10
    assert {"shared_persons", "rows_of_a_person"} <= findings(report).keys()


def test_copies_across_the_classes_are_found():
    members, holdout = table(1), table(2)
    holdout.loc[:6, :] = members.loc[:6, :].to_numpy()
    holdout.loc[5:6, "age"] += 31.7
    report = mipaudit.shift(members, holdout, id_col="patient")
    assert report.copies.exact >= 5
    assert report.copies.but_one >= 2
    assert "exact_copies" in findings(report)


@pytest.mark.parametrize(("rows", "others"), [(1, 1), (2, 3), (1, 300), (8, 5)])
@pytest.mark.parametrize("strict", [False, True])
def test_tiny_tables(rows, others, strict):
    given = table(1, rows, age=50), table(2, others)
    report = mipaudit.shift(*given, columns=FEATURES, strict=strict)
    assert report.estimates[0].lower == 0
    mipaudit.to_json(report)
    assert "small_class" in findings(report)


def test_two_rows_that_both_train_leave_nothing_to_judge():
    """Seeds decide which rows train; where all do, every limit is the trivial one."""
    sizes, asked = set(), {"columns": FEATURES, "strict": True}
    for seed in range(60):
        report = mipaudit.shift(table(1, 1, age=50), table(2, 1), seed=seed, **asked)
        sizes.add(len(report.estimates))
        assert {row.upper for row in report.estimates} <= {1, None}
    assert len(sizes) > 1


def test_infinite_columns():
    report = mipaudit.shift(*both(far=(np.inf, -np.inf)))
    assert report.estimates[0].lower > 0.9


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"max_blind": 0}, "max_blind"),
        ({"confidence": 1}, "confidence"),
        ({"seed": -1}, "seed"),
        ({"columns": ["site"]}, "constant_columns"),
    ],
)
def test_what_cannot_be_asked(settings, code):
    refused(code, mipaudit.shift, table(1), table(2), **settings)


def test_no_false_alarm_and_no_limit_above_the_truth():
    """Short: the long run's figures are in docs/reference/validation.md."""
    times, alarms, above = 40, 0, 0
    for seed in range(times):
        holdout = table(2 * seed + 1, 60)
        null, found = (
            mipaudit.shift(table(2 * seed, 100, age=age), holdout, seed=seed) for age in (0, 8)
        )
        alarms += null.estimates[0].lower > 0
        above += found.estimates[0].lower > 0.3108
    # 2.5% and three standard errors of the count.
    assert max(alarms, above) <= 0.025 * times + 3 * np.sqrt(times * 0.025 * 0.975)


def test_a_report_of_shift_is_verified(tmp_path):
    paths = [str(tmp_path / name) for name in ("m.parquet", "h.parquet")]
    for frame, path in zip((table(1, age=5), table(2)), paths, strict=True):
        frame.to_parquet(path)
    report = mipaudit.shift(*paths, ignore="ward,smoker", max_blind=0.9)
    data = mipaudit.to_json(report)
    assert mipaudit.verify(data, members=paths[0], holdout=paths[1]).agrees
    assert not mipaudit.verify(data, members=paths[1], holdout=paths[0]).agrees
    assert mipaudit.from_json(data) == report


# --- what a newcomer should know


def test_a_column_that_tells_all_apart_is_named_and_can_be_left_out():
    rng = np.random.default_rng(3)
    # With gaps: numbers without any only count the rows, in whatever order.
    records = [2 * rng.permutation(N) + 2 * N * side for side in (0, 1)]
    sites = [rng.choice(list(names), N) for names in ("abcdefgh", "stuvwxyz")]
    given = both(record=records, site=sites)
    report = mipaudit.shift(*given)
    assert report.estimates[0].lower > 0.9
    for words in ("'site', 'record'", "`ignore` site,record"):
        assert words in findings(report)["telling_column"]
    left = mipaudit.shift(*given, ignore="record,site")
    assert left.estimates[0].lower == 0
    assert "telling_column" not in findings(left)


@pytest.mark.parametrize(("first", "second"), [(1, N + 1), (5_000, 17), (1, 1), (1, N)])
@pytest.mark.parametrize("form", ["frame", "csv"])
def test_record_numbers_in_ranges_of_their_own_are_a_finding(tmp_path, first, second, form):
    rng = np.random.default_rng(8)
    given = both(record=[start + rng.permutation(N) for start in (first, second)])
    if form == "csv":
        for at, frame in enumerate(given):
            frame.to_csv(tmp_path / f"{at}.csv", index=False)
        given = [str(tmp_path / f"{at}.csv") for at in range(2)]
    report = mipaudit.shift(*given)
    assert "record" not in {one.column for one in report.design.features}
    found = findings(report)
    assert ("parted_numbers" in found) == (second not in {first, N})
    assert "'record'" in found.get("parted_numbers", "'record'")
    # A name is told, and no number.
    assert not {str(first), str(second)} & set(found.get("parted_numbers", "").split())


@pytest.mark.parametrize("rows", [3, 20, 40])
def test_chance_in_few_rows_is_no_column_that_tells_all(rows):
    for seed in range(0, 20, 2):
        report = mipaudit.shift(table(seed, rows), table(seed + 1, rows), columns="age,ward")
        assert "telling_column" not in findings(report)


def test_columns_of_many_texts_are_named():
    codes = np.random.default_rng(4).integers(0, 150, (2, N))
    report = mipaudit.shift(*both(postcode=[[f"p{one}" for one in some] for some in codes]))
    assert "'postcode'" in findings(report)["many_texts"]
    assert "many_texts" not in findings(mipaudit.shift(table(1), table(2)))


def test_rows_that_repeat_are_named_unless_persons_are_known():
    repeated = [pd.concat([table(seed, N // 4)] * 4) for seed in (3, 4)]
    assert "`id_col`" in findings(mipaudit.shift(*repeated, columns=FEATURES))["repeated_rows"]
    one = mipaudit.shift(*repeated, id_col="patient")
    assert "repeated_rows" not in findings(one)
    assert one.estimates[0].lower == 0


def test_columns_stored_more_coarsely_in_one_class_tell_nothing():
    members, holdout = table(0), table(1)
    coarse = [one.assign(age=one["age"].astype(np.float32)) for one in (members, holdout)]
    report = mipaudit.shift(coarse[0], holdout)
    assert report.estimates == mipaudit.shift(*coarse).estimates
    assert "rounded_numbers" in findings(report)


# --- as it is typed


TYPED = ("shift", "m.csv", "h.csv", "--id-col", "patient", "--ignore", "loss")


@pytest.fixture
def tables(tmp_path):
    for name, older in (("m", 10), ("h", 0)):
        frame = table(len(name) + older, age=older)[["patient", "age", "ward"]]
        frame.assign(loss=frame["age"] / 10).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def test_a_table_is_shown_and_judged(mipaudit, tables):
    done = mipaudit(*TYPED)
    assert (done.returncode, done.stderr) == (0, "")
    assert "told apart without the model" in done.stdout
    assert "  age     a number up to a value" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    for limit, code in (("0.05", 1), ("0.4", 3), ("0.95", 0)):
        assert mipaudit(*TYPED, "--max-blind", limit).returncode == code
        relaxed = mipaudit(*TYPED, "--max-blind", limit, "--exit-zero")
        words = " ".join(relaxed.stdout.split())
        assert relaxed.returncode == 0
        assert "the blind advantage is at " in words
        assert "score 'the records'" not in words


def test_a_report_goes_into_an_audit(mipaudit, tables):
    saved = ("-f", "json", "-q", "-o")
    assert mipaudit(*TYPED, *saved, "shift.json").returncode == 0
    assert (tables / "shift.json.sha256").exists()
    audit = ("estimate", "--members", "m.csv", "--holdout", "h.csv", "--score-col", "loss")
    limit, beside = ("--max-advantage", "0.1"), (*audit, "--blind", "shift.json")
    assert mipaudit(*audit, *limit).returncode == 1
    done = mipaudit(*beside, *limit)
    assert (done.returncode, "records alone" in done.stdout) == (3, True)
    for wrong in ("1", "-0.1", "nan", "much", "0.0001"):
        done = mipaudit(*beside, *limit, "--blind-bound", wrong)
        assert (done.returncode, done.stdout) == (2, "")
    assert mipaudit(*beside, "-o", "shift.json").returncode == 2
    (tables / "mipaudit.toml").write_text("[estimate]\nblind_bound = 0.9\n")
    done = mipaudit(*beside, *limit)
    assert done.returncode == 3
    assert "assuming that nobody who sees only the records" in done.stdout.splitlines()[0]
    (tables / "mipaudit.toml").unlink()
    assert mipaudit(*beside, *saved, "audit.json").returncode == 0
    assert mipaudit("render", "audit.json", *limit).returncode == 3
    given = ("--members", "m.csv", "--holdout", "h.csv")
    assert mipaudit("verify", "audit.json", *given).returncode == 0
    other = pd.read_csv(tables / "h.csv")
    other.assign(age=other["age"] + 1).to_csv(tables / "h.csv", index=False)
    done = mipaudit(*beside, "-f", "json")
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["code"] == "blind_other_records"


@pytest.mark.parametrize(
    "arguments",
    [
        ("m.csv",),
        ("m.csv", "none.csv"),
        ("m.csv", "m.csv"),
        ("m.csv", "h.csv", "--columns", "height"),
        ("m.csv", "h.csv", "--max-blind", "2"),
        ("m.csv", "h.csv", "-o", "m.csv"),
    ],
)
def test_usage(mipaudit, tables, arguments):
    before = (tables / "m.csv").read_bytes()
    done = mipaudit("shift", *arguments)
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (2, "", False)
    assert (tables / "m.csv").read_bytes() == before
