from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.one_run.shares import CanaryCount
from mipaudit.maths.one_run.tradeoff import one_run_curve_p_value
from mipaudit.maths.privacy.approximate import ApproximateDP
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism
from mipaudit.maths.privacy.sampled_tradeoff import sampled_tradeoff

DENSE = np.concatenate([[0.0], np.geomspace(1e-6, 0.5, 250), 1 - np.geomspace(0.49, 1e-6, 250)])


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
