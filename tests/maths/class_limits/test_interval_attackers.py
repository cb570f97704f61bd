from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.maths.class_limits.interval_attackers import (
    best_intervals,
    best_sets,
    best_thresholds,
    best_union,
)
from mipaudit.maths.class_limits.roc_counts import exact_ladder

VECTOR = np.array([3.0, -1, 2, -5, 4, -2, 3])


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


STEPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8).filter(
    lambda steps: all(map(sum, zip(*steps, strict=True)))
)
PRIORS = st.sampled_from([0.1, 0.3, 0.5, 0.8])


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


CELLS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=2, max_size=3
).filter(lambda cells: sum(c[0] for c in cells) > 0 and sum(c[1] for c in cells) > 0)


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
