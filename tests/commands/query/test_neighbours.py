"""Neighbours are exact, whatever finds them."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.query import neighbours
from mipaudit.commands.query.neighbours import LEAST_DISTANCE, MatrixSearch, Neighbours, TreeSearch
from mipaudit.commands.query.points import Geometry, Points

PLENTY = 1 << 33
PLANE = Geometry(metric="euclidean", levels=(), columns=2)


@pytest.fixture(params=["euclidean", "gower"])
def metric(request):
    return request.param


@pytest.fixture
def case(make, slow, shape, metric):
    p, levels = shape
    rng = np.random.default_rng(3)
    records, rows = make(rng, 60, p, levels), make(rng, 250, p, levels)
    geometry = Geometry(metric=metric, levels=levels, columns=p + len(levels))
    full = np.array(
        [
            [slow(metric, geometry.columns, records, i, rows, j) for j in range(250)]
            for i in range(60)
        ]
    )
    return records, rows, geometry, full


@pytest.mark.parametrize("search", [MatrixSearch, TreeSearch])
@pytest.mark.parametrize("k", [1, 4, 250])
def test_nearest_is_the_slow_search(case, search, k, monkeypatch):
    # Small blocks: every path between blocks is taken.
    for name, size in (("_RECORDS", 16), ("_ROWS", 33), ("_TOGETHER", 24)):
        monkeypatch.setattr(neighbours, name, size)
    records, rows, geometry, full = case

    found = search(rows, geometry).nearest(records, k)

    np.testing.assert_allclose(
        geometry.distance(found.figures), np.sort(full, axis=1)[:, :k], rtol=1e-12, atol=1e-12
    )
    named = np.take_along_axis(full, found.rows, axis=1)
    np.testing.assert_allclose(geometry.distance(found.figures), named, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("grown", [False, True])
def test_ball_is_equation_18(case, grown):
    records, rows, geometry, full = case
    search = Neighbours(rows, geometry, PLENTY)
    if grown:
        search._search = TreeSearch(search._points, geometry)
    # No distance is so close to it that rounding decides.
    radius = float(np.median(full[:, :40])) + 1e-7

    logs, share = search.ball(records, radius)

    within = full <= radius
    floored = np.log(np.maximum(full, LEAST_DISTANCE))
    np.testing.assert_allclose(logs, -(within * floored).sum(axis=1) / 250, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(share, within.mean(axis=1), rtol=1e-15)


def test_repeated_rows_are_as_many_neighbours(make):
    rng = np.random.default_rng(0)
    few = make(rng, 20, 2, (3,))
    rows = few.take(rng.integers(0, 20, 300))
    records = make(rng, 30, 2, (3,))
    geometry = Geometry(metric="gower", levels=(3,), columns=3)
    search = Neighbours(rows, geometry, PLENTY)

    found = search.nearest(records, range(1, 301))

    assert search.pairs_per_record <= 20
    i, j = np.divmod(np.arange(30 * 300), 300)
    full = geometry.distance(geometry.figures(records, i, rows, j)).reshape(30, 300)
    np.testing.assert_array_equal(found, np.sort(full, axis=1))


def near_each_other(rng):
    """Distances of 1e-5 around points at 1,000, where single precision sees steps of 6e-5."""
    base = rng.normal(1000.0, 1.0, size=(50, 3))
    return base, np.concatenate([base + rng.normal(0, 1e-5, base.shape) for _ in range(20)])


def some_far_away(rng):
    numbers = rng.normal(size=(3000, 2))
    numbers[::7] *= 1e6
    return numbers[::97], numbers


def next_to_nothing(rng):
    """Numbers whose squares vanish in single precision."""
    small = rng.normal(size=(700, 1)) * 1e-23
    return small[:200], np.concatenate([small[200:], rng.normal(size=(50, 1))])


@pytest.mark.parametrize("drawn", [near_each_other, some_far_away, next_to_nothing])
def test_no_numbers_hide_a_neighbour(metric, drawn):
    records, rows = (
        Points(numbers=one, codes=np.zeros((len(one), 0), dtype=np.int32))
        for one in drawn(np.random.default_rng(0))
    )
    geometry = Geometry(metric=metric, levels=(), columns=records.numbers.shape[1])
    i, j = np.divmod(np.arange(len(records) * len(rows)), len(rows))
    figures = geometry.figures(records, i, rows, j).reshape(len(records), len(rows))
    for search in (MatrixSearch, TreeSearch):
        found = search(rows, geometry).nearest(records, 2)
        np.testing.assert_array_equal(found.figures, np.sort(figures, axis=1)[:, :2])


@pytest.mark.parametrize(
    ("memory", "seconds", "method"),
    [
        (PLENTY, 0.001, "k-d tree"),
        (PLENTY, 100.0, "matrix products"),
        # No tree grows beyond the memory, nor is it timed.
        (100_000, None, "matrix products"),
    ],
)
def test_the_faster_search_that_fits_is_chosen_by_timing(
    make, monkeypatch, memory, seconds, method
):
    def timed(search, _):
        assert seconds, "timed in vain"
        return seconds if isinstance(search, TreeSearch) else 1.0

    rng = np.random.default_rng(0)
    records, rows = make(rng, 400, 2, (), digits=6), make(rng, 40_000, 2, (), digits=6)
    monkeypatch.setattr(neighbours, "_SMALL", 1)
    monkeypatch.setattr(neighbours, "_seconds", timed)
    search = Neighbours(rows, PLANE, memory)
    search.nearest(records, [1])
    assert search.method == method


def _ties(rng, n):
    """Thirds and sevenths at three scales: equal distances that round differently."""
    numbers = np.stack(
        [rng.integers(0, 4, n) / 3, rng.integers(0, 4, n) / 7 * 1e3, rng.integers(0, 4, n) / 9], 1
    )
    return Points(numbers=numbers, codes=rng.integers(0, 3, (n, 2)).astype(np.int32))


def test_both_searches_say_the_same_to_the_last_bit(metric):
    rng = np.random.default_rng(5)
    records, rows = _ties(rng, 300), _ties(rng, 2000)
    geometry = Geometry(metric=metric, levels=(3, 3), columns=5)
    found = []
    for kind in (MatrixSearch, TreeSearch):
        search = Neighbours(rows, geometry, PLENTY)
        search._search = kind(search._points, geometry)
        near = search.nearest(records, range(1, 41))
        radius = float(np.median(near[:, 4]))
        found.append((near, *search.ball(records, radius)))

    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_ball_holds_what_lies_on_its_edge():
    """The root of 6 squared is less than 6."""
    one, other = (
        Points(numbers=np.empty((1, 0)), codes=np.full((1, 3), code, dtype=np.int32))
        for code in (0, 1)
    )
    search = Neighbours(other, Geometry(metric="euclidean", levels=(2, 2, 2), columns=3), PLENTY)
    radius = float(search.nearest(one, [1])[0, 0])
    logs, share = search.ball(one, radius)
    assert radius**2 < 6
    assert share.tolist() == [1.0]
    assert logs[0] == pytest.approx(-np.log(6) / 2)


def test_many_neighbours_take_no_more_than_the_memory(make, monkeypatch):
    rng = np.random.default_rng(0)
    records, rows = make(rng, 1100, 2, ()), make(rng, 1200, 2, (), digits=6)
    asked, nearest = [], MatrixSearch.nearest
    monkeypatch.setattr(MatrixSearch, "nearest", lambda *a: asked.append(len(a[1])) or nearest(*a))
    few = Neighbours(rows, PLANE, 1 << 24).nearest(records, (1, 1000))
    all_at_once = Neighbours(rows, PLANE, PLENTY).nearest(records, range(1, 1001))
    assert max(asked[:-1]) == 512
    np.testing.assert_array_equal(few, all_at_once[:, [0, -1]])


def test_lists_of_a_ball_stay_short(make, monkeypatch):
    monkeypatch.setattr(neighbours, "_PAIRS", 100)
    rng = np.random.default_rng(0)
    records, rows = make(rng, 40, 2, ()), make(rng, 70, 2, (), digits=6)
    sizes = [i.size for i, _, _ in TreeSearch(rows, PLANE).within(records, 1e9)]
    assert (sum(sizes), max(sizes)) == (40 * 70, 70)
