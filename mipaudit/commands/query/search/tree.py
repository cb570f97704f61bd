"""Exact neighbours by a k-d tree, for records of few columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.commands.query.search.nearest_rows import NearestRows
from mipaudit.commands.query.search.points import bucket_count, write_indicators

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from mipaudit.commands.query.search.points import Geometry, Points

    Tick = Callable[[int], None]
    Visit = Callable[[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]], None]

# Beyond, a tree looks at nearly all of its rows.
MOST_COLUMNS: Final = 64
_RECORDS: Final = 4096
# The tree's figures round otherwise: within so much of the radius it is computed in full.
_MARGIN: Final = 1e-9
# Rows looked at beyond the k that are asked for, to see where ties end.
_SPARE: Final = 3
# Pairs listed at once.
_PAIRS: Final = 1 << 20


def tree_columns(points: Points, geometry: Geometry) -> int:
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
        # One level differing changes two columns.
        self._value = 1.0 if geometry.metric == "euclidean" else 0.5
        self._power = 2 if geometry.metric == "euclidean" else 1
        self._tree: Any = cKDTree(self._features(points))

    def _features(self, points: Points) -> NDArray[np.float64]:
        p, levels = points.numbers.shape[1], self._geometry.levels
        found = np.zeros((len(points), tree_columns(points, self._geometry)))
        found[:, :p] = points.numbers
        most = max(levels, default=0)
        write_indicators(found[:, p:], points, levels, value=self._value, most=most)
        return found

    def nearest(self, records: Points, k: int, tick: Tick | None = None) -> NearestRows:
        """Return the k nearest rows of each record, k at most the number of rows."""
        found = NearestRows(len(records), k)
        size = max(1, min(_RECORDS, _PAIRS // (k + _SPARE)))
        for start in range(0, len(records), size):
            some = slice(start, min(start + size, len(records)))
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
        order = np.argsort(figures, axis=1, kind="stable")[:, :k]
        found.figures[some] = np.take_along_axis(figures, order, axis=1)
        found.rows[some] = np.take_along_axis(rows, order, axis=1)
        if looked == len(self._points):
            return
        # The tree's distances round otherwise: rows beyond those looked at may be as near.
        reach = self._radius(found.figures[some, -1])
        for at in np.flatnonzero(far[:, -1] <= reach):
            self._settle(records, int(at) + some.start, features[at], float(reach[at]), found)

    def _settle(
        self,
        records: Points,
        at: int,
        features: NDArray[np.float64],
        reach: float,
        found: NearestRows,
    ) -> None:
        """Take the nearest of all rows that could be."""
        rows = np.array(
            self._tree.query_ball_point(features, reach, p=self._power, return_sorted=True)
        )
        figures = self._geometry.figures(records, np.full(rows.size, at), self._points, rows)
        order = np.argsort(figures, kind="stable")[: found.figures.shape[1]]
        found.figures[at], found.rows[at] = figures[order], rows[order]

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
        for start in range(0, len(records), _RECORDS):
            some = slice(start, min(start + _RECORDS, len(records)))
            features = self._features(records.take(some))
            sizes = self._tree.query_ball_point(
                features, radius, p=self._power, workers=-1, return_length=True
            )
            for few in _groups(np.asarray(sizes, dtype=np.intp)):
                lists = self._tree.query_ball_point(
                    features[few], radius, p=self._power, workers=-1, return_sorted=True
                )
                j = np.concatenate([np.asarray(one, dtype=np.intp) for one in lists])
                i = np.repeat(np.arange(few.start, few.stop) + start, sizes[few])
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
