"""``compare``: several columns, files matched by key, files apart; names and errors."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.compare.options import named_input, query_names
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told
from tests.fixtures.codes import said


def frame(seed=0, n=2000, shifts=(1.5, 0.0)):
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    columns = {"record_id": np.arange(n), "member": member}
    for index, shift in enumerate(shifts):
        columns[f"score_{index}"] = rng.standard_normal(n) + shift * member
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def columns():
    return mipaudit.compare(frame(), seed=1)


def test_the_leaky_column_certainly_leaks_more(columns):
    assert [one.query for one in columns.ranking] == ["score_0", "score_1"]
    assert columns.ranking[0].leaks_more_than == ("score_1",)
    assert (columns.ranking[0].highest_place, columns.ranking[0].lowest_place) == (1, 1)
    assert columns.verdict.status == "no_policy"
    by_class = {one.attackers: one for one in columns.differences}
    assert set(by_class) == {"thresholds", "intervals-1", "intervals-4", "bins-16"}
    for one in by_class.values():
        assert (one.score, one.versus) == ("score_0", "score_1")
        assert one.lower <= 0.5467 <= one.upper  # 2 Phi(0.75) - 1
        assert one.lower <= one.value <= one.upper


def test_the_best_of_several_has_a_limit_of_its_own(columns):
    honest, naive = columns.best_of
    assert honest.validity == "approximate"
    assert naive.validity == "not-an-interval"
    assert 0.4 < honest.lower < 0.55


def test_the_same_answer_for_any_number_of_threads_and_again_from_json(columns):
    again = mipaudit.compare(frame(), seed=1, jobs=1)
    assert again.differences == columns.differences
    written = json.loads(mipaudit.to_json(columns))
    assert written["schema"] == "mipaudit.compare/3"
    assert written["differences"][0]["versus"] == "score_1"


def test_a_leak_that_only_both_scores_show():
    rng = np.random.default_rng(2)
    n = 4000
    member = rng.random(n) < 0.5
    agree = rng.random(n) < np.where(member, 0.8, 0.2)
    first = rng.standard_normal(n)
    second = np.abs(rng.standard_normal(n)) * np.where(agree, 1, -1) * np.sign(first)
    report = mipaudit.compare(pd.DataFrame({"member": member, "a": first, "b": second}))
    (joint,) = report.together
    assert joint.lower > 0.5  # of 0.6
    gains = {one.attackers: one.lower for one in report.gains}
    assert gains["thresholds"] > 0.35
    assert gains["bins-16"] > 0.3
    assert "leak_together" in said(report)
    assert all(abs(one.value) < 0.1 for one in report.differences)


def test_files_matched_by_key_are_as_columns_of_one(columns):
    data = frame()
    first = data[["record_id", "member", "score_0"]]
    second = data[["record_id", "member", "score_1"]].sample(frac=1, random_state=3)
    report = mipaudit.compare(first, second, key_col="record_id", seed=1)
    assert report.design.apart == "same-rows"
    assert {one.rows for one in report.design.queries} == {1}
    for one, other in zip(report.differences, columns.differences, strict=True):
        assert one.lower == pytest.approx(other.lower, abs=0.05)
    assert report.findings == ()


def test_rows_without_a_match_are_counted_and_left_out():
    data = frame()
    report = mipaudit.compare(
        data[["record_id", "member", "score_0"]],
        data[["record_id", "member", "score_1"]].iloc[:1500],
        key_col="record_id",
    )
    (finding,) = [one for one in report.findings if one.code == "unmatched_rows"]
    assert "500 rows" in told(finding)
    assert "1,500 are compared" in told(finding)
    sizes = {one.n_members + one.n_holdout for one in report.design.queries}
    assert sizes == {1500}


def test_matching_refuses_what_makes_no_sense():
    data = frame(n=300)
    first = data[["record_id", "member", "score_0"]]
    second = data[["record_id", "member", "score_1"]]
    flipped = second.assign(member=~second["member"])
    with pytest.raises(InputError) as error:
        mipaudit.compare(first, flipped, key_col="record_id")
    assert error.value.code == "membership_differs"
    elsewhere = second.assign(record_id=second["record_id"] + 10_000)
    with pytest.raises(InputError) as error:
        mipaudit.compare(first, elsewhere, key_col="record_id")
    assert error.value.code == "no_matching_keys"
    repeated = second.assign(record_id=second["record_id"] // 2 * 2 + second["member"])
    with pytest.raises(InputError) as error:
        mipaudit.compare(first, repeated, key_col="record_id")
    assert error.value.code in {"repeated_keys", "duplicate_ids"}


def test_files_apart_have_wider_limits_unless_they_are_independent():
    one = frame(1, shifts=(1.0,))
    other = frame(2, n=1200, shifts=(0.2,))
    widths = []
    for independent in (False, True):
        report = mipaudit.compare(one, other, independent=independent)
        assert report.design.apart == ("independent" if independent else "unknown")
        widths.append([row.upper - row.lower for row in report.differences])
        assert not report.together
        assert not report.best_of
        first = report.differences[0]
        assert first.score == "input 1"
        assert first.lower <= 0.3829 - 0.0797 <= first.upper
    assert all(b < a for a, b in zip(*widths, strict=True))


def test_discrete_scores_are_compared_for_any_attacker():
    rng = np.random.default_rng(4)
    member = rng.random(3000) < 0.5
    a = rng.random(3000) < np.where(member, 0.7, 0.3)
    b = rng.random(3000) < np.where(member, 0.55, 0.45)
    report = mipaudit.compare(pd.DataFrame({"member": member, "score_a": a * 1, "score_b": b * 1}))
    assert report.design.against == "any"
    first = report.differences[0]
    assert first.attackers == "any"
    assert 0.1 < first.lower <= 0.3 <= first.upper < 0.45


def test_a_baseline_leaves_only_pairs_with_it():
    report = mipaudit.compare(frame(shifts=(1.0, 0.5, 0.0)), baseline="score_2")
    assert report.design.pairs == 2
    assert {one.versus for one in report.differences} == {"score_2"}
    limited = mipaudit.compare(frame(), baseline="score_1", max_increase=0.55)
    (check,) = limited.policy
    assert (check.score, check.versus, check.against) == ("score_0", "score_1", "thresholds")
    assert check.status == limited.verdict.status == "inconclusive"


def test_other_priors_have_their_own_range():
    report = mipaudit.compare(frame(n=4000), prior=0.1)
    assert report.design.trivial == pytest.approx(0.8)
    for one in report.differences:
        assert -0.2 <= one.lower <= one.upper <= 0.2


@pytest.mark.parametrize(
    ("keywords", "code"),
    [
        ({"max_increase": 1.5, "baseline": "score_0"}, "max_increase"),
        ({"baseline": "nobody"}, "baseline"),
        ({"against": "nobody"}, "against"),
        ({"against": "any"}, "against"),
        ({"score_col": "score_0"}, "one_query"),
    ],
)
def test_a_wrong_setting_is_named(keywords, code):
    with pytest.raises(UsageError) as error:
        mipaudit.compare(frame(n=200), **keywords)
    assert error.value.code == code


def test_too_many_pairs_are_refused():
    with pytest.raises(UsageError) as error:
        mipaudit.compare(frame(n=100, shifts=(0.0,) * 13))
    assert error.value.code == "too_many_queries"


def test_names_are_given_or_the_stem():
    assert named_input("dir/a.csv.gz", 1).name == "a"
    assert named_input("new=dir/a.parquet", 1).name == "new"
    assert named_input("new=dir/a.parquet", 1).data == "dir/a.parquet"
    assert named_input("dir/x=1/a.parquet", 1).data == "dir/x=1/a.parquet"
    assert named_input(object(), 3).name == "input 3"
    assert named_input("dir/report.json", 1).name == "report"
    assert named_input("old=report.json", 1).data == "report.json"


def test_a_query_is_named_after_its_input_its_column_or_both():
    assert query_names([("a", ["x", "y"])]) == [["x", "y"]]
    assert query_names([("a", ["x"]), ("b", ["x", "y"])]) == [["a"], ["b:x", "b:y"]]
    with pytest.raises(UsageError) as error:
        query_names([("a", ["x"]), ("a", ["x"])])
    assert error.value.code == "same_names"


def test_arrays_of_several_scores():
    rng = np.random.default_rng(3)
    members = rng.standard_normal((500, 2)) + np.array([1.5, 0.0])
    report = mipaudit.compare(members=members, holdout=rng.standard_normal((400, 2)))
    assert report.ranking[0].query == "score_0"


def test_a_constant_column_is_a_finding_and_leaks_nothing():
    report = mipaudit.compare(frame(n=600).assign(score_2=1.0))
    assert "constant_column" in {one.code for one in report.findings}
    assert "not_seen_together" in {one.code for one in report.findings}
    assert report.ranking[-1].estimate == pytest.approx(0.0)


def test_labels_have_no_thresholds():
    data = frame(n=600).assign(answer=["yes", "no"] * 300)
    with pytest.raises(UsageError) as error:
        mipaudit.compare(data, score_col=["score_0", "answer"])
    assert error.value.code == "against"


def test_a_constant_query_in_a_file_of_its_own_is_compared():
    # A gate must not break because the new release leaks nothing.
    leaky = frame(n=800, shifts=(1.5,))
    silent = frame(1, n=800, shifts=(0.0,)).assign(score_0=1.0)
    for independent in (False, True):
        report = mipaudit.compare(
            leaky, silent, independent=independent, baseline="input 1", max_increase=0.1
        )
        assert report.verdict.status == "met"
        assert "constant_column" in {one.code for one in report.findings}
        assert report.ranking[-1].query == "input 2"
    with pytest.raises(InputError) as error:
        mipaudit.compare(silent, silent.copy())
    assert error.value.code == "constant_scores"
    with pytest.raises(InputError) as error:
        mipaudit.compare(silent.assign(score_1=2.0))
    assert error.value.code == "constant_scores"


def test_independent_needs_inputs_of_different_records(tmp_path):
    data = frame(n=300)
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    frame(1, n=300, shifts=(1.0,)).to_csv(first, index=False)
    second.write_bytes(first.read_bytes())
    scores = data[["member", "score_0"]]
    cases = [
        ((data,), {}),
        ((), {"members": [[1.0, 2.0]] * 50, "holdout": [[0.0, 1.0]] * 50}),
        ((data, frame(2, n=300)), {"key_col": "record_id"}),
        ((scores, scores), {}),
        ((f"old={first}", f"new={first.parent}/./a.csv"), {}),
        ((first, second), {}),
    ]
    for inputs, keywords in cases:
        with pytest.raises(UsageError) as error:
            mipaudit.compare(*inputs, independent=True, **keywords)
        assert error.value.code == "independent"
    assert mipaudit.compare(first, second).design.apart == "unknown"


@pytest.mark.parametrize("matching", ["members", "holdout"])
def test_keys_that_match_in_one_class_only_are_named(matching):
    data = frame(n=300)
    moved = data["member"] if matching == "holdout" else ~data["member"]
    second = data[["member", "score_1"]].assign(record_id=data["record_id"] + 10_000 * moved)
    with pytest.raises(InputError) as error:
        mipaudit.compare(data[["record_id", "member", "score_0"]], second, key_col="record_id")
    assert error.value.code == "no_matching_keys"
    assert f"all {matching}" in error.value.message


def test_why_pairs_were_not_looked_at_together():
    def said(report):
        return [told(one) for one in report.findings if one.code == "not_seen_together"]

    many = mipaudit.compare(frame(n=300, shifts=(1.0,) + (0.0,) * 5), jobs=1)
    assert not many.together
    (text,) = said(many)
    assert text.startswith("None of 15 pairs")
    steady = mipaudit.compare(frame(n=300).assign(score_2=1.0), jobs=1)
    assert len(steady.together) == 1
    (text,) = said(steady)
    assert text.startswith("2 pairs")
    assert "constant" in text
    assert "--baseline" not in text
    assert not said(mipaudit.compare(frame(n=300), jobs=1))
