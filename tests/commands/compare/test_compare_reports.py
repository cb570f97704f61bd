"""``compare`` on reports: what changed, what is refused, what is told."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told
from tests.fixtures.codes import said


def scores(seed, n=400, **shifts):
    rng = np.random.default_rng(seed)
    member = np.arange(n) % 2 == 0
    drawn = {name: rng.standard_normal(n) + shift * member for name, shift in shifts.items()}
    return pd.DataFrame({"member": member, **drawn})


@pytest.fixture(scope="module")
def old():
    return mipaudit.estimate(scores(0, a=0.0, b=1.0), score_col=["a", "b"])


@pytest.fixture(scope="module")
def new():
    return mipaudit.estimate(scores(1, n=2000, a=2.5, b=1.0), score_col=["a", "b"])


def advantage(found, score, attackers="thresholds"):
    return next(
        one
        for one in found.changes
        if (one.quantity, one.score, one.attackers) == ("advantage", score, attackers)
    )


def figures(found, score, attackers="thresholds"):
    """Return the old and the new figure that a change follows from."""
    old, new = (
        one
        for one in found.figures
        if (one.quantity, one.score, one.attackers) == ("advantage", score, attackers)
    )
    return old, new


def stored(report, score, attackers):
    return next(
        one
        for one in report.estimates
        if (one.quantity, one.score, one.attackers) == ("advantage", score, attackers)
    )


def test_limits_are_those_of_the_reports_the_other_way_round(old, new):
    found = mipaudit.compare(old, new)
    for score in ("a", "b"):
        for attackers in ("thresholds", "bins-16"):
            one = advantage(found, score, attackers)
            before, after = stored(old, score, attackers), stored(new, score, attackers)
            old_lower, new_lower = (one.lower for one in figures(found, score, attackers))
            assert one.upper == after.upper - old_lower
            assert one.lower == new_lower - before.upper
            assert new_lower <= stored(new, score, "any").value + 0.1
    assert advantage(found, "a").shown == "increase"
    assert advantage(found, "b").shown == "open"
    everyone = advantage(found, "a", "any")
    assert (everyone.lower, everyone.upper) == (None, None)
    assert told(everyone.upper_reason) == "the new report has no upper limit"


def test_errors_add_up_over_all_reports(old, new):
    assert mipaudit.compare(old, new).design.confidence == 0.9
    three = mipaudit.compare(old, new, new)
    assert three.design.confidence == 0.85
    assert {one.report for one in three.changes} == {"input 2", "input 3"}
    assert all(one.versus == "input 1" for one in three.changes)


@pytest.mark.parametrize(("limit", "status"), [(0.05, "not_met"), (1.0, "met")])
def test_verdict(old, new, limit, status):
    found = mipaudit.compare(old, new, max_increase=limit)
    assert found.verdict.status == status
    assert [one.score for one in found.policy] == ["a", "b"]


def test_the_verdict_is_open_between_the_limits(old):
    found = mipaudit.compare(old, old, max_increase=0.01)
    assert found.verdict.status == "inconclusive"
    assert "files_more_precise" in said(found)


def test_the_baseline_is_the_old_one(old, new):
    found = mipaudit.compare(new, old, baseline="input 2")
    assert found.design.baseline == "input 2"
    assert advantage(found, "a").shown == "increase"
    assert advantage(mipaudit.compare(new, old), "a").shown == "decrease"


def test_a_score_that_one_report_lacks_is_told_and_not_passed(old):
    renamed = mipaudit.estimate(scores(1, a=0.0, c=1.0), score_col=["a", "c"])
    found = mipaudit.compare(old, renamed, max_increase=1.0)
    assert {one.score: one.status for one in found.scores} == {
        "a": "in both",
        "c": "new",
        "b": "missing",
    }
    assert found.verdict.status == "inconclusive"
    (reason, *_) = map(told, found.verdict.reasons)
    assert reason == "score 'c' in 'input 2': the old report does not have this score"
    assert {one.score: one.status for one in found.policy} == {
        "a": "met",
        "b": "inconclusive",
        "c": "inconclusive",
    }


def test_discrete_scores_are_compared_for_any_attacker():
    rng = np.random.default_rng(0)
    member = np.arange(4000) % 2 == 0
    quiet = pd.DataFrame({"member": member, "s": rng.integers(0, 4, 4000).astype(float)})
    loud = quiet.assign(s=np.where(member, 3.0, quiet["s"]))
    reports = [mipaudit.estimate(one, discrete=True) for one in (quiet, loud)]
    found = mipaudit.compare(*reports, max_increase=0.1)
    assert found.design.against == "any"
    assert found.verdict.status == "not_met"
    one = advantage(found, "s", "any")
    assert figures(found, "s", "any")[1].lower_reason is None
    assert 0.5 < one.lower < 0.75 < one.upper


def test_what_differs_in_more_than_numbers_is_told(old):
    data = scores(0, a=0.0, b=1.0)
    other = mipaudit.estimate(
        data.assign(b=-data["b"]),
        score_col=["a", "b"],
        confidence=0.9,
        strict=True,
        nan="drop",
        metric="ppv",
    )
    other = replace(other, provenance=replace(other.provenance, mipaudit="0.0.9"))
    found = mipaudit.compare(old, other)
    codes = {one.code for one in found.findings}
    assert codes == {
        "confidence_differs",
        "strict_differs",
        "settings_differ",
        "versions_differ",
        "side_differs",
        "unmatched_figures",
    }
    assert found.design.confidence == 0.85
    auc = next(one for one in found.changes if (one.quantity, one.score) == ("auc", "b"))
    assert auc.lower is None


def test_reports_that_cannot_be_compared_are_refused(old, tmp_path):
    prior = mipaudit.estimate(scores(1, a=0.0), prior=0.1)
    other = mipaudit.estimate(scores(1, z=0.0), score_col=["z"])
    unsure = mipaudit.estimate(scores(1, a=0.0), confidence=0.5)
    checked = mipaudit.check(scores(1, a=0.0))
    lying = replace(old, design=replace(old.design, prior=0.3))
    for given, code in (
        ((old, prior), "different_priors"),
        ((old, other), "no_common_score"),
        ((unsure, unsure), "no_confidence"),
        ((old, checked), "report_schema"),
        ((old, lying), "bad_report"),
        ((old, tmp_path / "absent.json"), "unreadable_report"),
        ((old, tmp_path / "old.json.gz"), "compressed_report"),
    ):
        with pytest.raises(InputError) as error:
            mipaudit.compare(*given)
        assert error.value.code == code


def test_wrong_arguments_are_refused(old, new, tmp_path):
    data = scores(1, a=0.0)
    for given, terms, code in (
        ((old,), {}, "one_query"),
        ((old, data), {}, "mixed_inputs"),
        ((old, new), {"baseline": "old"}, "baseline"),
        ((old, new), {"max_increase": 1.5}, "max_increase"),
        ((old, new), {"max_increase": -0.1}, "max_increase"),
        ((old, new), {"against": "any"}, "against"),
        ((old, new), {"against": "learned"}, "against"),
        ((tmp_path / "a" / "r.json", tmp_path / "b" / "r.json"), {}, "same_names"),
    ):
        with pytest.raises(UsageError) as error:
            mipaudit.compare(*given, **terms)
        assert error.value.code == code


def test_from_json_reads_it_back_and_names_what_it_read(old, new, tmp_path):
    for name, report in (("v1", old), ("v2", new)):
        (tmp_path / f"{name}.json").write_bytes(mipaudit.to_json(report))
    found = mipaudit.compare(tmp_path / "v1.json", f"now={tmp_path / 'v2.json'}", max_increase=0.1)
    assert [one.name for one in found.design.reports] == ["v1", "now"]
    assert mipaudit.from_json(mipaudit.to_json(found)) == found
    in_memory = mipaudit.compare(old, new, max_increase=0.1)
    hashes = [one.sha256 for one in found.provenance.inputs]
    assert hashes == [one.sha256 for one in in_memory.provenance.inputs]
    assert {one.name for one in found.provenance.settings} == {
        "baseline",
        "max_increase",
        "against",
    }


def test_limits_hold_where_the_truth_is_known():
    """Thresholds on normal scores: the best advantage is 2 Phi(shift / 2) - 1."""
    shifts = (0.3, 1.2)
    before, after = (2 * NormalDist().cdf(shift / 2) - 1 for shift in shifts)
    for seed in range(12):
        reports = [
            mipaudit.estimate(scores(2 * seed + place, n=1000, s=shift), score_col=["s"])
            for place, shift in enumerate(shifts)
        ]
        found = mipaudit.compare(*reports)
        one, (old, new) = advantage(found, "s"), figures(found, "s")
        assert old.lower <= before
        assert new.lower <= after
        assert one.lower <= after - before <= one.upper


def test_a_limit_says_nothing_about_two_reports_of_the_same_scores(tmp_path):
    path = tmp_path / "scores.csv"
    data = scores(1, a=1.0)
    data.assign(version=np.arange(len(data)) // 2 % 2).to_csv(path, index=False)
    old = mipaudit.estimate(path, score_col=["a"])
    again = mipaudit.estimate(path, score_col=["a"], confidence=0.9, seed=1)
    part = mipaudit.estimate(path, score_col=["a"], where="version = 1")

    with pytest.raises(InputError) as error:
        mipaudit.compare(old, again, max_increase=0.5)
    assert error.value.code == "same_scores"
    assert mipaudit.compare(old, again).verdict.status == "no_policy"
    assert mipaudit.compare(old, part, max_increase=1.0).verdict.status == "met"
