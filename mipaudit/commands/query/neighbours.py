"""Exact neighbours: by blocked matrix products, or by a k-d tree for records of few columns.

Whichever a sample shows to be the faster searches.

The products are in single precision and bound every figure from below; only pairs whose
bound is low enough are computed in full. So the answer is that of a search through all
pairs in double precision, at the speed of the products.
"""

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.points import (
    Geometry,
    NearestRows,
    Points,
    Tick,
    bucket_count,
    dense_features,
    distinct_places,
    parts,
)
from mipaudit.maths.arrays import Floats, Places

Singles = NDArray[np.float32]
# Pairs of a record and a row, and their figures.
Pairs = tuple[Places, Places, Floats]

_RECORDS: Final = 512
_ROWS: Final = 4096
# Records whose features are held at once.
_TOGETHER: Final = 1 << 14
_UNIT: Final = 2.0**-24  # rounding of single precision
# Of the rounding errors of the entries, beside those of the sums.
_SLACK: Final = 8
# More than all products of an entry can lose by underflow.
_LEAST: Final = 1e-30
# Beyond, a tree looks at nearly all of its rows.
MOST_COLUMNS: Final = 64
_RECORDS_OF_TREE: Final = 4096
# The tree's figures round otherwise: within so much of the radius it is computed in full.
_MARGIN: Final = 1e-9
# Rows looked at beyond the k that are asked for, to see where ties end.
_SPARE: Final = 3
# Pairs listed at once.
_PAIRS: Final = 1 << 20

# Pairs times columns that take a fraction of a second: below, nothing is timed.
_SMALL: Final = 1 << 28
_SAMPLED_ROWS: Final = 1 << 15
_SAMPLED_RECORDS: Final = 256
# A tree is grown when growing it takes at most this share of the other search.
_GROWTH: Final = 0.2
# Records searched at once, and about how many bytes each takes for a neighbour.
_SEARCHED: Final = 1 << 14
_FEWEST: Final = 512
_NEIGHBOUR: Final = 80
# Squares and quotients of a radius round.
_ROOM: Final = 1e-12
# The least distance of which the logarithm is taken (equation 18).
LEAST_DISTANCE: Final = 1e-6


def _no_tick(_: int) -> None:
    """Tell nobody."""


class MatrixSearch:
    """Searches through rows that stay the same."""

    name = "matrix products"

    def __init__(self, points: Points, geometry: Geometry, tick: Tick = _no_tick) -> None:
        """Put the rows in an order in which large ones do not spoil the bounds of others."""
        self._geometry, self._tick = geometry, tick
        self._centre = _centre(points)
        self._order = _size_order(points)
        # In order already, they are not copied.
        ordered = bool((np.diff(self._order) > 0).all())
        self._points = points if ordered else points.take(self._order)
        # Of ``euclidean`` numbers and indicators are one vector, of ``gower`` they are two.
        self._joint = geometry.metric == "euclidean"
        self._margin = self._least = 0.0
        if points.numbers.shape[1]:
            width = points.numbers.shape[1] + self._joint * bucket_count(geometry.levels)
            self._margin = 2.0 * (width + _SLACK) * _UNIT
            self._least = _LEAST

    def nearest(self, records: Points, k: int) -> NearestRows:
        """Return the k nearest rows of each record, k at most the number of rows."""
        found = NearestRows(len(records), k)
        for part, block, bound in self._blocks(records):
            # The k-th figure of each record: what a new row has to stay below.
            bar = found.figures[part, -1]
            new = bool(np.isinf(bar).any())
            if new:
                bar = np.minimum(bar, self._first_bar(records, part, block, bound, k))
            # A tie with what is known improves nothing, but in the first block all of it is new.
            bar = np.nextafter(bar, np.inf) if new else bar
            some = np.flatnonzero(bound.min(axis=1) < bar)
            i, j = np.nonzero(bound[some] < bar[some, None])
            i, j = some[i] + part.start, j + block.start
            exact = self._geometry.figures(records, i, self._points, j)
            kept = exact < bar[i - part.start]
            found.insert(i[kept], j[kept], exact[kept])
        found.rows = self._order[found.rows]
        return found

    def within(self, records: Points, figure: float) -> Iterator[Pairs]:
        """Yield all pairs up to a figure; the rows of a record are in the order of their size."""
        for part, block, bound in self._blocks(records):
            i, j = np.nonzero(bound <= figure)
            i, j = i + part.start, j + block.start
            exact = self._geometry.figures(records, i, self._points, j)
            near = exact <= figure
            yield i[near], self._order[j[near]], exact[near]

    def _blocks(self, records: Points) -> Iterator[tuple[slice, slice, Singles]]:
        """Yield records, rows and a lower bound of the figure of each of their pairs."""
        for some in parts(len(records), _TOGETHER):
            features, own, squares = self._side(records.take(some), left=True)
            for block in parts(len(self._points), _ROWS):
                right = self._side(self._points.take(block), left=False)
                for part in parts(some.stop - some.start, _RECORDS):
                    bound = self._bound((features[part], own[part], squares[part]), right)
                    yield slice(some.start + part.start, some.start + part.stop), block, bound
                self._tick((some.stop - some.start) * (block.stop - block.start))

    def _side(self, points: Points, *, left: bool) -> tuple[Singles, Singles, Floats]:
        """Return what is multiplied, the indicators of ``gower``, and the numbers' squares."""
        centred = Points(numbers=points.numbers - self._centre, codes=points.codes)
        squares = _squares(centred.numbers)
        dense = dense_features(centred, self._geometry.levels, before=1, dtype=np.float32)
        joint = dense.shape[1] if self._joint else 1 + centred.numbers.shape[1]
        if left:
            dense[:, :joint] *= np.float32(-2.0)
        dense[:, 0] = 1.0 if left else squares
        features, indicators = map(np.ascontiguousarray, np.split(dense, [joint], axis=1))
        return features, indicators, squares

    def _bound(
        self, left: tuple[Singles, Singles, Floats], right: tuple[Singles, Singles, Floats]
    ) -> Singles:
        """Return figures that no pair of the two sides is below."""
        c = len(self._geometry.levels)
        features, indicators, squares = left
        # (|a| + |b|)^2 bounds the sum of the terms' sizes; each category adds up to 2.
        reach = (np.sqrt(squares + c) + np.sqrt(right[2].max() + c)) ** 2
        shift = squares - self._margin * reach - self._least
        if self._joint:
            # Matches are taken off; without any, every category counts 2.
            shift = shift + 2.0 * c
        products = features @ right[0].T
        products += self._rounded(shift)[:, None]
        if self._joint:
            return products
        np.maximum(products, 0.0, out=products)
        np.sqrt(products, out=products)
        # The root and the sum round once each.
        products *= np.float32(1 - 4 * _UNIT)
        products += c - indicators @ right[1].T
        products *= np.float32(1 - 4 * _UNIT) if self._margin else np.float32(1.0)
        return products

    def _rounded(self, values: Floats) -> Singles:
        found = values.astype(np.float32)
        # Without numbers all are small whole numbers, and ties stay ties.
        return np.nextafter(found, np.float32(-np.inf)) if self._margin else found

    def _first_bar(
        self, records: Points, part: slice, block: slice, bound: Singles, k: int
    ) -> Floats:
        """Return a figure that k rows of the block stay within, infinite where it has fewer."""
        if bound.shape[1] < k:
            return np.full(len(bound), np.inf)
        lowest = np.argpartition(bound, k - 1, axis=1)[:, :k]
        i = np.repeat(np.arange(part.start, part.stop), k)
        exact = self._geometry.figures(records, i, self._points, lowest.ravel() + block.start)
        return np.asarray(exact.reshape(-1, k).max(axis=1))


def _size_order(points: Points) -> Places:
    """Return the rows by how far they are from the middle, the nearest first."""
    return np.argsort(_squares(points.numbers - _centre(points)), kind="stable")


def _centre(points: Points) -> Floats:
    return np.median(points.numbers, axis=0) if len(points) else np.zeros(points.numbers.shape[1])


def _squares(numbers: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", numbers, numbers))


class TreeSearch:
    """Searches through rows that stay the same."""

    name = "k-d tree"

    def __init__(self, points: Points, geometry: Geometry, tick: Tick = _no_tick) -> None:
        """Grow the tree."""
        from scipy.spatial import cKDTree

        self._points, self._geometry, self._tick = points, geometry, tick
        self._power = 2 if geometry.metric == "euclidean" else 1
        self._tree: Any = cKDTree(self._features(points))

    def _features(self, points: Points) -> Floats:
        """Return a table of features; no levels share a column."""
        levels, value = self._geometry.levels, self._geometry.indicator
        return dense_features(points, levels, value=value, most=max(levels, default=0))

    def nearest(self, records: Points, k: int) -> NearestRows:
        """Return the k nearest rows of each record, k at most the number of rows."""
        found = NearestRows(len(records), k)
        looked = min(k + _SPARE, len(self._points))
        for some in parts(len(records), max(1, min(_RECORDS_OF_TREE, _PAIRS // (k + _SPARE)))):
            features = self._features(records.take(some))
            far, rows = self._tree.query(features, k=looked, p=self._power, workers=-1)
            far, rows = far.reshape(-1, looked), rows.reshape(-1, looked)
            i = np.repeat(np.arange(some.start, some.stop), looked)
            figures = self._geometry.figures(records, i, self._points, rows.ravel())
            found.keep(some, rows, figures.reshape(rows.shape))
            # The tree's distances round otherwise: rows beyond those looked at may be as near.
            reach = self._radius(found.figures[some, -1])
            tied = (far[:, -1] <= reach) & (looked < len(self._points))
            for at in np.flatnonzero(tied).tolist():
                near = self._tree.query_ball_point(
                    features[at], float(reach[at]), p=self._power, return_sorted=True
                )
                here, own = np.array([some.start + at]), np.array([near])
                found.figures[here] = np.inf
                i = np.repeat(here, own.size)
                exact = self._geometry.figures(records, i, self._points, own[0])
                found.keep(here, own, exact[None])
            self._tick((some.stop - some.start) * len(self._points))
        return found

    def _radius(self, figures: Floats) -> Floats:
        """Return the tree's distances that surely hold all rows up to these figures."""
        radius = figures if self._power == 1 else np.sqrt(figures)
        return np.asarray(radius + _MARGIN * (1.0 + radius))

    def within(self, records: Points, figure: float) -> Iterator[Pairs]:
        """Yield all pairs up to a figure; the rows of a record come in ascending order."""
        radius = float(self._radius(np.array(figure)))
        for some in parts(len(records), _RECORDS_OF_TREE):
            features = self._features(records.take(some))
            sizes = self._tree.query_ball_point(
                features, radius, p=self._power, workers=-1, return_length=True
            )
            for few in _groups(np.asarray(sizes, dtype=np.intp)):
                lists = self._tree.query_ball_point(
                    features[few], radius, p=self._power, workers=-1, return_sorted=True
                )
                j = np.concatenate([np.asarray(one, dtype=np.intp) for one in lists])
                i = np.repeat(np.arange(few.start, few.stop) + some.start, sizes[few])
                exact = self._geometry.figures(records, i, self._points, j)
                near = exact <= figure
                yield i[near], j[near], exact[near]
            self._tick((some.stop - some.start) * len(self._points))


def _groups(sizes: Places) -> Iterator[slice]:
    """Yield records whose lists are not too long together; one alone may be."""
    start, held = 0, np.cumsum(sizes)
    while start < sizes.size:
        before = held[start - 1] if start else 0
        stop = max(int(np.searchsorted(held, before + _PAIRS, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


Search = MatrixSearch | TreeSearch


class Neighbours:
    """Synthetic records that are searched, repetitions counted."""

    def __init__(
        self, points: Points, geometry: Geometry, memory: int, tick: Tick = _no_tick
    ) -> None:
        """Drop repetitions; what searches is chosen at the first search.

        Args:
            points: that are searched.
            geometry: of the distances.
            memory: bytes that a search may take beside the records.
            tick: told how many pairs more are behind us.
        """
        first, inverse = distinct_places(points)
        distinct = points.take(first)
        # One order for every search: sums over a ball round alike.
        order = _size_order(distinct)
        self._points, self._counts = distinct.take(order), np.bincount(inverse)[order]
        self._geometry, self._memory, self._tick = geometry, memory, tick
        self._rows = len(points)
        self._search: Search | None = None

    @property
    def pairs_per_record(self) -> int:
        """How many pairs a search goes through for a record."""
        return len(self._points)

    @property
    def method(self) -> str:
        """What searched."""
        return "none" if self._search is None else self._search.name

    def nearest(self, records: Points, ranks: Sequence[int]) -> Floats:
        """Return the distances to some of the nearest, a column for each rank.

        A synthetic record that is there several times is as many neighbours.

        Args:
            records: n of them.
            ranks: ascending; at least 1 and at most the number of synthetic records.
        """
        self._search = self._search or self._chosen(records)
        k = ranks[-1]
        distances = np.empty((len(records), len(ranks)))
        for part in parts(
            len(records), min(_SEARCHED, max(_FEWEST, self._memory // (_NEIGHBOUR * k)))
        ):
            found = self._search.nearest(records.take(part), min(k, len(self._points)))
            own = self._geometry.distance(found.figures)
            reached = np.cumsum(self._counts[found.rows], axis=1)
            for at, rank in enumerate(ranks):
                place = (reached >= rank).argmax(axis=1)
                distances[part, at] = own[np.arange(len(own)), place]
        return distances

    def ball(self, records: Points, radius: float) -> tuple[Floats, Floats]:
        """Return equation 18 of Liu et al. and the share within the same ball, each of shape (n,).

        The first is -1/n times the sum of log d over the n synthetic records within
        ``radius``, their distances d taken as at least 1e-6.
        """
        self._search = self._search or self._chosen(records)
        logs, counts = np.zeros(len(records)), np.zeros(len(records))
        # A radius that is some record's distance holds that record: no figure says so.
        figure = self._geometry.figure(radius) * (1.0 + _ROOM)
        for i, j, figures in self._search.within(records, figure):
            distances = self._geometry.distance(figures)
            near = distances <= radius
            weights = self._counts[j[near]]
            logged = np.log(np.maximum(distances[near], LEAST_DISTANCE))
            np.add.at(logs, i[near], weights * logged)
            np.add.at(counts, i[near], weights)
        return -logs / self._rows, counts / self._rows

    def _chosen(self, records: Points) -> Search:
        """Return the search that a sample shows to be the faster."""
        points, geometry = self._points, self._geometry
        matrix = MatrixSearch(points, geometry, self._tick)
        most = max(geometry.levels, default=0)
        columns = points.numbers.shape[1] + bucket_count(geometry.levels, most)
        pairs = len(records) * len(points)
        grown = 3 * 8 * columns * len(points)
        if columns > MOST_COLUMNS or grown > self._memory or pairs * columns < _SMALL:
            return matrix
        # No answer depends on the rows that are timed.
        rng = np.random.default_rng(0)
        some, rows = _some(records, _SAMPLED_RECORDS, rng), _some(points, _SAMPLED_ROWS, rng)
        products = _seconds(MatrixSearch(rows, geometry), some)
        products *= pairs / (len(some) * len(rows))
        begun = time.perf_counter()
        small = TreeSearch(rows, geometry)
        growth = (time.perf_counter() - begun) * len(points) / len(rows)
        growth *= math.log(len(points)) / math.log(len(rows))
        # A tree of more rows takes no less for each record.
        walks = len(records) / len(some)
        if growth > _GROWTH * products or walks * _seconds(small, some) > products:
            return matrix
        tree = TreeSearch(points, geometry, self._tick)
        return tree if walks * _seconds(tree, some) < products else matrix


def _some(points: Points, wanted: int, rng: np.random.Generator) -> Points:
    if len(points) <= wanted:
        return points
    return points.take(np.sort(rng.choice(len(points), wanted, replace=False)))


def _seconds(search: Search, records: Points) -> float:
    begun = time.perf_counter()
    search.nearest(records, 1)
    return time.perf_counter() - begun
