""""""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from mipaudit.commands.epsilon.power import (
    Claim,
    curve_with_epsilon,
    independent_runs_detector,
    runs_needed,
    size_needed,
    smallest_refutable_epsilon,
)
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism

CLAIM = Claim(1.0, 0.0, 0.95)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-5), (1.0, 1e-5), (4.0, 0.1), (30.0, 1e-9)])
def test_a_curve_costs_what_it_should(mechanism, epsilon, delta):
    curve = curve_with_epsilon(mechanism, epsilon=epsilon, delta=delta)
    assert curve.epsilon_at(delta) == pytest.approx(epsilon, rel=1e-6, abs=1e-6)


def test_a_gaussian_mechanism_has_no_epsilon_at_delta_zero():
    assert curve_with_epsilon("gaussian", epsilon=1.0, delta=0) is None
    assert curve_with_epsilon("laplace", epsilon=1.0, delta=0).shift == 1.0
    assert smallest_refutable_epsilon(lambda _: 1.0, "gaussian", CLAIM) is None


def test_the_least_epsilon_is_where_the_power_is_reached():
    found = smallest_refutable_epsilon(lambda curve: min(1.0, curve.shift / 5), "laplace", CLAIM)
    assert found == pytest.approx(4.0, rel=3e-4)
    assert smallest_refutable_epsilon(lambda _: 0.79, "laplace", CLAIM) is None


@pytest.mark.parametrize("needed", [1, 2, 17, 1000, 123_456])
def test_sizes_are_found_to_two_digits(needed):
    found = size_needed(lambda size: float(size >= needed), start=1, most=10**7)
    assert needed <= found <= max(needed + 1, 1.011 * needed)


def test_a_size_out_of_reach_is_none():
    calls = []

    def power_of(size):
        calls.append(size)
        return 1 - math.exp(-size / 1e9)

    assert size_needed(power_of, start=1, most=10**7) is None
    assert max(calls) == 10**7


def conditional(tp, n_num, fp, n_den, delta, alpha):
    """Return the conditional binomial limit at delta = 0."""
    from scipy.special import betaincinv

    assert delta == 0
    if tp <= 0:
        return 0.0
    share = float(betaincinv(tp, fp + 1, alpha))
    return max(0.0, math.log(share / (1 - share) * n_den / n_num))


def simulated(curve, runs, claimed):
    rng = np.random.default_rng(4)
    rates = []
    for fpr in np.geomspace(0.1 / runs, 0.5, 24):
        tp, fp = rng.binomial(runs, curve.tpr(float(fpr)), 600), rng.binomial(runs, fpr, 600)
        limits = [conditional(t, runs, f, runs, 0, 0.05) for t, f in zip(tp, fp, strict=True)]
        rates.append(np.mean(np.array(limits) > claimed))
    return max(rates)


@pytest.mark.parametrize(("runs", "claimed"), [(100, 0.5), (1000, 1.0)])
def test_the_smallest_epsilon_is_refuted_as_often_as_promised(runs, claimed):
    detector = independent_runs_detector(
        conditional, Claim(claimed, 0.0, 0.95), n_num=runs, n_den=runs
    )
    found = smallest_refutable_epsilon(detector, "laplace", Claim(claimed, 0.0, 0.95))
    curve = curve_with_epsilon("laplace", epsilon=found, delta=0.0)
    assert simulated(curve, runs, claimed) == pytest.approx(0.8, abs=0.06)


def test_the_claim_itself_is_refuted_no_more_often_than_alpha():
    detector = independent_runs_detector(conditional, CLAIM, n_num=400, n_den=200)
    assert detector(LaplaceMechanism(shift=1.0)) <= 0.05
    assert detector(GaussianDP(mu=0.0)) < 1e-3


def test_more_runs_and_larger_leaks_are_refuted_more_often():
    def power(runs, shift):
        detector = independent_runs_detector(conditional, CLAIM, n_num=runs, n_den=runs)
        return detector(LaplaceMechanism(shift=shift))

    assert power(100, 1.5) < power(300, 1.5) < power(1000, 1.5)
    assert power(300, 1.2) < power(300, 1.5) < power(300, 2.0)


def test_the_runs_that_are_needed_are_enough_and_not_many_too_many():
    curve = LaplaceMechanism(shift=1.5)
    needed = runs_needed(conditional, curve, CLAIM)
    assert simulated(curve, needed, 1.0) > 0.75
    assert simulated(curve, round(0.7 * needed), 1.0) < 0.8


def test_no_number_of_runs_refutes_a_claim_that_holds():
    assert runs_needed(conditional, LaplaceMechanism(shift=1.0), CLAIM) is None


@pytest.mark.parametrize("sizes", [(1, 1), (1, 1000), (1000, 1)])
def test_tiny_classes(sizes):
    detector = independent_runs_detector(conditional, CLAIM, n_num=sizes[0], n_den=sizes[1])
    assert 0 <= detector(LaplaceMechanism(shift=3.0)) <= 1


def test_planning_is_quick():
    start = time.process_time()
    detector = independent_runs_detector(conditional, CLAIM, n_num=10**5, n_den=10**5)
    smallest_refutable_epsilon(detector, "laplace", CLAIM)
    assert time.process_time() - start < 1
