"""Distances to the nearest synthetic records, by whichever exact search is faster."""

import math
import time
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.search.exact import (
    MOST_COLUMNS,
    MatrixSearch,
    TreeSearch,
    size_order,
    tree_columns,
)
from mipaudit.commands.query.search.points import Geometry, Points, Tick, distinct_places, parts

Search = MatrixSearch | TreeSearch


# Pairs times columns that take a fraction of a second: below, nothing is timed.
_SMALL: Final = 1 << 28
_SAMPLED_ROWS: Final = 1 << 15
_SAMPLED_RECORDS: Final = 256
# A tree is grown when growing it takes at most this share of the other search.
_GROWTH: Final = 0.2
# Records searched at once, and about how many bytes each takes for a neighbour.
_TOGETHER: Final = 1 << 14
_FEWEST: Final = 512
_NEIGHBOUR: Final = 80
# Squares and quotients of a radius round.
_ROOM: Final = 1e-12
# The least distance of which the logarithm is taken (equation 18).
LEAST_DISTANCE: Final = 1e-6


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
        order = size_order(distinct)
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
        size = min(_TOGETHER, max(_FEWEST, self._memory // (_NEIGHBOUR * k)))
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
        columns = tree_columns(points, geometry)
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
