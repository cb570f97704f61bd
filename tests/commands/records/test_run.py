from __future__ import annotations

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import mipaudit
from mipaudit.commands.records.options import RecordTableOptions
from mipaudit.commands.records.report import differences
from mipaudit.errors import InputError, OutputError, UsageError
from mipaudit.report.codec import to_json
from mipaudit.report.messages.told import told
from mipaudit.validation.laws import CORRUPTED


def table_of(n=4_000, shift=1.0, seed=0, **extra):
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    return pa.table({"member": member, "score": rng.normal(size=n) + shift * member, **extra})


def numbers(table, column):
    return table[column].to_numpy(zero_copy_only=False)


def found_codes(report):
    return {finding.code for finding in report.findings}


@pytest.fixture(scope="module")
def simple():
    return mipaudit.record_table(table_of(), top=7)


@pytest.fixture(scope="module")
def frame(simple):
    return simple.table.to_pandas().assign(score=numbers(table_of(), "score"))


def test_a_row_for_each_record_in_order(simple, frame):
    assert simple.table.num_rows == simple.report.rows_written == 4_000
    assert frame.row.tolist() == list(range(4_000))
    assert simple.table["member"].equals(table_of()["member"])
    # One cell, one set of limits; a cell is an interval of the score.
    cells = frame.groupby("cell")
    assert (cells["risk"].nunique() == 1).all()
    spans = cells["score"].agg(["min", "max"]).sort_index()
    assert (spans["min"].to_numpy()[1:] >= spans["max"].to_numpy()[:-1]).all()
    sums = cells[["cell_members", "cell_holdout"]].first().sum(axis=1)
    assert cells.size().to_dict() == sums.to_dict()
    assert (frame.risk == frame.signed_risk.abs()).all()
    assert frame.risk.between(frame.risk_lower, frame.risk_upper).all()
    assert (frame.risk_lower <= frame.risk_lower_pointwise).all()


def test_the_report_agrees_with_the_table(simple, frame):
    report, largest = simple.report, simple.report.estimates[0]
    assert (largest.quantity, largest.lower) == ("risk", frame.risk_lower.max())
    assert largest.upper == pytest.approx(frame.risk_upper.max())

    def classes(rows):
        return rows.member.sum(), (~rows.member).sum()

    assert (report.listed_members, report.listed_holdout) == classes(frame[frame.in_list])
    sums = [sum(getattr(band, name) for band in report.bands) for name in ("members", "holdout")]
    assert tuple(sums) == classes(frame)
    for band in report.bands:
        sure = classes(frame[frame.risk_lower >= band.low])
        assert (band.at_least_members, band.at_least_holdout) == sure
    assert len(report.cells) == report.design.cells == frame.cell.nunique()


def test_top_names_rows_of_the_most_exposed_cell(simple, frame):
    top = simple.report.top
    most = frame.sort_values(["risk_lower", "risk"], ascending=False).cell.iloc[0]
    rows = [one.row for one in top]
    assert len(top) == 7
    assert rows == sorted(set(rows))
    assert {one.cell for one in top} == {most} == set(frame.cell[rows])
    assert simple.report.top_tied == (frame.cell == most).sum()
    assert [one.member for one in top] == frame.member[rows].tolist()
    # It reads only what it needs.
    alone = mipaudit.records(table_of(), top=7)
    assert (alone.top, alone.rows_written) == (top, None)


@pytest.mark.parametrize("digits", [1, 17])
@pytest.mark.parametrize("key", [None, "who"])
def test_no_order_of_rows_chooses_who_is_named(digits, key):
    rng = np.random.default_rng(5)
    who = [f"person{at}" for at in range(2_000)]
    table = table_of(2_000, seed=6, who=who)
    score = np.round(numbers(table, "score"), digits)
    table = table.set_column(1, "score", pa.array(score))
    # More than the most exposed cell has, so that one is named whole and one in part.
    tied = mipaudit.records(table, top=1).top_tied

    def named(given):
        report = mipaudit.records(given, top=tied + 9, key_col=key)
        rows = [one.row for one in report.top]
        assert len(set(rows)) == tied + 9
        if key or digits > 1:
            return set(np.array(given["who"].to_pylist())[rows])
        # What is equal in all that is known cannot be told apart.
        return sorted(zip(*given.take(rows).select([0, 1]).to_pydict().values(), strict=True))

    first = named(table)
    for _ in range(3):
        assert named(table.take(rng.permutation(2_000))) == first


def test_equal_records_are_not_named_by_where_they_stand_first():
    member = np.arange(1_000) % 2 == 0
    table = pa.table({"member": member, "score": member.astype(float)})
    assert max(one.row for one in mipaudit.records(table, top=50).top) > 500


def test_truth_is_within_the_limits():
    # Normal shift: the average risk of a cell by numerical integration.
    source = table_of(20_000, seed=1)
    frame, score = mipaudit.record_table(source).table.to_pandas(), numbers(source, "score")
    grid = np.linspace(-6, 7, 400_001)
    density = np.exp(-(grid**2) / 2), np.exp(-((grid - 1) ** 2) / 2)
    for _, rows in frame.groupby("cell"):
        low, high = score[rows.index].min(), score[rows.index].max()
        inside = (grid >= low) & (grid <= high)
        if inside.sum() < 1_000:
            continue
        q, p = (one[inside].sum() for one in density)
        first, risk = rows.iloc[0], abs((p - q) / (p + q))
        assert first.risk_lower - 0.02 <= risk <= first.risk_upper + 0.02


def test_threads_and_files_change_nothing(tmp_path, simple):
    table = table_of()
    for part, rows in enumerate((table.slice(0, 1_500), table.slice(1_500))):
        pq.write_table(rows, tmp_path / f"{part}.parquet", row_group_size=400)
    for jobs in (1, 4):
        assert mipaudit.record_table(str(tmp_path), jobs=jobs).table.equals(simple.table)


@pytest.mark.parametrize("end", ["csv", "csv.gz", "parquet"])
def test_files(end, tmp_path, simple):
    path = tmp_path / f"risks.{end}"
    mipaudit.records(table_of(), output=path)
    read = pq.read_table if end == "parquet" else pyarrow.csv.read_csv
    found, expected = (one.to_pandas() for one in (read(path), simple.table))
    assert list(found) == list(expected)
    for name in found:
        np.testing.assert_allclose(found[name].astype(float), expected[name].astype(float), 0, 1e-8)
    assert end != "parquet" or found.equals(expected)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_left_out_rows_are_absent_and_numbers_tell():
    score = [None if i % 10 == 3 else float(i * 37 % 101) for i in range(2_000)]
    table = table_of(2_000).set_column(1, "score", pa.array(score))
    table = table.append_column("site", pa.array([i % 2 for i in range(2_000)]))
    found = mipaudit.record_table(table, nan="drop", where="site = 1")
    kept = [i for i in range(2_000) if i % 10 != 3 and i % 2]
    assert found.table["row"].to_pylist() == kept
    assert "nan_dropped" in found_codes(found.report)


def test_keys_are_written_and_reported_of_named_records_alone(tmp_path):
    names = [f"patient, {i}" for i in range(4_000)]
    table, path = table_of(who=names), tmp_path / "r.csv"
    report = mipaudit.records(table, key_col="who", output=path, top=5)
    found = pyarrow.csv.read_csv(path)
    assert found.column_names[:3] == ["row", "who", "member"]
    assert found["who"].to_pylist() == names
    assert [one.key for one in report.top] == [names[one.row] for one in report.top]
    assert to_json(report).count(b"patient, ") == 5
    assert b"patient, " not in to_json(mipaudit.records(table, key_col="who"))
    # A key column of a taken name is called key.
    taken = mipaudit.record_table(table_of(cell=list(range(4_000))), key_col="cell").table
    assert taken["key"].to_pylist() == list(range(4_000))


def test_arrays_members_first():
    rng = np.random.default_rng(4)
    found = mipaudit.record_table(members=rng.normal(1, 1, 500), holdout=rng.normal(0, 1, 700))
    assert found.table["member"].to_pylist() == [True] * 500 + [False] * 700


def test_the_report_holds_no_score(simple):
    text = to_json(simple.report).decode()
    assert not any(repr(value)[:9] in text for value in table_of()["score"].to_pylist())
    assert json.loads(text)["schema"] == "mipaudit.records/3"


# A limit as near as chance names no number of records.
@pytest.mark.parametrize(
    ("limit", "status", "settles"),
    [
        (0.2, "not_met", None),
        (0.999, "met", None),
        (0.9, "inconclusive", int),
        (0.8, "inconclusive", None),
    ],
)
def test_policy(limit, status, settles):
    report = mipaudit.records(table_of(8_000, seed=5), max_risk=limit)
    (check,), largest = report.policy, report.estimates[0]
    assert report.verdict.status == check.status == status
    assert (check.limit, check.lower, check.upper) == (limit, largest.lower, largest.upper)
    assert (check.records_to_settle is None) == (settles is None)


def four_values(n, seed):
    """A risk of .6 at one value, and less at the others."""
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    shares = np.where(member[:, None], [0.3, 0.2, 0.4, 0.1], [0.25, 0.25, 0.1, 0.4])
    score = (rng.random(n)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    return pa.table({"member": member, "score": score})


@pytest.mark.parametrize(("limit", "status"), [(0.45, "not_met"), (0.75, "met")])
def test_so_many_records_settle_it(limit, status):
    named = [
        mipaudit.records(four_values(400, seed), max_risk=limit).policy[0].records_to_settle
        for seed in range(20)
    ]
    needed = sorted(one for one in named if one is not None)
    assert needed
    assert needed[-1] <= 100_000
    middle = needed[len(needed) // 2]
    fresh = [mipaudit.records(four_values(middle, 100 + s), max_risk=limit) for s in range(20)]
    # At least 80% are meant to be settled: of 20, 12 or fewer come once in a hundred times.
    assert [one.verdict.status for one in fresh].count(status) > 12


def test_what_was_not_counted_is_not_within_a_limit():
    # Cells of about two rows of the burn-in: in some of them there is no other row.
    at, score = np.arange(20_000), np.random.default_rng(0).random(20_000)
    sparse = pa.table({"member": at % 2 == 0, "score": score})
    report, any_risk = (
        mipaudit.records(sparse, min_cell=1, cells=1000, max_risk=limit) for limit in (0.9, 1.0)
    )
    assert "uncounted_cells" in found_codes(report)
    assert (report.verdict.status, any_risk.verdict.status) == ("inconclusive", "met")
    (check,) = report.policy
    assert check.upper == report.estimates[0].upper == 1
    assert check.records_to_settle is None
    assert "all records in their score ranges are in the burn-in" in told(check.reason)


@pytest.mark.parametrize(("rare", "noun"), [(0, "value"), (60, "cell of records")])
def test_only_a_cell_of_one_value_speaks_for_the_value(rare, noun):
    rng = np.random.default_rng(3)
    score = rng.integers(0, 4, 8_000)
    score[:rare] = 100 + np.arange(rare)  # each once
    table = pa.table({"member": rng.random(8_000) < 0.5, "score": score})
    report = mipaudit.records(table, max_risk=0.999)
    assert report.design.discrete
    assert told(report.policy[0].reason).startswith(f"the risk of every {noun} is at most")


def test_discrete_values_are_cells():
    rng = np.random.default_rng(6)
    member = rng.random(6_000) < 0.5
    score = np.where(member, rng.choice(4, 6_000, p=[0.7, 0.1, 0.1, 0.1]), rng.choice(4, 6_000))
    table = pa.table({"member": member, "score": score})
    found, given = mipaudit.record_table(table), mipaudit.records(table, cells=2)
    frame = found.table.to_pandas().assign(score=score)
    assert found.report.design.discrete
    assert (frame.groupby("score").cell.nunique() == 1).all()
    rows = frame[frame.score == 0].iloc[0]
    assert rows.risk_lower < (0.7 - 0.25) / 0.95 < rows.risk_upper
    assert rows.direction == 1
    assert given.design.cells == 4
    assert "cells_not_used" in found_codes(given) - found_codes(found.report)


def test_several_scores_are_listed():
    with pytest.raises(UsageError, match=r"'score'.*'loss'") as caught:
        mipaudit.records(table_of(loss=np.zeros(4_000) + 0.5))
    assert caught.value.code == "several_scores"


def grouped(n=6_000, seed=7):
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    sex = rng.choice(["F", "M"], n)
    site = rng.choice(["a", "b", "tiny"], n, p=[0.6, 0.399, 0.001])
    exposed = (sex == "F") & (site == "b")
    score = rng.normal(size=n) + 2.5 * (member & exposed)
    return pa.table({"member": member, "score": score, "sex": sex, "site": site})


def test_groups():
    report = mipaudit.records(grouped(), by=("sex", "site"))
    names = [group.group for group in report.groups]
    wanted = {f"sex={sex}, site={site}" for sex in "FM" for site in "ab"}
    assert wanted <= set(names)
    assert not any("tiny" in name for name in names)
    assert names[0] == "sex=F, site=b"
    assert report.groups[0].lower > 0.5
    first, *others = differences(report)
    assert (first.group, first.shown) == (names[0], "increase")
    assert {one.shown for one in others} <= {"decrease", "open"}
    assert found_codes(report) & {"groups_merged", "groups_left_out"}
    assert sum(e.quantity == "difference" for e in report.estimates) == len(report.groups)


@pytest.mark.parametrize(
    ("first", "second"),
    [(1234567.5, 1234568.25), (None, "missing"), (float("inf"), 1.0)],
    ids=["close floats", "missing", "infinite"],
)
def test_groups_that_look_alike_keep_their_own_numbers(first, second):
    table = grouped()
    exposed, member = numbers(table, "site") == "a", numbers(table, "member")
    score = np.random.default_rng(1).normal(size=member.size) + 3.0 * (member & exposed)
    site = pa.array([first if one else second for one in exposed])
    report = mipaudit.records(pa.table({"member": member, "score": score, "site": site}), by="site")
    assert len({group.group for group in report.groups}) == 2
    for group, one in zip(report.groups, differences(report), strict=True):
        leaks = group.n_members + group.n_holdout == int(exposed.sum())
        assert (group.lower > 0.5) == leaks
        assert one.shown == ("increase" if leaks else "decrease")


def test_rows_left_out_make_no_group():
    table = grouped()
    many = np.arange(table.num_rows)
    few = np.where(numbers(table, "site") == "a", many % 2, many)
    report = mipaudit.records(table.append_column("few", pa.array(few)), by="few", where="site = a")
    assert {group.group for group in report.groups} == {"few=0", "few=1"}


def test_more_groups_than_a_table_of_counts_could_hold():
    rng, site = np.random.default_rng(8), np.repeat(np.arange(70), 100)
    member = rng.random(site.size) < 0.5
    score = rng.normal(size=site.size) + 2.5 * (member & (site == 3))
    table = pa.table({"member": member, "score": score, "site": [f"s{one}" for one in site]})
    limits = [{"quantity": "advantage", "group": "*", "max": 0.9}]
    report = mipaudit.records(table, by=["site"], top=0, limits=limits)
    assert len(report.groups) == len(report.policy) == 70
    assert report.groups[0].group == "site=s3"
    assert report.groups[0].lower > 0.1 > report.groups[1].lower
    first, *others = differences(report)
    assert first.shown != "open"
    assert {one.shown for one in others} == {"open"}


def test_a_population_narrows_the_limits():
    table = table_of()
    members = int(numbers(table, "member").sum())
    plain, whole, many = (
        mipaudit.records(table, member_population=population).estimates[0]
        for population in (None, members, 10**8)
    )
    assert whole.upper - whole.lower < 0.95 * (plain.upper - plain.lower)
    assert (many.lower, many.upper) == pytest.approx((plain.lower, plain.upper), abs=0.02)
    with pytest.raises(InputError, match="more than the number of training records"):
        mipaudit.records(table, member_population=members - 1)


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"max_risk": 0}, UsageError, "limit on risk must be above 0 and at most 1"),
        ({"prior": 0.1, "max_risk": 0.8}, UsageError, "limit on risk must be above 0.8"),
        ({"small_groups": "refuse"}, UsageError, "by"),
        ({"by": ("nothing",)}, InputError, "nothing"),
        ({"by": "site", "small_groups": "refuse"}, InputError, "groups have fewer"),
        ({"output": "risks.txt"}, UsageError, r"\.parquet"),
        ({"output": "none/risks.csv"}, OutputError, "risks.csv"),
    ],
    ids=str,
)
def test_wrong_settings(asked, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words) as caught:
        mipaudit.records(grouped(), **asked)
    assert "tiny" not in str(caught.value)


def test_groups_need_columns_and_a_file_may_be_open():
    with pytest.raises(UsageError, match="by"):
        mipaudit.records(members=np.arange(50.0), holdout=np.arange(50.0), by=("sex",))
    file = io.BytesIO()
    mipaudit.records(table_of(200), output=file, output_format="csv")
    assert file.getvalue().startswith(b"row,member,cell,")
    with pytest.raises(TypeError, match="no option 'output'"):
        mipaudit.record_table(table_of(200), output=file)


def test_corrupted_records_rank_first_as_in_mace_figure_5():
    # MACE 9.3: a tenth of the members are corrupted and memorised; holdout is clean.
    rng, n = np.random.default_rng(8), 10_000
    (_, clean), (_, corrupted) = CORRUPTED.values()
    draws = ((clean, 9 * n // 10, 1, 0), (corrupted, n // 10, 1, 0), (clean, 1, n, 1))
    loss = [law.sample(rng, inside, outside)[which] for law, inside, outside, which in draws]
    at = np.arange(2 * n)
    table = pa.table({"member": at < n, "loss": np.concatenate(loss)})
    risk = numbers(mipaudit.record_table(table).table, "risk")
    memorised = (at >= 9 * n // 10) & (at < n)
    assert risk[memorised].mean() > 1.2 * risk[(at < n) & ~memorised].mean()


def test_limits_on_records_and_groups_are_judged_and_the_others_counted():
    limits = [
        {"quantity": "risk", "max": 0.5},
        {"quantity": "advantage", "max": 0.1},
        {"quantity": "difference", "max": 0.1, "group": "*"},
    ]
    asked = RecordTableOptions(max_risk=0.9, limits=limits)
    judged = [(one.quantity, one.max) for one in asked.judged_limits]
    assert judged == [("risk", 0.9), ("risk", 0.5), ("difference", 0.1)]
    assert asked.limits_elsewhere == 1


@pytest.mark.parametrize(
    ("given", "columns"),
    [("sex, site", ("sex", "site")), (["a,b", "c"], ("a,b", "c")), ([], ()), ("x,x", ("x",))],
)
def test_groups_are_typed_as_a_list_and_given_as_names(given, columns):
    assert RecordTableOptions(by=given).by == columns
