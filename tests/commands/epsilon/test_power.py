"""How likely a claim is refuted, and by how many runs, canaries and guesses."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from scipy.special import betaincinv

from mipaudit.commands.epsilon.guesses import count_guesses, plan_guesses
from mipaudit.commands.epsilon.power import (
    Claim,
    canaries_needed,
    curve_with_epsilon,
    independent_runs_detector,
    one_run_detector,
    runs_needed,
    size_needed,
    smallest_refutable_epsilon,
)
from mipaudit.maths.one_run.p_value import critical_correct
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism

CLAIM, IN_ONE_RUN = Claim(1.0, 0.0, 0.95), Claim(1.0, 1e-5, 0.95)


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
    claim = Claim(claimed, 0.0, 0.95)
    detector = independent_runs_detector(conditional, claim, n_num=runs, n_den=runs)
    found = smallest_refutable_epsilon(detector, "laplace", claim)
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


def simulated_run(curve, canaries, guesses, claimed):
    rng = np.random.default_rng(3)
    plans = plan_guesses(canaries, guesses)
    made = {"canaries": canaries, "guesses": plans[0].guessed_in + plans[0].guessed_out}
    critical = critical_correct(**made, epsilon=claimed, delta=1e-5, alpha=0.05)
    refuted = 0
    for _ in range(1500):
        included = rng.random(canaries) < 0.5
        if isinstance(curve, GaussianDP):
            scores = rng.normal(size=canaries) + curve.mu * included
        else:
            scores = rng.laplace(size=canaries) + curve.shift * included
        ((_, count, _),) = count_guesses(included, scores, plans, direction="high")
        refuted += count.correct >= critical
    return refuted / 1500


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(
    ("canaries", "guesses", "claimed"),
    [(100, 50, 0.5), (300, 300, 0.5), (1000, 200, 1.0), (1000, (200, 0), 1.0), (1000, 40, 1.0)],
)
def test_the_smallest_epsilon_of_a_run_is_refuted_as_promised(
    mechanism, canaries, guesses, claimed
):
    claim = Claim(claimed, 1e-5, 0.95)
    detector = one_run_detector(claim, canaries=canaries, guesses=guesses)
    found = smallest_refutable_epsilon(detector, mechanism, claim)
    curve = curve_with_epsilon(mechanism, epsilon=found, delta=1e-5)
    assert simulated_run(curve, canaries, guesses, claimed) == pytest.approx(0.8, abs=0.045)


def test_the_claim_itself_is_refuted_by_a_run_no_more_often_than_alpha():
    for guesses in (50, 200, 1000, None):
        detector = one_run_detector(IN_ONE_RUN, canaries=1000, guesses=guesses)
        assert detector(GaussianDP(mu=0.0)) < 1e-3
        assert detector(LaplaceMechanism(shift=1.0)) <= 0.05


def test_a_run_that_is_too_small_never_refutes():
    detector = one_run_detector(IN_ONE_RUN, canaries=5, guesses=None)
    assert detector(GaussianDP(mu=50.0)) == 0
    assert smallest_refutable_epsilon(detector, "laplace", IN_ONE_RUN) is None


def test_searching_costs_power():
    curve = GaussianDP(mu=0.8)
    fixed, grid, both = (
        one_run_detector(IN_ONE_RUN, canaries=1000, guesses=guesses, directions=n)(curve)
        for guesses, n in [(125, 1), (None, 1), (None, 2)]
    )
    assert fixed > grid > both > 0.3


@pytest.mark.parametrize(("mechanism", "true"), [("gaussian", 3.0), ("laplace", 1.5)])
def test_the_run_that_is_needed_is_large_enough_and_not_much_too_large(mechanism, true):
    curve = curve_with_epsilon(mechanism, epsilon=true, delta=1e-5)
    canaries, guesses = canaries_needed(curve, IN_ONE_RUN)

    def power(canaries):
        return max(
            one_run_detector(IN_ONE_RUN, canaries=canaries, guesses=guesses)(curve)
            for guesses in (canaries >> k for k in range(8))
            if guesses > 3
        )

    assert power(canaries) >= 0.8
    assert power(round(0.9 * canaries)) < 0.82
    assert 4 <= guesses <= canaries


def test_no_run_refutes_a_claim_that_holds():
    assert canaries_needed(LaplaceMechanism(shift=1.0), IN_ONE_RUN) is None


def test_planning_a_run_is_quick():
    start = time.process_time()
    canaries_needed(curve_with_epsilon("gaussian", epsilon=2.0, delta=1e-5), IN_ONE_RUN)
    detector = one_run_detector(IN_ONE_RUN, canaries=10**6, guesses=None)
    smallest_refutable_epsilon(detector, "gaussian", IN_ONE_RUN)
    assert time.process_time() - start < 1.5
