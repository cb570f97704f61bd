"""Codes of a product grid and of joint alphabets, against slow twins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.summaries.cells import joint_alphabet, make_grid, row_hashes

VALUES = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 0.5, 0.5, 2.0, 3.5, np.inf])


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
@given(rows=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=60), seed=st.integers(0, 9))
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
