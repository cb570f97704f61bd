"""Cells of a score: cut points, atoms, and the grid that finds a cell without a search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mipaudit.summaries.cells import (
    Buckets,
    Cells,
    atoms,
    build_cells,
    choose_buckets,
    quantile_edges,
)
from mipaudit.summaries.tally import CellCodes, Workspace

VALUES = st.one_of(
    st.integers(-4, 4).map(float), st.floats(-1e300, 1e300), st.sampled_from([np.inf, -np.inf])
)
SAMPLE = hnp.arrays(np.float64, st.integers(0, 60), elements=VALUES)
HARD = [
    *(0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, np.inf, -np.inf),
    *(1.7976931348623157e308, -1.7976931348623157e308, 1e16, 1e16 + 2, 1.0, 1.0000000000000002),
]
ANY = st.one_of(
    st.sampled_from(HARD), st.floats(allow_nan=False, allow_infinity=True), st.floats(-1, 1)
)
# Every place and width at which doubles are spaced differently.
PLACES = [
    *((0.0, 1.0), (0.0, 1e-320), (0.0, 1e-308), (1e16, 64.0), (1e9, 1e-6), (-1e300, 1e299)),
    *((0.0, 1e308), (-1e-5, 1e-12), (1.0, 1e-15), (2**53, 3000.0)),
]
FAR = {"infinite": np.inf, "huge": 1e300, "far": 1e20}


@given(values=SAMPLE, count=st.integers(1, 20))
def test_cut_points_lie_between_values(values, count):
    values = np.sort(values)
    weights = np.full(values.size, 1 / max(values.size, 1))
    edges = quantile_edges(values, weights, count)
    assert edges.size <= count - 1
    assert (np.diff(edges) > 0).all()
    distinct = np.unique(values)
    for edge in edges:
        # Something on either side, or the cut would be none.
        assert (distinct <= edge).any()
        assert (distinct > edge).any()


def test_cut_points_are_sampled_values_of_equal_mass():
    """So that the cells are the same for every increasing map of the score."""
    values = np.sort(np.random.default_rng(0).normal(size=10_000))
    edges = quantile_edges(values, np.full(10_000, 1e-4), 16)
    counts = np.diff(np.searchsorted(values, edges), prepend=0, append=10_000)
    assert len(counts) == 16
    assert 624 <= counts.min() <= counts.max() <= 626
    assert np.isin(edges, values).all()


@pytest.mark.parametrize("values", [2, 10, 300, 2000])
def test_values_that_many_rows_share_may_end_a_cell(values):
    scores = np.sort(np.random.default_rng(2).integers(0, values, 20_000).astype(float))
    edges = quantile_edges(scores, np.full(scores.size, 1 / scores.size), 32)
    assert edges.size == min(values - 1, 31)
    counts = np.diff(np.searchsorted(scores, edges, side="right"), prepend=0, append=scores.size)
    most = np.bincount(scores.astype(int)).max()
    assert counts.max() <= scores.size / 32 + most


def test_weights_give_each_class_its_prior():
    values = np.concatenate([np.linspace(0, 1, 100), np.linspace(2, 3, 900)])
    weights = np.repeat([0.5 / 100, 0.5 / 900], [100, 900])
    (edge,) = quantile_edges(values, weights, 2)
    assert 1 <= edge < 2


@pytest.mark.parametrize(
    ("times", "size", "expected"),
    [(2, 50, False), (3, 50, True), (4, 1000, False), (5, 1000, True)],
)
def test_what_repeats_often_enough_is_an_atom(times, size, expected):
    values = np.sort(np.concatenate([np.arange(size - times) + 0.5, np.full(times, 7.0)]))
    assert (7.0 in atoms(values, all_values=False)) is expected
    assert 7.0 in atoms(values, all_values=True)


def built(members, holdout, **settings):
    plain = {"prior": 0.5, "coarse": 8, "fine": 0, "discrete": False, "grid": False}
    return build_cells(members, holdout, **{**plain, **settings})


@settings(max_examples=60)
@given(SAMPLE, SAMPLE, st.sampled_from([0, 30]), st.booleans(), st.booleans())
def test_cells_partition_the_axis_and_atoms_stand_alone(members, holdout, fine, discrete, grid):
    grid = grid and members.size + holdout.size > 0  # made for millions of rows
    cells = built(members, holdout, fine=fine, discrete=discrete, grid=grid)
    assert cells.count == cells.edges.size + 1 == cells.coarse.size
    assert (np.diff(cells.edges) > 0).all()
    steps = np.diff(cells.coarse)
    assert cells.coarse[0] == 0
    assert set(steps.tolist()) <= {0, 1}
    values = np.sort(np.concatenate([members, holdout]))
    located = np.searchsorted(cells.edges, values, side="left")
    for point in atoms(values, all_values=discrete):
        at = int(np.searchsorted(cells.edges, point, side="left"))
        assert cells.single[at]
        assert (values[located == at] == point).all()
        # Nor does a float next to it share the cell.
        for side in (np.inf, -np.inf):
            neighbour = np.nextafter(point, side)
            if neighbour != point:
                assert np.searchsorted(cells.edges, neighbour, side="left") != at
    for at in np.flatnonzero(cells.single):
        assert np.unique(values[located == at]).size <= 1


def test_coarse_cells_are_unions_of_fine_ones():
    rng = np.random.default_rng(2)
    members, holdout = rng.normal(1, 1, 3000), rng.normal(0, 1, 5000)
    fine = built(members, holdout, coarse=16, fine=500, grid=True)
    coarse = built(members, holdout, coarse=16, fine=0)
    assert fine.coarse_count == 16
    assert fine.count > 450
    ends = fine.edges[np.diff(fine.coarse) == 1]
    np.testing.assert_allclose(ends, coarse.edges, atol=1e-3)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 0.0, 1e308])
def test_an_extreme_atom_has_its_own_cell(value):
    members = np.concatenate([np.full(50, value), np.random.default_rng(0).normal(size=50)])
    cells = built(members, members[50:] + 0.1)
    at = int(np.searchsorted(cells.edges, value, side="left"))
    assert cells.single[at]
    assert int(np.searchsorted(cells.edges, 0.123, side="left")) != at


def test_hardly_any_burn_in_and_the_largest_float_as_an_atom():
    rng = np.random.default_rng(0)
    for sizes in ((0, 0), (1, 0), (0, 3), (1, 1)):
        cells = built(*(rng.normal(size=size) for size in sizes), fine=8)
        assert min(cells.count, cells.coarse_count) >= 1
    largest = np.finfo(np.float64).max
    cells = built(np.full(50, largest), np.full(50, -largest), discrete=True)
    # The two atoms, and minus infinity, which nothing else shares a cell with.
    assert cells.single.sum() == 3


def with_neighbours(values):
    """Add each value's neighbours: where a cell ends is where mistakes are made."""
    with np.errstate(over="ignore"):
        near = [np.nextafter(values, side) for side in (np.inf, -np.inf)]
    return np.unique(np.concatenate([values, *near]))


def assert_located(edges, buckets, scores):
    with np.errstate(over="ignore"):  # a score may lie beyond what the grid can carry
        none = np.zeros(edges.size + 1, dtype=np.intp)
        codes = CellCodes(Cells(edges=edges, single=none > 0, coarse=none, buckets=buckets))
        found, _ = codes(scores, Workspace())
    np.testing.assert_array_equal(found >> codes.shift, np.searchsorted(edges, scores, side="left"))


@settings(max_examples=150)
@given(
    edges=hnp.arrays(np.float64, st.integers(0, 40), elements=ANY, unique=True),
    scores=hnp.arrays(np.float64, st.integers(0, 40), elements=ANY),
    grid=st.tuples(st.floats(-1e300, 1e300), st.floats(1e-300, 1e300)),
)
def test_any_grid_gives_the_answer_of_a_search(edges, scores, grid):
    edges = np.unique(edges[edges < np.inf])
    scores = np.concatenate([scores, with_neighbours(edges)])
    low, scale = grid
    with np.errstate(over="ignore", invalid="ignore"):
        assume(((edges - low) * scale < 2.0**62).all())
        assert_located(edges, Buckets(low=low, scale=scale), scores)


@pytest.mark.parametrize("law", ["normal", "heavy", "atoms", "ties"])
@pytest.mark.parametrize(("centre", "width"), PLACES)
def test_chosen_grids_give_the_answer_of_a_search(centre, width, law):
    rng = np.random.default_rng(4)
    shape = {
        "normal": rng.normal(size=3000),
        "heavy": rng.standard_cauchy(3000) * 1e-3,
        "atoms": np.where(rng.random(3000) < 0.5, 0.25, rng.normal(size=3000)),
        "ties": np.round(rng.normal(size=3000), 1),
    }[law]
    values = np.sort(centre + width * np.clip(shape, -1, 1))
    edges = np.unique(values[:: max(1, values.size // 500)])[:-1]
    buckets = choose_buckets(values, edges)
    if buckets is not None:
        edges = buckets.snap(edges)
        assert (np.diff(edges) > 0).all()
    extremes = np.array([np.inf, -np.inf, 0.0, -0.0, 5e-324])
    assert_located(edges, buckets, np.concatenate([values, with_neighbours(edges), extremes]))


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("far", FAR.values(), ids=FAR)
def test_scores_far_beyond_the_others(far):
    rng = np.random.default_rng(0)
    members, holdout = rng.normal(size=20_000), rng.normal(size=20_000)
    members[:200] = far
    cells = built(members, holdout, coarse=512, fine=65_536, grid=True)
    assert cells.buckets is not None
    assert_located(cells.edges, cells.buckets, np.concatenate([members, holdout]))


def test_a_smooth_score_needs_hardly_any_search():
    """The grid is worth its code: after snapping, few rows fall into a divided bucket."""
    values = np.sort(np.random.default_rng(0).normal(size=60_000))
    edges = values[30::60]
    buckets = choose_buckets(values, edges)
    assert buckets is not None
    table = buckets.table(buckets.snap(edges))
    located = np.clip(buckets.locate(values), 0, table.size - 1)
    assert (table[located] < 0).mean() < 0.05


@given(
    values=hnp.arrays(np.float64, st.integers(2, 200), elements=st.floats(-1e6, 1e6)),
    pairs=hnp.arrays(np.float64, st.integers(2, 30), elements=st.floats(-1e6, 1e6)),
)
def test_snapping_keeps_edges_in_order_and_near(values, pairs):
    values, edges = np.sort(values), np.unique(pairs)
    buckets = choose_buckets(values, edges)
    if buckets is None:
        return
    snapped = buckets.snap(edges)
    assert (np.diff(snapped) > 0).all()
    # Each edge stays, or moves up by at most its own bucket.
    nearest = np.searchsorted(snapped, edges)
    assert (nearest < snapped.size).all()
    assert (snapped[nearest] - edges <= 1.001 / buckets.scale + 1e-9).all()


def test_no_grid_where_floats_cannot_carry_one():
    ones = np.ones(100)
    assert choose_buckets(ones, np.array([1.0])) is None
    widest = np.array([-1.7e308] * 50 + [1.7e308] * 50)
    assert choose_buckets(widest, np.array([0.0])) is None
