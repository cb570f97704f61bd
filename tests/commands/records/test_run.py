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
from tests.places import TESTS

LIRA = TESTS / "data" / "lira_digits_target0.parquet"


def table_of(n=4_000, shift=1.0, seed=0, **extra):
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    return pa.table({"member": member, "score": rng.normal(size=n) + shift * member, **extra})


@pytest.fixture(scope="module")
def simple():
    return mipaudit.record_table(table_of(), top=7)


def test_a_row_for_each_record_in_order(simple):
    table, report = simple.table, simple.report
    source = table_of()
    assert table.num_rows == report.rows_written == 4_000
    assert table["row"].to_pylist() == list(range(4_000))
    assert table["member"].equals(source["member"])
    # One cell, one set of limits; a cell is an interval of the score.
    frame = table.to_pandas().assign(score=source["score"].to_numpy())
    assert (frame.groupby("cell")["risk"].nunique() == 1).all()
    spans = frame.groupby("cell")["score"].agg(["min", "max"]).sort_index()
    assert (spans["min"].to_numpy()[1:] >= spans["max"].to_numpy()[:-1]).all()
    assert frame.groupby("cell").size().to_dict() == (
        frame.groupby("cell")[["cell_members", "cell_holdout"]].first().sum(axis=1).to_dict()
    )
    assert (frame.risk == frame.signed_risk.abs()).all()
    assert (frame.risk_lower <= frame.risk).all()
    assert (frame.risk <= frame.risk_upper).all()
    assert (frame.risk_lower <= frame.risk_lower_pointwise).all()


def test_the_report_agrees_with_the_table(simple):
    frame, report = simple.table.to_pandas(), simple.report
    largest = report.estimates[0]
    assert largest.quantity == "risk"
    assert largest.lower == frame.risk_lower.max()
    assert largest.upper == pytest.approx(frame.risk_upper.max())
    listed = frame[frame.in_list]
    assert report.listed_members == listed.member.sum()
    assert report.listed_holdout == (~listed.member).sum()
    assert sum(band.members for band in report.bands) == frame.member.sum()
    assert sum(band.holdout for band in report.bands) == (~frame.member).sum()
    for band in report.bands:
        sure = frame[frame.risk_lower >= band.low]
        assert (band.at_least_members, band.at_least_holdout) == (
            sure.member.sum(),
            (~sure.member).sum(),
        )
    assert len(report.cells) == report.design.cells == frame.cell.nunique()


def test_top_names_rows_of_the_most_exposed_cell(simple):
    frame, report = simple.table.to_pandas(), simple.report
    first = frame.sort_values(["risk_lower", "risk", "row"], ascending=[False, False, True])
    assert {one.cell for one in report.top} == {first.cell.iloc[0]}
    assert [one.row for one in report.top] == sorted({one.row for one in report.top})
    assert len(report.top) == 7
    assert report.top_tied == (frame.cell == report.top[-1].cell).sum()
    named = frame.set_index("row").loc[[one.row for one in report.top]]
    assert [one.member for one in report.top] == named.member.tolist()
    assert set(named.cell) == {first.cell.iloc[0]}


@pytest.mark.parametrize("digits", [1, 17])
@pytest.mark.parametrize("key", [None, "who"])
def test_no_order_of_rows_chooses_who_is_named(digits, key):
    rng = np.random.default_rng(5)
    who = [f"person{at}" for at in range(2_000)]
    table = table_of(2_000, seed=6, who=who)
    score = np.round(table["score"].to_numpy(), digits)
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
    rows = [one.row for one in mipaudit.records(table, top=50).top]
    assert max(rows) > 500


def test_top_alone_reads_only_what_it_needs(simple):
    report = mipaudit.records(table_of(), top=7)
    assert report.top == simple.report.top
    assert report.rows_written is None


def test_truth_is_within_the_limits():
    # Normal shift: the average risk of a cell by numerical integration.
    frame = mipaudit.record_table(table_of(20_000, seed=1)).table.to_pandas()
    score = table_of(20_000, seed=1)["score"].to_numpy()
    grid = np.linspace(-6, 7, 400_001)
    density = np.exp(-(grid**2) / 2), np.exp(-((grid - 1) ** 2) / 2)
    for _, rows in frame.groupby("cell"):
        low, high = score[rows.index].min(), score[rows.index].max()
        inside = (grid >= low) & (grid <= high)
        if inside.sum() < 1_000:
            continue
        q, p = (one[inside].sum() for one in density)
        assert (
            rows.risk_lower.iloc[0] - 0.02
            <= abs((p - q) / (p + q))
            <= rows.risk_upper.iloc[0] + 0.02
        )


def test_threads_and_files_change_nothing(tmp_path):
    table = table_of()
    for part, start in enumerate((0, 1_500)):
        stop = 1_500 if start == 0 else 4_000
        pq.write_table(
            table.slice(start, stop - start), tmp_path / f"{part}.parquet", row_group_size=400
        )
    one = mipaudit.record_table(str(tmp_path), jobs=1)
    many = mipaudit.record_table(str(tmp_path), jobs=4)
    frame = mipaudit.record_table(table)
    assert one.table.equals(many.table)
    assert one.table.equals(frame.table)


@pytest.mark.parametrize("end", ["csv", "csv.gz", "parquet"])
def test_files(end, tmp_path):
    path = tmp_path / f"risks.{end}"
    mipaudit.records(table_of(), output=path)
    expected = mipaudit.record_table(table_of()).table
    if end == "parquet":
        assert pq.read_table(path).equals(expected)
    else:
        found = pyarrow.csv.read_csv(path)
        assert found.column_names == expected.column_names
        for name in expected.column_names:
            same = np.isclose(
                found[name].to_numpy().astype(float),
                expected[name].to_numpy().astype(float),
                rtol=0,
            )
            assert same.all(), name
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_left_out_rows_are_absent_and_numbers_tell():
    rng = np.random.default_rng(3)
    score = [None if i % 10 == 3 else float(rng.normal()) for i in range(2_000)]
    table = table_of(2_000).set_column(1, "score", pa.array(score))
    table = table.append_column("site", pa.array([i % 2 for i in range(2_000)]))
    found = mipaudit.record_table(table, nan="drop", where="site = 1")
    kept = [i for i in range(2_000) if i % 10 != 3 and i % 2]
    assert found.table["row"].to_pylist() == kept
    assert any(f.code == "nan_dropped" for f in found.report.findings)


def test_keys_are_written_and_reported_of_named_records_alone(tmp_path):
    names = [f"patient, {i}" for i in range(4_000)]
    table = table_of(who=names)
    path = tmp_path / "r.csv"
    report = mipaudit.records(table, key_col="who", output=path, top=5)
    found = pyarrow.csv.read_csv(path)
    assert found.column_names[:3] == ["row", "who", "member"]
    assert found["who"].to_pylist() == names
    assert [one.key for one in report.top] == [names[one.row] for one in report.top]
    assert to_json(report).count(b"patient, ") == 5
    assert b"patient, " not in to_json(mipaudit.records(table, key_col="who"))


def test_a_key_column_of_a_taken_name_is_called_key():
    table = table_of(cell=list(range(4_000)))
    found = mipaudit.record_table(table, key_col="cell").table
    assert found["key"].to_pylist() == list(range(4_000))


def test_arrays_members_first():
    rng = np.random.default_rng(4)
    found = mipaudit.record_table(members=rng.normal(1, 1, 500), holdout=rng.normal(0, 1, 700))
    assert found.table["member"].to_pylist() == [True] * 500 + [False] * 700


def test_the_report_holds_no_score():
    report = mipaudit.records(table_of(), top=3)
    text = to_json(report).decode()
    scores = {repr(value)[:9] for value in table_of()["score"].to_pylist()}
    assert not any(score in text for score in scores)
    assert json.loads(text)["schema"] == "mipaudit.records/3"


@pytest.mark.parametrize(
    ("limit", "status"), [(0.2, "not_met"), (0.999, "met"), (0.9, "inconclusive")]
)
def test_policy(limit, status):
    report = mipaudit.records(table_of(8_000, seed=5), max_risk=limit)
    assert report.verdict.status == status
    (check,) = report.policy
    assert check.limit == limit
    assert (check.records_to_settle is None) == (status != "inconclusive")


def test_a_limit_as_near_as_chance_names_no_number_of_records():
    (check,) = mipaudit.records(table_of(8_000, seed=5), max_risk=0.8).policy
    assert (check.status, check.records_to_settle) == ("inconclusive", None)


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


def test_policy_limits_are_those_of_the_table():
    report = mipaudit.records(table_of(), max_risk=0.5)
    largest = report.estimates[0]
    assert (report.policy[0].lower, report.policy[0].upper) == (largest.lower, largest.upper)


def sparse_cells():
    """Cells of about two rows of the burn-in: in some of them there is no other row."""
    at, score = np.arange(20_000), np.random.default_rng(0).random(20_000)
    return {"data": pa.table({"member": at % 2 == 0, "score": score}), "min_cell": 1, "cells": 1000}


def unseen(report):
    return "uncounted_cells" in {f.code for f in report.findings}


def test_what_was_not_counted_is_not_within_a_limit():
    report = mipaudit.records(**sparse_cells(), max_risk=0.9)
    assert unseen(report)
    assert report.verdict.status == "inconclusive"
    (check,) = report.policy
    assert check.upper == report.estimates[0].upper == 1
    assert check.records_to_settle is None
    assert "without a counted record" in told(check.reason)
    assert mipaudit.records(**sparse_cells(), max_risk=1.0).verdict.status == "met"


@pytest.mark.parametrize(("rare", "noun"), [(0, "value"), (60, "cell of records")])
def test_only_a_cell_of_one_value_speaks_for_the_value(rare, noun):
    rng = np.random.default_rng(3)
    score = rng.integers(0, 4, 8_000)
    score[:rare] = 100 + np.arange(rare)  # each once
    table = pa.table({"member": rng.random(8_000) < 0.5, "score": score})
    report = mipaudit.records(table, max_risk=0.999)
    assert report.design.discrete
    assert told(report.policy[0].reason).startswith(f"the risk of every {noun} is at most")


def test_cells_of_a_discrete_score_are_its_values():
    rng = np.random.default_rng(3)
    table = pa.table({"member": rng.random(4_000) < 0.5, "score": rng.integers(0, 9, 4_000)})
    given = mipaudit.records(table, cells=4)
    assert given.design.cells == 9
    assert "cells_not_used" in {f.code for f in given.findings}
    assert "cells_not_used" not in {f.code for f in mipaudit.records(table).findings}


def test_discrete_values_are_cells():
    rng = np.random.default_rng(6)
    member = rng.random(6_000) < 0.5
    score = np.where(member, rng.choice(4, 6_000, p=[0.7, 0.1, 0.1, 0.1]), rng.choice(4, 6_000))
    found = mipaudit.record_table(pa.table({"member": member, "score": score}))
    frame = found.table.to_pandas().assign(score=score)
    assert found.report.design.discrete
    assert (frame.groupby("score").cell.nunique() == 1).all()
    truth = (0.7 - 0.25) / 0.95
    rows = frame[frame.score == 0].iloc[0]
    assert rows.risk_lower < truth < rows.risk_upper
    assert rows.direction == 1


def test_several_scores_are_listed():
    table = table_of(loss=np.zeros(4_000) + 0.5)
    with pytest.raises(UsageError, match=r"'score'.*'loss'") as caught:
        mipaudit.records(table)
    assert caught.value.code == "several_scores"
    assert mipaudit.records(table, score_col="score").design.score_column == "score"


def test_prior_moves_the_baseline():
    report = mipaudit.records(table_of(), prior=0.1)
    assert report.design.baseline == pytest.approx(0.8)
    assert report.estimates[0].lower >= 0.8


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
    names = {group.group for group in report.groups}
    assert {"sex=F, site=a", "sex=F, site=b", "sex=M, site=a", "sex=M, site=b"} <= names
    assert not any("tiny" in name for name in names)
    exposed = next(g for g in report.groups if g.group == "sex=F, site=b")
    assert report.groups[0] is exposed
    assert exposed.lower > 0.5
    first, *others = differences(report)
    assert (first.group, first.shown) == (exposed.group, "increase")
    assert {one.shown for one in others} <= {"decrease", "open"}
    assert any(f.code in {"groups_merged", "groups_left_out"} for f in report.findings)
    assert sum(e.quantity == "difference" for e in report.estimates) == len(report.groups)


@pytest.mark.parametrize(
    ("first", "second"),
    [(1234567.5, 1234568.25), (None, "missing"), (float("inf"), 1.0)],
    ids=["close floats", "missing", "infinite"],
)
def test_groups_that_look_alike_keep_their_own_numbers(first, second):
    table = grouped()
    exposed = table["site"].to_numpy(zero_copy_only=False) == "a"
    rng = np.random.default_rng(1)
    member = table["member"].to_numpy(zero_copy_only=False)
    score = rng.normal(size=member.size) + 3.0 * (member & exposed)
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
    site = table["site"].to_numpy(zero_copy_only=False)
    few = np.where(site == "a", many % 2, many)
    report = mipaudit.records(table.append_column("few", pa.array(few)), by="few", where="site = a")
    assert {group.group for group in report.groups} == {"few=0", "few=1"}


def test_small_groups_can_be_refused():
    with pytest.raises(InputError, match="groups have fewer") as caught:
        mipaudit.records(grouped(), by="site", small_groups="refuse")
    assert caught.value.code == "small_groups"
    assert "tiny" not in str(caught.value)


def test_a_population_narrows_the_limits():
    table = table_of()
    members = int(np.sum(table["member"].to_numpy(zero_copy_only=False)))
    plain = mipaudit.records(table).estimates[0]
    whole = mipaudit.records(table, member_population=members).estimates[0]
    many = mipaudit.records(table, member_population=10**8).estimates[0]
    assert whole.upper - whole.lower < 0.95 * (plain.upper - plain.lower)
    assert many.lower == pytest.approx(plain.lower, abs=0.02)
    assert many.upper == pytest.approx(plain.upper, abs=0.02)
    with pytest.raises(InputError, match="more than the training records"):
        mipaudit.records(table, member_population=members - 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"prior": 0},
        {"confidence": 0.3},
        {"tau": 1},
        {"fdr": 0},
        {"top": -1},
        {"min_cell": 0},
        {"cells": 1},
        {"max_risk": 0},
        {"prior": 0.1, "max_risk": 0.8},
        {"small_groups": "drop"},
        {"small_groups": "refuse"},
        {"member_population": 0},
        {"seed": -1},
        {"jobs": 0},
    ],
    ids=str,
)
def test_wrong_settings(wrong):
    with pytest.raises(UsageError):
        mipaudit.records(table_of(200), **wrong)


def test_groups_need_columns():
    with pytest.raises(UsageError, match="by"):
        mipaudit.records(members=np.arange(50.0), holdout=np.arange(50.0), by=("sex",))
    with pytest.raises(InputError, match="nothing"):
        mipaudit.records(table_of(200), by=("nothing",))


def test_output_must_have_a_form(tmp_path):
    with pytest.raises(UsageError, match=r"\.parquet"):
        mipaudit.records(table_of(200), output=tmp_path / "risks.txt")
    with pytest.raises(OutputError):
        mipaudit.records(table_of(200), output=tmp_path / "none" / "risks.csv")
    file = io.BytesIO()
    mipaudit.records(table_of(200), output=file, output_format="csv")
    assert file.getvalue().startswith(b"row,member,cell,")
    with pytest.raises(TypeError, match="no option 'output'"):
        mipaudit.record_table(table_of(200), output=file)


def test_corrupted_records_rank_first_as_in_mace_figure_5():
    # MACE 9.3: a tenth of the members are corrupted and memorised; holdout is clean.
    rng = np.random.default_rng(8)
    n = 10_000
    (_, clean), (_, corrupted) = CORRUPTED.values()
    loss = np.concatenate(
        [
            clean.sample(rng, 9 * n // 10, 1)[0],
            corrupted.sample(rng, n // 10, 1)[0],
            clean.sample(rng, 1, n)[1],
        ]
    )
    table = pa.table({"member": np.arange(2 * n) < n, "loss": loss})
    risk = mipaudit.record_table(table).table["risk"].to_numpy()
    is_corrupted = (np.arange(2 * n) >= 9 * n // 10) & (np.arange(2 * n) < n)
    members = np.arange(2 * n) < n
    assert risk[is_corrupted].mean() > 1.2 * risk[members & ~is_corrupted].mean()


def test_mislabelled_records_rank_above_clean_ones():
    data = pq.read_table(LIRA).to_pandas()
    found = mipaudit.record_table(str(LIRA), score_col="lira_online").table.to_pandas()
    members = data.member.to_numpy()
    noisy = data.label_noisy.to_numpy()
    risk, signed = found.risk.to_numpy(), found.signed_risk.to_numpy()
    assert 0 < noisy.sum() < noisy.size
    assert risk[noisy & members].mean() > 1.3 * risk[~noisy & members].mean()
    assert signed[noisy & members].mean() > signed[~noisy & members].mean()


def many_groups(groups, rows):
    rng = np.random.default_rng(8)
    site = np.repeat(np.arange(groups), rows)
    member = rng.random(site.size) < 0.5
    score = rng.normal(size=site.size) + 2.5 * (member & (site == 3))
    return pa.table({"member": member, "score": score, "site": [f"s{one}" for one in site]})


def test_more_groups_than_a_table_of_counts_could_hold():
    table = many_groups(150, 60)
    limits = [{"quantity": "advantage", "group": "*", "max": 0.9}]
    report = mipaudit.records(table, by=["site"], top=0, limits=limits)
    assert len(report.groups) == len(report.policy) == 150
    assert report.groups[0].group == "site=s3"
    assert report.groups[0].lower > 0.1 > report.groups[1].lower
    first, *others = differences(report)
    assert first.shown != "open"
    assert {one.shown for one in others} == {"open"}


RISK = {"quantity": "risk", "max": 0.5}
ADVANTAGE = {"quantity": "advantage", "max": 0.1}
GROUPS = {"quantity": "difference", "max": 0.1, "group": "*"}


def test_limits_on_records_and_groups_are_judged_and_the_others_counted():
    asked = RecordTableOptions(max_risk=0.9, limits=[RISK, ADVANTAGE, GROUPS])

    assert [(one.quantity, one.max) for one in asked.judged_limits] == [
        ("risk", 0.9),
        ("risk", 0.5),
        ("difference", 0.1),
    ]
    assert asked.limits_elsewhere == 1


@pytest.mark.parametrize(
    ("given", "columns"),
    [("sex, site", ("sex", "site")), (["a,b", "c"], ("a,b", "c")), ([], ()), ("x,x", ("x",))],
)
def test_groups_are_typed_as_a_list_and_given_as_names(given, columns):
    assert RecordTableOptions(by=given).by == columns
