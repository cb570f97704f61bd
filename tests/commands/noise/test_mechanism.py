""""""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import special, stats

from mipaudit.commands.noise.mechanism import round_to_grid, sample_noise, uniforms_from_bytes

DRAWS = 4000
# A seeded test of a true law fails by bad luck once in a thousand seeds.
PVALUE = 1e-3


def sample(mechanism, scale, dimension, rng, factor=None, draws=DRAWS):
    source = uniforms_from_bytes(rng.bytes)
    rows = [sample_noise(mechanism, scale, dimension, source, factor) for _ in range(draws)]
    return np.array(rows)


def test_laplace_noise_has_its_law(rng):
    noise = sample("laplace", 2.5, 1, rng)[:, 0]
    assert stats.kstest(noise, stats.laplace(scale=2.5).cdf).pvalue > PVALUE


def test_laplace_noise_is_for_one_coordinate(rng):
    with pytest.raises(ValueError, match="one coordinate"):
        sample_noise("laplace", 1.0, 2, uniforms_from_bytes(rng.bytes))


@pytest.mark.parametrize("dimension", [1, 2, 5, 50])
def test_norm_exponential_radius_is_gamma_and_not_laplace(rng, dimension):
    radii = np.linalg.norm(sample("norm-exponential", 3.0, dimension, rng), axis=1)
    assert stats.kstest(radii, stats.gamma(dimension, scale=3.0).cdf).pvalue > PVALUE
    # Corollary 8's radius |Laplace(b)|: the same in one dimension only.
    wrong = stats.kstest(radii, stats.expon(scale=3.0).cdf).pvalue
    assert (wrong > PVALUE) == (dimension == 1)


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


@pytest.mark.parametrize("dimension", [1, 3])
def test_gaussian_noise_has_its_law(rng, dimension):
    noise = sample("gaussian", 0.5, dimension, rng)
    assert stats.kstest(noise.ravel(), stats.norm(scale=0.5).cdf).pvalue > PVALUE
    radii = np.linalg.norm(noise, axis=1) / 0.5
    assert stats.kstest(radii, stats.chi(dimension).cdf).pvalue > PVALUE


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
    def source(count):
        return np.full(count, uniform)

    radius = np.linalg.norm(sample_noise("norm-exponential", 1.0, dimension, source))
    found = special.gammainc(dimension, radius)
    other = special.gammaincc(dimension, radius)
    # Rounding of the norm moves the radius by 1e-13 of itself, the far tails by 1e-9 of theirs.
    wanted = (uniform, 1 - uniform)
    np.testing.assert_allclose((found, other), wanted, rtol=1e-7, atol=0)


def test_noise_without_a_direction_is_drawn_again():
    values = iter([0.25, 0.5, 0.75])

    def source(count):
        return np.array([next(values) for _ in range(count)])

    noise = sample_noise("norm-exponential", 1.0, 1, source)
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
    draw = uniforms_from_bytes(np.random.default_rng(3).bytes)(20_000)
    assert stats.kstest(draw, "uniform").pvalue > 1e-3
    np.testing.assert_array_equal(draw, uniforms_from_bytes(np.random.default_rng(3).bytes)(20_000))


def test_uniforms_from_the_operating_system_differ():
    source = uniforms_from_bytes(os.urandom)
    assert not np.array_equal(source(8), source(8))


def test_uniforms_are_inside_the_open_interval_and_symmetric_at_its_ends():
    words = iter([b"\x00" * 6 + b"\x00\x00", b"\x00\x08" + b"\x00" * 6])
    # The first word is zero but for the 11 bits that are dropped: it is drawn again.
    low = uniforms_from_bytes(lambda _: next(words))(1)
    high = uniforms_from_bytes(lambda count: b"\xff" * count)(1)
    assert low[0] == 2.0**-53
    assert high[0] == 1 - 2.0**-53


def test_only_the_zeros_are_drawn_again():
    asked = []

    def some_bytes(count):
        asked.append(count)
        return (b"\x00" * 8 + b"\x80" * 8)[:count] if len(asked) == 1 else b"\xc0" * count

    draw = uniforms_from_bytes(some_bytes)(2)
    assert asked == [16, 8]
    assert draw[0] > draw[1] > 0.5


def test_all_53_bits_are_used():
    words = np.array([(1 << 63) | (1 << 11)], dtype="<u8").tobytes()
    assert uniforms_from_bytes(lambda _: words)(1)[0] == 0.5 + 2.0**-53
