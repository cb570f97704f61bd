"""Upper limits that hold for every attacker of a class."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import betaincinv

from mipaudit.maths.class_limits.class_upper import (
    effective_trials,
    noncentrality_upper,
    noncentrality_weights,
    oracle_upper,
    oracle_upper_strict,
)


@pytest.mark.parametrize(
    ("accuracy", "sizes", "prior", "alpha", "expected"),
    [
        (0.62, (100, 1000), 0.5, 0.0125, 0.359351),
        (0.93, (50, 450), 0.1, 0.025, 0.901523),
    ],
)
def test_vectors(accuracy, sizes, prior, alpha, expected):
    found = oracle_upper(2 * accuracy - 1, *sizes, prior=prior, alpha=alpha)
    assert found == pytest.approx(expected, abs=1e-6)


def worst_variance(accuracy, n1, n2, prior):
    """Scan the splits of an accuracy between the classes for the most variable one."""
    tpr = np.linspace(max(0.0, (accuracy - 1 + prior) / prior), min(1.0, accuracy / prior), 200_001)
    tnr = (accuracy - prior * tpr) / (1 - prior)
    return (prior**2 * tpr * (1 - tpr) / n1 + (1 - prior) ** 2 * tnr * (1 - tnr) / n2).max()


@pytest.mark.parametrize("prior", [0.05, 0.5, 0.7])
@pytest.mark.parametrize("sizes", [(10, 10), (5, 1000), (700, 30)])
@pytest.mark.parametrize("accuracy", [0.06, 0.3, 0.5, 0.71, 0.96])
def test_effective_trials_scan(accuracy, sizes, prior):
    scanned = accuracy * (1 - accuracy) / worst_variance(accuracy, *sizes, prior)
    assert effective_trials(accuracy, *sizes, prior) == pytest.approx(scanned, rel=1e-6)


def test_effective_trials_are_all_records_when_the_classes_follow_the_prior():
    assert effective_trials(0.8, 30, 70, 0.3) == pytest.approx(100)


def scanned_upper(observed, n1, n2, prior, alpha):
    """The largest accuracy on a dense grid that the observed one does not refute."""
    accuracy = (1 + observed) / 2
    grid = np.linspace(accuracy, 1 - 1e-7, 40_001)
    trials = np.array([effective_trials(a, n1, n2, prior) for a in grid])
    limit = betaincinv(trials * accuracy + 1, trials * (1 - accuracy), 1 - alpha)
    return max(abs(2 * prior - 1), 2 * float(grid[limit >= grid].max()) - 1)


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("sizes", [(20, 20), (5, 400), (300, 40)])
@pytest.mark.parametrize("excess", [0.0, 0.2, 0.9])
def test_is_the_root_of_a_dense_scan(excess, sizes, prior):
    baseline = abs(2 * prior - 1)
    observed = baseline + excess * (1 - baseline)
    found = oracle_upper(observed, *sizes, prior=prior, alpha=0.025)
    step = (1 - observed) / 40_000
    assert found == pytest.approx(
        scanned_upper(observed, *sizes, prior, 0.025), abs=2 * step + 1e-6
    )


def least_coverage(limit, n1, n2, prior, alpha):
    """Return the least coverage for one fixed set, over a grid of (TPR, FPR)."""
    upper = np.array(
        [
            [
                limit(
                    1 - 2 * prior + 2 * (prior * x / n1 - (1 - prior) * y / n2),
                    n1,
                    n2,
                    prior=prior,
                    alpha=alpha,
                )
                for y in range(n2 + 1)
            ]
            for x in range(n1 + 1)
        ]
    )
    rates = np.linspace(0, 1, 41)
    worst = 1.0
    for tpr, fpr in itertools.product(rates, rates):
        truth = 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)
        law = np.outer(
            stats.binom.pmf(range(n1 + 1), n1, tpr), stats.binom.pmf(range(n2 + 1), n2, fpr)
        )
        worst = min(worst, float((law * (upper >= truth - 1e-12)).sum()))
    return worst


@pytest.mark.parametrize(
    ("sizes", "prior", "least"),
    [
        ((10, 10), 0.5, 0.9495),
        ((20, 20), 0.5, 0.9495),
        ((9, 45), 0.5, 0.945),
        ((4, 36), 0.1, 0.9495),
    ],
)
def test_coverage_by_enumeration(sizes, prior, least):
    coverage = least_coverage(oracle_upper, *sizes, prior, 0.05)
    assert least <= coverage <= 0.96


@pytest.mark.parametrize(("sizes", "prior"), [((10, 10), 0.5), ((3, 27), 0.1), ((14, 6), 0.7)])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_the_strict_form_covers_without_exception(sizes, prior, alpha):
    assert least_coverage(oracle_upper_strict, *sizes, prior, alpha) >= 1 - alpha


def test_the_strict_form_is_clopper_pearson_at_a_corrected_error():
    upper = oracle_upper_strict(0.5, 20, 20, prior=0.5, alpha=0.05)
    exact = stats.binomtest(30, 40).proportion_ci(1 - 2 * (1 - math.exp(-0.05)), "exact").high
    assert upper == pytest.approx(2 * exact - 1)


@given(
    share=st.floats(0, 1),
    sizes=st.tuples(st.integers(1, 10**9), st.integers(1, 10**9)),
    prior=st.floats(1e-4, 1 - 1e-4),
    alphas=st.tuples(st.floats(1e-6, 0.4), st.floats(1e-6, 0.4)),
)
def test_stays_between_observed_and_one_and_falls_with_the_error(share, sizes, prior, alphas):
    baseline = abs(2 * prior - 1)
    observed = baseline + share * (1 - baseline)
    small, large = sorted(alphas)
    cautious = oracle_upper(observed, *sizes, prior=prior, alpha=small)
    bold = oracle_upper(observed, *sizes, prior=prior, alpha=large)
    assert observed - 1e-9 <= bold <= cautious + 1e-9
    assert baseline <= cautious <= 1


@given(
    sizes=st.tuples(st.integers(1, 3000), st.integers(1, 3000)),
    prior=st.floats(0.01, 0.99),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_grows_with_what_was_observed(sizes, prior, shares):
    """The argument for same-data suprema stands on this."""
    baseline = abs(2 * prior - 1)
    low, high = (
        oracle_upper(baseline + share * (1 - baseline), *sizes, prior=prior, alpha=0.025)
        for share in sorted(shares)
    )
    assert low <= high + 1e-9


@given(
    sizes=st.tuples(st.integers(1, 3000), st.integers(1, 3000)),
    prior=st.floats(0.01, 0.99),
    share=st.floats(0, 1),
)
def test_exchanging_the_classes_and_the_prior_changes_nothing(sizes, prior, share):
    baseline = abs(2 * prior - 1)
    observed = baseline + share * (1 - baseline)
    here = oracle_upper(observed, *sizes, prior=prior, alpha=0.025)
    there = oracle_upper(observed, *sizes[::-1], prior=1 - prior, alpha=0.025)
    assert here == pytest.approx(there, abs=1e-8)


def test_nothing_is_excluded_when_every_guess_was_right():
    assert oracle_upper(1.0, 5, 500, prior=0.1, alpha=0.05) == 1
    assert oracle_upper_strict(1.0, 5, 5, prior=0.5, alpha=0.05) == 1


def test_vector():
    found = noncentrality_upper(
        np.array([30, 20, 25, 25]), np.array([20, 30, 25, 25]), np.full(4, 0.25), alpha=0.0125
    )
    assert found.estimate == pytest.approx(0.01979798, abs=1e-8)
    assert found.null_variance == pytest.approx(0.003136)
    assert found.slope == pytest.approx(0.02 + 0.003136 / 4)
    # 0.4739234 where the slope is 0.02 alone.
    root = found.upper
    z = stats.norm.isf(0.0125)
    assert root - found.estimate == pytest.approx(
        z * math.sqrt(0.003136 * (1 + root) + 0.08 * root)
    )
    assert 0.4739234 < root < 0.49
    assert found.total_variation_upper == pytest.approx(math.sqrt(root) / 2)


def by_hand(members, holdout, weights, alpha):
    """Cell by cell, and the root by bisection."""
    n1, n2 = sum(members), sum(holdout)
    estimate = slope = squares = 0.0
    for x, y, w in zip(members, holdout, weights, strict=True):
        p, q, pooled = x / n1, y / n2, (x + y) / (n1 + n2)
        estimate += ((p - q) ** 2 - p * (1 - p) / (n1 - 1) - q * (1 - q) / (n2 - 1)) / w
        v0 = pooled * (1 / n1 + 1 / n2)
        slope = max(slope, v0 / w)
        squares += max(v0**2 - pooled * (1 / n1 + 1 / n2) ** 2 / (n1 + n2), 0) / w**2
    null = 2 * max(squares, slope**2 / 2)
    z = stats.norm.isf(alpha)
    root = optimize.brentq(
        lambda lam: lam - estimate - z * math.sqrt(null * (1 + lam) + 4 * slope * lam),
        estimate + 1e-12,
        1e4,
    )
    return estimate, root


@pytest.mark.parametrize("cells", [2, 9, 60])
def test_is_the_sum_cell_by_cell(cells):
    rng = np.random.default_rng(cells)
    members = rng.multinomial(700, rng.dirichlet(np.ones(cells)))
    holdout = rng.multinomial(400, rng.dirichlet(np.ones(cells)))
    weights = noncentrality_weights(rng.multinomial(300, np.full(cells, 1 / cells)))
    found = noncentrality_upper(members, holdout, weights, alpha=0.025)
    estimate, root = by_hand(members.tolist(), holdout.tolist(), weights.tolist(), 0.025)
    assert found.estimate == pytest.approx(estimate, abs=1e-10)
    assert found.upper == pytest.approx(root, rel=1e-8)
    assert found.total_variation_upper == pytest.approx(min(1.0, math.sqrt(root) / 2), rel=1e-8)


def test_the_estimate_is_unbiased():
    rng = np.random.default_rng(0)
    p, q, w = (rng.dirichlet(np.ones(12)) for _ in range(3))
    truth = ((p - q) ** 2 / w).sum()
    found = [
        noncentrality_upper(
            rng.multinomial(150, p), rng.multinomial(90, q), w, alpha=0.025
        ).estimate
        for _ in range(3000)
    ]
    error = np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(found) - truth) < 4 * error
    # The plug-in is not, by far more than that.
    assert (p * (1 - p) / 150 / w).sum() > 8 * error


@pytest.mark.parametrize("cells", [20, 400])
@pytest.mark.parametrize("strength", [0.0, 0.4])
def test_coverage(cells, strength):
    rng = np.random.default_rng(1)
    uniform = np.full(cells, 1 / cells)
    leaky = uniform * (1 + strength * np.where(np.arange(cells) % 2, 1.0, -1.0))
    missed = 0
    for _ in range(500):
        found = noncentrality_upper(
            rng.multinomial(1500, leaky),
            rng.multinomial(1500, uniform),
            noncentrality_weights(rng.multinomial(1000, uniform)),
            alpha=0.05,
        )
        missed += found.total_variation_upper < strength / 2
    assert missed <= stats.binom.ppf(0.9999, 500, 0.05)


def test_beats_the_plug_in_bias_with_many_cells():
    rng = np.random.default_rng(2)
    uniform = np.full(1000, 1e-3)
    members, holdout = rng.multinomial(5000, uniform), rng.multinomial(5000, uniform)
    found = noncentrality_upper(members, holdout, uniform, alpha=0.0125)
    plugin = np.abs(members - holdout).sum() / 10_000
    assert found.total_variation_upper < 0.17 < plugin


def test_weights_sum_to_one_and_are_never_zero():
    weights = noncentrality_weights(np.array([0, 7, 26]))
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(weights, (np.array([1, 4, 9]) / 14 + 1 / 3) / 2)


def gathered(cells, share):
    """Members on part of an even alphabet."""
    members = np.zeros(cells)
    members[: int(cells * share)] = 1 / int(cells * share)
    return members, np.full(cells, 1 / cells)


def to_the_tail(common, rare, moved):
    """Few common values; part of the members goes to a tail of 3% of the holdout."""
    holdout = np.r_[np.full(common, 0.97 / common), np.full(rare, 0.03 / rare)]
    members = holdout * np.r_[np.full(common, 1 - moved), np.ones(rare)]
    members[common:] += (1 - members.sum()) / rare
    return members, holdout


def limit_of_0_1_0(members, holdout, pooled, alpha):
    """The limit as the first version had it, which must be caught."""
    w = (pooled + 1.0) ** (2 / 3)
    w /= w.sum()
    n1, n2 = members.sum(), holdout.sum()
    p, q = members / n1, holdout / n2
    estimate = (((p - q) ** 2 - p * (1 - p) / (n1 - 1) - q * (1 - q) / (n2 - 1)) / w).sum()
    v = (members + holdout) / (n1 * n2)
    slope = (v / w).max()
    null = 2 * max(((v**2 - v * (1 / n1 + 1 / n2) / (n1 + n2)) / w**2).sum(), slope**2 / 2)
    z = stats.norm.isf(alpha)
    inside = null + 4 * slope * estimate + 4 * slope**2 * z**2
    if inside < 0:
        return 1.0
    return min(1, math.sqrt(max(0, estimate + 2 * slope * z**2 + z * math.sqrt(inside))) / 2)


@pytest.mark.parametrize(
    ("laws", "sizes", "caught"),
    [
        (gathered(2000, 0.35), (113, 450_000), True),
        (gathered(700, 0.4), (70, 40_000), False),
        (gathered(1500, 0.7), (1000, 100_000), False),
        (to_the_tail(20, 200, 0.6), (60, 230_000), True),
        (to_the_tail(8, 1000, 0.4), (200, 200_000), True),
        (to_the_tail(5, 2000, 0.5), (4000, 100_000), False),
        (gathered(500, 0.5)[::-1], (20_000, 100), False),
    ],
)
def test_members_that_gather_where_few_holdout_records_are(laws, sizes, caught):
    rng = np.random.default_rng(3)
    alpha, draws = 0.0125, 250
    truth = np.abs(laws[0] - laws[1]).sum() / 2
    missed = missed_before = 0
    for _ in range(draws):
        counts = [rng.multinomial(n, law) for n, law in zip(sizes, laws, strict=True)]
        early = sum(rng.multinomial(n // 3, law) for n, law in zip(sizes, laws, strict=True))
        found = noncentrality_upper(*counts, noncentrality_weights(early), alpha=alpha)
        missed += found.total_variation_upper < truth - 1e-9
        missed_before += limit_of_0_1_0(*counts, early, alpha) < truth - 1e-9
    assert stats.binom.sf(missed - 1, draws, alpha) > 1e-3
    if caught:
        assert stats.binom.sf(missed_before - 1, draws, alpha) < 0.02


def test_nothing_is_excluded_where_no_noncentrality_is_found():
    counts = np.array([50, 50])
    found = noncentrality_upper(counts, counts, np.full(2, 0.5), alpha=0.6)
    assert (found.upper, found.total_variation_upper) == (None, 1.0)


def test_laws_that_share_nothing_are_one_apart_and_no_more():
    members, holdout = np.array([50, 0]), np.array([0, 50])
    found = noncentrality_upper(members, holdout, np.full(2, 0.5), alpha=0.05)
    assert 0.5 * math.sqrt(found.upper) > found.total_variation_upper == 1.0
