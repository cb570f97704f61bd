"""Trade-off curves known at some points only."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.one_run.curve_p_value import one_run_curve_p_value
from mipaudit.maths.one_run.p_value import CanaryCount
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, TwoStepDP
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism
from mipaudit.maths.privacy.points_of_curve import Accounted, sampled_tradeoff, substituted

DENSE = np.concatenate([[0.0], np.geomspace(1e-6, 0.5, 250), 1 - np.geomspace(0.49, 1e-6, 250)])
RATES = (1e-9, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999)


def sampled(curve, fprs):
    return sampled_tradeoff(list(fprs), [curve.tpr(float(fpr)) for fpr in fprs])


@pytest.mark.parametrize(
    "curve", [GaussianDP(mu=0.3), GaussianDP(mu=3.0), ApproximateDP(epsilon=1.0, delta=1e-3)]
)
def test_it_is_never_below_the_curve_that_was_sampled_and_close_to_it(curve):
    found = sampled(curve, DENSE)
    for fpr in np.concatenate([np.geomspace(1e-9, 1, 400), np.linspace(0, 1, 300)]):
        slack = found.tpr(float(fpr)) - curve.tpr(float(fpr))
        assert -1e-12 <= slack <= 2e-3


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12),
    st.floats(0.0, 1.0),
    st.sampled_from([GaussianDP(mu=0.7), ApproximateDP(epsilon=0.5, delta=0.01)]),
)
def test_few_points_only_make_it_wider(fprs, fpr, curve):
    found = sampled(curve, fprs)
    assert found.tpr(fpr) >= curve.tpr(fpr) - 1e-9
    assert 0 <= found.fnr(fpr) <= 1


@given(st.lists(st.floats(0.001, 0.999), min_size=1, max_size=9), st.floats(0.01, 0.99))
def test_it_is_concave_and_its_own_mirror_image(fprs, fpr):
    found = sampled(GaussianDP(mu=1.0), fprs)
    slopes = np.diff(found.fnrs) / np.diff(found.fprs)
    assert (np.diff(slopes) >= -1e-6 * np.abs(slopes).max()).all()
    # The mirror image of (FPR, FNR) lies on the curve too, where the curve is steep enough.
    missed = found.fnr(fpr)
    if 1e-6 < missed < 1:
        assert found.fnr(missed) == pytest.approx(fpr, abs=1e-6)


def test_a_polygon_with_its_corners_sampled_is_met_exactly():
    exact = ApproximateDP(epsilon=1.0, delta=0.01)
    points = [*np.linspace(0, exact.corner, 6), *np.linspace(exact.corner, 1 - 0.01, 6), 1.0]
    found = sampled(exact, points)
    for epsilon in (0.0, 0.4, 0.9):
        assert found.profile(epsilon) == pytest.approx(exact.profile(epsilon), rel=1e-9)
    assert found.epsilon_at(0.02) == pytest.approx(exact.epsilon_at(0.02), rel=1e-6)
    assert found.loss == math.inf


def test_a_curve_without_certain_outputs_has_the_loss_of_its_steepest_side():
    found = sampled(LaplaceMechanism(shift=2.0), np.linspace(0, 1, 201))
    assert found.loss == pytest.approx(2.0, rel=1e-6)


def test_one_point_leaves_all_that_concavity_allows():
    found = sampled_tradeoff([0.1], [0.4])
    # A line from (0, 0) through the point bounds what lies beyond it, and mirrored.
    assert found.tpr(0.1) >= 0.4
    assert found.tpr(0.0) > 0
    assert found.tpr(1.0) == 1.0


@pytest.mark.parametrize(("guesses", "correct"), [(100, 66), (200, 121), (50, 40)])
def test_a_p_value_is_at_least_that_of_the_curve_itself_and_near_it(guesses, correct):
    count = CanaryCount(canaries=1000, guesses=guesses, correct=correct, guessed_in=None)
    exact = one_run_curve_p_value(GaussianDP(mu=0.4), count)
    found = one_run_curve_p_value(sampled(GaussianDP(mu=0.4), DENSE), count)
    assert exact <= found * (1 + 1e-9)
    assert found == pytest.approx(exact, rel=0.02)


def sampled_of_profile_curve(curve, epsilons):
    """Know a curve at some epsilons only."""
    epsilons = np.asarray(epsilons, dtype=float)
    deltas = np.array([curve.profile(float(epsilon)) for epsilon in epsilons])
    return Accounted(epsilon=epsilons, delta=deltas, loss=curve.loss)


@cache
def gaussian(mu, points=4000):
    return sampled_of_profile_curve(GaussianDP(mu=mu), np.linspace(0, mu * mu / 2 + 9 * mu, points))


@pytest.mark.parametrize("mu", [0.01, 0.3, 1, 4])
def test_four_thousand_points_of_a_gaussian_curve_are_enough(mu):
    exact, known = GaussianDP(mu=mu), gaussian(mu)
    assert known.profile(0) == exact.profile(0)
    for rate in RATES:
        assert known.tpr(rate) >= exact.tpr(rate) * (1 - 1e-14)
        assert known.tpr(rate) == pytest.approx(exact.tpr(rate), rel=1e-5)
        assert known.fnr(rate) <= exact.fnr(rate) * (1 + 1e-12)
        assert known.fnr(rate) == pytest.approx(exact.fnr(rate), rel=1e-4)


@pytest.mark.parametrize("mu", [0.3, 1, 4])
def test_few_points_loosen_and_never_tighten(mu):
    exact, fine, coarse = GaussianDP(mu=mu), gaussian(mu, 391), gaussian(mu, 40)
    for rate in RATES:
        assert exact.tpr(rate) <= fine.tpr(rate) + 1e-15 <= coarse.tpr(rate) + 2e-15
    for epsilon in np.linspace(0, 3 * mu, 101):
        assert exact.profile(epsilon) <= fine.profile(epsilon) + 1e-15
        assert fine.profile(epsilon) <= coarse.profile(epsilon) + 2e-15
    assert coarse.profile(1.1 * mu) > exact.profile(1.1 * mu)


@given(fpr=st.floats(0, 1), other=st.floats(0, 1))
def test_is_a_symmetric_concave_roc(fpr, other):
    curve = gaussian(1, 500)
    assert fpr <= curve.tpr(fpr) <= 1
    assert curve.tpr(fpr) + curve.fnr(fpr) == pytest.approx(1, abs=1e-15)
    assert curve.tpr((fpr + other) / 2) >= (curve.tpr(fpr) + curve.tpr(other)) / 2 - 1e-15
    assert curve.fnr(curve.fnr(fpr)) == pytest.approx(fpr, abs=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), (1, 1e-5), (6, 0.1), (650, 0), (700, 1e-3)])
def test_two_points_hold_an_approximate_guarantee(epsilon, delta):
    exact = ApproximateDP(epsilon=epsilon, delta=delta)
    known = sampled_of_profile_curve(exact, [0, epsilon])
    assert known.loss == exact.loss
    for rate in (0, *RATES, 1):
        assert known.tpr(rate) == pytest.approx(exact.tpr(rate), rel=1e-12)
        assert known.fnr(rate) == pytest.approx(exact.fnr(rate), rel=1e-9, abs=1e-16)
    for at in (0, 0.4 * epsilon, 0.9 * epsilon, epsilon, 2 * epsilon, math.inf):
        assert known.profile(at) == pytest.approx(exact.profile(at), rel=1e-9)


def test_ends():
    curve = gaussian(1)
    assert curve.tpr(0) == curve.delta[-1]
    assert curve.fnr(0) == 1 - curve.delta[-1]
    assert (curve.tpr(1), curve.fnr(1)) == (1, 0)
    assert 0 < curve.fnr(1 - 1e-12) < 1e-10
    # The last delta holds from there on.
    assert curve.profile(1000) == curve.profile(1e9) == curve.delta[-1]
    assert curve.profile(math.inf) == curve.delta[-1]
    assert curve.tpr(1e-300) == pytest.approx(curve.delta[-1])


def test_no_release_at_all():
    nothing = Accounted(epsilon=np.zeros(1), delta=np.zeros(1), loss=0.0)
    assert (nothing.profile(0), nothing.tpr(0.3), nothing.fnr(0.3)) == (0, 0.3, 0.7)
    assert substituted(nothing) is nothing


def test_a_single_point_holds_everywhere():
    curve = Accounted(epsilon=np.zeros(1), delta=np.array([0.02]), loss=math.inf)
    assert curve.profile(0) == curve.profile(5) == 0.02
    assert curve.tpr(0.1) == pytest.approx(0.12)
    assert curve.tpr(0.99) == 1


def test_negative_epsilons_mirror():
    curve, exact = gaussian(1), GaussianDP(mu=1)
    at = np.array([-3.0, -0.5, -1e-9, 0.0, 0.5])
    expected = [
        1 - math.exp(e) * (1 - exact.profile(-e)) if e < 0 else exact.profile(e) for e in at
    ]
    assert curve.profiles(at) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("mu", [0.01, 0.3, 1, 3])
def test_substitution_under_gaussian_noise_doubles_mu(mu):
    exact, found = GaussianDP(mu=2 * mu), substituted(gaussian(mu, 20_000))
    assert found.profile(0) == pytest.approx(exact.profile(0), rel=1e-7)
    for rate in (0.001, 0.01, 0.1, 0.5):
        assert found.tpr(rate) >= exact.tpr(rate) * (1 - 1e-12)
        assert found.tpr(rate) == pytest.approx(exact.tpr(rate), rel=1e-5)
        assert found.fnr(rate) == pytest.approx(exact.fnr(rate), rel=1e-4)
    for epsilon in (mu / 2, mu, 2 * mu):
        assert found.profile(epsilon) >= exact.profile(epsilon) * (1 - 1e-12)
        assert found.profile(epsilon) == pytest.approx(exact.profile(epsilon), rel=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), (0.1, 1e-5), (3, 0.01), (1, 0.4)])
def test_substitution_under_an_approximate_guarantee(epsilon, delta):
    step = ApproximateDP(epsilon=epsilon, delta=delta)
    exact, found = TwoStepDP(step=step), substituted(sampled_of_profile_curve(step, [0, epsilon]))
    assert found.loss == exact.loss
    for rate in RATES:
        assert found.tpr(rate) >= exact.tpr(rate) - 1e-14
        assert found.tpr(rate) == pytest.approx(exact.tpr(rate), rel=1e-6)
    for at in (0, epsilon / 2, 1.5 * epsilon, 2 * epsilon, 3 * epsilon):
        assert found.profile(at) == pytest.approx(exact.profile(at), rel=1e-6)


def test_substitution_is_twice_through_the_curve():
    # The Laplace mechanism's own worst case, a shift twice as long, is within T(T).
    step = sampled_of_profile_curve(LaplaceMechanism(shift=1), np.linspace(0, 1, 3001))
    found, noise = substituted(step), LaplaceMechanism(shift=2)
    for rate in (0.001, 0.01, 0.1, 0.4):
        twice = step.tpr(step.tpr(rate))
        assert found.tpr(rate) == pytest.approx(twice, rel=1e-6)
        assert found.tpr(rate) >= noise.tpr(rate) * (1 - 1e-9)
    assert found.loss == 2


@pytest.mark.parametrize(("one", "both"), [(1e-6, 2e-6), (0.7, 1.0)])
def test_the_grid_error_of_both_steps_is_passed_on(one, both):
    assert substituted(replace(gaussian(1), excess_of_grid=one)).excess_of_grid == both
