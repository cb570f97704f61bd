from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.maths.kernel.density import (
    Grid,
    grid_slack,
    kernel_advantage,
    linear_weights,
    smooth,
)

PEAK = 1 / math.sqrt(2 * math.pi)


def normal(z):
    return np.exp(-0.5 * z**2) * PEAK


def exact_density(scores, points, bandwidth, ends=()):
    """The kernel sum itself; what falls beyond an end is reflected there."""
    images = [scores]
    if len(ends) == 1:
        images.append(2 * ends[0] - scores)
    elif len(ends) == 2:
        width = ends[1] - ends[0]
        for turn in range(-3, 4):
            if turn:
                images.append(scores + 2 * turn * width)
            images.append(2 * ends[0] - scores + 2 * turn * width)
    total = sum(normal((points[:, None] - one[None]) / bandwidth).sum(axis=1) for one in images)
    return total / (scores.size * bandwidth)


def grid_for(low, high, bandwidth, steps=40, *, floor=False, ceiling=False):
    inside = math.ceil((high - low) * steps / bandwidth)
    step = (high - low) / inside
    return Grid(
        low=low - step,
        step=step,
        nodes=inside + 3,
        floor=1 if floor else None,
        ceiling=inside + 1 if ceiling else None,
    )


@pytest.mark.parametrize("bandwidth", [0.03, 0.2, 0.7])
@pytest.mark.parametrize("ends", [(), (0.0,), (0.0, 1.0)])
def test_is_the_exact_kernel_sum(bandwidth, ends):
    """Within 1e-4 of the peak, at the boundaries too."""
    scores = np.random.default_rng(0).beta(0.7, 2.0, 300)
    grid = grid_for(0.0, 1.0, bandwidth, floor=len(ends) > 0, ceiling=len(ends) > 1)
    shares = linear_weights(scores, grid) / scores.size
    found = smooth(shares, grid, bandwidth, fold=True)
    points = found.low + found.step * np.arange(found.masses.size)
    expected = exact_density(scores, points, bandwidth, ends)
    assert np.abs(found.density() - expected).max() < 1e-4 * expected.max()
    assert found.masses.sum() == pytest.approx(1, abs=1e-9)


def test_one_score_anywhere_between_two_nodes():
    """The worst case: no other scores to average with."""
    for part in (0.0, 0.3, 0.5, 0.9):
        grid = Grid(low=-2.0, step=1 / 40, nodes=161)
        score = np.array([part / 40])
        found = smooth(linear_weights(score, grid), grid, 1.0)
        points = found.low + found.step * np.arange(found.masses.size)
        assert np.abs(found.density() - normal(points - score)).max() < 1e-4 * PEAK


def test_only_an_upper_end():
    scores = -np.random.default_rng(1).exponential(size=200)
    low = float(scores.min())
    inside = math.ceil(-low / 0.01)
    grid = Grid(low=-(inside + 1) * 0.01, step=0.01, nodes=inside + 3, ceiling=inside + 1)
    found = smooth(linear_weights(scores, grid) / 200, grid, 0.4, fold=True)
    points = found.low + found.step * np.arange(found.masses.size)
    assert points[-1] == pytest.approx(0)
    expected = exact_density(scores, points, 0.4, (0.0,))
    assert np.abs(found.density() - expected).max() < 1e-4 * expected.max()


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_advantage_of_two_points_is_the_normal_one(prior):
    """Two atoms with noise are two normal laws: their advantage is known."""
    from scipy.special import ndtr

    h, gap = 0.8, 1.0
    grid = Grid(low=-1.0, step=h / 40, nodes=151)
    members, holdout = (linear_weights(np.array([x]), grid) for x in (gap, 0.0))
    found = kernel_advantage(prior * members - (1 - prior) * holdout, grid, h)
    cut = gap / 2 + h**2 / gap * math.log((1 - prior) / prior)
    truth = 1 - 2 * prior
    truth += 2 * (prior * ndtr((gap - cut) / h) - (1 - prior) * ndtr(-cut / h))
    assert found == pytest.approx(truth, abs=2e-4)


SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(members=SCORES, holdout=SCORES, steps=st.sampled_from([3, 8, 40]))
def test_slack_covers_what_the_grid_hides(members, holdout, steps):
    """Against the exact integral of the exact kernel sums on a far finer grid."""
    bandwidth = 0.15
    grid = grid_for(0.0, 1.0, bandwidth, steps)
    sides = np.array(members), np.array(holdout)
    shares = [linear_weights(one, grid) / one.size for one in sides]
    found = kernel_advantage(0.3 * shares[0] - 0.7 * shares[1], grid, bandwidth)
    points = np.linspace(-1.3, 2.3, 4001)
    densities = [exact_density(one, points, bandwidth) for one in sides]
    truth = np.abs(0.3 * densities[0] - 0.7 * densities[1]).sum() * (points[1] - points[0])
    in_sum, in_truth = grid_slack(grid.step, bandwidth, 1 << 10)
    assert truth <= found + in_sum + in_truth + 1e-5
    assert truth >= found - in_sum - in_truth - 1e-5


def test_slack_is_small_where_the_grid_is_fine():
    assert sum(grid_slack(1 / 40, 1.0, 1 << 10)) < 2e-4


def test_weights_keep_mass_and_mean():
    rng = np.random.default_rng(2)
    scores, masses = rng.random(50), rng.random(50)
    grid = Grid(low=-0.1, step=0.13, nodes=12)
    weights = linear_weights(scores, grid, masses)
    assert weights.sum() == pytest.approx(masses.sum())
    assert weights @ grid.points() == pytest.approx(masses @ scores)
    assert not linear_weights(np.array([-0.2, 7.0]), grid).any()


def test_density_between_nodes_and_beyond():
    grid = Grid(low=-1.0, step=0.05, nodes=41)
    found = smooth(linear_weights(np.zeros(1), grid), grid, 0.5)
    at = found.at(np.array([0.0, 0.51, 99.0]))
    assert at == pytest.approx([2 * PEAK, 2 * normal(np.array([1.02]))[0], 0.0], abs=2e-3)
