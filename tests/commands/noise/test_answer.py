from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.noise.answer import noised
from mipaudit.commands.noise.calibration import calibrate
from mipaudit.commands.noise.mechanism import sample_noise, uniforms_from_bytes
from mipaudit.commands.noise.options import NoiseOptions


@pytest.fixture
def splits(adult_splits):
    return adult_splits / adult_splits.std(axis=0)


@pytest.fixture
def calibration(splits, rng):
    return calibrate(splits, NoiseOptions(eta=0.1, splits=splits), rng)


def test_release_gets_the_noise_of_its_calibration(splits, calibration, rng):
    vector = splits[0]
    source = uniforms_from_bytes(rng.bytes)
    steps = np.array([noised(vector, calibration.chosen, source) - vector for _ in range(4000)])
    size = calibration.chosen.coordinate_rms
    np.testing.assert_allclose(steps.mean(axis=0) / size, 0, atol=0.07)
    np.testing.assert_allclose(steps.std(axis=0), size, rtol=0.06)


def test_release_is_rounded_to_the_grid_of_its_noise(splits, calibration):
    chosen = calibration.chosen
    source, again = (uniforms_from_bytes(np.random.default_rng(1).bytes) for _ in range(2))
    found = noised(splits[0], chosen, source)
    factor = chosen.shape.factor
    exact = splits[0] + sample_noise(chosen.way.mechanism, chosen.noise.scale, 6, again, factor)
    steps = chosen.coordinate_rms * 2.0**-20
    assert (np.abs(found - exact) <= steps).all()
    assert (found != exact).any()
    grid = 2.0 ** np.floor(np.log2(steps))
    np.testing.assert_array_equal(found % grid, np.zeros(6))
