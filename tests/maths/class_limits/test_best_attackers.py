"""The best attackers of named classes on the data, and what they gain."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.maths.class_limits import class_sets
from mipaudit.maths.class_limits.class_sets import (
    best_intervals,
    best_ordered,
    best_sets,
    best_thresholds,
    best_union,
    intervals_on,
    thresholds_on,
    turning_points,
    without_ripples,
)
from mipaudit.maths.class_limits.roc_counts import exact_ladder

VECTOR = np.array([3.0, -1, 2, -5, 4, -2, 3])
STEPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8).filter(
    lambda steps: all(map(sum, zip(*steps, strict=True)))
)
PRIORS = st.sampled_from([0.1, 0.3, 0.5, 0.8])
CELLS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=2, max_size=3
).filter(lambda cells: sum(c[0] for c in cells) > 0 and sum(c[1] for c in cells) > 0)
RISES = st.lists(st.integers(1, 6), min_size=1, max_size=9).map(
    lambda sizes: [size * (-1) ** index for index, size in enumerate(sizes)]
)
SHAPES = {
    "smooth": lambda rng, n: rng.exponential(size=n),
    "tied": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "a few high": lambda rng, n: np.where(rng.random(n) < 0.15, 10, 0.3) * rng.random(n),
    "two sizes": lambda rng, n: np.where(rng.random(n) < 0.3, 7.0, 1.0) + rng.random(n),
}


def runs(chosen):
    """Count the maximal runs of True."""
    return sum(now and not before for before, now in itertools.pairwise([False, *chosen]))


def every_choice(size):
    return itertools.product([False, True], repeat=size)


def union_by_hand(gains, count):
    return max(
        sum(gain for gain, taken in zip(gains, chosen, strict=True) if taken)
        for chosen in every_choice(len(gains))
        if runs(chosen) <= count
    )


@pytest.mark.parametrize(("count", "expected"), [(1, 5), (2, 9), (3, 11), (4, 12), (9, 12)])
def test_union_vector(count, expected):
    assert best_union(VECTOR, np.maximum(VECTOR, 0), count) == expected


@pytest.mark.parametrize(("count", "expected"), [(1, 9), (2, 11)])
def test_complement_vector(count, expected):
    assert VECTOR.sum() + best_union(-VECTOR, np.maximum(-VECTOR, 0), count) == expected


@given(gains=st.lists(st.integers(-5, 5), min_size=1, max_size=9), count=st.integers(1, 4))
def test_union_is_the_best_of_all(gains, count):
    array = np.array(gains, dtype=float)
    assert best_union(array, np.maximum(array, 0), count) == union_by_hand(gains, count)


def value_of(guesses, members, holdout, prior):
    """Observed advantage of calling these steps members, written out."""
    tpr = sum(m for m, g in zip(members, guesses, strict=True) if g) / sum(members)
    fpr = sum(h for h, g in zip(holdout, guesses, strict=True) if g) / sum(holdout)
    return 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)


def thresholds_by_hand(members, holdout, prior):
    size = len(members)
    return max(
        value_of([(i < cut) == low for i in range(size)], members, holdout, prior)
        for cut in range(size + 1)
        for low in (False, True)
    )


def intervals_by_hand(members, holdout, prior, count):
    return max(
        value_of(chosen, members, holdout, prior)
        for chosen in every_choice(len(members))
        if runs(chosen) <= count or runs([not taken for taken in chosen]) <= count
    )


def sets_by_hand(members, holdout, prior):
    return max(value_of(chosen, members, holdout, prior) for chosen in every_choice(len(members)))


@given(steps=STEPS, prior=PRIORS, count=st.integers(1, 3))
def test_exact_ladders_against_every_attacker(ladder_from, steps, prior, count):
    members, holdout = (list(side) for side in zip(*steps, strict=True))
    ladder = ladder_from(members, holdout)
    assert best_thresholds(ladder, prior) == pytest.approx(
        thresholds_by_hand(members, holdout, prior), abs=1e-12
    )
    assert best_intervals(ladder, prior, count) == pytest.approx(
        intervals_by_hand(members, holdout, prior, count), abs=1e-12
    )
    assert best_sets(ladder, prior) == pytest.approx(
        sets_by_hand(members, holdout, prior), abs=1e-12
    )


def orders(members, holdout):
    """Return every order of a cell's rows: True is a member."""
    rows = [True] * members + [False] * holdout
    return set(itertools.permutations(rows))


def unrolled(cells):
    """Yield (members, holdout) by step, for every order inside the cells that are not single."""
    options = [
        [((m, h),)] if single else [tuple((int(r), int(not r)) for r in o) for o in orders(m, h)]
        for m, h, single in cells
    ]
    for chosen in itertools.product(*options):
        steps = [step for cell in chosen for step in cell]
        yield [m for m, _ in steps], [h for _, h in steps]


@settings(max_examples=25)
@given(cells=CELLS, prior=PRIORS, count=st.integers(1, 3))
def test_brackets_are_the_best_over_every_order_in_the_cells(ladder_from, cells, prior, count):
    ladder = ladder_from(*zip(*cells, strict=True))
    possible = list(unrolled(cells))
    thresholds = max(thresholds_by_hand(*steps, prior) for steps in possible)
    intervals = max(intervals_by_hand(*steps, prior, count) for steps in possible)
    sets = max(sets_by_hand(*steps, prior) for steps in possible)
    assert best_thresholds(ladder, prior) == pytest.approx(thresholds, abs=1e-12)
    assert best_intervals(ladder, prior, count) == pytest.approx(intervals, abs=1e-12)
    assert best_sets(ladder, prior) == pytest.approx(sets, abs=1e-12)


@given(steps=STEPS, count=st.integers(1, 3))
def test_exchanging_the_classes_changes_nothing_at_the_even_prior(ladder_from, steps, count):
    members, holdout = zip(*steps, strict=True)
    here, there = ladder_from(members, holdout), ladder_from(holdout, members)
    for best in (
        best_thresholds,
        best_sets,
        lambda ladder, prior: best_intervals(ladder, prior, count),
    ):
        assert best(here, 0.5) == pytest.approx(best(there, 0.5), abs=1e-12)
        assert best(here, 0.5) == pytest.approx(best(here.reversed(), 0.5), abs=1e-12)


@given(steps=STEPS, prior=PRIORS)
def test_larger_classes_reach_at_least_as_much(ladder_from, steps, prior):
    ladder = ladder_from(*zip(*steps, strict=True))
    ascending = [
        abs(2 * prior - 1),
        best_thresholds(ladder, prior),
        *(best_intervals(ladder, prior, count) for count in (1, 2, 4)),
        best_sets(ladder, prior),
        1.0,
    ]
    assert all(low <= high + 1e-12 for low, high in itertools.pairwise(ascending))


@pytest.mark.parametrize("prior", [0.2, 0.5])
def test_cells_bracket_the_exact_suprema(ladder_from, prior):
    rng = np.random.default_rng(3)
    members, holdout = rng.normal(0.4, 1.2, 4000), rng.normal(0, 1, 3000)
    exact = exact_ladder(members, holdout)
    edges = np.linspace(-3, 3, 400)
    counts = [
        np.bincount(np.searchsorted(edges, side), minlength=401) for side in (members, holdout)
    ]
    cells = ladder_from(*counts, np.zeros(401, bool))
    for best in (best_thresholds, lambda ladder, p: best_intervals(ladder, p, 4)):
        assert best(exact, prior) <= best(cells, prior) <= best(exact, prior) + 0.03


def curve_of(rises):
    return np.concatenate([[0.0], np.cumsum(rises)])


def intervals_by_program(curve, prior, count):
    """The other dynamic program, step by step and without leaving anything out."""
    gains = np.diff(curve)
    inside = best_union(gains, np.maximum(gains, 0), count)
    outside = gains.sum() + best_union(-gains, np.maximum(-gains, 0), count)
    return 1 - 2 * prior + 2 * max(inside, outside)


@given(rises=RISES, count=st.integers(1, 4))
def test_suprema_by_hand(rises, count):
    curve = curve_of(rises)
    best = [union_by_hand_of_gain_curve(rises, intervals) for intervals in range(1, count + 1)]
    negated = [-rise for rise in rises]
    expected = [
        2 * max(inside, sum(rises) + union_by_hand_of_gain_curve(negated, intervals))
        for intervals, inside in enumerate(best, 1)
    ]
    assert intervals_on(curve, 0.5, count) == expected
    best_rule = max(*curve, *(curve[-1] - curve))  # all below a cut, or all above it
    assert thresholds_on(curve, 0.5) == 2 * best_rule


def union_by_hand_of_gain_curve(rises, count):
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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ripple", [0.5, 2.0, 4.0])
def test_leaving_ripples_out_changes_no_supremum(monkeypatch, shape, ripple):
    monkeypatch.setattr(class_sets, "_SHORT", 4)
    monkeypatch.setattr(class_sets, "_RIPPLE", ripple)
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
