from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.epsilon.runs.curve_refutation import counts_refute_curve, runs_refute_curve
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.privacy.approximate import ApproximateDP
from mipaudit.maths.privacy.mechanism import GaussianDP


def draw(rng, mu, runs):
    return rng.normal(mu, 1, runs), rng.normal(0, 1, runs)


def refuted(mu, claim, runs, files, *, splits=1):
    found = 0
    for number in range(files):
        members, holdout = draw(np.random.default_rng(number), mu, runs)
        rng = np.random.default_rng((7, number))
        found += runs_refute_curve(members, holdout, claim, confidence=0.95, rng=rng, splits=splits)
    return found


@pytest.mark.parametrize("splits", [1, 4])
def test_a_true_curve_is_seldom_refuted(splits):
    # P(Bin(200, 0.05) > 20) is below 0.1%.
    assert refuted(1.0, GaussianDP(mu=1.0), 300, 200, splits=splits) <= 20


def test_a_false_curve_is_refuted():
    assert refuted(1.0, GaussianDP(mu=0.7), 4000, 40) >= 36
    assert refuted(1.0, ApproximateDP(epsilon=0.5, delta=1e-5), 4000, 40) >= 36


def test_scores_that_are_low_for_members_refute_as_well():
    members, holdout = draw(np.random.default_rng(1), 2.0, 2000)
    for sign in (1, -1):
        rng = np.random.default_rng(2)
        assert runs_refute_curve(
            sign * members, sign * holdout, GaussianDP(mu=1.0), confidence=0.95, rng=rng
        )


def test_one_row_of_a_class_refutes_nothing():
    rng = np.random.default_rng(3)
    claim = GaussianDP(mu=0.0)
    assert not runs_refute_curve(
        np.array([9.0]), rng.normal(size=99), claim, confidence=0.95, rng=rng
    )


def test_counts_are_compared_at_two_clopper_pearson_limits():
    tpr = clopper_pearson_lower(90, 100, 0.025)
    fpr = clopper_pearson_upper(5, 100, 0.025)
    for epsilon in (1.9, 2.0, 2.1):
        claim = ApproximateDP(epsilon=epsilon, delta=0.0)
        expected = tpr > claim.tpr(fpr)
        assert counts_refute_curve(90, 10, 5, 95, claim, confidence=0.95) == expected
    assert not counts_refute_curve(90, 10, 5, 95, GaussianDP(mu=9.0), confidence=0.95)
