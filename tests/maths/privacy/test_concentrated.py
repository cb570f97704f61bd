from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from riskcal import analysis

from mipaudit.maths.privacy.concentrated import ZeroConcentrated
from mipaudit.maths.privacy.mechanism import GaussianDP

RHOS = (1e-300, 1e-16, 1e-8, 1e-3, 0.1, 1.0, 10.0, 40.0, 800.0, 1e6)


def divergences(one, other, alphas):
    """Return D_alpha(one || other) / alpha of two coins (heads, tails), in high precision."""
    found = []
    for alpha in alphas:
        a = mpmath.mpf(alpha)
        total = sum(p**a * q ** (1 - a) for p, q in zip(one, other, strict=True))
        found.append(mpmath.log(total) / (a - 1) / a)
    return found


@pytest.mark.parametrize("fpr", [1e-200, 1e-3, 0.97])
@pytest.mark.parametrize("rho", [1e-16, 1e-8, 0.1, 20.0])
def test_the_edge_keeps_every_limit_and_meets_one(rho, fpr):
    curve = ZeroConcentrated(rho=rho)
    # Where coins differ by little, the largest order that matters is about 1 / sqrt(rho).
    alphas = 1 + np.geomspace(1e-4, 100 * max(1, rho**-0.5), 600)
    with mpmath.workdps(60):
        base = mpmath.mpf(fpr), 1 - mpmath.mpf(fpr)
        # Only the smaller of the two rates, or their difference, has all its digits.
        tails = mpmath.mpf(curve.fnr(fpr))
        if fpr < 1e-3:
            heads = mpmath.mpf(curve.tpr(fpr))
            coin = (heads, 1 - heads) if heads < 0.5 else (1 - tails, tails)
        else:
            coin = 1 - tails, tails
        most = max(*divergences(coin, base, alphas), *divergences(base, coin, alphas))
    # The float that is returned is off by 1e-16 of itself, its distance by more.
    gap = abs(math.log(curve.tpr(fpr) / fpr)) + abs(math.log(curve.fnr(fpr) / (1 - fpr)))
    assert float(most) == pytest.approx(rho, rel=2e-3 + 1e-14 / gap)


def dense_edge(fpr, rho):
    """The slow twin: 20,000 orders, bisection on the log-odds of the coin."""
    beyond = np.geomspace(1e-5, 1e4 * max(1, rho**-0.5), 20_000)
    alpha = 1 + beyond
    low, high = math.log(fpr / (1 - fpr)), 600.0
    for _ in range(55):
        middle = (low + high) / 2
        p, q = 1 / (1 + math.exp(-middle)), fpr
        logs = np.log(p / q), math.log((1 - p) / (1 - q)) if p < 1 else -middle - math.log(1 - q)
        there = np.logaddexp(math.log(q) + alpha * logs[0], math.log(1 - q) + alpha * logs[1])
        log_p, log_tails = math.log(p), logs[1] + math.log(1 - q)
        back = np.logaddexp(log_p - alpha * logs[0], log_tails - alpha * logs[1])
        beyond_limit = (np.maximum(there, back) > rho * alpha * beyond).any()
        low, high = (low, middle) if beyond_limit else (middle, high)
    return 1 / (1 + math.exp(-low))


@pytest.mark.parametrize("fpr", [1e-9, 0.1, 0.5])
@pytest.mark.parametrize("rho", [0.01, 1.0, 5.0])
def test_few_orders_are_nearly_as_good_as_many(rho, fpr):
    edge, dense = ZeroConcentrated(rho=rho).tpr(fpr), dense_edge(fpr, rho)
    assert edge >= dense * (1 - 1e-6)  # the twin is a difference of logarithms
    assert edge == pytest.approx(dense, rel=1e-4)


@pytest.mark.parametrize("rho", RHOS)
def test_gaussian_noise_is_inside(rho):
    curve, gaussian = ZeroConcentrated(rho=rho), GaussianDP(mu=math.sqrt(2 * rho))
    for fpr in (0.0, 1e-300, 1e-9, 1e-3, 0.5, 0.999, 1.0):
        assert curve.tpr(fpr) >= gaussian.tpr(fpr) * (1 - 1e-12)
        assert curve.fnr(fpr) <= gaussian.fnr(fpr) * (1 + 1e-12)
    spread = math.sqrt(2 * rho)
    for z in (-1, 1, 20):
        epsilon = max(0.0, rho + z * spread)
        assert curve.profile(epsilon) >= gaussian.profile(epsilon)
    for delta in (1e-200, 1e-5, 0.1):
        assert curve.epsilon_at(delta) >= gaussian.epsilon_at(delta)


def canonne_kamath_steinke(rho, epsilon):
    """Return delta by their Proposition 12, over many orders."""
    beyond = np.geomspace(1e-6, 1e6 * max(1, rho**-0.5), 50_000)
    order = 1 + beyond
    logs = beyond * (order * rho - epsilon) + order * np.log1p(-1 / order) - np.log(beyond)
    return math.exp(min(0.0, logs.min()))


@pytest.mark.parametrize("rho", [1e-8, 0.1, 10.0, 1e4])
def test_it_is_never_worse_than_the_published_conversions(rho):
    curve = ZeroConcentrated(rho=rho)
    for z in (0, 1, 6):
        epsilon = rho + z * math.sqrt(2 * rho)
        # With the one order that is best: the grid of orders costs a little.
        published = canonne_kamath_steinke(rho, epsilon)
        assert curve.profile(epsilon) <= published * (1 + 1e-4)
    for delta in (1e-9, 0.01):
        bun_steinke = rho + 2 * math.sqrt(rho * math.log(1 / delta))
        assert curve.epsilon_at(delta) <= bun_steinke
    pinsker = math.sqrt(rho / 2)
    bretagnolle_huber = math.sqrt(-math.expm1(-rho))
    assert curve.profile(0.0) <= min(pinsker, bretagnolle_huber) * (1 + 1e-4)


@pytest.mark.parametrize("rho", [0.05, 0.5, 2.0])
def test_agrees_with_riskcal(rho):
    curve = ZeroConcentrated(rho=rho)
    assert curve.profile(0.0) == pytest.approx(analysis.get_advantage_from_zcdp(rho), rel=2e-3)
    for fpr in (0.01, 0.3):
        exact = float(analysis.get_beta_from_zcdp(rho, fpr))
        assert curve.fnr(fpr) == pytest.approx(exact, rel=2e-3)


@settings(max_examples=8)
@given(rho=st.floats(1e-6, 100), delta=st.floats(1e-12, 0.9))
def test_epsilon_and_delta_belong_together(rho, delta):
    curve = ZeroConcentrated(rho=rho)
    epsilon = curve.epsilon_at(delta)
    if epsilon > 0:
        assert curve.profile(epsilon) == pytest.approx(delta, rel=1e-6)
    else:
        assert curve.profile(0.0) <= delta * (1 + 1e-7)


def test_nothing_released_is_nothing_allowed():
    curve = ZeroConcentrated(rho=0.0)
    assert curve.loss == curve.profile(0.0) == curve.epsilon_at(1e-5) == 0
    assert curve.tpr(0.3) == 0.3
    assert curve.fnr(0.3) == 0.7


@pytest.mark.parametrize("rho", [1e-300, 1e-8, 40.0, 1e6])
def test_no_end_overflows_or_loses_itself(rho):
    curve = ZeroConcentrated(rho=rho)
    figures = [
        *(f(fpr) for f in (curve.tpr, curve.fnr) for fpr in (0.0, 5e-324, 0.5, 1 - 2**-53, 1.0)),
        *(curve.profile(epsilon) for epsilon in (0.0, 1e-8, 50.0, 700.0, 1e12)),
        *(curve.excess(prior) for prior in (5e-324, 0.1, 0.9, 1 - 2**-53)),
    ]
    assert all(0 <= figure <= 1 for figure in figures)
    assert curve.epsilon_at(0.0) == math.inf
    assert curve.epsilon_at(1.0) == 0
    assert math.isfinite(curve.epsilon_at(1e-300))
    assert curve.profile(601.0) <= curve.profile(599.0) * (1 + 1e-7)
