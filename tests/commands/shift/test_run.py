from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.shift.report import differing
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told

N = 400


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


@pytest.fixture(scope="module")
def alike():
    return mipaudit.shift(table(1), table(2))


@pytest.fixture(scope="module")
def apart():
    return mipaudit.shift(table(1, age=8), table(2))


def named_in(report):
    return {(one.column, one.aspect) for one in differing(report)}


def test_alike(alike):
    assert alike.estimates[0].lower == 0
    assert named_in(alike) == set()
    assert alike.answer.code == "records_not_told_apart"
    assert {one.column for one in alike.design.features} == {"age", "ward", "smoker"}
    assert {one.column: one.why.code for one in alike.design.skipped} == {
        "patient": "another_in_every_row",
        "site": "same_in_all_rows",
    }
    assert alike.verdict.status == "no_policy"


def test_apart(apart):
    truth = 0.3108  # of two normal laws 0.8 s.d. apart
    assert 0 < apart.estimates[0].lower < truth
    assert all(one.upper > apart.estimates[0].lower for one in apart.estimates[1:])
    assert named_in(apart) == {("age", "numbers")}
    assert apart.columns[0].effect < -0.2  # members are older: fewer are up to one age
    assert apart.answer.code == "records_told_apart"


def test_missing_cells_and_categories_are_named():
    members, holdout = table(1, gaps=0.4), table(2)
    members.loc[: N // 3, "ward"] = "a"
    found = named_in(mipaudit.shift(members, holdout))
    assert found == {("smoker", "missing"), ("ward", "categories")}


def test_no_value_of_a_record_is_in_the_report(apart):
    text = mipaudit.to_json(apart).decode()
    kept = json.loads(text)
    del kept["provenance"], kept["design"]
    words = json.dumps(kept)
    assert "1-17" not in words
    frame = table(1, age=8)
    assert not any(str(age) in words for age in frame["age"] if abs(age) >= 20)


def test_the_same_for_any_number_of_threads_and_parts(tmp_path):
    members, holdout = table(1, age=3), table(2)
    members.to_parquet(tmp_path / "m.parquet", row_group_size=90)
    holdout.to_parquet(tmp_path / "h.parquet", row_group_size=70)
    one = mipaudit.shift(members, holdout, jobs=1)
    many = mipaudit.shift(tmp_path / "m.parquet", str(tmp_path / "h.parquet"), jobs=4)
    assert replace(one, provenance=many.provenance) == many


def test_a_person_counts_once():
    members, holdout = table(1), table(2)
    holdout.loc[:9, "patient"] = members.loc[:9, "patient"]
    members.loc[20, "patient"] = members.loc[21, "patient"]
    report = mipaudit.shift(members, holdout, id_col="patient")
    assert (report.design.n_members, report.design.n_holdout) == (N - 1, N)
    assert report.copies.persons == 10
    assert {"shared_persons", "rows_of_a_person"} <= {one.code for one in report.findings}


def test_copies_across_the_classes_are_found():
    members, holdout = table(1), table(2)
    holdout.loc[:4, :] = members.loc[:4, :].to_numpy()
    holdout.loc[5:6, :] = members.loc[5:6, :].to_numpy()
    holdout.loc[5:6, "age"] += 31.7
    report = mipaudit.shift(members, holdout, id_col="patient")
    assert report.copies.exact >= 5
    assert report.copies.but_one >= 2
    assert "exact_copies" in {one.code for one in report.findings}


@pytest.mark.parametrize(("rows", "others"), [(1, 1), (2, 3), (1, 300), (8, 5)])
@pytest.mark.parametrize("strict", [False, True])
def test_tiny_tables(rows, others, strict):
    report = mipaudit.shift(
        table(1, rows, age=50), table(2, others), columns="age,ward,smoker", strict=strict
    )
    assert report.estimates[0].lower == 0
    mipaudit.to_json(report)
    assert any(one.code == "small_class" for one in report.findings)


def test_two_rows_that_both_train_leave_nothing_to_judge():
    """Seeds decide which rows train; where all do, every limit is the trivial one."""
    sizes = set()
    for seed in range(60):
        report = mipaudit.shift(
            table(1, 1, age=50), table(2, 1), columns="age,ward,smoker", strict=True, seed=seed
        )
        sizes.add(len(report.estimates))
        assert {row.upper for row in report.estimates} <= {1, None}
    assert len(sizes) > 1


def test_infinite_and_constant_columns():
    members, holdout = table(1), table(2)
    members["far"], holdout["far"] = np.inf, -np.inf
    report = mipaudit.shift(members, holdout)
    assert report.estimates[0].lower > 0.9
    with pytest.raises(InputError) as caught:
        mipaudit.shift(members, holdout, columns=["site"])
    assert caught.value.code == "constant_columns"


@pytest.mark.parametrize(
    ("settings", "code"),
    [({"max_blind": 0}, "max_blind"), ({"confidence": 1}, "confidence"), ({"seed": -1}, "seed")],
)
def test_settings_have_their_range(settings, code):
    with pytest.raises(UsageError) as caught:
        mipaudit.shift(table(1), table(2), **settings)
    assert caught.value.code == code


def test_no_false_alarm_and_no_limit_above_the_truth():
    """Short: the long run's figures are in docs/reference/validation.md."""
    times, alarms, above = 40, 0, 0
    for seed in range(times):
        null = mipaudit.shift(table(2 * seed, 100), table(2 * seed + 1, 60), seed=seed)
        alarms += null.estimates[0].lower > 0
        found = mipaudit.shift(table(2 * seed, 100, age=8), table(2 * seed + 1, 60), seed=seed)
        above += found.estimates[0].lower > 0.3108
    # 2.5% and three standard errors of the count.
    most = 0.025 * times + 3 * np.sqrt(times * 0.025 * 0.975)
    assert alarms <= most
    assert above <= most


# --- estimate --blind


def scores(leak, rows=N, seed=5):
    """Return scores that are the age but for what the model leaks."""
    rng = np.random.default_rng(seed)
    members, holdout = table(1, rows, age=8), table(2, rows)
    return (
        members["age"].to_numpy() / 10 + leak + 0.1 * rng.normal(size=rows),
        holdout["age"].to_numpy() / 10 + 0.1 * rng.normal(size=rows),
    )


def estimated(leak, blind=None, **settings):
    members, holdout = scores(leak)
    return mipaudit.estimate(members=members, holdout=holdout, blind=blind, **settings)


def test_without_a_limit_for_every_attacker_the_excess_is_open(apart):
    """Of continuous columns somebody may know all: a class of attackers limits nobody else."""
    report = estimated(4, apart, max_advantage=0.1)
    assert report.verdict.status == "inconclusive"
    assert "`blind_bound`" in told(report.policy[0].reason)
    assert {"blind_open"} <= {one.code for one in report.findings}
    assert report.blind.everyone is None


def test_the_excess_over_an_asserted_bound_is_held_against_the_model(apart):
    report = estimated(4, apart, max_advantage=0.1, blind_bound=0.4)
    assert report.verdict.status == "not_met"
    found = report.estimates[0].lower
    assert report.policy[0].lower == pytest.approx((found - 0.4) / 0.6)
    assert report.blind.excess[0].lower == pytest.approx((found - 0.4) / 0.6)
    assert {"blind_bound"} <= {one.code for one in report.findings}
    assumed = "assuming that nobody who sees the records alone has an advantage above 0.4"
    page = mipaudit.render_report(report, format="markdown")
    assert assumed in told(report.answer)
    assert assumed in (page if isinstance(page, str) else page.decode())
    again = mipaudit.rejudge(report, max_advantage=0.2)
    assert (again.verdict.status, again.rejudged.limits) == ("not_met", 1)
    assert assumed in told(again.answer)


@pytest.mark.parametrize(
    ("beside", "settings"),
    [
        *((True, {"blind_bound": one}) for one in (-0.1, 1, 1.5, float("nan"), "much")),
        (False, {"blind_bound": 0.2}),
        (True, {"blind_bound": 0.01}),  # the records contradict it
        (True, {"blind_against": "learned"}),
    ],
)
def test_what_cannot_be_said_of_the_records_alone(apart, beside, settings):
    with pytest.raises(UsageError) as caught:
        estimated(4, apart if beside else None, **settings)
    assert caught.value.code == next(iter(settings))
    assert ("contradicted" in str(caught.value)) == (settings.get("blind_bound") == 0.01)


def test_a_difference_can_hide_a_leak(apart):
    """Met over all records says little of those that are alike."""
    alone, beside = (estimated(4, blind, max_advantage=0.999) for blind in (None, apart))
    assert (alone.verdict.status, beside.verdict.status) == ("met", "inconclusive")
    assert "can hide a leak" in told(beside.policy[0].reason)
    rng = np.random.default_rng(4)
    both = {"members": rng.normal(size=N), "holdout": rng.normal(size=N), "max_advantage": 0.9}
    upper = mipaudit.estimate(**both).policy[0].upper
    asserted = mipaudit.estimate(**both, blind=apart, blind_bound=0.3)
    assert asserted.verdict.status == "met"
    assert asserted.policy[0].upper == pytest.approx((upper + 0.3) / 0.7)


def test_met_does_not_change_where_no_difference_is_shown(alike):
    rng = np.random.default_rng(3)
    both = {"members": rng.normal(size=N), "holdout": rng.normal(size=N), "max_advantage": 0.3}
    alone, beside = (mipaudit.estimate(**both, blind=blind) for blind in (None, alike))
    assert alone.verdict.status == beside.verdict.status == "met"
    assert alone.policy[0].upper == beside.policy[0].upper


def test_a_claim_is_contradicted_by_the_excess_alone(apart):
    claim = {"claimed_epsilon": 0.1, "adjacency": "substitution"}
    assert estimated(0, **claim).claims[0].status == "contradicted"
    assert estimated(0, apart, **claim).claims[0].status == "consistent"
    assert estimated(4, apart, **claim).claims[0].status == "consistent"
    asserted = estimated(4, apart, blind_bound=0.4, **claim)
    assert asserted.claims[0].status == "contradicted"
    assert "assuming that" in mipaudit.render_report(asserted, format="markdown")


def test_other_quantities(apart):
    limits = {"max_eta": 0.05, "max_tpr_at_fpr": (0.2, 0.1), "max_metric": {"ppv": 0.51}}
    listed = [{"quantity": "auc", "max": 0.55}, {"quantity": "any_difference", "max": 0}]
    report = estimated(0, apart, limits=listed, **limits)
    assert {check.status for check in report.policy} == {"inconclusive"}
    for check in report.policy:
        assert check.blind is not None
        assert (check.lower is None) == (check.quantity in {"metric", "any_difference"})
        assert (check.quantity == "any_difference") == ("the exact test" in told(check.reason))


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
def test_at_any_prior(apart, prior):
    report = estimated(4, apart, prior=prior)
    assert report.blind.excess[0].taken_off <= 2 * min(prior, 1 - prior)
    assert report.blind.excess[0].lower >= abs(2 * prior - 1)


def test_the_attackers_on_the_records_can_be_named(apart):
    widest, named = (
        estimated(4, apart, max_advantage=0.1, blind_against=one) for one in (None, "thresholds")
    )
    assert named.blind.attackers == "thresholds"
    assert named.blind.upper < widest.blind.upper
    assert named.verdict == widest.verdict  # a class limit decides nothing


def test_of_a_file_and_of_bytes(apart, tmp_path):
    path = tmp_path / "shift.json"
    path.write_bytes(mipaudit.to_json(apart))
    by_path = estimated(0, path)
    by_bytes = estimated(0, path.read_bytes())
    assert by_path.blind == by_bytes.blind
    assert by_path.blind.report_sha256 is not None
    assert replace(by_path.blind, report_sha256=None) == estimated(0, apart).blind


def test_other_records_are_refused(apart):
    members, holdout = scores(0)
    with pytest.raises(InputError) as caught:
        mipaudit.estimate(members=members[:-1], holdout=holdout, blind=apart)
    assert caught.value.code == "blind_other_records"
    with pytest.raises(UsageError) as wrong:
        estimated(0, estimated(0))
    assert wrong.value.code == "blind"


def test_another_content_of_the_same_file_is_refused(tmp_path):
    members, holdout = table(1), table(2)
    paths = [str(tmp_path / name) for name in ("m.csv", "h.csv")]
    for frame, path in zip((members, holdout), paths, strict=True):
        frame.assign(loss=frame["age"]).to_csv(path, index=False)
    report = mipaudit.shift(*paths, ignore=["loss"])
    both = {"members": paths[0], "holdout": paths[1], "score_col": ["loss"]}
    assert mipaudit.estimate(**both, blind=report).blind.n_members == N
    members.assign(loss=1 - members["age"]).to_csv(paths[0], index=False)
    with pytest.raises(InputError) as caught:
        mipaudit.estimate(**both, blind=report)
    assert caught.value.code == "blind_other_records"


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


def found_in(report):
    return {one.code: told(one) for one in report.findings}


def test_a_column_that_tells_all_apart_is_named_and_can_be_left_out():
    rng = np.random.default_rng(3)
    members, holdout = table(1), table(2)
    # With gaps: numbers without any only count the rows, in whatever order.
    members["record"] = 2 * rng.permutation(N)
    holdout["record"] = 2 * rng.permutation(np.arange(N, 2 * N))
    members["site"] = rng.choice(list("abcdefgh"), N)
    holdout["site"] = rng.choice(list("stuvwxyz"), N)
    report = mipaudit.shift(members, holdout)
    assert report.estimates[0].lower > 0.9
    text = found_in(report)["telling_column"]
    assert "'site', 'record'" in text
    assert "`ignore` site,record" in text
    left = mipaudit.shift(members, holdout, ignore="record,site")
    assert left.estimates[0].lower == 0
    assert "telling_column" not in found_in(left)


@pytest.mark.parametrize(("first", "second"), [(1, N + 1), (5_000, 17), (1, 1), (1, N)])
def test_record_numbers_in_ranges_of_their_own_are_a_finding(tmp_path, first, second):
    rng = np.random.default_rng(8)
    for form in ("frame", "csv"):
        given = []
        for start, seed in ((first, 1), (second, 2)):
            frame = table(seed).assign(record=start + rng.permutation(N))
            frame.to_csv(tmp_path / f"{seed}.csv", index=False)
            given.append(frame if form == "frame" else str(tmp_path / f"{seed}.csv"))
        report = mipaudit.shift(*given)
        assert "record" not in {one.column for one in report.design.features}
        found = found_in(report)
        assert ("parted_numbers" in found) == (second not in {first, N})
        assert "'record'" in found.get("parted_numbers", "'record'")
        # A name is told, and no number.
        assert not {str(first), str(second)} & set(found.get("parted_numbers", "").split())


@pytest.mark.parametrize("rows", [3, 20, 40])
def test_chance_in_few_rows_is_no_column_that_tells_all(rows):
    for seed in range(0, 20, 2):
        report = mipaudit.shift(table(seed, rows), table(seed + 1, rows), columns="age,ward")
        assert "telling_column" not in found_in(report)


def test_columns_of_many_texts_are_named():
    rng = np.random.default_rng(4)
    members, holdout = table(1), table(2)
    for frame in (members, holdout):
        frame["postcode"] = rng.integers(0, 150, N).astype(str)
        frame["postcode"] = "p" + frame["postcode"]
    assert "'postcode'" in found_in(mipaudit.shift(members, holdout))["many_texts"]
    assert "many_texts" not in found_in(mipaudit.shift(table(1), table(2)))


def test_rows_that_repeat_are_named_unless_persons_are_known():
    members, holdout = table(3, N // 4), table(4, N // 4)
    members, holdout = (pd.concat([frame] * 4) for frame in (members, holdout))
    several = found_in(mipaudit.shift(members, holdout, columns="age,ward,smoker"))
    assert "`id_col`" in several["repeated_rows"]
    one = mipaudit.shift(members, holdout, id_col="patient")
    assert "repeated_rows" not in found_in(one)
    assert one.estimates[0].lower == 0


def test_columns_stored_more_coarsely_in_one_class_tell_nothing():
    members, holdout = table(0), table(1)
    numbers = [name for name in members if members[name].dtype == np.float64]
    members[numbers] = members[numbers].astype(np.float32)

    report = mipaudit.shift(members, holdout)

    holdout[numbers] = holdout[numbers].astype(np.float32)
    assert report.estimates == mipaudit.shift(members, holdout).estimates
    assert "rounded_numbers" in {one.code for one in report.findings}


def test_a_file_and_a_frame_are_compared_as_two_files_are(tmp_path):
    rng = np.random.default_rng(0)
    inside, outside = (pd.DataFrame({"a": rng.normal(size=200)}) for _ in range(2))
    for name, table in (("in.csv", inside), ("out.csv", outside)):
        table.to_csv(tmp_path / name, index=False)

    mixed = mipaudit.shift(tmp_path / "in.csv", outside)

    assert mixed.estimates == mipaudit.shift(tmp_path / "in.csv", tmp_path / "out.csv").estimates
