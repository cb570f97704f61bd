"""The multipliers of every calibration, against exact optimal attackers and seeded draws."""

from __future__ import annotations

import math
import subprocess
import sys
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest

from mipaudit.commands.noise.answer import noised
from mipaudit.commands.noise.mechanism import sample_noise, uniforms_from_bytes
from mipaudit.commands.noise.options import NoiseOptions
from mipaudit.commands.noise.report import noise_calibrations
from tests.fixtures.noise import calibrated
from tests.noise_gaps import gap_left

NOTHING = {"moment": None, "swap_distance": None, "sensitivity": None}
ALL = {"moment": 0.5, "swap_distance": 0.8, "sensitivity": 20.0}
MECHANISMS = ("laplace", "norm-exponential", "gaussian")
# Fractions of the training set with an eta that they leave room for.
PROMISES = [
    *((eta, 0.5) for eta in (0.1, 0.02, 0.45)),
    *((0.05, 0.3), (0.05, 0.7), (0.001, 0.1), (0.2, 0.4)),
]


def calibrations(eta, q=0.5, k=2.0, known=NOTHING, dimension=1):
    return noise_calibrations(SimpleNamespace(eta=eta, k=k, train_fraction=q, **known), dimension)


def table(*promise, **known):
    rows = calibrations(*promise, **known)
    found = {(row.calibration, row.mechanism): row for row in rows}
    assert len(found) == len(rows)
    return found


def multipliers(rows, calibration):
    return [rows[calibration, mechanism].multiplier for mechanism in MECHANISMS]


def test_the_multipliers_at_eta_a_tenth():
    rows = table(0.1)

    assert rows["paper", "norm-exponential"].multiplier == pytest.approx(3794.56, rel=1e-12)
    assert multipliers(rows, "moment") == pytest.approx([4.481, 4.933, 3.947], abs=5e-4)
    halves = [m / 2 for m in multipliers(rows, "moment")]
    assert multipliers(rows, "swap") == pytest.approx(halves, rel=1e-12)
    epsilon = math.log(1.2 / 0.8)
    assert epsilon == pytest.approx(0.405, abs=5e-4)
    assert rows["dp", "laplace"].multiplier == pytest.approx(1 / epsilon, rel=1e-12)
    assert rows["dp", "norm-exponential"].multiplier == rows["dp", "laplace"].multiplier


@pytest.mark.parametrize(("eta", "q"), PROMISES)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_moment_and_swap_leave_exactly_eta_to_their_bounds(eta, q, mechanism):
    rows, rarer = table(eta, q), min(q, 1 - q)

    # For every unit of sigma_1 the two sides are on average at most 1 / min(q, 1-q) apart.
    apart = {"moment": 1 / rarer, "swap": 1.0}
    for calibration, distance in apart.items():
        ratio = distance / rows[calibration, mechanism].multiplier
        assert rarer * gap_left(mechanism, ratio) == pytest.approx(eta, rel=1e-9)


@pytest.mark.parametrize(("eta", "q"), PROMISES)
def test_the_gaussian_dp_row_is_exact_by_its_trade_off_curve(eta, q):
    shift = 1 / table(eta, q)["dp", "gaussian"].multiplier
    normal = NormalDist()
    cuts = np.linspace(-30, 30, 60_001) + shift / 2
    by_threshold = max(
        q * normal.cdf(shift - cut) + (1 - q) * normal.cdf(cut)
        for cut in [*cuts, shift / 2 + math.log((1 - q) / q) / shift]
    )

    assert by_threshold == pytest.approx(max(q, 1 - q) + eta, abs=1e-9)


@pytest.mark.parametrize(("eta", "q"), PROMISES)
@pytest.mark.parametrize("dimension", [1, 5])
def test_the_breakeven_is_where_both_noises_are_the_same(eta, q, dimension):
    rows = table(eta, q, dimension=dimension)

    for (calibration, mechanism), row in rows.items():
        limit = row.quieter_than_dp_below
        if calibration == "dp":
            assert limit is None
        else:
            # At one half swap is DP with the expected move in place of the largest.
            if (calibration, q) == ("swap", 0.5) and mechanism != "laplace":
                assert limit == pytest.approx(1, rel=1e-12)
            other = rows["dp", mechanism].multiplier
            assert row.multiplier * limit == pytest.approx(other, rel=1e-12)
            assert row.multiplier * (0.99 * limit) < other < row.multiplier * (1.01 * limit)


def test_scales_are_multiples_of_what_is_known():
    rows = table(0.1, known=ALL)

    known = {"paper": 0.5, "moment": 0.5, "swap": 0.8, "dp": 20.0}
    for (calibration, _), row in rows.items():
        assert row.scale == pytest.approx(row.multiplier * known[calibration], rel=1e-12)
    for row in table(0.1).values():
        assert (row.scale, row.coordinate_rms, row.expected_norm) == (None, None, None)


def test_laplace_noise_is_for_one_number():
    assert {name for _, name in table(0.1)} == set(MECHANISMS)
    several = table(0.1, dimension=2)
    assert {name for _, name in several} == set(MECHANISMS) - {"laplace"}


def test_what_is_beyond_the_floats_is_none_and_not_infinite():
    rows = table(1e-200, k=1, known=ALL)
    paper = rows["paper", "norm-exponential"]
    assert (paper.multiplier, paper.scale, paper.coordinate_rms) == (None, None, None)
    assert paper.quieter_than_dp_below == 0
    assert rows["moment", "gaussian"].multiplier == pytest.approx(1e200 / math.sqrt(2 * math.pi))

    paper = table(1e-12, k=1, known=ALL | {"moment": 1e300})["paper", "norm-exponential"]
    assert paper.multiplier == pytest.approx(7.5e12**3)
    assert (paper.scale, paper.expected_norm) == (None, None)


@pytest.mark.parametrize(("eta", "q"), [(0.3, 0.3), (0.4, 0.3), (0.1, 0.9), (0.49, 0.1)])
def test_a_promise_that_guessing_keeps_needs_no_calibration(eta, q):
    assert calibrations(eta, q, known=ALL) == ()


OUTLIER = np.array(
    [[0.0, 0.1, -0.1, 0.2, 0.0, -0.2, 0.1, 9.0], [0.3, -5.0, 0.1, 0.2, 0.5, 0.1, 0.0, 0.4]]
).T


@pytest.mark.parametrize("eta", [0.1, 0.4])
def test_no_attacker_beats_calibrated_releases(all_halves, rng, eta):
    """Simulated: the noise that is drawn, the best attacker who knows everything else."""
    outputs, member = all_halves(OUTLIER)
    splits = outputs[rng.integers(0, len(outputs), 200)]
    found = calibrated(splits, NoiseOptions(eta=eta, splits=splits), rng)
    source = uniforms_from_bytes(rng.bytes)
    draws = 1500
    assert len(found.candidates) == 11
    for row in found.candidates:
        drawn = rng.integers(0, len(outputs), draws)
        published = np.array([noised(outputs[pick], row.pair, source) for pick in drawn])
        steps = (published[:, None, :] - outputs[None, :, :]).reshape(-1, 2)
        radii = np.linalg.norm(row.shape.whiten(steps), axis=1).reshape(draws, len(outputs))
        radii /= row.noise.scale
        laws = np.exp(-(radii**2) / 2 if row.noise.mechanism == "gaussian" else -radii)
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
