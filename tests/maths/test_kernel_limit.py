from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.maths.class_limits.class_upper import oracle_upper
from mipaudit.maths.kernel_density import bounded_upper


def kl(a, b):
    found = 0.0
    if a > 0:
        found += a * math.log(a / b)
    if a < 1:
        found += (1 - a) * math.log((1 - a) / (1 - b))
    return found


def least_exponent_by_hand(observed, true, n1, n2, p):
    """The least n1 kl(t, T) + n2 kl(r, R) on a grid of (t, T)."""
    least = math.inf
    for t in np.linspace(0.0005, 0.9995, 150):
        r = (observed - p * t) / (1 - p)
        if not 0 <= r <= 1:
            continue
        for tpr in np.linspace(0.0005, 0.9995, 400):
            tnr = (true - p * tpr) / (1 - p)
            if 0 < tnr < 1:
                least = min(least, n1 * kl(t, tpr) + n2 * kl(r, tnr))
    return least


@pytest.mark.parametrize(
    ("observed", "n1", "n2", "p"), [(0.2, 100, 1000, 0.5), (0.6, 200, 50, 0.3), (0.85, 40, 90, 0.1)]
)
def test_is_where_the_least_exponent_is_allowed(observed, n1, n2, p):
    upper = bounded_upper(observed, n1, n2, prior=p, alpha=0.025)
    by_hand = least_exponent_by_hand((1 + observed) / 2, (1 + upper) / 2, n1, n2, p)
    assert by_hand == pytest.approx(math.log(40), rel=5e-3)


@pytest.mark.parametrize(("n1", "n2", "p"), [(500, 500, 0.5), (50, 450, 0.1), (3, 3, 0.5)])
@pytest.mark.parametrize("observed", [0.0, 0.3, 0.95])
def test_in_proportion_it_is_the_binary_divergence(observed, n1, n2, p):
    upper = bounded_upper(observed, n1, n2, prior=p, alpha=0.025)
    if abs(2 * p - 1) < upper < 1 - 1e-9:
        found = (n1 + n2) * kl((1 + observed) / 2, (1 + upper) / 2)
        assert found == pytest.approx(math.log(40), rel=1e-6)


SIZES = st.integers(1, 5000)


@settings(max_examples=150, deadline=None)
@given(
    observed=st.floats(-0.5, 0.999),
    n1=SIZES,
    n2=SIZES,
    p=st.floats(0.02, 0.98),
    alpha=st.floats(1e-4, 0.4),
)
def test_never_above_bounded_differences(observed, n1, n2, p, alpha):
    spread = p**2 / n1 + (1 - p) ** 2 / n2
    mcdiarmid = observed + 2 * math.sqrt(math.log(1 / alpha) / 2 * spread)
    upper = bounded_upper(observed, n1, n2, prior=p, alpha=alpha)
    assert max(abs(2 * p - 1), observed) - 1e-9 <= upper
    assert upper <= max(abs(2 * p - 1), min(1.0, mcdiarmid)) + 1e-6


@settings(max_examples=60, deadline=None)
@given(observed=st.floats(-0.5, 0.99), more=st.floats(0, 0.2), n1=SIZES, n2=SIZES)
def test_grows_with_what_is_observed(observed, more, n1, n2):
    first, second = (
        bounded_upper(x, n1, n2, prior=0.4, alpha=0.05) for x in (observed, observed + more)
    )
    assert first <= second + 1e-9


@pytest.mark.parametrize(("n1", "n2", "p"), [(7, 7, 0.5), (6, 20, 0.5), (16, 5, 0.3), (3, 27, 0.1)])
def test_covers_every_pair_of_rates_exactly(n1, n2, p):
    """Guesses of 0 or 1 are the most dispersed: enumerate all their counts."""
    alpha = 0.05
    upper = np.array(
        [
            [
                bounded_upper(2 * (p * a / n1 + (1 - p) * b / n2) - 1, n1, n2, prior=p, alpha=alpha)
                for b in range(n2 + 1)
            ]
            for a in range(n1 + 1)
        ]
    )
    for tpr in np.linspace(0.01, 0.99, 15):
        for tnr in np.linspace(0.01, 0.99, 15):
            truth = 2 * (p * tpr + (1 - p) * tnr) - 1
            mass = np.outer(
                [math.comb(n1, a) * tpr**a * (1 - tpr) ** (n1 - a) for a in range(n1 + 1)],
                [math.comb(n2, b) * tnr**b * (1 - tnr) ** (n2 - b) for b in range(n2 + 1)],
            )
            assert mass[upper < truth - 1e-9].sum() <= alpha


def test_wider_than_the_binomial_limit_and_shrinks():
    sizes = (100, 1000, 10_000)
    strict = [bounded_upper(0.2, n, n, prior=0.5, alpha=0.025) for n in sizes]
    binomial = [oracle_upper(0.2, n, n, prior=0.5, alpha=0.025) for n in sizes]
    assert all(b < s < 0.2 + 1.5 * (b - 0.2) for b, s in zip(binomial, strict, strict=True))
    assert strict == sorted(strict, reverse=True)


@pytest.mark.parametrize(("n1", "n2", "observed"), [(0, 9, 0.1), (9, 0, 0.1), (9, 9, 1.0)])
def test_nothing_known_is_one(n1, n2, observed):
    assert bounded_upper(observed, n1, n2, prior=0.5, alpha=0.05) == 1.0
