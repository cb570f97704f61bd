"""What an attack rules out, and how sure its counts are of it."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from scipy import stats

from mipaudit.commands.bounds.attacks import refutation
from mipaudit.maths.privacy.tradeoff import refuted_epsilon, refuted_mu


@lru_cache(maxsize=4096)
def limits(tp, fn, fp, tn, delta, confidence):
    rates = {"tpr": tp / (tp + fn), "fpr": fp / (fp + tn)}
    counts = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    found = refutation(**rates, delta=delta, counts=counts, confidence=confidence)
    return {(limit.method, limit.sides): limit for limit in found.limits}


def coverage(members, holdout, delta, confidence, method, sides):
    """Return the least coverage of epsilon and of mu over a grid of attacks, enumerated."""
    inside, outside = range(members + 1), range(holdout + 1)
    table = [
        limits(tp, members - tp, fp, holdout - fp, delta, confidence)[method, sides]
        for tp, fp in product(inside, outside)
    ]
    rates = (0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)
    found = []
    for tpr, fpr in product(rates, rates):
        laws = stats.binom.pmf(inside, members, tpr), stats.binom.pmf(outside, holdout, fpr)
        truths = {"epsilon": refuted_epsilon(tpr, fpr, delta), "mu": refuted_mu(tpr, fpr)}
        for name, truth in truths.items():
            found.append(np.outer(*laws).ravel() @ [covers(cell, name, truth) for cell in table])
    return min(found), float(np.mean(found))


def covers(limit, name, truth):
    upper = getattr(limit, f"{name}_upper")
    return getattr(limit, f"{name}_lower") <= truth and (upper is None or truth <= upper)


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(
    ("members", "holdout", "confidence"), [(6, 6, 0.95), (15, 8, 0.95), (12, 12, 0.8)]
)
def test_exact_limits_cover_at_least_as_promised(members, holdout, confidence, sides, delta):
    least, _ = coverage(members, holdout, delta, confidence, "clopper-pearson", sides)
    assert least >= confidence


@pytest.mark.parametrize("sides", [1, 2])
def test_jeffreys_limits_cover_on_average(sides):
    least, mean = coverage(15, 15, 0.0, 0.9, "jeffreys", sides)
    assert mean >= 0.9
    assert least >= 0.75  # approximate, as the report says


def test_vectors():
    found = limits(90, 10, 1, 99, 0.0, 0.95)
    exact, approximate = found["clopper-pearson", 1], found["jeffreys", 1]

    low = stats.beta.ppf(0.025, 90, 11)
    high = stats.beta.ppf(0.975, 2, 99)
    assert exact.tpr[0] == pytest.approx(low, rel=1e-9)
    assert exact.fpr[1] == pytest.approx(high, rel=1e-9)
    # The holdout records are the surer side here: ln((1 - FPR) / FNR) is less.
    assert exact.epsilon_lower == pytest.approx(math.log(low / high), rel=1e-9)
    assert exact.mu_lower == pytest.approx(stats.norm.ppf(low) - stats.norm.ppf(high), rel=1e-9)
    assert exact.epsilon_upper is None
    assert exact.upper_reason.code == "one_sided"

    low, high = stats.beta.ppf(0.025, 90.5, 10.5), stats.beta.ppf(0.975, 1.5, 99.5)
    assert approximate.epsilon_lower == pytest.approx(math.log(low / high), rel=1e-9)


def test_two_sides_share_the_error_among_four_limits():
    found = limits(70, 30, 20, 180, 0.01, 0.9)["clopper-pearson", 2]
    tpr = stats.binomtest(70, 100).proportion_ci(0.95, "exact")
    fpr = stats.binomtest(20, 200).proportion_ci(0.95, "exact")
    assert found.tpr == pytest.approx((tpr.low, tpr.high), rel=1e-9)
    assert found.fpr == pytest.approx((fpr.low, fpr.high), rel=1e-9)
    assert found.epsilon_lower == refuted_epsilon(found.tpr[0], found.fpr[1], 0.01)
    assert found.epsilon_upper == refuted_epsilon(found.tpr[1], found.fpr[0], 0.01)
    assert found.confidence == 0.9


def test_a_perfect_attack_still_has_finite_lower_limits():
    counts = {"tp": 50, "fn": 0, "fp": 0, "tn": 50}
    found = refutation(tpr=1.0, fpr=0.0, delta=0.0, counts=counts, confidence=0.95)

    assert (found.epsilon, found.mu) == (None, None)
    for limit in found.limits:
        assert 0 < limit.epsilon_lower < math.inf
        assert 0 < limit.mu_lower < math.inf
        assert (limit.epsilon_upper, limit.mu_upper) == (None, None)
        assert limit.upper_reason
    exact = found.limits[0]
    # 1 - (a / 2)^(1/n) on one side, (a / 2)^(1/n) on the other.
    edge = 0.025 ** (1 / 50)
    assert exact.epsilon_lower == pytest.approx(math.log(edge / (1 - edge)), rel=1e-9)


@pytest.mark.parametrize(
    "counts", [(0, 5, 0, 5), (5, 0, 5, 0), (0, 5, 5, 0), (0, 1, 1, 0), (1, 0, 0, 1)]
)
@pytest.mark.parametrize("delta", [0.0, 0.3, 1.0])
def test_empty_cells(counts, delta):
    for limit in limits(*counts, delta, 0.95).values():
        assert 0 <= limit.epsilon_lower < math.inf
        assert 0 <= limit.mu_lower < math.inf
        assert 0 <= limit.tpr[0] <= limit.tpr[1] <= 1
        assert 0 <= limit.fpr[0] <= limit.fpr[1] <= 1


def test_an_attack_that_is_no_better_than_guessing_rules_nothing_out():
    found = refutation(tpr=0.3, fpr=0.4, delta=0.0, counts=None, confidence=0.95)
    assert (found.epsilon, found.mu, found.limits) == (0, 0, ())


@pytest.mark.parametrize("trials", [10**3, 10**6, 10**9])
def test_many_trials_close_in_on_the_rates(trials):
    found = limits(trials // 2, trials // 2, trials // 100, trials - trials // 100, 0.0, 0.95)
    for (_, sides), limit in found.items():
        assert limit.epsilon_lower < math.log(50)
        assert limit.epsilon_lower == pytest.approx(math.log(50), abs=30 / math.sqrt(trials))
        if sides == 2:
            assert limit.epsilon_upper > math.log(50)


def test_more_confidence_says_less():
    strict, loose = (limits(40, 10, 5, 45, 0.0, x)["clopper-pearson", 2] for x in (0.99, 0.8))
    assert strict.epsilon_lower < loose.epsilon_lower < loose.epsilon_upper < strict.epsilon_upper
