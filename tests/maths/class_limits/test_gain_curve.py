from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.class_limits import gain_curve
from mipaudit.maths.class_limits.gain_curve import (
    intervals_on,
    thresholds_on,
    turning_points,
    without_ripples,
)
from mipaudit.maths.class_limits.interval_attackers import (
    best_intervals,
    best_ordered,
    best_thresholds,
    best_union,
)
from mipaudit.maths.class_limits.roc_counts import exact_ladder


def curve_of(rises):
    return np.concatenate([[0.0], np.cumsum(rises)])


def intervals_by_program(curve, prior, count):
    """The other dynamic program, step by step and without leaving anything out."""
    gains = np.diff(curve)
    inside = best_union(gains, np.maximum(gains, 0), count)
    outside = gains.sum() + best_union(-gains, np.maximum(-gains, 0), count)
    return 1 - 2 * prior + 2 * max(inside, outside)


RISES = st.lists(st.integers(1, 6), min_size=1, max_size=9).map(
    lambda sizes: [size * (-1) ** index for index, size in enumerate(sizes)]
)


@given(rises=RISES, count=st.integers(1, 4))
def test_suprema_by_hand(rises, count):
    curve = curve_of(rises)
    best = [union_by_hand(rises, intervals) for intervals in range(1, count + 1)]
    negated = [-rise for rise in rises]
    expected = [
        2 * max(inside, sum(rises) + union_by_hand(negated, intervals))
        for intervals, inside in enumerate(best, 1)
    ]
    assert intervals_on(curve, 0.5, count) == expected
    best_rule = max(*curve, *(curve[-1] - curve))  # all below a cut, or all above it
    assert thresholds_on(curve, 0.5) == 2 * best_rule


def union_by_hand(rises, count):
    def runs(chosen):
        return sum(now and not before for before, now in itertools.pairwise([False, *chosen]))

    return max(
        sum(rise for rise, taken in zip(rises, chosen, strict=True) if taken)
        for chosen in itertools.product([False, True], repeat=len(rises))
        if runs(chosen) <= count
    )


def test_turning_points_by_hand(ladder_from):
    ladder = ladder_from([2, 1, 0, 1], [0, 0, 4, 1])
    # Up with three of four members, down with four of five, then up by 1/8 - 1/10.
    expected = [0, 3 / 8, 3 / 8 - 4 / 10, 1 / 2 - 1 / 2]
    np.testing.assert_allclose(turning_points(ladder, 0.5), expected, atol=1e-15)


SHAPES = {
    "smooth": lambda rng, n: rng.exponential(size=n),
    "tied": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "a few high": lambda rng, n: np.where(rng.random(n) < 0.15, 10, 0.3) * rng.random(n),
    "two sizes": lambda rng, n: np.where(rng.random(n) < 0.3, 7.0, 1.0) + rng.random(n),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ripple", [0.5, 2.0, 4.0])
def test_leaving_ripples_out_changes_no_supremum(monkeypatch, shape, ripple):
    monkeypatch.setattr(gain_curve, "_SHORT", 4)
    monkeypatch.setattr(gain_curve, "_RIPPLE", ripple)
    rng = np.random.default_rng(0)
    shorter = 0
    for trial in range(400):
        size = int(rng.integers(4, (12, 40, 300)[trial % 3]))
        signs = (-1.0) ** (np.arange(size) + rng.integers(0, 2))
        curve = curve_of(SHAPES[shape](rng, size) * signs)
        count = int(rng.integers(1, 5))
        shorter += without_ripples(curve, count).size < size
        found = intervals_on(curve, 0.5, count)[-1]
        assert found == pytest.approx(intervals_by_program(curve, 0.5, count), abs=1e-9)
    assert shorter > 0 or ripple > 1


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_a_long_curve_is_cut_short_and_stays_exact(prior):
    rng = np.random.default_rng(1)
    ladder = exact_ladder(rng.normal(0.5, 1, 6000), rng.normal(0, 1.2, 5000))
    curve = turning_points(ladder, prior)
    assert curve.size > 10 * without_ripples(curve, 4).size
    for count in (1, 2, 4):
        assert best_intervals(ladder, prior, count) == pytest.approx(
            intervals_by_program(curve, prior, count), abs=1e-12
        )


@pytest.mark.parametrize("single", [True, False])
def test_all_ordered_classes_at_once(ladder_from, single):
    rng = np.random.default_rng(2)
    ladder = ladder_from(*rng.integers(0, 5, (2, 60)), [single] * 60)
    assert best_ordered(ladder, 0.4, (1, 4)) == (
        best_thresholds(ladder, 0.4),
        best_intervals(ladder, 0.4, 1),
        best_intervals(ladder, 0.4, 4),
    )
