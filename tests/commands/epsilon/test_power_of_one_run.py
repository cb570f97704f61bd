from __future__ import annotations

import time

import numpy as np
import pytest

from mipaudit.commands.epsilon.guesses import count_guesses, plan_guesses
from mipaudit.commands.epsilon.power import (
    Claim,
    canaries_needed,
    curve_with_epsilon,
    one_run_detector,
    smallest_refutable_epsilon,
)
from mipaudit.maths.one_run.p_value import critical_correct
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism

CLAIM = Claim(1.0, 1e-5, 0.95)
RUNS = 1500


def simulated(curve, canaries, guesses, claimed):
    rng = np.random.default_rng(3)
    plans = plan_guesses(canaries, guesses)
    critical = critical_correct(
        canaries=canaries,
        guesses=plans[0].guessed_in + plans[0].guessed_out,
        epsilon=claimed,
        delta=1e-5,
        alpha=0.05,
    )
    refuted = 0
    for _ in range(RUNS):
        included = rng.random(canaries) < 0.5
        if isinstance(curve, GaussianDP):
            scores = rng.normal(size=canaries) + curve.mu * included
        else:
            scores = rng.laplace(size=canaries) + curve.shift * included
        ((_, count),) = count_guesses(included, scores, plans, direction="high")
        refuted += count.correct >= critical
    return refuted / RUNS


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(
    ("canaries", "guesses", "claimed"),
    [(100, 50, 0.5), (300, 300, 0.5), (1000, 200, 1.0), (1000, (200, 0), 1.0), (1000, 40, 1.0)],
)
def test_the_smallest_epsilon_is_refuted_as_often_as_promised(
    mechanism, canaries, guesses, claimed
):
    detector = one_run_detector(Claim(claimed, 1e-5, 0.95), canaries=canaries, guesses=guesses)
    found = smallest_refutable_epsilon(detector, mechanism, Claim(claimed, 1e-5, 0.95))
    curve = curve_with_epsilon(mechanism, epsilon=found, delta=1e-5)
    assert simulated(curve, canaries, guesses, claimed) == pytest.approx(0.8, abs=0.045)


def test_the_claim_itself_is_refuted_no_more_often_than_alpha():
    for guesses in (50, 200, 1000, None):
        detector = one_run_detector(CLAIM, canaries=1000, guesses=guesses)
        assert detector(GaussianDP(mu=0.0)) < 1e-3
        assert detector(LaplaceMechanism(shift=1.0)) <= 0.05


def test_a_run_that_is_too_small_never_refutes():
    detector = one_run_detector(CLAIM, canaries=5, guesses=None)
    assert detector(GaussianDP(mu=50.0)) == 0
    assert smallest_refutable_epsilon(detector, "laplace", CLAIM) is None


def test_searching_costs_power():
    curve = GaussianDP(mu=0.8)
    fixed, grid, both = (
        one_run_detector(CLAIM, canaries=1000, guesses=guesses, directions=n)(curve)
        for guesses, n in [(125, 1), (None, 1), (None, 2)]
    )
    assert fixed > grid > both > 0.3


@pytest.mark.parametrize(("mechanism", "true"), [("gaussian", 3.0), ("laplace", 1.5)])
def test_the_run_that_is_needed_is_large_enough_and_not_much_too_large(mechanism, true):
    curve = curve_with_epsilon(mechanism, epsilon=true, delta=1e-5)
    canaries, guesses = canaries_needed(curve, CLAIM)

    def power(canaries):
        return max(
            one_run_detector(CLAIM, canaries=canaries, guesses=guesses)(curve)
            for guesses in (canaries >> k for k in range(8))
            if guesses > 3
        )

    assert power(canaries) >= 0.8
    assert power(round(0.9 * canaries)) < 0.82
    assert 4 <= guesses <= canaries


def test_no_run_refutes_a_claim_that_holds():
    assert canaries_needed(LaplaceMechanism(shift=1.0), CLAIM) is None


def test_planning_is_quick():
    start = time.process_time()
    canaries_needed(curve_with_epsilon("gaussian", epsilon=2.0, delta=1e-5), CLAIM)
    detector = one_run_detector(CLAIM, canaries=10**6, guesses=None)
    smallest_refutable_epsilon(detector, "gaussian", CLAIM)
    assert time.process_time() - start < 1.5
