from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ellipe

from mipaudit.commands.noise.calibrate.candidate import gaussian_norm, noise_cost
from mipaudit.commands.noise.mechanisms.mechanism import sample_noise, uniforms_from
from mipaudit.commands.noise.mechanisms.shape import diagonal_shape, full_shape, isotropic_shape
from mipaudit.maths.mip import expected_norm


@pytest.mark.parametrize("ratio", [1.0, 0.9, 0.3, 1e-3, 1e-12, 0.0])
def test_norm_of_two_coordinates_is_an_elliptic_integral(ratio):
    exact = math.sqrt(2 / math.pi) * ellipe(1 - ratio**2)
    assert gaussian_norm(np.array([1.0, ratio])) == pytest.approx(exact, rel=1e-10)
    assert gaussian_norm(np.array([1e200, ratio * 1e200])) == pytest.approx(exact * 1e200)


@pytest.mark.parametrize("dimension", [1, 3, 1000])
def test_norm_of_nearly_equal_coordinates_is_that_of_equal_ones(dimension):
    spreads = np.ones(dimension)
    spreads[0] += 1e-12  # off the closed form
    assert gaussian_norm(spreads) == pytest.approx(expected_norm("gaussian", dimension), rel=1e-10)


def test_no_spread_has_no_norm():
    assert gaussian_norm(np.zeros(3)) == 0


@pytest.mark.parametrize("mechanism", ["gaussian", "norm-exponential"])
@pytest.mark.parametrize("kind", ["isotropic", "diagonal", "full"])
def test_cost_is_that_of_the_noise_drawn(rng, mechanism, kind):
    points = rng.standard_normal((200, 3)) @ np.array([[1, 0.9, 0], [0, 1, 20], [0, 0, 30]])
    units = np.array([1.0, 2.0, 10.0])
    shape = {
        "isotropic": lambda: isotropic_shape(units),
        "diagonal": lambda: diagonal_shape(points, units),
        "full": lambda: full_shape(points, units),
    }[kind]()
    cost = noise_cost(mechanism, 1.7, shape, units)
    source = uniforms_from(rng)
    draws = 6000
    noise = np.array([sample_noise(mechanism, 1.7, 3, source, shape.factor) for _ in range(draws)])
    norms = np.linalg.norm(noise, axis=1)
    assert norms.mean() == pytest.approx(cost.expected_norm, rel=0.05)
    assert math.sqrt(np.mean(norms**2)) == pytest.approx(cost.rms_norm, rel=0.05)
    np.testing.assert_allclose(np.sqrt((noise**2).mean(axis=0)), cost.coordinate_rms, rtol=0.06)
    assert ((noise / units) ** 2).sum(axis=1).mean() == pytest.approx(cost.total, rel=0.1)


def test_cost_of_laplace_noise():
    cost = noise_cost("laplace", 2.0, isotropic_shape(np.ones(1)), np.full(1, 4.0))
    assert cost.expected_norm == pytest.approx(2.0)
    assert cost.rms_norm == pytest.approx(math.sqrt(8))
    assert cost.total == pytest.approx(0.5)
