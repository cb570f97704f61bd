from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mipaudit.maths.binomial import (
    clopper_pearson_lower,
    clopper_pearson_upper,
    jeffreys_lower,
    jeffreys_upper,
    least_lower,
    mover_lower,
)

ALPHAS = (0.001, 0.0125, 0.025, 0.05, 0.3)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("trials", [1, 2, 7, 100, 12_345])
def test_limits_are_scipys(trials, alpha):
    for successes in {0, 1, trials // 3, trials // 2, trials - 1, trials}:
        exact = stats.binomtest(successes, trials).proportion_ci(1 - 2 * alpha, "exact")
        assert clopper_pearson_lower(successes, trials, alpha) == pytest.approx(
            exact.low, abs=1e-12
        )
        assert clopper_pearson_upper(successes, trials, alpha) == pytest.approx(
            exact.high, abs=1e-12
        )


def test_arrays_agree_with_scalars():
    counts = np.arange(11.0)
    for limit in (clopper_pearson_lower, clopper_pearson_upper):
        one_by_one = [limit(float(count), 10, 0.05) for count in counts]
        np.testing.assert_array_equal(limit(counts, 10, 0.05), one_by_one)


# Counts, of which neighbours are often equal, as in one cell, and errors.
COUNTS = st.integers(0, 400) | st.just(50)


@given(pairs=st.lists(st.tuples(COUNTS, st.floats(1e-9, 0.5)), min_size=1, max_size=30))
def test_the_least_of_many_limits(pairs):
    successes = np.array([float(count) for count, _ in pairs])
    alpha = np.array([error for _, error in pairs])
    least = clopper_pearson_lower(successes, 400, alpha).min()
    assert least_lower(successes, 400, alpha) == pytest.approx(least, abs=1e-14)


@pytest.mark.parametrize("alpha", [0.025, 0.2])
@pytest.mark.parametrize("trials", [5, 30])
def test_each_limit_covers_every_proportion(trials, alpha):
    truth = np.linspace(0.001, 0.999, 999)
    counts = np.arange(trials + 1.0)
    law = stats.binom.pmf(counts, trials, truth[:, None])
    lower = clopper_pearson_lower(counts, trials, alpha)
    upper = clopper_pearson_upper(counts, trials, alpha)
    assert (law * (lower <= truth[:, None])).sum(axis=1).min() >= 1 - alpha - 1e-12
    assert (law * (upper >= truth[:, None])).sum(axis=1).min() >= 1 - alpha - 1e-12


@given(
    trials=st.floats(1, 1e6),
    share=st.floats(0, 1),
    alphas=st.tuples(st.floats(1e-6, 0.5), st.floats(1e-6, 0.5)),
)
def test_limits_enclose_the_share_and_widen_with_confidence(trials, share, alphas):
    small, large = sorted(alphas)
    lower = [clopper_pearson_lower(share * trials, trials, alpha) for alpha in (small, large)]
    upper = [clopper_pearson_upper(share * trials, trials, alpha) for alpha in (small, large)]
    assert 0 <= lower[0] <= lower[1] <= 1
    assert 0 <= upper[1] <= upper[0] <= 1
    # At one-sided errors up to 1/2 the limits lie about the median, near the share.
    assert lower[0] <= share + 1e-9
    assert upper[0] >= share - 1e-9


@pytest.mark.parametrize(
    ("tpr", "fpr", "sizes", "prior", "expected"),
    [
        (0.6, 0.4, (100, 1000), 0.5, 0.0926012),
        (0.3, 0.0, (100, 500), 0.1, 0.838046),
        (0.633245, 0.294319, (29.9973, 297.054), 0.5, 0.136423),
    ],
)
def test_mover_vectors(tpr, fpr, sizes, prior, expected):
    assert mover_lower(tpr, fpr, *sizes, prior=prior, alpha=0.025) == pytest.approx(
        expected, abs=2e-6
    )


def mover_by_hand(x, n1, y, n2, prior, alpha):
    """The formula on scipy's intervals, not clipped."""
    tpr, fpr = x / n1, y / n2
    down = tpr - stats.binomtest(x, n1).proportion_ci(1 - 2 * alpha, "exact").low
    up = stats.binomtest(y, n2).proportion_ci(1 - 2 * alpha, "exact").high - fpr
    slack = np.sqrt((prior * down) ** 2 + ((1 - prior) * up) ** 2)
    return 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr - slack)


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
def test_mover_is_the_formula(prior):
    rng = np.random.default_rng(1)
    for _ in range(60):
        n1, n2 = rng.integers(1, 60, 2)
        x, y = rng.integers(0, n1 + 1), rng.integers(0, n2 + 1)
        expected = max(
            abs(2 * prior - 1), mover_by_hand(int(x), int(n1), int(y), int(n2), prior, 0.025)
        )
        found = mover_lower(x / n1, y / n2, n1, n2, prior=prior, alpha=0.025)
        assert found == pytest.approx(expected, abs=1e-10)


def mover_coverage(n1, n2, prior, alpha):
    """Return the least exact coverage over sets that beat the trivial attacker."""
    lower = np.array(
        [
            [mover_lower(x / n1, y / n2, n1, n2, prior=prior, alpha=alpha) for y in range(n2 + 1)]
            for x in range(n1 + 1)
        ]
    )
    grid = np.linspace(0, 1, 41)
    worst = 1.0
    for tpr, fpr in itertools.product(grid, grid):
        gain = prior * tpr - (1 - prior) * fpr
        if gain < max(0.0, 2 * prior - 1) - 1e-12:
            continue
        law = np.outer(
            stats.binom.pmf(range(n1 + 1), n1, tpr), stats.binom.pmf(range(n2 + 1), n2, fpr)
        )
        covered = lower <= 1 - 2 * prior + 2 * gain + 1e-12
        worst = min(worst, float((law * covered).sum()))
    return worst


@pytest.mark.parametrize(
    ("sizes", "prior", "least"),
    [((10, 10), 0.5, 0.977), ((20, 20), 0.5, 0.977), ((12, 40), 0.5, 0.977), ((8, 40), 0.1, 0.977)],
)
def test_mover_covers_wherever_an_attacker_beats_guessing(sizes, prior, least):
    coverage = mover_coverage(*sizes, prior, 0.025)
    assert least <= coverage
    assert coverage < 1


def test_a_larger_error_breaks_the_coverage_test():
    """The enumeration can fail: it notices a limit computed at three times the error."""
    assert mover_coverage(10, 10, 0.5, 0.075) < 0.975


@given(
    tpr=st.floats(0, 1),
    fpr=st.floats(0, 1),
    sizes=st.tuples(st.floats(1, 1e5), st.floats(1, 1e5)),
    prior=st.floats(0.01, 0.99),
    alphas=st.tuples(st.floats(1e-5, 0.4), st.floats(1e-5, 0.4)),
)
def test_mover_lies_between_baseline_and_value(tpr, fpr, sizes, prior, alphas):
    value = 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)
    small, large = sorted(alphas)
    cautious = mover_lower(tpr, fpr, *sizes, prior=prior, alpha=small)
    bold = mover_lower(tpr, fpr, *sizes, prior=prior, alpha=large)
    baseline = abs(2 * prior - 1)
    assert baseline <= cautious <= bold <= max(baseline, value) + 1e-9


@given(
    tpr=st.floats(0, 1),
    fpr=st.floats(0, 1),
    sizes=st.tuples(st.integers(1, 500), st.integers(1, 500)),
)
def test_mover_is_symmetric_at_the_even_prior(tpr, fpr, sizes):
    """Exchanging the classes and the guesses changes nothing at p = 1/2."""
    n1, n2 = sizes
    here = mover_lower(tpr, fpr, n1, n2, prior=0.5, alpha=0.025)
    there = mover_lower(1 - fpr, 1 - tpr, n2, n1, prior=0.5, alpha=0.025)
    assert here == pytest.approx(there, abs=1e-7)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("successes", "trials"), [(1, 10), (5, 10), (9, 10), (40, 1000), (1, 1e6)])
def test_jeffreys_limits_are_quantiles_of_the_posterior(successes, trials, alpha):
    posterior = stats.beta(successes + 0.5, trials - successes + 0.5)
    lower, upper = posterior.ppf(alpha), posterior.isf(alpha)
    assert jeffreys_lower(successes, trials, alpha) == pytest.approx(lower, rel=1e-9)
    assert jeffreys_upper(successes, trials, alpha) == pytest.approx(upper, rel=1e-9)


def test_jeffreys_limits_end_where_the_counts_do():
    assert jeffreys_lower(0, 10, 0.05) == 0
    assert jeffreys_upper(10, 10, 0.05) == 1
    assert 0 < jeffreys_upper(0, 10, 0.05) < clopper_pearson_upper(0, 10, 0.05)
    assert 1 > jeffreys_lower(10, 10, 0.05) > clopper_pearson_lower(10, 10, 0.05)


@pytest.mark.parametrize("alpha", [0.025, 0.2])
@pytest.mark.parametrize("trials", [10, 50])
def test_jeffreys_limits_cover_on_average(trials, alpha):
    truth = np.linspace(0.005, 0.995, 199)
    counts = range(trials + 1)
    law = stats.binom.pmf(np.arange(trials + 1.0), trials, truth[:, None])
    lower = np.array([jeffreys_lower(count, trials, alpha) for count in counts])
    upper = np.array([jeffreys_upper(count, trials, alpha) for count in counts])
    for covered in (lower <= truth[:, None], upper >= truth[:, None]):
        assert (law * covered).sum(axis=1).mean() == pytest.approx(1 - alpha, abs=0.02)
