"""Neighbours are exact, whatever finds them."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.queries import matrix_search, neighbours
from mipaudit.queries.matrix_search import MatrixSearch
from mipaudit.queries.neighbours import LEAST_DISTANCE, Neighbours
from mipaudit.queries.points import Geometry, Points
from mipaudit.queries.tree_search import TreeSearch

PLENTY = 1 << 33


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
        monkeypatch.setattr(matrix_search, name, size)
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
    search = Neighbours(rows, geometry)
    if grown:
        search._search = TreeSearch(search._points, geometry)
    # No distance is so close to it that rounding decides.
    radius = float(np.median(full[:, :40])) + 1e-7

    logs, share = search.ball(records, radius, rng=np.random.default_rng(0), memory=PLENTY)

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
    search = Neighbours(rows, geometry)

    found = search.nearest(records, 300, rng=rng, memory=PLENTY)

    assert search.pairs_per_record <= 20
    i, j = np.divmod(np.arange(30 * 300), 300)
    full = geometry.distance(geometry.figures(records, i, rows, j)).reshape(30, 300)
    np.testing.assert_array_equal(found, np.sort(full, axis=1))


def test_single_precision_never_decides():
    """Distances of 1e-5 around points at 1,000, where single precision sees steps of 6e-5."""
    rng = np.random.default_rng(0)
    base = rng.normal(1000.0, 1.0, size=(50, 3))
    rows = np.concatenate([base + rng.normal(0, 1e-5, base.shape) for _ in range(20)])
    geometry = Geometry(metric="euclidean", levels=(), columns=3)
    none = np.zeros((50, 0), dtype=np.int32)
    records = Points(numbers=base, codes=none)
    points = Points(numbers=rows, codes=np.zeros((1000, 0), dtype=np.int32))

    found = MatrixSearch(points, geometry).nearest(records, 3)

    exact = ((base[:, None] - rows[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found.figures, np.sort(exact, axis=1)[:, :3], rtol=1e-12)


def test_outlying_rows_do_not_hide_neighbours():
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(6000, 2))
    numbers[::7] *= 1e6
    points = Points(numbers=numbers, codes=rng.integers(0, 3, (6000, 1)).astype(np.int32))
    records = points.take(np.arange(0, 6000, 97))
    geometry = Geometry(metric="gower", levels=(3,), columns=3)

    found = MatrixSearch(points, geometry).nearest(records, 2)
    tree = TreeSearch(points, geometry).nearest(records, 2)

    assert (found.figures[:, 0] == 0).all()
    np.testing.assert_array_equal(found.figures, tree.figures)


def test_the_faster_search_is_chosen_by_timing(make, monkeypatch):
    rng = np.random.default_rng(0)
    records, rows = make(rng, 400, 2, (), digits=6), make(rng, 40_000, 2, (), digits=6)
    geometry = Geometry(metric="euclidean", levels=(), columns=2)
    monkeypatch.setattr(neighbours, "_SMALL", 1)

    for tree, name in ((0.001, "k-d tree"), (100.0, "matrix products")):
        monkeypatch.setattr(
            neighbours,
            "_seconds",
            lambda search, some, tree=tree: tree if isinstance(search, TreeSearch) else 1.0,
        )
        search = Neighbours(rows, geometry)
        search.nearest(records, 1, rng=rng, memory=PLENTY)
        assert search.method == name


def test_no_tree_grows_beyond_the_memory(make, monkeypatch):
    rng = np.random.default_rng(0)
    records, rows = make(rng, 40, 2, ()), make(rng, 4000, 2, (), digits=6)
    monkeypatch.setattr(neighbours, "_SMALL", 1)
    monkeypatch.setattr(neighbours, "_seconds", lambda *_: pytest.fail("timed in vain"))
    search = Neighbours(rows, Geometry(metric="euclidean", levels=(), columns=2))

    search.nearest(records, 1, rng=rng, memory=100_000)

    assert search.method == "matrix products"
