"""A grid of equal-width buckets: locates scores in cells without a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BITS: Final = 18
_LAST: Final = (1 << _BITS) - 1
# Shares of the sample left to the tails, from light-tailed to heavy-tailed scores.
_TAIL_SHARES: Final = (5e-4, 5e-3, 2e-2)
_CROWD: Final = 4
_WORTHWHILE: Final = 0.5
_MAX_NUDGES: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """The map floor((score - low) * scale): monotone in the score, in floating point too.

    Bucket 0 and the last one collect the tails.
    """

    low: float
    scale: float

    def locate(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the bucket of each score before clipping to [0, last], shape (n,).

        What is too large for an integer becomes the smallest one, and so lands in
        bucket 0: a tail, where it is searched for.
        """
        place = np.empty(scores.shape, dtype=np.int64)
        self.locate_into(scores, np.empty(scores.shape), place)
        return place

    def locate_into(
        self, scores: NDArray[np.float64], scaled: NDArray[np.float64], place: NDArray[np.int64]
    ) -> None:
        """Do what `locate` does in memory that is there, of the same shape."""
        with np.errstate(invalid="ignore", over="ignore"):
            np.subtract(scores, self.low, out=scaled)
            np.multiply(scaled, self.scale, out=scaled)
            np.copyto(place, scaled, casting="unsafe")

    def clipped(self, edges: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the bucket of each edge in [0, last], increasing for any floats."""
        with np.errstate(over="ignore"):
            scaled = (edges - self.low) * self.scale
        return np.clip(scaled, 0, _LAST).astype(np.int64)

    def snap(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move each edge inside the grid up to the end of its bucket; drop repeats.

        Edges in the tails, and in buckets that hold many of them, stay as they are:
        resolution is not traded away where the scores are concentrated.
        """
        bucket = self.clipped(edges)
        inside = ~self.divided(edges)[bucket]
        bucket = bucket[inside]
        moved = (bucket + 1) / self.scale + self.low
        self._nudge(moved, bucket)
        return np.unique(np.concatenate([edges[~inside], moved]))

    def _nudge(self, moved: NDArray[np.float64], bucket: NDArray[np.int64]) -> None:
        """Move each point to the last float of its bucket, one float at a time, in place."""
        left = np.arange(moved.size)
        for _ in range(_MAX_NUDGES):
            left = left[self.locate(moved[left]) > bucket[left]]
            if not left.size:
                break
            moved[left] = np.nextafter(moved[left], -np.inf)
        left = np.arange(moved.size)
        for _ in range(_MAX_NUDGES):
            following = np.nextafter(moved[left], np.inf)
            short = self.locate(following) <= bucket[left]
            left = left[short]
            if not left.size:
                break
            moved[left] = following[short]

    def divided(self, edges: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which buckets are tails or crowded with edges, shape (buckets,)."""
        bucket = self.clipped(edges)
        divided = np.bincount(bucket, minlength=_LAST + 1) >= _CROWD
        divided[0] = divided[_LAST] = True
        return divided

    def table(self, edges: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the cell of each bucket, or -1 where an edge may divide it."""
        bucket = self.clipped(edges)
        cells = np.cumsum(np.bincount(bucket, minlength=_LAST + 1), dtype=np.int64)
        with np.errstate(over="ignore"):
            ends = self.clipped(np.nextafter(edges, np.inf)) > bucket
        cells_below = np.searchsorted(edges, edges[ends], side="left")
        table = cells.astype(np.int32)
        table[bucket] = -1
        at_end = bucket[ends]
        # A bucket whose only edge is its own end lies whole below that edge.
        lone = np.bincount(bucket, minlength=_LAST + 1)[at_end] == 1
        table[at_end[lone]] = cells_below[lone]
        table[0] = table[_LAST] = -1
        return table


def choose_buckets(values: NDArray[np.float64], edges: NDArray[np.float64]) -> Buckets | None:
    """Return the grid that leaves the fewest rows to a search, or None if most remain.

    Args:
        values: sorted sample, shape (n,).
        edges: cut points wanted, shape (m,).
    """
    best, fewest = None, _WORTHWHILE
    for share in _TAIL_SHARES:
        tail = int(values.size * share)
        grid = _grid(float(values[tail]), float(values[-1 - tail]))
        if grid is None:
            continue
        located = grid.clipped(values)
        searched = float(grid.divided(edges)[located].mean())
        if searched < fewest:
            best, fewest = grid, searched
    return best


def _grid(low: float, high: float) -> Buckets | None:
    """Return the grid whose inner buckets span [low, high], if floats can carry it."""
    width = high - low
    if not 0 < width < float("inf"):
        return None
    scale = (_LAST - 1) / width
    start = low - 1 / scale
    return Buckets(low=start, scale=scale) if scale < float("inf") and start < low else None


class Locator:
    """Finds the cell (e[i-1], e[i]] of each score: always the answer of a search."""

    __slots__ = ("_buckets", "_edges", "_table")

    def __init__(self, edges: NDArray[np.float64], buckets: Buckets | None) -> None:
        """Prepare the table where there is a grid."""
        self._edges = edges
        self._buckets = buckets
        self._table = None if buckets is None else buckets.table(edges)

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the cells, int32, shape (n,)."""
        if self._buckets is None or self._table is None:
            return np.searchsorted(self._edges, scores, side="left").astype(np.int32)
        cells = self._table.take(self._buckets.locate(scores), mode="clip")
        divided = np.flatnonzero(cells < 0)
        if divided.size:
            cells[divided] = np.searchsorted(self._edges, scores[divided], side="left")
        return cells
