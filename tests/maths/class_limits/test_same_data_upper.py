from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import betaincinv

from mipaudit.maths.class_limits.same_data_upper import (
    effective_trials,
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
