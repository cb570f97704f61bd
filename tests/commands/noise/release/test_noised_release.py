from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.noise.calibrate.calibration import calibrate
from mipaudit.commands.noise.calibrate.demand import Demand
from mipaudit.commands.noise.mechanisms.clipping import Ball
from mipaudit.commands.noise.mechanisms.mechanism import uniforms_from
from mipaudit.commands.noise.release.noised_release import noised
from mipaudit.errors import InputError


@pytest.fixture
def calibration(adult_splits, rng):
    ball = Ball(centre=adult_splits.mean(axis=0), radius=adult_splits.std(axis=0) * 5)
    return calibrate(adult_splits, Demand(eta=0.1, ball=ball), rng)


def test_release_gets_the_noise_of_its_calibration(adult_splits, calibration, rng):
    vector = adult_splits[0]
    source = uniforms_from(rng)
    steps = np.array([noised(vector, calibration.chosen, source) - vector for _ in range(4000)])
    cost = calibration.chosen.cost
    np.testing.assert_allclose(steps.mean(axis=0) / cost.coordinate_rms, 0, atol=0.07)
    np.testing.assert_allclose(steps.std(axis=0), cost.coordinate_rms, rtol=0.06)


def test_release_is_rounded_to_the_grid_of_its_noise(adult_splits, calibration):
    results = [
        noised(
            adult_splits[0],
            calibration.chosen,
            uniforms_from(np.random.default_rng(1)),
            rounded=rounded,
        )
        for rounded in (True, False)
    ]
    steps = calibration.chosen.cost.coordinate_rms * 2.0**-20
    assert (np.abs(results[0] - results[1]) <= steps).all()
    assert (results[0] != results[1]).any()
    grid = 2.0 ** np.floor(np.log2(steps))
    np.testing.assert_array_equal(results[0] % grid, np.zeros(6))


def test_release_outside_the_ball_is_clipped_first(adult_splits, calibration):
    ball = calibration.demand.ball
    far = ball.centre + np.array([0, 0, 1e9, 0, 0, 0])
    surface = ball.centre + np.array([0, 0, ball.radius[2], 0, 0, 0])
    draws = [
        noised(vector, calibration.chosen, uniforms_from(np.random.default_rng(1)), ball)
        for vector in (far, surface)
    ]
    np.testing.assert_allclose(draws[0], draws[1], rtol=1e-9)


def test_release_of_another_length_is_refused(adult_splits, calibration, rng):
    with pytest.raises(InputError) as caught:
        noised(adult_splits[0, :5], calibration.chosen, uniforms_from(rng))
    assert caught.value.code == "release_does_not_match"
