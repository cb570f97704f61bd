from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from mipaudit.commands.noise.mechanisms.overlap_gap import shift_gaps


def total_variation(density, shift):
    value, _ = integrate.quad(
        lambda t: max(density(t) - density(t - shift), 0.0), -60, 60, points=[0, shift / 2, shift]
    )
    return value


@pytest.mark.parametrize("shift", [0.01, 0.4, 1.0, 3.0, 9.0])
def test_gap_is_the_total_variation_of_shifted_noise(shift):
    laplace = total_variation(stats.laplace.pdf, shift)
    gaussian = total_variation(stats.norm.pdf, shift)
    ratios = np.array([shift])
    assert shift_gaps("laplace", ratios)[0] == pytest.approx(laplace, abs=1e-6)
    assert shift_gaps("gaussian", ratios)[0] == pytest.approx(gaussian, abs=1e-6)


@pytest.mark.parametrize("shift", [0.3, 2.0])
def test_gap_bounds_norm_exponential_noise_in_the_plane(shift):
    axis = np.linspace(-25, 25, 1001)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    cell = (axis[1] - axis[0]) ** 2 / (2 * math.pi)
    ours, moved = np.exp(-np.hypot(x, y)), np.exp(-np.hypot(x - shift, y))
    exact = np.maximum(ours - moved, 0).sum() * cell
    bound = shift_gaps("norm-exponential", np.array([shift]))[0]
    assert exact <= bound
    assert exact > bound / 2


@pytest.mark.parametrize("mechanism", ["laplace", "norm-exponential", "gaussian"])
def test_gap_goes_from_none_to_all(mechanism):
    ratios = np.array([0.0, 1e-12, 1.0, 5.0, 1e300, math.inf])
    gaps = shift_gaps(mechanism, ratios)
    assert (np.diff(gaps[:4]) > 0).all()
    assert list(gaps[[0, 4, 5]]) == [0, 1, 1]
    slope = {"gaussian": 1 / math.sqrt(2 * math.pi)}.get(mechanism, 0.5)
    assert gaps[1] == pytest.approx(slope * 1e-12, rel=1e-6)
