from __future__ import annotations

import math
import os

import numpy as np
import pytest
from scipy import special, stats
from scipy.special import ellipe

from mipaudit.commands.noise.mechanism import (
    FLOOR,
    coordinate_rms,
    coordinate_spreads,
    diagonal_shape,
    full_shape,
    gaussian_norm,
    isotropic_shape,
    noise_cost,
    round_to_grid,
    sample_noise,
    standard_units,
    uniforms_from_bytes,
)
from mipaudit.maths.noise_scales import expected_norm

DRAWS = 4000
# A seeded test of a true law fails by bad luck once in a thousand seeds.
PVALUE = 1e-3


def sample(mechanism, scale, dimension, rng, factor=None, draws=DRAWS):
    source = uniforms_from_bytes(rng.bytes)
    rows = [sample_noise(mechanism, scale, dimension, source, factor) for _ in range(draws)]
    return np.array(rows)


@pytest.mark.parametrize(
    ("mechanism", "dimension", "radius"),
    [
        ("laplace", 1, stats.expon()),
        *(("norm-exponential", d, stats.gamma(d)) for d in (1, 2, 5, 50)),
        *(("gaussian", d, stats.chi(d)) for d in (1, 3)),
    ],
)
def test_noise_has_its_law(rng, mechanism, dimension, radius):
    noise = sample(mechanism, 2.5, dimension, rng) / 2.5
    radii = np.linalg.norm(noise, axis=1)
    assert stats.kstest(radii, radius.cdf).pvalue > PVALUE
    if mechanism == "gaussian" or dimension == 1:
        law = stats.norm if mechanism == "gaussian" else stats.laplace
        assert stats.kstest(noise.ravel(), law.cdf).pvalue > PVALUE
    if mechanism == "norm-exponential":
        # Corollary 8's radius |Laplace(b)|: the same in one dimension only.
        wrong = stats.kstest(radii, stats.expon.cdf).pvalue
        assert (wrong > PVALUE) == (dimension == 1)


def test_laplace_noise_is_for_one_coordinate(rng):
    with pytest.raises(ValueError, match="one coordinate"):
        sample_noise("laplace", 1.0, 2, uniforms_from_bytes(rng.bytes))


@pytest.mark.parametrize("mechanism", ["norm-exponential", "gaussian"])
@pytest.mark.parametrize("dimension", [2, 5])
def test_directions_are_uniform_and_independent_of_the_radius(rng, mechanism, dimension):
    noise = sample(mechanism, 1.0, dimension, rng)
    radii = np.linalg.norm(noise, axis=1)
    cosines = (noise @ np.full(dimension, dimension**-0.5)) / radii
    # The square of a coordinate of a uniform direction is Beta(1/2, (d-1)/2).
    law = stats.beta(0.5, (dimension - 1) / 2).cdf
    assert stats.kstest(cosines**2, law).pvalue > PVALUE
    assert stats.binomtest(int((cosines > 0).sum()), DRAWS).pvalue > PVALUE
    assert stats.spearmanr(radii, cosines).pvalue > PVALUE
    assert stats.spearmanr(radii, np.abs(cosines)).pvalue > PVALUE


@pytest.mark.parametrize("mechanism", ["norm-exponential", "gaussian"])
@pytest.mark.parametrize(
    "factor",
    [np.array([1e-9, 1.0, 1e9]), np.array([[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.5, -1.0, 1.0]])],
    ids=["diagonal", "full"],
)
def test_shaped_noise_is_plain_noise_in_its_own_norm(rng, mechanism, factor):
    noise = sample(mechanism, 2.0, 3, rng, factor)
    matrix = np.diag(factor) if factor.ndim == 1 else factor
    radii = np.linalg.norm(np.linalg.solve(matrix, noise.T), axis=0)
    law = stats.chi(3, scale=2.0) if mechanism == "gaussian" else stats.gamma(3, scale=2.0)
    assert stats.kstest(radii, law.cdf).pvalue > PVALUE
    wrong = np.linalg.norm(noise, axis=1)
    assert stats.kstest(wrong, law.cdf).pvalue < PVALUE


@pytest.mark.parametrize("dimension", [1000, 100_000, 1_000_000])
@pytest.mark.parametrize("uniform", [2.0**-53, 0.3, 1 - 2.0**-53])
def test_radius_quantile_is_accurate_in_high_dimensions(dimension, uniform):
    noise = sample_noise("norm-exponential", 1.0, dimension, lambda count: np.full(count, uniform))
    radius = np.linalg.norm(noise)
    found = special.gammainc(dimension, radius), special.gammaincc(dimension, radius)
    # Rounding of the norm moves the radius by 1e-13 of itself, the far tails by 1e-9 of theirs.
    np.testing.assert_allclose(found, (uniform, 1 - uniform), rtol=1e-7, atol=0)


def test_noise_without_a_direction_is_drawn_again():
    values = iter([0.25, 0.5, 0.75])
    noise = sample_noise(
        "norm-exponential", 1.0, 1, lambda count: np.array([next(values) for _ in range(count)])
    )
    assert noise[0] == pytest.approx(-np.log(0.75))


@pytest.mark.parametrize("scale", [1e-280, 1e-9, 0.7, 1.0, 1e9])
def test_grid_is_a_power_of_two_just_below_the_scale(rng, scale):
    values = rng.standard_normal(1000) * scale
    rounded = round_to_grid(values, scale)
    step = 2.0 ** np.floor(np.log2(scale / 2**20))
    np.testing.assert_array_equal(np.round(rounded / step), rounded / step)
    assert np.abs(rounded - values).max() <= step / 2
    # As many different last digits as the grid leaves.
    assert np.abs(rounded - values).max() > step / 4


def test_grid_may_differ_by_coordinate_and_leaves_huge_values():
    values = np.array([1 / 3, 1e300, -5e200])
    rounded = round_to_grid(values, np.array([2.0**20, 1.0, 1e-300]))
    np.testing.assert_array_equal(rounded, [0.0, 1e300, -5e200])


def test_uniforms_are_uniform_and_a_seed_repeats_them():
    first, again = (uniforms_from_bytes(np.random.default_rng(3).bytes) for _ in range(2))
    draw = first(20_000)
    assert stats.kstest(draw, "uniform").pvalue > PVALUE
    np.testing.assert_array_equal(draw, again(20_000))
    source = uniforms_from_bytes(os.urandom)
    assert not np.array_equal(source(8), source(8))


def test_uniforms_are_inside_the_open_interval_and_symmetric_at_its_ends():
    words = iter([b"\x00" * 6 + b"\x00\x00", b"\x00\x08" + b"\x00" * 6])
    # The first word is zero but for the 11 bits that are dropped: it is drawn again.
    low = uniforms_from_bytes(lambda _: next(words))(1)
    high = uniforms_from_bytes(lambda count: b"\xff" * count)(1)
    assert (low[0], high[0]) == (2.0**-53, 1 - 2.0**-53)


def test_only_the_zeros_are_drawn_again():
    asked = []

    def some_bytes(count):
        asked.append(count)
        return (b"\x00" * 8 + b"\x80" * 8)[:count] if len(asked) == 1 else b"\xc0" * count

    draw = uniforms_from_bytes(some_bytes)(2)
    assert asked == [16, 8]
    assert draw[0] > draw[1] > 0.5
    # All 53 bits are used.
    words = np.array([(1 << 63) | (1 << 11)], dtype="<u8").tobytes()
    assert uniforms_from_bytes(lambda _: words)(1)[0] == 0.5 + 2.0**-53


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
    assert gaussian_norm(0 * spreads) == 0


@pytest.mark.parametrize("mechanism", ["gaussian", "norm-exponential"])
@pytest.mark.parametrize("kind", ["isotropic", "diagonal", "full"])
def test_cost_is_that_of_the_noise_drawn(rng, mechanism, kind):
    points = rng.standard_normal((200, 3)) @ np.array([[1, 0.9, 0], [0, 1, 20], [0, 0, 30]])
    units = np.array([1.0, 2.0, 10.0])
    of_points = {"diagonal": diagonal_shape, "full": full_shape}.get(kind)
    shape = isotropic_shape(units) if of_points is None else of_points(points, units)
    total, rms_norm, mean_norm = noise_cost(mechanism, 1.7, shape, units)
    coordinates = coordinate_rms(mechanism, 1.7, shape)
    noise = sample(mechanism, 1.7, 3, rng, shape.factor, draws=6000)
    norms = np.linalg.norm(noise, axis=1)
    assert norms.mean() == pytest.approx(mean_norm, rel=0.05)
    assert math.sqrt(np.mean(norms**2)) == pytest.approx(rms_norm, rel=0.05)
    np.testing.assert_allclose(np.sqrt((noise**2).mean(axis=0)), coordinates, rtol=0.06)
    assert ((noise / units) ** 2).sum(axis=1).mean() == pytest.approx(total, rel=0.1)


def test_cost_of_laplace_noise():
    cost = noise_cost("laplace", 2.0, isotropic_shape(np.ones(1)), np.full(1, 4.0))
    assert cost == pytest.approx((0.5, math.sqrt(8), 2.0))
