"""Cells of a score: cut points, atoms, and the grid that finds a cell without a search."""

from __future__ import annotations

import pickle
from itertools import pairwise

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
    joint_alphabet,
    make_grid,
    quantile_edges,
    row_hashes,
)
from mipaudit.summaries.tally import CellCodes, CodeCounter, Workspace, float_grid

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


# --- cells by one lookup are the cells of a search

SIZES = {"prior": 0.5, "coarse": 300, "fine": 1 << 14}
RNG = np.random.default_rng(8)
LAWS = {
    "gaussian": RNG.standard_normal(40_000),
    "heavy": RNG.standard_cauchy(40_000) ** 3,
    "ties": np.round(RNG.standard_normal(40_000), 1),
    "magnitudes": np.exp(5 * RNG.standard_normal(40_000)),
    "both signs": np.exp(9 * RNG.standard_normal(40_000)) * RNG.choice([-1.0, 0.0, 1.0], 40_000),
    "tiny range": 1.0 + RNG.random(40_000) * 1e-13,
}


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("name", LAWS)
def test_both_cells_are_those_of_a_search(name, discrete):
    values = np.round(LAWS[name], 1) if discrete else LAWS[name]
    half = values.size // 2
    cells = build_cells(values[:half], values[half:], **SIZES, discrete=discrete, grid=not discrete)
    wild = [0.0, -0.0, np.inf, -np.inf, 1e308, -1e308, 5e-324]
    scores = np.concatenate([values, cells.edges, np.nextafter(cells.edges, np.inf), wild])
    codes = pickle.loads(pickle.dumps(CellCodes(cells)))  # noqa: S301
    # Counts that came back from a worker are added up, and locate nothing any more.
    assert vars(codes).keys() == {"_cells", "shift"}
    room = Workspace()
    for part in (scores, scores[::2], scores[:0]):
        found, searched = codes(part, room)
        fine = np.searchsorted(cells.edges, part, side="left")
        assert (found >> codes.shift).tolist() == fine.tolist()
        assert (found & ((1 << codes.shift) - 1)).tolist() == cells.coarse[fine].tolist()
        assert np.isinf(searched).sum() == np.isinf(part).sum()


def test_scores_of_many_magnitudes_have_a_grid_too():
    values = LAWS["magnitudes"]
    halves = np.split(values, 2)
    cells = build_cells(*halves, **SIZES, discrete=False, grid=True)
    assert cells.buckets is None
    assert float_grid(cells.edges, most=8) is not None
    _, searched = CellCodes(cells)(values, Workspace())
    assert searched.size < values.size / 50


def test_crowded_buckets_and_tails_are_found_too():
    crowd = 5.0 + RNG.random(20_000) * 1e-4
    values = np.concatenate([RNG.standard_normal(60_000), crowd, [-1e300, 1e300]])
    RNG.shuffle(values)
    half = values.size // 2
    cells = build_cells(values[:half], values[half:], **SIZES, discrete=False, grid=True)
    assert cells.buckets is not None
    edges = np.bincount(cells.buckets.clipped(cells.edges))
    assert edges.max() > 8
    assert ((edges > 3) & (edges <= 8)).any()
    near = [np.nextafter(cells.edges, side) for side in (-np.inf, np.inf)]
    scores = np.concatenate([values, cells.edges, *near, [np.inf, -np.inf]])
    codes = CellCodes(cells)
    found, searched = codes(scores, Workspace())
    fine = np.searchsorted(cells.edges, scores, side="left")
    assert (found >> codes.shift).tolist() == fine.tolist()
    assert np.isinf(searched).sum() == 2


def test_a_counter_adds_up_what_it_emptied(monkeypatch):
    monkeypatch.setattr("mipaudit.summaries.tally._MOST_IN_NARROW", 1000)
    codes = RNG.integers(0, 50, 5000).astype(np.int32)
    mine, other = CodeCounter(50), CodeCounter(50)
    for start in range(0, 5000, 700):
        (mine if start % 1400 else other).add(codes[start : start + 700])
    mine.merge(other)
    assert mine.counts().tolist() == np.bincount(codes, minlength=50).tolist()


# --- codes of a product grid and of joint alphabets, against slow twins

PLACED = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 0.5, 0.5, 2.0, 3.5, np.inf])


def twin(grid, row):
    """Return the code of one row by asking every cell of each axis."""
    place = 0
    for edges, value in zip(grid.edges, row, strict=True):
        ends = [-np.inf, *edges.tolist(), np.inf]
        inside = [
            low < value <= high or (index == 0 and value == -np.inf)
            for index, (low, high) in enumerate(pairwise(ends))
        ]
        place = place * (edges.size + 1) + inside.index(True)
    return int(grid.codes[place])


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(PLACED, PLACED), min_size=1, max_size=60), seed=st.integers(0, 9))
def test_codes_are_those_of_the_slow_twin(rows, seed):
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    member = np.random.default_rng(seed).random(len(rows)) < 0.5
    grid = make_grid(columns).ranked(columns, member)
    codes = grid.score(columns)
    assert codes.tolist() == [twin(grid, row) for row in rows]
    assert 0 <= codes.min() <= codes.max() < grid.count
    assert sorted(grid.codes.tolist()) == list(range(grid.count))


@pytest.mark.parametrize(("rows", "d", "most"), [(100, 2, 4), (1600, 2, 100), (10**6, 3, 1024)])
def test_cells_are_few_enough_for_the_rows(rows, d, most):
    rng = np.random.default_rng(0)
    grid = make_grid([rng.standard_normal(min(rows, 200_000)) for _ in range(d)])
    assert 2**d <= grid.count <= most
    assert all(edges.size % 2 == 1 for edges in grid.edges)  # a median is always a cut


def test_equal_mass_and_ties():
    rng = np.random.default_rng(1)
    column = rng.standard_normal(6400)
    tied = np.where(rng.random(6400) < 0.9, 0.0, column)
    grid = make_grid([column, tied])
    counts = np.diff(np.searchsorted(np.sort(column), grid.edges[0]), prepend=0, append=6400)
    assert counts.max() <= 1.01 * 6400 / grid.shape[0] + 1
    # The frequent value is cut off on both sides: its neighbours are not lost in its cell.
    zero, just_below, just_above = np.searchsorted(grid.edges[1], [0.0, -1.0, 1.0])
    assert just_below < zero < just_above


def test_a_constant_coordinate_has_one_cell():
    grid = make_grid([np.full(500, 3.0), np.arange(500.0)])
    assert grid.shape[0] == 1
    assert grid.score([np.array([-5.0, 9.0]), np.array([1.0, 1.0])]).tolist() == [0, 0]


def test_cells_are_numbered_by_their_share_of_members():
    first = np.repeat([0.0, 1.0], 100)
    second = np.tile([0.0, 1.0], 100)
    member = (first == 1) & (second == 1)
    grid = make_grid([first, second]).ranked([first, second], member)
    assert grid.score([np.array([1.0]), np.array([1.0])])[0] == grid.count - 1


def test_joint_alphabet_knows_combinations_and_tells_unknown_ones_apart():
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, 3, 500).astype(float), rng.integers(0, 2, 500).astype(float)]
    member = rng.random(500) < 0.5
    known = joint_alphabet(columns, member, most=100, asked=False)
    assert known is not None
    assert known.count == 6
    rows = list(zip(*columns, strict=True))
    by_row = dict(zip(rows, known.score(columns).tolist(), strict=True))
    assert sorted(by_row.values()) == list(range(6))
    other = known.score([np.array([7.0, 8.0, 7.0]), np.array([0.0, 0.0, 0.0])])
    assert (other > 5).all()
    assert other[0] == other[2] != other[1]


def test_joint_alphabet_is_refused_where_values_do_not_recur():
    values = [np.random.default_rng(3).standard_normal(200)]
    member = np.zeros(200, dtype=bool)
    assert joint_alphabet(values, member, most=2048, asked=False) is None
    assert joint_alphabet(values, member, most=100, asked=True) is None
    assert joint_alphabet(values, member, most=2048, asked=True) is not None


def test_row_hashes_see_every_coordinate_and_its_place():
    rows = [np.array([0.0, -0.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0, 1.0])]
    hashes = row_hashes(rows)
    assert hashes[0] == hashes[1]
    assert len(set(hashes.tolist())) == 3
