"""Exact neighbours by a k-d tree, for records of few columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.queries.indicators import bucket_count, write_indicators
from mipaudit.queries.nearest_rows import NearestRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mipaudit.queries.points import Geometry, Points

    Tick = Callable[[int], None]
    Visit = Callable[[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]], None]

# Beyond, a tree looks at nearly all of its rows.
MOST_COLUMNS: Final = 64
_RECORDS: Final = 4096
# Records whose neighbours within a radius are listed at once.
_LISTED: Final = 256
# The tree's figures round otherwise: within so much of the radius it is computed in full.
_MARGIN: Final = 1e-9


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
        for start in range(0, len(records), _RECORDS):
            some = slice(start, min(start + _RECORDS, len(records)))
            features = self._features(records.take(some))
            _, rows = self._tree.query(features, k=k, p=self._power, workers=-1)
            j = rows.reshape(-1)
            i = np.repeat(np.arange(some.start, some.stop), k)
            figures = self._geometry.figures(records, i, self._points, j).reshape(-1, k)
            order = np.argsort(figures, axis=1, kind="stable")
            found.figures[some] = np.take_along_axis(figures, order, axis=1)
            found.rows[some] = np.take_along_axis(rows.reshape(-1, k), order, axis=1)
            if tick is not None:
                tick((some.stop - some.start) * len(self._points))
        return found

    def within(
        self, records: Points, figure: float, visit: Visit, tick: Tick | None = None
    ) -> None:
        """Call ``visit`` with records, rows and figures of all pairs up to ``figure``."""
        radius = figure if self._power == 1 else float(np.sqrt(figure))
        radius += _MARGIN * (1.0 + radius)
        for start in range(0, len(records), _LISTED):
            some = slice(start, min(start + _LISTED, len(records)))
            features = self._features(records.take(some))
            lists = self._tree.query_ball_point(features, radius, p=self._power, workers=-1)
            sizes = np.fromiter(map(len, lists), dtype=np.intp, count=len(lists))
            j = np.concatenate([np.asarray(one, dtype=np.intp) for one in lists])
            i = np.repeat(np.arange(some.start, some.stop), sizes)
            exact = self._geometry.figures(records, i, self._points, j)
            near = exact <= figure
            visit(i[near], j[near], exact[near])
            if tick is not None:
                tick((some.stop - some.start) * len(self._points))
