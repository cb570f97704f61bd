from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.cell_risk import conditional_limits
from mipaudit.maths.finite_population import (
    Population,
    finite_limits,
    finite_p_values,
    unseen_in_cell,
)


def limits(x, y, n, sampled, n_holdout, *, alpha=0.05, known=0, before=0):
    return finite_limits(
        np.array([x]),
        np.array([y]),
        np.array([known]),
        population=Population(records=n, known=before, sampled=sampled),
        n_holdout=n_holdout,
        prior=0.5,
        alpha=alpha,
    )


@given(x=st.integers(0, 12), unseen=st.integers(0, 40), M=st.integers(0, 60))
@settings(max_examples=80, deadline=None)
def test_the_confidence_distribution_is_the_hypergeometric_test(x, unseen, M):
    population = Population(records=12 + unseen, known=0, sampled=12)
    M = min(M, population.records)
    count, weight = unseen_in_cell(x, population, lower=True)
    tail = hypergeom.sf(x - 1, population.records, M, 12)
    assert weight[count <= M - x].sum() == pytest.approx(tail, abs=1e-9)
    count, weight = unseen_in_cell(x, population, lower=False)
    tail = hypergeom.cdf(x, population.records, M, 12)
    assert weight[count >= M - x].sum() == pytest.approx(tail, abs=1e-9)


def test_with_everybody_sampled_only_the_holdout_errs():
    found = limits(30, 10, 200, 200, 300)
    share = 30 / 200
    high = clopper_pearson_upper(10.0, 300, 0.025)
    low = clopper_pearson_lower(10.0, 300, 0.025)
    assert found.lower[0] == pytest.approx((share - high) / (share + high), abs=1e-4)
    assert found.upper[0] == pytest.approx((share - low) / (share + low), abs=1e-4)


def test_known_members_are_certain():
    # 50 seen beforehand, the other 150 counted: the population share is exact.
    split = limits(20, 10, 200, 150, 300, known=10, before=50)
    whole = limits(30, 10, 200, 200, 300)
    assert split.lower[0] == pytest.approx(whole.lower[0], abs=1e-9)
    assert split.signed[0] == pytest.approx(whole.signed[0])


def test_limits_close_as_the_sample_nears_the_population():
    widths = [
        (found.upper - found.lower)[0]
        for n in (500, 600, 1_000, 5_000, 10**6)
        for found in [limits(30, 25, n, 500, 500)]
    ]
    assert widths == sorted(widths)


@pytest.mark.parametrize(("x", "y"), [(12, 9), (0, 15), (15, 0), (40, 80)])
def test_a_large_population_gives_the_plain_limits(x, y):
    found = limits(x, y, 10**8, 5_000, 15_000)
    plain = conditional_limits(
        np.array([x]), np.array([y]), n_members=5_000, n_holdout=15_000, prior=0.5, alpha=0.05
    )
    # The plain ones take the cell's share to be small; both differ by the grouping of counts.
    assert found.lower[0] == pytest.approx(plain.lower[0], abs=0.006)
    assert found.upper[0] == pytest.approx(plain.upper[0], abs=0.006)


@pytest.mark.parametrize(
    ("n", "sampled", "n_holdout", "prior"),
    [(12, 12, 15, 0.5), (16, 12, 15, 0.5), (30, 10, 20, 0.1)],
)
def test_exact_coverage(n, sampled, n_holdout, prior):
    x, y = (g.ravel() for g in np.meshgrid(range(sampled + 1), range(n_holdout + 1)))
    found = finite_limits(
        x,
        y,
        np.zeros_like(x),
        population=Population(records=n, known=0, sampled=sampled),
        n_holdout=n_holdout,
        prior=prior,
        alpha=0.05,
    )
    for M in range(n + 1):
        for Q in np.linspace(0, 1, 21):
            if M == Q == 0:
                continue
            P = M / n
            truth = (prior * P - (1 - prior) * Q) / (prior * P + (1 - prior) * Q)
            weight = hypergeom.pmf(x, n, M, sampled) * binom.pmf(y, n_holdout, Q)
            held = (found.lower <= truth + 1e-9) & (truth <= found.upper + 1e-9)
            assert weight[held].sum() >= 0.95


@pytest.mark.parametrize(
    ("n", "before", "sampled", "n_holdout", "known"), [(36, 2, 22, 3, 2), (37, 5, 27, 10, 4)]
)
def test_the_pair_keeps_the_error_that_one_side_may_exceed(n, before, sampled, n_holdout, known):
    alpha = 0.005
    x, y = (g.ravel() for g in np.meshgrid(range(sampled + 1), range(n_holdout + 1)))
    found = finite_limits(
        x,
        y,
        np.full_like(x, known),
        population=Population(records=n, known=before, sampled=sampled),
        n_holdout=n_holdout,
        prior=0.5,
        alpha=alpha,
    )
    one, both = [], []
    for M in range(n - before + 1):
        for Q in (0.0, 0.001, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99, 1.0):
            P = (known + M) / n
            truth = (P - Q) / (P + Q)
            weight = hypergeom.pmf(x, n - before, M, sampled) * binom.pmf(y, n_holdout, Q)
            sides = [
                weight[found.lower > truth + 1e-9].sum(),
                weight[found.upper < truth - 1e-9].sum(),
            ]
            one.append(max(sides))
            both.append(sum(sides))
    assert max(both) <= alpha
    assert alpha / 2 < max(one) <= 1.65 * alpha / 2


def test_p_values_are_the_errors_at_which_the_limits_reach_tau():
    population = Population(records=900, known=0, sampled=600)
    x, y = np.array([60, 3]), np.array([10, 50])
    values = finite_p_values(
        x, y, np.zeros(2, dtype=int), population=population, n_holdout=600, prior=0.5, tau=0.5
    )
    for at, p_value in enumerate(values):
        found = limits(x[at], y[at], 900, 600, 600, alpha=p_value)
        assert found.risk_lower[0] == pytest.approx(0.5, abs=1e-3)
