"""Gaussian kernel densities on a grid, and their bandwidths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.maths.kernel_density import (
    Grid,
    grid_slack,
    held_out_multiple,
    improved_sheather_jones,
    kernel_advantage,
    linear_weights,
    rounded,
    silverman,
    smooth,
    spread,
)

PEAK = 1 / math.sqrt(2 * math.pi)
SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=6)


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


def isj_by_hand(scores):
    """Botev, Grotowski and Kroese (2010), Algorithm 1, with sums over the sample itself."""
    n = np.unique(scores).size
    extent = scores.max() - scores.min()
    low, width = scores.min() - extent / 10, 1.2 * extent
    x = (scores - low) / width
    orders = np.arange(1, 400)
    squares = np.array([np.cos(math.pi * k * x).mean() ** 2 for k in orders])

    def roughness(stage, t):
        return (
            2
            * math.pi ** (2 * stage)
            * sum(
                k ** (2 * stage) * a * math.exp(-(k**2) * math.pi**2 * t)
                for k, a in zip(orders.tolist(), squares.tolist(), strict=True)
            )
        )

    def surplus(t):
        found = roughness(7, t)
        for s in range(6, 1, -1):
            odd = math.prod(range(1, 2 * s, 2)) / math.sqrt(2 * math.pi)
            constant = (1 + 0.5 ** (s + 0.5)) / 3
            found = roughness(s, (2 * constant * odd / n / found) ** (2 / (3 + 2 * s)))
        return t - (2 * n * math.sqrt(math.pi) * found) ** (-2 / 5)

    low_t, high_t = 1e-6, 0.1
    for _ in range(50):
        middle = math.sqrt(low_t * high_t)
        low_t, high_t = (middle, high_t) if surplus(middle) < 0 else (low_t, middle)
    return math.sqrt(high_t) * width


@pytest.mark.parametrize("shape", ["normal", "two", "skew"])
def test_isj_is_the_published_algorithm(shape):
    rng = np.random.default_rng(0)
    scores = {
        "normal": rng.normal(size=500),
        "two": np.concatenate([rng.normal(-4, 1, 300), rng.normal(4, 1, 300)]),
        "skew": rng.gamma(3.0, size=500),
    }[shape]
    found = improved_sheather_jones(scores, scores.size)
    assert found == pytest.approx(isj_by_hand(scores), rel=2e-3)


def test_isj_is_near_the_best_for_normal_scores_and_for_two_modes():
    rng = np.random.default_rng(1)
    alone = improved_sheather_jones(rng.normal(size=10_000), 10_000)
    assert alone == pytest.approx(1.06 * 10_000**-0.2, rel=0.1)
    modes = np.concatenate([rng.normal(-3, 0.2, 5000), rng.normal(3, 0.2, 5000)])
    assert improved_sheather_jones(modes, 10_000) == pytest.approx(0.212 * 5000**-0.2, rel=0.1)
    assert silverman(spread(modes), 10_000) > 5 * 0.212 * 5000**-0.2


def test_isj_for_more_records_is_narrower_by_the_fifth_root():
    scores = np.random.default_rng(2).normal(size=400)
    one, many = (improved_sheather_jones(scores, n) for n in (400, 400 * 32))
    assert many == pytest.approx(one / 2)


@pytest.mark.parametrize("scores", [[], [1.0], [2.0, 2.0, 2.0], [-1e308, 1e308]])
def test_no_spread_no_bandwidth(scores):
    assert improved_sheather_jones(np.array(scores), 10) is None
    assert spread(np.array(scores)) in {0.0, spread(np.array([-1e308, 1e308]))}


def test_silverman_closed_form():
    """R's bw.nrd0 of 1:10 is 0.9 min(sd, IQR/1.34) 10^-0.2."""
    scores = np.arange(1.0, 11.0)
    assert silverman(spread(scores), 10) == pytest.approx(1.719286, abs=2e-6)


def test_spread_of_heavy_tails_and_of_few_values():
    cauchy = np.random.default_rng(3).standard_cauchy(10_000)
    assert spread(cauchy) == pytest.approx(2 / 1.34, rel=0.05)
    assert spread(np.array([0.0] * 90 + [1.0] * 10)) == pytest.approx(0.3015, abs=1e-3)


@settings(max_examples=20, deadline=None)
@given(scale=st.floats(1e-6, 1e6), shift=st.floats(-1e3, 1e3))
def test_bandwidths_follow_the_units(scale, shift):
    scores = np.random.default_rng(4).normal(size=200)
    moved = shift + scale * scores
    if np.ptp(moved) > 1e-6 * abs(shift):
        assert spread(moved) == pytest.approx(scale * spread(scores), rel=1e-6)
        found = improved_sheather_jones(moved, 200)
        assert found == pytest.approx(scale * improved_sheather_jones(scores, 200), rel=1e-4)


def test_rounded_to_three_digits():
    assert [rounded(x) for x in (0.123456, 98765.0, 1e-9 / 3)] == [0.123, 98800.0, 3.33e-10]


def waves(rng, size, waves_in_all, sign):
    scores = rng.random(4 * size)
    keep = rng.random(4 * size) < (1 + sign * np.sin(2 * np.pi * waves_in_all * scores)) / 2
    return scores[keep][:size]


def test_held_out_payoff_follows_fine_waves_and_smooths_coarse_ones():
    rng = np.random.default_rng(5)

    def chosen(waves_in_all, size):
        a, b, c, d = (waves(rng, size, waves_in_all, sign) for sign in (1, -1, 1, -1))
        return held_out_multiple([(a, b), (c, d)], 0.5)

    assert chosen(12, 2000) == 0.25
    assert np.mean([math.log(chosen(1, 60)) for _ in range(20)]) > 0


@pytest.mark.parametrize("empty", [0, 1, 2, 3])
def test_held_out_without_one_class_is_silvermans(empty):
    parts = [np.arange(5.0)] * 4
    parts[empty] = np.empty(0)
    assert held_out_multiple([(parts[0], parts[1]), (parts[2], parts[3])], 0.5) == 1.0
