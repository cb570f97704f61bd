"""A policy judged on the limits that a report holds."""

from __future__ import annotations

import numpy as np
import pytest

import mipaudit
from mipaudit.errors import UsageError
from mipaudit.evidence.judgement.policy_on_scores import Stored, judge_stored, verdict_confidence
from mipaudit.report.messages.told import told
from mipaudit.statements.policy import Limit, Policy


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(5)
    return mipaudit.estimate(
        members=np.column_stack([rng.normal(0.6, 1, 2000), rng.normal(0, 1, 2000)]),
        holdout=np.column_stack([rng.normal(0.0, 1, 2000), rng.normal(0, 1, 2000)]),
        metric="f1",
    )


@pytest.fixture
def stored(report):
    return Stored(
        estimates=report.estimates,
        scores=report.design.score_columns,
        prior=report.design.prior,
        side_given=False,
    )


def row(report, score, quantity, **wanted):
    found = [
        one
        for one in report.estimates
        if (one.score, one.quantity) == (score, quantity)
        and all(getattr(one, name) == value for name, value in wanted.items())
    ]
    assert len(found) == 1
    return found[0]


def test_the_limits_are_those_of_the_rows(report, stored):
    score = report.design.score_columns[0]
    limits = (
        Limit(quantity="advantage", max=0.5, score=score, against="bins-16"),
        Limit(quantity="eta", max=0.3, score=score, against="bins-16"),
        Limit(quantity="accuracy", max=0.9, score=score, against="bins-16"),
        Limit(quantity="tpr_at_fpr", max=0.2, score=score, fpr=0.01),
        Limit(quantity="metric", max=0.8, score=score, metric="f1", against="thresholds"),
    )

    advantage, eta, accuracy, tpr, metric = judge_stored(stored, Policy(limits=limits))

    at_least = row(report, score, "advantage", attackers="any").lower
    at_most = row(report, score, "advantage", attackers="bins-16").upper
    assert (advantage.lower, advantage.upper) == (at_least, at_most)
    assert (eta.lower, eta.upper) == (at_least / 2, at_most / 2)
    assert accuracy.upper == pytest.approx((1 + at_most) / 2)
    of_tpr = row(report, score, "tpr_at_fpr", fpr=0.01)
    assert (tpr.lower, tpr.upper) == (of_tpr.lower, of_tpr.upper)
    assert metric.upper == row(report, score, "metric", attackers="thresholds").upper
    assert metric.lower == row(report, score, "metric", attackers="any").lower


def test_without_a_class_the_largest_limit_decides(report, stored):
    (check, _) = judge_stored(stored, Policy(max_advantage=0.5))

    rows = [
        one
        for one in report.estimates
        if (one.score, one.quantity) == (check.score, "advantage") and one.upper is not None
    ]
    assert check.upper == max(one.upper for one in rows)
    assert check.against != "any"


def test_every_outcome_is_there(stored):
    checks = [
        judge_stored(stored, Policy(max_advantage=limit))[0] for limit in (0.001, 0.25, 0.999)
    ]

    assert [check.status for check in checks] == ["not_met", "inconclusive", "met"]
    assert "leave open" in told(checks[1].reason)
    assert "records" not in told(checks[1].reason)


def test_an_auc_is_that_of_the_better_side_unless_the_side_was_given(report, stored):
    score = report.design.score_columns[1]  # nothing leaks: the interval is about one half
    found = row(report, score, "auc")
    policy = Policy(limits=(Limit(quantity="auc", max=0.9, score=score),))

    (check,) = judge_stored(stored, policy)

    assert check.upper == max(found.upper, 1 - found.lower)


@pytest.mark.parametrize(
    "policy",
    [
        Policy(max_tpr_at_fpr=(0.5, 0.02)),
        Policy(max_metric=(("ppv", 0.9),)),
        Policy(max_advantage=0.5, against="learned"),
        Policy(limits=(Limit(quantity="advantage", max=0.5, prior=0.1),)),
        Policy(limits=(Limit(quantity="advantage", max=0.5, group="*"),)),
        Policy(limits=(Limit(quantity="advantage", max=0.5, score="absent"),)),
    ],
)
def test_what_the_report_does_not_hold_is_refused(stored, policy):
    with pytest.raises(UsageError) as caught:
        judge_stored(stored, policy)

    assert caught.value.code == "not_in_report"


def test_published_rows_decide_nothing():
    rng = np.random.default_rng(6)
    report = mipaudit.estimate(
        members=rng.normal(1, 1, 500), holdout=rng.normal(0, 1, 500), method="mace"
    )
    score = report.design.score_columns[0]
    stored = Stored(estimates=report.estimates, scores=(score,), prior=0.5, side_given=False)

    (check,) = judge_stored(stored, Policy(max_advantage=0.9, against="any"))

    assert check.upper is None  # MACE's row has one
    assert check.status == "inconclusive"


@pytest.mark.parametrize(
    ("confidence", "limits", "expected"), [(0.95, 1, 0.95), (0.95, 3, 0.85), (0.99, 10, 0.9)]
)
def test_each_limit_costs_its_share_of_the_confidence(confidence, limits, expected):
    assert verdict_confidence(confidence, limits) == expected


def test_a_verdict_that_says_nothing_is_refused():
    with pytest.raises(UsageError) as caught:
        verdict_confidence(0.95, 11)

    assert caught.value.code == "too_many_limits"


def test_a_stored_verdict_is_at_most_as_sharp_as_one_on_the_data():
    """With one limit and one score the shares are the same, and so are the limits."""
    rng = np.random.default_rng(7)
    data = {"members": rng.normal(0.4, 1, 3000), "holdout": rng.normal(0, 1, 3000)}
    judged = mipaudit.estimate(**data, max_advantage=0.3)
    (check,) = judged.policy

    (again,) = mipaudit.rejudge(mipaudit.estimate(**data), max_advantage=0.3).policy

    assert (again.lower, again.upper, again.status) == (check.lower, check.upper, check.status)
