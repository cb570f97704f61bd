"""The promise itself: no attacker is better than eta above guessing, and one is that good."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

from mipaudit.commands.noise.answer import noised
from mipaudit.commands.noise.mechanism import sample_noise, uniforms_from_bytes
from mipaudit.commands.noise.moments import spatial_median
from mipaudit.commands.noise.options import NoiseOptions
from mipaudit.maths import noise_scales
from tests.fixtures.noise import calibrated

RECORDS = {
    "plain": [0.1, -0.7, 1.3, 0.4, -1.1, 0.8, -0.2, 0.6],
    "outlier": [0.0, 0.1, -0.1, 0.2, 0.0, -0.2, 0.1, 9.0],
}
PLANE = {
    "plain": np.column_stack([RECORDS["plain"], RECORDS["plain"][::-1]]),
    "outlier": np.column_stack([RECORDS["outlier"], [0.3, -5.0, 0.1, 0.2, 0.5, 0.1, 0.0, 0.4]]),
}
ETAS = [0.02, 0.1, 0.3, 0.45]


def exact_sigma(outputs):
    return np.linalg.norm(outputs - spatial_median(outputs), axis=1).mean()


def density(mechanism, scale, offsets):
    """Return the density of noise at (..., d) offsets."""
    dimension = offsets.shape[-1]
    radius = np.sqrt((offsets**2).sum(axis=-1)) / scale
    if mechanism == "gaussian":
        constant = (2 * math.pi) ** (dimension / 2)
        return np.exp(-(radius**2) / 2) / constant / scale**dimension
    sphere = 2 * math.pi ** (dimension / 2) / math.exp(gammaln(dimension / 2))
    return np.exp(-radius) / (sphere * math.exp(gammaln(dimension)) * scale**dimension)


def best_accuracies(mechanism, scale, outputs, member, points, cell):
    """Return the best attacker's accuracy against every record, by quadrature."""
    laws = np.array([density(mechanism, scale, points - output) for output in outputs])
    np.testing.assert_allclose(laws.sum(axis=1) * cell, 1, atol=2e-3)
    shares = member / member.sum(axis=0) - ~member / (~member).sum(axis=0)
    return 0.5 + np.abs(shares.T @ laws).sum(axis=1) * cell / 4


def grid(outputs, mechanism, scale, dimension):
    """Return points that hold all but 1e-6 of the mass, and the volume of their cells."""
    reach = (6 if mechanism == "gaussian" else 18) * scale
    count = 20_001 if dimension == 1 else 301
    axes = [np.linspace(column.min() - reach, column.max() + reach, count) for column in outputs.T]
    cell = math.prod(axis[1] - axis[0] for axis in axes)
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dimension), cell


@pytest.mark.parametrize(
    ("records", "mechanism", "eta"),
    [
        *product(RECORDS.values(), ("laplace", "norm-exponential", "gaussian"), ETAS),
        *product(PLANE.values(), ("norm-exponential", "gaussian"), (0.1, 0.45)),
    ],
)
def test_no_attacker_beats_the_promise(all_halves, records, mechanism, eta):
    outputs, member = all_halves(records)
    dimension = outputs.shape[1]
    scale = noise_scales.scale_for_moment(mechanism, eta, 0.5) * exact_sigma(outputs)
    points, cell = grid(outputs, mechanism, scale, dimension)
    found = best_accuracies(mechanism, scale, outputs, member, points, cell)
    assert found.max() <= 0.5 + eta + (1e-4 if dimension == 1 else 1e-3)
    assert found.max() > 0.5 + eta / 20


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_promise_is_attained_by_two_outputs(mechanism, eta):
    # One of two records is released: less noise would break the promise.
    outputs, member = np.array([[-1.0], [1.0]]), np.array([[True, False], [False, True]])
    scale = noise_scales.scale_for_moment(mechanism, eta, 0.5)
    points, cell = grid(outputs, mechanism, scale, 1)
    found = best_accuracies(mechanism, scale, outputs, member, points, cell)
    np.testing.assert_allclose(found, 0.5 + eta, atol=1e-5)


@pytest.mark.parametrize("eta", [0.1, 0.4])
def test_no_attacker_beats_calibrated_releases(all_halves, rng, eta):
    """Simulated: the noise that is drawn, the best attacker who knows everything else."""
    outputs, member = all_halves(PLANE["outlier"])
    splits = outputs[rng.integers(0, len(outputs), 200)]
    found = calibrated(splits, NoiseOptions(eta=eta, splits=splits), rng)
    source = uniforms_from_bytes(rng.bytes)
    draws = 1500
    assert len(found.candidates) == 11
    for row in found.candidates:
        drawn = rng.integers(0, len(outputs), draws)
        published = np.array([noised(outputs[pick], row.pair, source) for pick in drawn])
        steps = (published[:, None, :] - outputs[None, :, :]).reshape(-1, 2)
        offsets = row.shape.whiten(steps).reshape(draws, len(outputs), 2)
        laws = density(row.noise.mechanism, row.noise.scale, offsets)
        # Guess "in" where the density over halves with the record is the greater one.
        guesses = laws @ member > laws @ ~member
        accuracies = (guesses == member[drawn]).mean(axis=0)
        assert accuracies.max() <= 0.5 + eta + 4 * 0.5 / math.sqrt(draws)
        if row.noise.calibration == "moment" and eta == 0.4:
            # And the attack works: it finds the outlier.
            assert accuracies.max() > 0.55


def test_room_imports_neither_frames_nor_scipy():
    code = (
        "import sys, mipaudit.commands.noise.calibration;"
        "import mipaudit.commands.noise.answer;"
        "print(sorted({'pandas','pyarrow','scipy','rich','typer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_release_is_rounded_to_the_grid_of_its_noise(adult_splits, rng):
    splits = adult_splits / adult_splits.std(axis=0)
    chosen = calibrated(splits, NoiseOptions(eta=0.1, splits=splits), rng).chosen
    source, again = (uniforms_from_bytes(np.random.default_rng(1).bytes) for _ in range(2))
    found = noised(splits[0], chosen.pair, source)
    factor = chosen.shape.factor
    exact = splits[0] + sample_noise(chosen.noise.mechanism, chosen.noise.scale, 6, again, factor)
    steps = chosen.coordinate_rms * 2.0**-20
    assert (np.abs(found - exact) <= steps).all()
    assert (found != exact).any()
    grid = 2.0 ** np.floor(np.log2(steps))
    np.testing.assert_array_equal(found % grid, np.zeros(6))
