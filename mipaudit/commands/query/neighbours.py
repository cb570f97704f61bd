"""Exact neighbours: by blocked matrix products, or by a k-d tree for records of few columns.

Whichever a sample shows to be the faster searches.

The products are in single precision and bound every figure from below; only pairs whose
bound is low enough are computed in full. So the answer is that of a search through all
pairs in double precision, at the speed of the products.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.points import (
    Floats,
    Geometry,
    NearestRows,
    Points,
    Tick,
    bucket_count,
    dense_features,
    distinct_places,
    parts,
    write_indicators,
)

Singles = NDArray[np.float32]
Visit = Callable[[NDArray[np.intp], NDArray[np.intp], Floats], None]


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


class _Side(NamedTuple):
    """Features of some rows.

    Attributes:
        features: for ``euclidean`` numbers and indicators, for ``gower`` numbers alone; and
            one column more.
        indicators: for ``gower``; no columns otherwise.
        squares: sum of squares of the numbers, in double precision.
    """

    features: Singles
    indicators: Singles
    squares: Floats


class MatrixSearch:
    """Searches through rows that stay the same."""

    name = "matrix products"

    def __init__(self, points: Points, geometry: Geometry) -> None:
        """Put the rows in an order in which large ones do not spoil the bounds of others."""
        self._geometry = geometry
        self._centre = _centre(points)
        self._order = _size_order(points)
        # In order already, they are not copied.
        sorted_ = bool((np.diff(self._order) > 0).all())
        self._points = points if sorted_ else points.take(self._order)
        self._joint = geometry.metric == "euclidean"
        self._margin = self._least = 0.0
        if points.numbers.shape[1]:
            width = points.numbers.shape[1] + self._joint * bucket_count(geometry.levels)
            self._margin = 2.0 * (width + _SLACK) * _UNIT
            self._least = _LEAST

    def nearest(self, records: Points, k: int, tick: Tick | None = None) -> NearestRows:
        """Return the k nearest rows of each record, k at most the number of rows."""
        found = NearestRows(len(records), k)
        for part, block, bound in self._blocks(records, tick):
            self._improve(records, found, part, bound, block)
        found.rows = self._order[found.rows]
        return found

    def within(
        self, records: Points, figure: float, visit: Visit, tick: Tick | None = None
    ) -> None:
        """Call ``visit`` with records, rows and figures of all pairs up to ``figure``.

        The rows of a record come in the order of ``_size_order``.
        """
        for part, block, bound in self._blocks(records, tick):
            i, j = np.nonzero(bound <= figure)
            i, j = i + part.start, j + block.start
            exact = self._geometry.figures(records, i, self._points, j)
            near = exact <= figure
            visit(i[near], self._order[j[near]], exact[near])

    def _blocks(self, records: Points, tick: Tick | None) -> Iterator[tuple[slice, slice, Singles]]:
        """Yield records, rows and a lower bound of the figure of each of their pairs."""
        for first in range(0, len(records), _TOGETHER):
            some = records.take(slice(first, first + _TOGETHER))
            left = self._side(some, left=True)
            for block in parts(len(self._points), _ROWS):
                right = self._side(self._points.take(block), left=False)
                for part in parts(len(some), _RECORDS):
                    bound = self._bound(left, part, right)
                    yield slice(first + part.start, first + part.stop), block, bound
                if tick is not None:
                    tick(len(some) * (block.stop - block.start))

    def _side(self, points: Points, *, left: bool) -> _Side:
        numbers = points.numbers - self._centre
        squares = _squares(numbers)
        p, buckets = numbers.shape[1], bucket_count(self._geometry.levels)
        joint = buckets if self._joint else 0
        features = np.zeros((len(points), p + joint + 1), dtype=np.float32)
        indicators = np.zeros((len(points), 0 if self._joint else buckets), dtype=np.float32)
        target = features[:, p : p + joint] if self._joint else indicators
        write_indicators(target, points, self._geometry.levels)
        features[:, :p] = numbers
        if left:
            features *= np.float32(-2.0)
            features[:, -1] = 1.0
        else:
            features[:, -1] = squares
        return _Side(features=features, indicators=indicators, squares=squares)

    def _bound(self, left: _Side, part: slice, right: _Side) -> Singles:
        c = len(self._geometry.levels)
        squares = left.squares[part]
        # (|a| + |b|)^2 bounds the sum of the terms' sizes; each category adds up to 2.
        reach = (np.sqrt(squares + c) + np.sqrt(right.squares.max() + c)) ** 2
        shift = squares - self._margin * reach - self._least
        if self._joint:
            # Matches are taken off; without any, every category counts 2.
            shift = shift + 2.0 * c
        products = left.features[part] @ right.features.T
        products += self._rounded(shift)[:, None]
        if self._joint:
            return products
        np.maximum(products, 0.0, out=products)
        np.sqrt(products, out=products)
        # The root and the sum round once each.
        products *= np.float32(1 - 4 * _UNIT)
        mismatches = c - left.indicators[part] @ right.indicators.T
        products += mismatches
        products *= np.float32(1 - 4 * _UNIT) if self._margin else np.float32(1.0)
        return products

    def _rounded(self, values: Floats) -> Singles:
        found = values.astype(np.float32)
        # Without numbers all are small whole numbers, and ties stay ties.
        return np.nextafter(found, np.float32(-np.inf)) if self._margin else found

    def _improve(
        self, records: Points, found: NearestRows, part: slice, bound: Singles, block: slice
    ) -> None:
        """Take in the rows of a block that are among the k nearest."""
        # The k-th figure of each record: what a new row has to stay below.
        bar = found.figures[part, -1]
        start = np.isinf(bar)
        if start.any():
            bar = np.where(start, self._first_bar(records, found, part, bound, block), bar)
        least = bound.min(axis=1)
        # A tie with what is known improves nothing, but in the first block all of it is new.
        rows = np.flatnonzero(np.where(start, least <= bar, least < bar))
        if not rows.size:
            return
        below = bound[rows] <= bar[rows, None]
        if not start.any():
            below &= bound[rows] < bar[rows, None]
        i, j = np.nonzero(below)
        i, j = rows[i] + part.start, j + block.start
        exact = self._geometry.figures(records, i, self._points, j)
        kept = exact <= bar[i - part.start]
        found.insert(i[kept], j[kept], exact[kept])

    def _first_bar(
        self, records: Points, found: NearestRows, part: slice, bound: Singles, block: slice
    ) -> Floats:
        """Return a figure that k rows of the block stay within, infinite where it has fewer."""
        k = found.figures.shape[1]
        size = bound.shape[1]
        if size < k:
            return np.full(len(bound), np.inf)
        lowest = np.argpartition(bound, k - 1, axis=1)[:, :k] if size > k else np.arange(k)
        j = np.broadcast_to(lowest, (len(bound), k)).ravel() + block.start
        i = np.repeat(np.arange(part.start, part.stop), k)
        exact = self._geometry.figures(records, i, self._points, j)
        return np.asarray(exact.reshape(-1, k).max(axis=1))


def _size_order(points: Points) -> NDArray[np.intp]:
    """Return the rows by how far they are from the middle, the nearest first."""
    return np.argsort(_squares(points.numbers - _centre(points)), kind="stable")


def _centre(points: Points) -> Floats:
    return np.median(points.numbers, axis=0) if len(points) else np.zeros(points.numbers.shape[1])


def _squares(numbers: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", numbers, numbers))


def _tree_columns(points: Points, geometry: Geometry) -> int:
    """Return how many columns a tree of these rows would have: no levels are merged."""
    most = max(geometry.levels, default=0)
    return int(points.numbers.shape[1]) + bucket_count(geometry.levels, most=most)


class TreeSearch:
    """Searches through rows that stay the same."""

    name = "k-d tree"

    def __init__(self, points: Points, geometry: Geometry) -> None:
        """Grow the tree."""
        from scipy.spatial import cKDTree

        self._points, self._geometry = points, geometry
        self._power = 2 if geometry.metric == "euclidean" else 1
        self._tree: Any = cKDTree(self._features(points))

    def _features(self, points: Points) -> Floats:
        levels, value = self._geometry.levels, self._geometry.indicator
        return dense_features(points, levels, value=value, most=max(levels, default=0))

    def nearest(self, records: Points, k: int, tick: Tick | None = None) -> NearestRows:
        """Return the k nearest rows of each record, k at most the number of rows."""
        found = NearestRows(len(records), k)
        size = max(1, min(_RECORDS_OF_TREE, _PAIRS // (k + _SPARE)))
        for some in parts(len(records), size):
            self._nearest(records, some, found)
            if tick is not None:
                tick((some.stop - some.start) * len(self._points))
        return found

    def _nearest(self, records: Points, some: slice, found: NearestRows) -> None:
        k = found.figures.shape[1]
        looked = min(k + _SPARE, len(self._points))
        features = self._features(records.take(some))
        far, rows = self._tree.query(features, k=looked, p=self._power, workers=-1)
        far, rows = far.reshape(-1, looked), rows.reshape(-1, looked)
        i = np.repeat(np.arange(some.start, some.stop), looked)
        figures = self._geometry.figures(records, i, self._points, rows.ravel()).reshape(rows.shape)
        found.put(some, rows, figures)
        if looked == len(self._points):
            return
        # The tree's distances round otherwise: rows beyond those looked at may be as near.
        reach = self._radius(found.figures[some, -1])
        for at in np.flatnonzero(far[:, -1] <= reach):
            near = self._tree.query_ball_point(
                features[at], float(reach[at]), p=self._power, return_sorted=True
            )
            rows, here = np.array(near), some.start + int(at)
            exact = self._geometry.figures(records, np.full(rows.size, here), self._points, rows)
            order = np.argsort(exact, kind="stable")[:k]
            found.figures[here], found.rows[here] = exact[order], rows[order]

    def _radius(self, figures: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the tree's distances that surely hold all rows up to these figures."""
        radius = figures if self._power == 1 else np.sqrt(figures)
        return np.asarray(radius + _MARGIN * (1.0 + radius))

    def within(
        self, records: Points, figure: float, visit: Visit, tick: Tick | None = None
    ) -> None:
        """Call ``visit`` with records, rows and figures of all pairs up to ``figure``.

        The rows of a record come in ascending order.
        """
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
                visit(i[near], j[near], exact[near])
            if tick is not None:
                tick((some.stop - some.start) * len(self._points))


def _groups(sizes: NDArray[np.intp]) -> Iterator[slice]:
    """Yield records whose lists are not too long together; one alone may be."""
    start = 0
    held = np.cumsum(sizes)
    while start < sizes.size:
        before = held[start - 1] if start else 0
        stop = max(int(np.searchsorted(held, before + _PAIRS, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


Search = MatrixSearch | TreeSearch


class Neighbours:
    """Synthetic records that are searched, repetitions counted."""

    def __init__(self, points: Points, geometry: Geometry, memory: int) -> None:
        """Drop repetitions; what searches is chosen at the first search.

        Args:
            points: that are searched.
            geometry: of the distances.
            memory: bytes that a search may take beside the records.
        """
        first, inverse = distinct_places(points)
        distinct = points.take(first)
        # One order for every search: sums over a ball round alike.
        order = _size_order(distinct)
        self._points, self._counts = distinct.take(order), np.bincount(inverse)[order]
        self._geometry, self._memory = geometry, memory
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

    def nearest(
        self, records: Points, ranks: Sequence[int], tick: Tick | None = None
    ) -> NDArray[np.float64]:
        """Return the distances to some of the nearest, a column for each rank.

        A synthetic record that is there several times is as many neighbours.

        Args:
            records: n of them.
            ranks: ascending; at least 1 and at most the number of synthetic records.
            tick: told how many pairs more are behind us.
        """
        search = self._chosen(records)
        wanted = np.array(ranks) - 1
        k = int(wanted[-1]) + 1
        size = min(_SEARCHED, max(_FEWEST, self._memory // (_NEIGHBOUR * k)))
        distances = np.empty((len(records), wanted.size))
        for part in parts(len(records), size):
            distances[part] = self._distances(search, records.take(part), k, tick)[:, wanted]
        return distances

    def _distances(
        self, search: Search, records: Points, k: int, tick: Tick | None
    ) -> NDArray[np.float64]:
        found = search.nearest(records, min(k, len(self._points)), tick)
        distances = self._geometry.distance(found.figures)
        if (self._counts == 1).all():
            return distances
        reached = np.cumsum(self._counts[found.rows], axis=1)
        spread = np.empty((len(records), k))
        for at in range(k):
            place = (reached > at).argmax(axis=1)
            spread[:, at] = distances[np.arange(len(records)), place]
        return spread

    def ball(
        self, records: Points, radius: float, tick: Tick | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return equation 18 of Liu et al. and the share within the same ball, each of shape (n,).

        The first is -1/n times the sum of log d over the n synthetic records within
        ``radius``, their distances d taken as at least 1e-6.
        """
        search = self._chosen(records)
        logs, counts = np.zeros(len(records)), np.zeros(len(records))

        def visit(i: NDArray[np.intp], j: NDArray[np.intp], figures: NDArray[np.float64]) -> None:
            distances = self._geometry.distance(figures)
            # A radius that is some record's distance holds that record: no figure says so.
            near = distances <= radius
            weights = self._counts[j[near]]
            logged = np.log(np.maximum(distances[near], LEAST_DISTANCE))
            np.add.at(logs, i[near], weights * logged)
            np.add.at(counts, i[near], weights)

        search.within(records, self._geometry.figure(radius) * (1.0 + _ROOM), visit, tick)
        return -logs / self._rows, counts / self._rows

    def _chosen(self, records: Points) -> Search:
        if self._search is None:
            self._search = self._choose(records)
        return self._search

    def _choose(self, records: Points) -> Search:
        """Return the search that a sample shows to be the faster."""
        points, geometry = self._points, self._geometry
        matrix = MatrixSearch(points, geometry)
        columns = _tree_columns(points, geometry)
        pairs = len(records) * len(points)
        grown = 3 * 8 * columns * len(points)
        if columns > MOST_COLUMNS or grown > self._memory or pairs * columns < _SMALL:
            return matrix
        # No answer depends on the rows that are timed.
        rng = np.random.default_rng(0)
        some = records.take(_some(len(records), _SAMPLED_RECORDS, rng))
        rows = points.take(_some(len(points), _SAMPLED_ROWS, rng))
        products = _seconds(MatrixSearch(rows, geometry), some)
        products *= pairs / (len(some) * len(rows))
        begun = time.perf_counter()
        small = TreeSearch(rows, geometry)
        growth = (time.perf_counter() - begun) * len(points) / len(rows)
        growth *= math.log(len(points)) / math.log(len(rows))
        # A tree of more rows takes no less for each record.
        walks = _seconds(small, some) * len(records) / len(some)
        if growth > _GROWTH * products or walks > products:
            return matrix
        tree = TreeSearch(points, geometry)
        walks = _seconds(tree, some) * len(records) / len(some)
        return tree if walks < products else matrix


def _some(count: int, wanted: int, rng: np.random.Generator) -> NDArray[np.intp]:
    if count <= wanted:
        return np.arange(count)
    return np.sort(rng.choice(count, wanted, replace=False))


def _seconds(search: Search, records: Points) -> float:
    begun = time.perf_counter()
    search.nearest(records, 1)
    return time.perf_counter() - begun
