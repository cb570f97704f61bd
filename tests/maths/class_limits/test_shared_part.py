"""Limits of what is told among records as likely in either class, on laws that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.class_limits.shared_part import (
    fpr_reached,
    most_apart_above,
    most_apart_within,
    shared_advantage_lower,
    shared_advantage_upper,
    shared_auc_lower,
    shared_auc_upper,
    shared_tpr_lower,
    shared_tpr_upper,
)

SEEDS = st.integers(0, 2**32 - 1)
PRIORS = st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.7, 0.95])
NEAR = 1e-9


def advantage(p, members, holdout):
    return float(np.abs(p * members - (1 - p) * holdout).sum())


def best_threshold(p, members, holdout):
    """Return the best advantage of a threshold on either side, guessing blindly included."""
    gains = p * members - (1 - p) * holdout
    sums = np.r_[0, np.cumsum(gains)]
    return float((1 - 2 * p) + 2 * max(sums.max(), (sums[-1] - sums).max()))


def area(members, holdout):
    """Return the AUC of the score as it is, ties counted by half."""
    below = np.cumsum(holdout) - holdout / 2
    return float((members * below).sum())


def best_tpr(members, holdout, fpr):
    """Return the best TPR at an FPR of all attackers, who may toss coins."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(holdout > 0, members / holdout, np.inf))
    x = np.r_[0, np.cumsum(holdout[order])]
    y = np.r_[0, np.cumsum(members[order])]
    return float(np.interp(fpr, x, y))


def world(seed, *, leaks=True):
    """Return t, and (members', holdout's) laws of a score over all and over shared records."""
    rng = np.random.default_rng(seed)
    spread = rng.choice([0.1, 1.0, 10.0])
    members, holdout = rng.dirichlet([spread] * 5, 2)
    inside = rng.dirichlet([0.3] * 4, 5)
    outside = rng.dirichlet([0.3] * 4, 5) if leaks else inside
    common = np.minimum(members, holdout)
    apart = 1 - common.sum()
    common = common / max(common.sum(), 1e-300)
    return apart, (members @ inside, holdout @ outside), (common @ inside, common @ outside)


@given(SEEDS, PRIORS)
def test_the_advantage_of_shared_records_is_between(seed, prior):
    apart, whole, shared = world(seed)
    if apart > 1 - 1e-6:
        return
    baseline = abs(2 * prior - 1)
    for figure in (advantage, best_threshold):
        found, truth = figure(prior, *whole), figure(prior, *shared)
        assert shared_advantage_lower(found, apart, baseline) <= truth + NEAR
        assert shared_advantage_upper(found, apart) >= truth - NEAR


@given(SEEDS, PRIORS)
def test_a_function_of_the_record_alone_has_no_excess(seed, prior):
    apart, whole, _ = world(seed, leaks=False)
    if apart > 1 - 1e-6:
        return
    baseline = abs(2 * prior - 1)
    lower = shared_advantage_lower(advantage(prior, *whole), apart, baseline)
    assert lower == pytest.approx(baseline, abs=1e-9)
    assert shared_auc_lower(area(*whole), apart) <= 0.5 + NEAR
    for fpr in (0.001, 0.1, 0.5):
        assert shared_tpr_lower(best_tpr(*whole, fpr), apart, fpr) <= fpr + NEAR


@given(SEEDS)
def test_auc_and_tpr_of_shared_records_are_between(seed):
    apart, whole, shared = world(seed)
    if apart > 1 - 1e-3:
        return
    assert shared_auc_lower(area(*whole), apart) <= area(*shared) + NEAR
    assert shared_auc_upper(area(*whole), apart) >= area(*shared) - NEAR
    for fpr in (0.001, 0.1, 0.5):
        truth = best_tpr(*shared, fpr)
        assert shared_tpr_lower(best_tpr(*whole, fpr), apart, fpr) <= truth + NEAR
        reached = best_tpr(*whole, fpr_reached(fpr, apart))
        assert shared_tpr_upper(reached, apart) >= truth - NEAR


@pytest.mark.parametrize("apart", [0.1, 0.3])
def test_both_ends_are_attained(apart):
    """On what is not shared an attacker may be always right, or always wrong."""
    share = 1 - apart
    right = np.array([apart, share, 0.0]), np.array([0.0, share, apart])
    assert shared_advantage_lower(advantage(0.5, *right), apart, 0) == pytest.approx(0)
    assert shared_auc_lower(1 - area(*right), apart) == pytest.approx(0.5)
    # A leak that a difference of the same size cancels: the two laws of the score are one.
    leak = apart / share
    members = np.array([share * (1 + leak) / 2, share * (1 - leak) / 2 + apart])
    holdout = np.array([share * (1 - leak) / 2 + apart, share * (1 + leak) / 2])
    assert advantage(0.5, members, holdout) == pytest.approx(0)
    assert shared_advantage_upper(0.0, apart) == pytest.approx(leak)


@pytest.mark.parametrize(("lower", "limit"), [(0.5, 0.1), (0.9, 0.3), (0.2, 0.15)])
def test_the_turning_points(lower, limit):
    at = most_apart_above(lower, limit)
    assert shared_advantage_lower(lower, at, 0) == pytest.approx(limit)
    assert shared_advantage_lower(lower, at - 1e-6, 0) > limit
    within = most_apart_within(limit / 2, limit)
    assert shared_advantage_upper(limit / 2, within) == pytest.approx(limit)
    assert most_apart_above(limit, lower) == most_apart_within(lower, limit) == 0


def test_a_limit_of_the_tpr_is_none_above_one():
    assert shared_tpr_upper(0.45, 0.1) == pytest.approx(0.5)
    assert shared_tpr_upper(0.95, 0.1) == 1.0
