from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ellipe

from mipaudit.commands.noise.mechanism import (
    FLOOR,
    coordinate_spreads,
    diagonal_shape,
    full_shape,
    gaussian_norm,
    isotropic_shape,
    noise_cost,
    sample_noise,
    standard_units,
    uniforms_from_bytes,
)
from mipaudit.maths.noise_scales import expected_norm


def covariance(shape):
    factor = np.diag(shape.factor) if shape.factor.ndim == 1 else shape.factor
    return factor @ factor.T


def surrogate(noise, sigma):
    """Return the total variance of noise of this shape, scaled by the second moment."""
    return np.trace(noise) * np.trace(np.linalg.solve(noise, sigma))


def root(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T


@pytest.fixture
def sigma(rng):
    mixing = rng.standard_normal((4, 4)) * [1, 3, 10, 30]
    return mixing.T @ mixing


@pytest.fixture
def points(rng, sigma):
    return rng.multivariate_normal(np.full(4, 50.0), sigma, size=100_000)


def test_full_noise_is_the_root_of_the_covariance(points, sigma):
    shape = full_shape(points, np.ones(4))
    wanted = root(sigma) / np.trace(root(sigma)) * 4
    wanted = (wanted + FLOOR * np.eye(4)) / (1 + FLOOR)
    np.testing.assert_allclose(covariance(shape), wanted, atol=0.02)
    assert np.trace(covariance(shape)) == pytest.approx(4)


def test_total_variance_is_the_closed_form(points, sigma):
    noise = covariance(full_shape(points, np.ones(4)))
    best = np.trace(root(sigma)) ** 2
    isotropic = 4 * np.trace(sigma)
    # The floor costs a little; the ratio is far from 1 here.
    assert surrogate(noise, sigma) / isotropic == pytest.approx(best / isotropic, rel=0.03)
    assert best / isotropic < 0.6
    diagonal = covariance(diagonal_shape(points, np.ones(4)))
    assert surrogate(diagonal, sigma) == pytest.approx(np.sqrt(np.diag(sigma)).sum() ** 2, rel=0.03)


def test_no_other_shape_does_better(rng, points, sigma):
    full = covariance(full_shape(points, np.ones(4)))
    diagonal = np.diag(covariance(diagonal_shape(points, np.ones(4))))
    for _ in range(200):
        step = rng.standard_normal((4, 4)) * 0.3
        other = (np.eye(4) + step) @ full @ (np.eye(4) + step).T
        assert surrogate(other, sigma) > surrogate(full, sigma) * 0.97
        other = np.diag(diagonal * np.exp(rng.standard_normal(4)))
        assert surrogate(other, sigma) > surrogate(np.diag(diagonal), sigma) * 0.97


def test_shape_makes_the_error_least_in_the_units_asked_for(rng, points, sigma):
    units = np.array([1.0, 5.0, 0.2, 100.0])
    back = np.diag(1 / units)
    noise = covariance(full_shape(points, units))

    def total(matrix):
        inside = np.trace(np.linalg.solve(matrix, sigma))
        return np.trace(back @ matrix @ back) * inside

    best = np.trace(root(back @ sigma @ back)) ** 2
    assert total(noise) == pytest.approx(best, rel=0.03)
    assert total(covariance(full_shape(points, np.ones(4)))) > 1.05 * best


@pytest.mark.parametrize("make", [diagonal_shape, full_shape])
def test_whitening_undoes_the_factor(rng, points, make):
    shape = make(points[:1000], np.array([1e-9, 1.0, 1e9, 3.0]))
    drawn = rng.standard_normal((5, 4))
    factor = np.diag(shape.factor) if shape.factor.ndim == 1 else shape.factor
    np.testing.assert_allclose(shape.whiten(drawn @ factor.T), drawn, rtol=1e-9, atol=1e-12)


def test_constant_coordinates_get_the_floor(rng):
    points = np.column_stack([rng.standard_normal((40, 2)), np.full(40, 7.0)])
    shape = diagonal_shape(points, standard_units(points))
    least = FLOOR / (1 + FLOOR)
    assert shape.roots[2] ** 2 == pytest.approx(least)
    assert shape.factor[2] > 0
    full = full_shape(points, standard_units(points))
    assert (full.roots**2).min() == pytest.approx(least)
    assert (full.roots**2).mean() == pytest.approx(1)


def test_units_of_constant_coordinates_are_the_median_of_the_others(rng):
    points = np.column_stack([rng.standard_normal((40, 3)) * [1, 10, 100], np.zeros(40)])
    units = standard_units(points)
    assert units[3] == np.median(units[:3])
    assert standard_units(np.ones((5, 2))) is None


def test_spreads_keep_any_unit(rng):
    sizes = np.array([1e-200, 1e-9, 1.0, 1e9, 1e200])
    points = rng.standard_normal((30, 1)) * sizes
    np.testing.assert_allclose(coordinate_spreads(points) / sizes, coordinate_spreads(points)[2])
    np.testing.assert_allclose(coordinate_spreads(points)[2], points[:, 2].std(ddof=1))


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
    source = uniforms_from_bytes(rng.bytes)
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
