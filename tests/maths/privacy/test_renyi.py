"""Renyi divergences in and out: against sums over outputs, riskcal and dp-accounting."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant as published
from hypothesis import given, settings
from hypothesis import strategies as st
from riskcal.analysis.rdp import get_FNR
from scipy.integrate import quad
from scipy.special import logsumexp

from mipaudit.errors import UsageError
from mipaudit.maths.privacy.composition import (
    ApproximatePart,
    Composition,
    DpSgd,
    GaussianPart,
    LaplacePart,
)
from mipaudit.maths.privacy.concentrated import RenyiDP, ZeroConcentrated
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, two_steps
from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)
from mipaudit.maths.privacy.renyi import ORDERS, accounted, divergences


def renyi(p, q, order):
    """Return D_order(p || q) of two laws with no zero, by their sum."""
    return math.log(float((p**order * q ** (1 - order)).sum())) / (order - 1)


def responses(truth, categories):
    other = (1 - truth) / (categories - 1)
    return np.full((categories, categories), other) + np.eye(categories) * (truth - other)


def geometric_logs(scale, centre):
    return np.log(math.tanh(0.5 / scale)) - np.abs(np.arange(-400, 401) - centre) / scale


@pytest.mark.parametrize(
    ("truth", "categories"), [(0.5, 2), (0.9, 2), (0.1, 2), (0.6, 5), (0.1, 5)]
)
def test_of_a_response_they_are_sums(truth, categories):
    laws = responses(truth, categories)
    found = divergences(RandomizedResponse(truth=truth, categories=categories))
    for order in ORDERS:
        assert found[order] == pytest.approx(renyi(laws[0], laws[1], order), abs=1e-12)


@pytest.mark.parametrize(("scale", "sensitivity"), [(0.5, 1), (1.0, 3), (4.0, 7)])
def test_of_a_geometric_mechanism_they_are_sums(scale, sensitivity):
    found = divergences(GeometricMechanism(scale=scale, sensitivity=sensitivity))
    for order in (1.5, 2.0, 4.0):
        logs = geometric_logs(scale, 0), geometric_logs(scale, sensitivity)
        exact = logsumexp(order * logs[0] + (1 - order) * logs[1]) / (order - 1)
        assert found[order] == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("shift", [0.01, 1.0, 5.0])
def test_of_laplace_noise_they_are_integrals(shift):
    found = divergences(LaplaceMechanism(shift=shift))

    def power(x, order):
        return math.exp(-order * abs(x) - (1 - order) * abs(x - shift)) / 2

    for order in (1.5, 2.0, 8.0):
        total = sum(
            quad(power, *ends, args=(order,), epsabs=0, epsrel=1e-11)[0]
            for ends in ((-60, 0), (0, shift), (shift, 60))
        )
        assert found[order] == pytest.approx(math.log(total) / (order - 1), rel=1e-6)


def test_of_noise_and_of_an_epsilon_they_are_known():
    assert divergences(GaussianDP(mu=0.5))[8.0] == 1.0
    for epsilon in (1e-150, 1e-9, 0.1, 1.0, 30.0, 1e6):
        found = divergences(ApproximateDP(epsilon=epsilon, delta=0.0))
        with mpmath.workdps(400):
            e = mpmath.exp(epsilon)
            for order, limit in found.items():
                exact = mpmath.log((e**order + e ** (1 - order)) / (1 + e)) / (order - 1)
                assert limit == pytest.approx(float(exact), rel=1e-12)
                assert limit <= epsilon * (1 + 1e-12)
    assert divergences(ApproximateDP(epsilon=1.0, delta=1e-9)) == {}
    assert divergences(RandomizedResponse(truth=1.0, categories=2)) == {}
    assert divergences(GaussianDP(mu=0.0)) == dict.fromkeys(ORDERS, 0.0)


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
@pytest.mark.parametrize("limit", [0.01, 0.5, 3.0])
def test_one_order_is_the_curve_of_riskcal(order, limit):
    curve = RenyiDP(limits=((order, limit),))
    for fpr in (0.01, 0.2, 0.7):
        exact = float(get_FNR(np.array([fpr]), order, limit)[0])
        assert curve.fnr(fpr) == pytest.approx(exact, abs=1e-5)


@given(truth=st.floats(0.05, 0.95), categories=st.integers(2, 5))
def test_no_mechanism_with_these_divergences_exceeds_the_curve(truth, categories):
    """From a mechanism to its divergences and back is outward, in every figure."""
    exact = RandomizedResponse(truth=truth, categories=categories)
    curve = RenyiDP(limits=tuple(divergences(exact).items()))
    for fpr in (0.0, 0.01, 0.3, 0.9, 1.0):
        # At an FPR of 0 no order allows anything, nor does the mechanism.
        assert curve.tpr(fpr) >= exact.tpr(fpr) - 1e-9
        assert two_steps(curve).tpr(fpr) >= exact.tpr(exact.tpr(fpr)) - 1e-9
    assert curve.profile(0.0) >= exact.profile(0.0) - 1e-9


def test_a_line_of_many_orders_is_zero_concentrated():
    orders = 1 + np.geomspace(1e-3, 1e3, 300)
    line = RenyiDP(limits=tuple(zip(orders.tolist(), (0.5 * orders).tolist(), strict=True)))
    curve = ZeroConcentrated(rho=0.5)
    assert line.profile(0.0) == pytest.approx(curve.profile(0.0), rel=1e-3)
    assert line.epsilon_at(1e-5) == pytest.approx(curve.epsilon_at(1e-5), rel=1e-3)
    assert line.tpr(0.1) >= curve.tpr(0.1) * (1 - 1e-9)


@settings(max_examples=10)
@given(
    limits=st.lists(st.tuples(st.floats(1.2, 60), st.floats(1e-3, 5)), min_size=1, max_size=4).map(
        tuple
    ),
    delta=st.floats(1e-9, 0.3),
)
def test_it_is_never_worse_than_the_published_conversion(limits, delta):
    curve = RenyiDP(limits=limits)
    orders, rdp = zip(*limits, strict=True)
    assert curve.epsilon_at(delta) <= published.compute_epsilon(orders, rdp, delta)[0] + 5e-6
    assert curve.profile(1.0) <= published.compute_delta(orders, rdp, 1.0)[0] * (1 + 1e-6) + 1e-9


def test_two_steps_are_one_after_the_other():
    one = RenyiDP(limits=((2.0, 0.1), (4.0, 0.25)))
    both = two_steps(one)
    for fpr in (1e-9, 0.1, 0.8):
        assert both.tpr(fpr) == pytest.approx(one.tpr(one.tpr(fpr)), rel=1e-9)
        assert both.fnr(fpr) == pytest.approx(one.fnr(one.tpr(fpr)), rel=1e-9)
    grid = np.linspace(0, 1, 2001)[1:-1]
    highest = max(both.tpr(fpr) - math.exp(0.3) * fpr for fpr in grid)
    assert both.profile(0.3) == pytest.approx(highest, abs=1e-5)
    assert both.profile(0.3) >= highest


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("limit", [0.0, 1e-300, 1e-8, 50.0, 1e6])
def test_no_end_overflows_or_loses_itself(limit, steps):
    curve = RenyiDP(limits=((1.001, limit), (1e6, 2 * limit)), steps=steps)
    figures = [
        *(read(fpr) for read in (curve.tpr, curve.fnr) for fpr in (0.0, 5e-324, 0.5, 1.0)),
        *(curve.profile(epsilon) for epsilon in (0.0, 50.0, 1e12)),
    ]
    assert all(0 <= figure <= 1 for figure in figures)
    assert curve.tpr(0.5) >= 0.5
    assert curve.epsilon_at(1.0) == 0
    assert curve.epsilon_at(0.0) == (math.inf if limit else 0)


def test_what_is_accounted_is_known_where_it_has_a_closed_form():
    noise = accounted(Composition(parts=(GaussianPart(noise_multiplier=2.0, count=3),)))
    assert all(limit == pytest.approx(order * 3 / 8) for order, limit in noise)
    both = accounted(Composition(parts=(LaplacePart(noise_multiplier=0.5),)), 4)
    single = divergences(LaplaceMechanism(shift=2.0))
    assert all(dict(both)[order] == pytest.approx(4 * single[order]) for order in (2.0, 4.0, 16))


def law(drawn, mean, most=400):
    """Return the probabilities of 0, 1, ... runs."""
    runs = np.arange(most)
    if drawn == "poisson":
        logs = np.array([k * math.log(mean) - mean - math.lgamma(k + 1) for k in runs])
        return np.exp(logs)
    if drawn == "geometric":
        return np.where(runs > 0, (1 - 1 / mean) ** (runs - 1.0) / mean, 0)
    gamma = published._gamma_truncated_negative_binomial(0.0, mean)
    weights = np.where(runs > 0, (1 - gamma) ** runs / np.maximum(runs, 1), 0)
    return weights / weights.sum()


@pytest.mark.parametrize("drawn", ["fixed", "poisson", "geometric", "logarithmic"])
@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_no_selection_exceeds_the_guarantee_of_tuned_runs(drawn, scale):
    """Enumerated: the best of K noisy numbers, K fixed or drawn, is told apart no better."""
    mean = 5
    cuts = np.linspace(-30, 31, 4001)
    parts = Composition(parts=(LaplacePart(noise_multiplier=scale),))
    curve = RenyiDP(limits=accounted(parts, mean, drawn))

    def best(centre):
        below = np.where(
            cuts < centre,
            0.5 * np.exp(np.minimum(0, cuts - centre) / scale),
            1 - 0.5 * np.exp(np.minimum(0, centre - cuts) / scale),
        )
        if drawn == "fixed":
            cells = np.diff(below**mean)
            return np.concatenate(([below[0] ** mean], cells, [1 - below[-1] ** mean]))
        shares = law(drawn, mean)
        # All runs are below the cut; without a run there is an answer of its own.
        under = sum(p * below**k for k, p in enumerate(shares) if k)
        return np.concatenate(([shares[0], under[0]], np.diff(under), [1 - shares[0] - under[-1]]))

    without, with_it = np.maximum(best(0.0), 0), np.maximum(best(1.0), 0)
    for one, other in ((with_it, without), (without, with_it)):
        for epsilon in (0.0, 0.5, 2.0):
            delta = np.maximum(one - math.exp(epsilon) * other, 0).sum()
            assert delta <= curve.profile(epsilon) + 1e-9


def test_of_other_runs_nothing_is_said():
    with pytest.raises(UsageError) as raised:
        accounted(Composition(parts=(ApproximatePart(epsilon=1.0),)), 3)
    assert raised.value.code == "best_of"


def test_dp_sgd_is_accounted_by_the_paper_s_theorem():
    """Papernot and Steinke 2022, Theorem 2, by hand for geometric numbers of runs."""
    parts = Composition(parts=(DpSgd(noise_multiplier=1.0, q=0.02, steps=200),))
    one, tuned = accounted(parts), dict(accounted(parts, 10, "geometric"))
    added = 2 * min((1 - 1 / a) * e + math.log(10) / a for a, e in one)
    for order, limit in one:
        expected = limit + added + math.log(10) / (order - 1)
        assert tuned[order] <= expected * (1 + 1e-12)
    last, limit = one[-1]
    assert tuned[last] == pytest.approx(limit + added + math.log(10) / (last - 1), rel=1e-12)
