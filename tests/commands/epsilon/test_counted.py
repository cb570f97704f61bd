"""The conditional limit of a table of counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from mipaudit.commands.epsilon.independent_runs import (
    conditional_from_counts,
    counts_refute_curve,
    estimate_from_counts,
    pooled_limit,
    runs_refute_curve,
    smoothed_rates,
)
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.epsilon.conditional import GuessCounts
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP
from mipaudit.maths.privacy.mechanism import GaussianDP


def answers(tp, fn, fp, tn):
    return GuessCounts(tp, fp, tn, fn, n_members=tp + fn, n_holdout=fp + tn)


@pytest.mark.parametrize("numerator", ["either", "member", "holdout", "both"])
@pytest.mark.parametrize("sizes", [(30, 30), (20, 60)])
def test_randomized_response_is_rarely_found_worse_than_it_is(numerator, sizes):
    epsilon, alpha = 1.0, 0.1
    right = math.e / (1 + math.e)
    error = 0.0
    for tp in range(sizes[0] + 1):
        for tn in range(sizes[1] + 1):
            table = answers(tp, sizes[0] - tp, sizes[1] - tn, tn)
            lower, _ = conditional_from_counts(table, numerator=numerator, delta=0.0, alpha=alpha)
            if lower > epsilon:
                error += binom.pmf(tp, sizes[0], right) * binom.pmf(tn, sizes[1], right)
    assert 0.005 < error <= alpha


def test_either_takes_the_better_class_at_half_the_error():
    counts = answers(60, 40, 1, 99)
    found, numerator = conditional_from_counts(counts, numerator="either", delta=0.0, alpha=0.05)
    halves = {
        one: conditional_from_counts(counts, numerator=one, delta=0.0, alpha=0.025)[0]
        for one in ("member", "holdout")
    }
    assert numerator == "member"
    assert found == halves["member"] > halves["holdout"]


def test_what_delta_explains_does_not_count():
    counts = answers(60, 940, 0, 1000)
    limits = [
        conditional_from_counts(counts, numerator="member", delta=delta, alpha=0.05)[0]
        for delta in (0.0, 1e-5, 0.01, 0.03, 0.06, 0.5, 1.0)
    ]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] > 2.5
    assert limits[-1] == limits[-2] == 0


def test_estimates_are_finite_and_near_the_plug_in():
    assert estimate_from_counts(answers(10, 0, 0, 10), delta=0.0) == pytest.approx(math.log(21))
    found = estimate_from_counts(answers(900, 100, 100, 900), delta=0.0)
    assert found == pytest.approx(2.197, abs=0.01)
    assert smoothed_rates(answers(0, 0, 0, 1)) == (0.5, 0.25)


def test_mirrored_sets_of_equal_classes_pool():
    limit = pooled_limit()
    for right in np.arange(90, 100):
        both, _ = conditional_from_counts(
            answers(right, 100 - right, 100 - right, right),
            numerator="both",
            delta=1e-4,
            alpha=0.05,
        )
        pooled = limit(2 * right, 200, 200 - 2 * right, 200, 1e-4, 0.05)
        assert pooled == pytest.approx(both, abs=1e-12)


def draw(rng, mu, runs):
    return rng.normal(mu, 1, runs), rng.normal(0, 1, runs)


def refuted(mu, claim, runs, files, *, decimals=15):
    found = 0
    for number in range(files):
        members, holdout = draw(np.random.default_rng(number), mu, runs)
        found += runs_refute_curve(
            members.round(decimals), holdout.round(decimals), claim, confidence=0.95
        )
    return found


@pytest.mark.parametrize("decimals", [15, 0])
def test_a_true_curve_is_seldom_refuted(decimals):
    # P(Bin(200, 0.05) > 20) is below 0.1%.
    assert refuted(1.0, GaussianDP(mu=1.0), 300, 200, decimals=decimals) <= 20


def test_a_curve_with_a_corner_is_seldom_refuted():
    # At its corner both limits of the answers are needed at once.
    claim, missed = ApproximateDP(epsilon=1.0, delta=0.05), 0
    share = (math.e + 0.05) / (1 + math.e)
    for number in range(300):
        rng = np.random.default_rng([8, number])
        members, holdout = rng.random(60) < share, rng.random(60) < 1 - share
        missed += runs_refute_curve(members * 1.0, holdout * 1.0, claim, confidence=0.95)
    assert missed <= 0.05 * 300 + 3 * math.sqrt(0.05 * 0.95 * 300)


def test_a_false_curve_is_refuted():
    assert refuted(1.0, GaussianDP(mu=0.7), 4000, 40) >= 36
    assert refuted(1.0, ApproximateDP(epsilon=0.5, delta=1e-5), 4000, 40) >= 36


def test_scores_that_are_low_for_members_refute_as_well():
    members, holdout = draw(np.random.default_rng(1), 2.0, 2000)
    for sign in (1, -1):
        assert runs_refute_curve(
            sign * members, sign * holdout, GaussianDP(mu=1.0), confidence=0.95
        )


def test_one_row_of_a_class_refutes_nothing():
    holdout = np.random.default_rng(3).normal(size=99)
    claim = GaussianDP(mu=0.0)
    assert not runs_refute_curve(np.array([9.0]), holdout, claim, confidence=0.95)


def test_counts_are_compared_at_two_clopper_pearson_limits():
    tpr = clopper_pearson_lower(90, 100, 0.025)
    fpr = clopper_pearson_upper(5, 100, 0.025)
    for epsilon in (1.9, 2.0, 2.1):
        claim = ApproximateDP(epsilon=epsilon, delta=0.0)
        expected = tpr > claim.tpr(fpr)
        assert counts_refute_curve(answers(90, 10, 5, 95), claim, confidence=0.95) == expected
    assert not counts_refute_curve(answers(90, 10, 5, 95), GaussianDP(mu=9.0), confidence=0.95)
