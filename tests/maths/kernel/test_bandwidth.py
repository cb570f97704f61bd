from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.maths.kernel.bandwidth import (
    held_out_multiple,
    improved_sheather_jones,
    rounded,
    silverman,
    spread,
)


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
