from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.maths.kernel_density import Grid
from mipaudit.summaries.grids import PLACES, Bandwidth, GridCounts, GridPlan
from mipaudit.summaries.rows import micro_blocks, rank_bytes
from tests.fixtures.rows import cut_rows, make_rows

GRID = Grid(low=-1.0, step=0.25, nodes=9)
BURN_IN = 13


def plan(atoms=()):
    return GridPlan(
        grid=GRID,
        bandwidths=(Bandwidth(width=1.0, selectors=("silverman",)),),
        common=1.0,
        own=None,
        atoms=np.array(atoms, dtype=float),
    )


def counted(plan, *batches):
    counts = GridCounts([plan], burn_in=BURN_IN, seed=3)
    for batch in batches:
        counts.add(batch)
    return counts


def by_hand(scores, member, burned, *, everyone):
    """Nodes, rows outside and infinite rows of each class, row by row."""
    found = {side: ([0] * GRID.nodes, [0], [0, 0]) for side in (False, True)}
    for score, side, early in zip(scores, member, burned, strict=True):
        if early and not everyone:
            continue
        nodes, outside, infinite = found[side]
        if math.isinf(score):
            infinite[int(score > 0)] += 1
            continue
        place = (score - GRID.low) * (PLACES / GRID.step) + PLACES + 0.5
        if not PLACES <= place < GRID.nodes * PLACES:
            outside[0] += 1
            continue
        cell, share = divmod(math.floor(place), PLACES)
        nodes[cell - 1] += PLACES - share
        nodes[cell] += share
    return found


SCORE = st.one_of(
    st.floats(-1.4, 1.4), st.sampled_from([math.inf, -math.inf, 0.0, -1.0, 1.0, 1e300, -1e308])
)


@settings(max_examples=80)
@given(data=st.lists(st.tuples(SCORE, st.booleans()), min_size=1, max_size=60))
def test_is_counting_row_by_row(data):
    scores, member = [s for s, _ in data], [m for _, m in data]
    rows = make_rows(member, scores)
    burned = micro_blocks(rank_bytes(rows, 3)) < BURN_IN
    (column,) = counted(plan(), rows).columns()
    for everyone in (False, True):
        expected = by_hand(scores, member, burned, everyone=everyone)
        for side in (False, True):
            found = column.side(int(side), everyone=everyone)
            nodes, outside, infinite = expected[side]
            assert (found.nodes * PLACES).tolist() == nodes
            assert (found.outside, found.infinite.tolist()) == (outside[0], infinite)
            assert found.records == sum(nodes) / PLACES + outside[0] + sum(infinite)


@settings(max_examples=40)
@given(cuts=st.lists(st.integers(0, 300), max_size=4), swap=st.booleans())
def test_any_cut_into_parts_gives_the_same_integers(cuts, swap):
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(0, 0.6, 290), [np.inf] * 3, [0.25] * 7])
    member = rng.random(300) < 0.4
    whole = counted(plan([0.25]), make_rows(member, scores))
    parts = [counted(plan([0.25]), one) for one in cut_rows(member, [scores], cuts)]
    if swap:
        parts.reverse()
    merged = parts[0]
    for part in parts[1:]:
        merged.merge(part)
    (one,), (other,) = whole.columns(), merged.columns()
    for name in ("cells", "parts", "infinite", "atoms"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == np.int64
        np.testing.assert_array_equal(first, second)


def test_recurring_values_are_counted_exactly():
    scores = np.array([0.1, 0.1, 0.3, np.nextafter(0.1, 1), -5.0, np.inf])
    member = np.array([True, False, True, True, False, False])
    (column,) = counted(plan([-5.0, 0.1, np.inf]), make_rows(member, scores)).columns()
    assert column.side(1, everyone=True).atoms.tolist() == [0, 1, 0]
    assert column.side(0, everyone=True).atoms.tolist() == [1, 1, 1]


def test_a_column_without_a_grid_is_left_out():
    counts = GridCounts([None], burn_in=BURN_IN, seed=0)
    counts.add(make_rows([True], [1.0]))
    other = GridCounts([None], burn_in=BURN_IN, seed=0)
    counts.merge(other)
    assert counts.columns() == (None,)


def test_many_batches_are_gathered():
    rng = np.random.default_rng(1)
    scores, member = rng.normal(0, 0.4, 600_000), rng.random(600_000) < 0.5
    batches = cut_rows(member, [scores], range(50_000, 600_000, 50_000))
    (column,) = counted(plan(), *batches).columns()
    assert int(column.cells.sum()) == 600_000
    mean = column.side(1, everyone=True).nodes @ GRID.points()
    inside = member & (scores >= -1) & (scores < 1)
    assert mean == pytest.approx(scores[inside].sum(), abs=0.25 / PLACES * inside.sum())
