from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from mipaudit.maths.risk.conditional import conditional_limits
from mipaudit.maths.risk.melded import melded_limits


def both(x, y, n, m, prior=0.5, alpha=0.05):
    sizes = {"n_members": n, "n_holdout": m, "prior": prior, "alpha": alpha}
    x, y = np.atleast_1d(x), np.atleast_1d(y)
    return melded_limits(x, y, **sizes), conditional_limits(x, y, **sizes)


def test_rare_cells_have_the_conditional_limits():
    melded, plain = both([12, 0, 7, 40], [9, 8, 0, 60], 10**6, 10**6)
    assert melded.lower == pytest.approx(plain.lower, abs=1e-4)
    assert melded.upper == pytest.approx(plain.upper, abs=1e-4)


def test_large_cells_have_tighter_ones():
    melded, plain = both([350], [150], 500, 500)
    assert (melded.upper - melded.lower)[0] < 0.8 * (plain.upper - plain.lower)[0]


def test_quantile_by_simulation():
    rng = np.random.default_rng(0)
    draws = 400_000
    for x, y, n, m in ((30, 12, 80, 60), (3, 400, 50, 900), (59, 2, 60, 10)):
        p = rng.beta(x, n - x + 1, draws)
        q = rng.beta(y + 1, m - y, draws)
        twin = np.quantile((p - q) / (p + q), 0.025)
        assert both(x, y, n, m)[0].lower[0] == pytest.approx(twin, abs=0.01)


@given(x=st.integers(0, 20), y=st.integers(0, 30), prior=st.sampled_from([0.1, 0.5]))
@settings(max_examples=40, deadline=None)
def test_classes_trade_places_with_the_sign(x, y, prior):
    found, _ = both(x, y, 20, 30, prior)
    mirrored, _ = both(y, x, 30, 20, 1 - prior)
    assert mirrored.lower[0] == pytest.approx(-found.upper[0], abs=1e-9)
    assert found.lower[0] <= found.signed[0] + 1e-9
    assert found.signed[0] <= found.upper[0] + 1e-9


@pytest.mark.parametrize(
    ("n", "m", "prior", "alpha"),
    [(6, 6, 0.5, 0.05), (12, 12, 0.5, 0.05), (8, 30, 0.1, 0.05), (15, 15, 0.5, 0.002)],
)
def test_exact_coverage_of_each_side(n, m, prior, alpha):
    x, y = (g.ravel() for g in np.meshgrid(range(n + 1), range(m + 1)))
    limits, _ = both(x, y, n, m, prior, alpha)
    for P in np.linspace(0, 1, 31):
        for Q in np.linspace(0, 1, 31):
            if P == Q == 0:
                continue
            truth = (prior * P - (1 - prior) * Q) / (prior * P + (1 - prior) * Q)
            weight = binom.pmf(x, n, P) * binom.pmf(y, m, Q)
            assert weight[limits.lower > truth + 1e-9].sum() <= alpha / 2
            assert weight[limits.upper < truth - 1e-9].sum() <= alpha / 2
