"""The fine and the coarse cell of each score as one integer, by one lookup, and their counts.

The grid on the order of floats is finer towards zero, for scores of many magnitudes. Memory is
used again for every batch, so that none has to be asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.cells.cells import Buckets, Cells

_BITS: Final = 18
LAST: Final = (1 << _BITS) - 1
_SIGN: Final = 63
_MAGNITUDE: Final = (1 << _SIGN) - 1
# One edge in so many is left to either tail.
_TAIL: Final = 1000
# Room below a fine cell for two flags, once its coarse cell is shifted out.
_LEAST_SHIFT: Final = 2
_INT64: Final = np.dtype(np.int64)
_FLOAT64: Final = np.dtype(np.float64)
# A bucket with more edges is searched: others are walked through, which is faster.
_MOST_WALKED: Final = 8
_SEARCHED: Final = -1
_BEGIN: Final = -2
_SIDES: Final = ("left", "right")
_LARGEST_INT32: Final = (1 << 31) - 1
# No counter can pass 2^31 before it is emptied.
_MOST_IN_NARROW: Final = 1 << 30
NumberT = TypeVar("NumberT", bound=np.generic)


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatGrid:
    """The map order(score) >> shift, less ``base``: monotone in the score.

    Attributes:
        shift: bits of a float's order that a bucket spans.
        base: place of the first bucket; it and the last one collect the tails.
    """

    shift: int
    base: int

    def locate_into(
        self, scores: NDArray[np.float64], scaled: NDArray[np.float64], place: NDArray[np.int64]
    ) -> None:
        """Put the bucket of each score, before clipping to [0, LAST], into ``place``.

        The order of a float is its bits as an integer, those of negative ones turned
        around. Adding zero makes both zeros one. ``scaled`` is room of the same shape.
        """
        np.add(scores, 0.0, out=scaled)
        bits = scaled.view(np.int64)
        np.right_shift(bits, _SIGN, out=place)
        place &= _MAGNITUDE
        place ^= bits
        place >>= self.shift
        place -= self.base

    def clipped(self, edges: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the bucket of each edge in [0, LAST]."""
        place = np.empty(edges.size, dtype=np.int64)
        self.locate_into(edges, np.empty(edges.size), place)
        return np.clip(place, 0, LAST)


def float_grid(edges: NDArray[np.float64], *, most: int) -> FloatGrid | None:
    """Return the finest grid that spans the edges but for the tails.

    Args:
        edges: increasing, shape (m,).
        most: edges that a bucket may hold to be of use.

    Returns:
        The grid, or None where more than half of the edges lie in buckets that hold more.
    """
    if edges.size < _TAIL:
        return None
    tail = edges.size // _TAIL
    order = np.empty(2, dtype=np.int64)
    ends = edges[[tail, -1 - tail]]
    FloatGrid(shift=0, base=0).locate_into(ends, np.empty(2), order)
    low, high = (int(end) for end in order)
    shift = max(0, (high - low).bit_length() - _BITS)
    while (high >> shift) - (low >> shift) > LAST - 2:
        shift += 1
    grid = FloatGrid(shift=shift, base=(low >> shift) - 1)
    bucket = grid.clipped(edges)
    held = np.bincount(bucket, minlength=LAST + 1)
    held[[0, LAST]] = most + 1
    return grid if 2 * np.count_nonzero(held[bucket] <= most) >= edges.size else None


class CellCodes:
    """Finds ``fine << shift | coarse`` of each score: always the answer of a search.

    What this takes is made when the first scores come: counts that travelled back need none of it.

    Attributes:
        shift: bits that the coarse cell takes.
    """

    def __init__(self, cells: Cells) -> None:
        """Make nothing yet."""
        self._cells = cells
        self.shift = max((cells.coarse_count - 1).bit_length(), _LEAST_SHIFT)

    @cached_property
    def _of_cell(self) -> NDArray[np.signedinteger[Any]]:
        cells = self._cells
        fits = cells.count << self.shift <= _LARGEST_INT32
        dtype = np.dtype(np.int32 if fits else np.int64)
        fine: NDArray[np.signedinteger[Any]] = np.arange(cells.count, dtype=dtype) << self.shift
        return fine | cells.coarse.astype(dtype)

    @cached_property
    def _edges(self) -> NDArray[np.float64]:
        # No score lies above the last: a walk ends there.
        return np.append(self._cells.edges, np.inf)

    @cached_property
    def _grid(self) -> Buckets | FloatGrid | None:
        return self._cells.buckets or float_grid(self._cells.edges, most=_MOST_WALKED)

    @cached_property
    def _table(self) -> NDArray[np.signedinteger[Any]] | None:
        return None if self._grid is None else self._coded(self._grid)

    def _coded(self, grid: Buckets | FloatGrid) -> NDArray[np.signedinteger[Any]]:
        """Return the code of each bucket, or where to begin if edges divide it.

        A monotone map of floats to buckets leaves all edges of lower buckets below a
        score, so a walk may begin at the first edge of its own. It is coded as -2 less
        its index; -1 calls for a search.
        """
        edges = self._cells.edges
        bucket = grid.clipped(edges)
        if isinstance(grid, Buckets):
            cell = grid.table(edges)
        else:
            held = np.bincount(bucket, minlength=LAST + 1)
            cell = np.where(held > 0, -1, np.cumsum(held)).astype(np.int32)
        # The tails: what is too large for an integer is in the first bucket, whatever its size.
        tails = np.append(grid.clipped(np.array([-np.inf, np.inf])), [0, cell.size - 1])
        cell[tails] = -1
        table = self._of_cell[cell]
        (divided,) = np.nonzero(cell < 0)
        first, last = (np.searchsorted(bucket, divided, side=side) for side in _SIDES)
        begin = _BEGIN - first
        begin[last - first > _MOST_WALKED] = _SEARCHED
        table[divided] = begin
        table[tails] = _SEARCHED
        return table

    def __reduce__(self) -> tuple[type[CellCodes], tuple[Cells]]:
        """Travel to another process without what can be made again there."""
        return CellCodes, (self._cells,)

    def __call__(
        self, scores: NDArray[np.float64], room: Workspace
    ) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.float64]]:
        """Return the codes, shape (n,), and the scores that were searched for.

        All infinite scores are among those. The codes last until the next call with ``room``.
        """
        grid, table = self._grid, self._table
        if grid is None or table is None:
            return self._of_cell.take(self._searched(scores)), scores
        size = scores.size
        place = room.array("place", size, _INT64)
        grid.locate_into(scores, room.array("scaled", size, _FLOAT64), place)
        codes = room.array("codes", size, table.dtype)
        table.take(place, mode="clip", out=codes)
        divided = np.flatnonzero(codes < 0)
        found, searched = self._found(_BEGIN - codes[divided], scores[divided])
        codes[divided] = self._of_cell.take(found)
        return codes, searched

    def _found(
        self, cell: NDArray[np.signedinteger[Any]], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the cells of scores, given where to begin, and the scores searched for."""
        at = cell.astype(np.intp)
        tails = np.flatnonzero(at < 0)
        searched = scores[tails]
        at[tails] = self._searched(searched)
        while (above := self._edges.take(at) < scores).any():
            at += above
        return at, searched

    def _searched(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        return np.searchsorted(self._cells.edges, scores, side="left")


class CodeCounter:
    """Counts codes in [0, size), many at a time.

    The counts in progress are narrow, so that they stay in a core's cache, and are
    added to in place: a table of its own for every batch costs more than the batch.
    """

    __slots__ = ("_counts", "_narrow", "_waiting")

    def __init__(self, size: int) -> None:
        """Start at zero."""
        self._counts: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        self._narrow: NDArray[np.int32] = np.zeros(size, dtype=np.int32)
        self._waiting = 0

    def add(self, codes: NDArray[np.signedinteger[Any]]) -> None:
        """Count codes, shape (n,), n at most 2^30."""
        if self._waiting + codes.size > _MOST_IN_NARROW:
            self._flush()
        self._waiting += codes.size
        np.add.at(self._narrow, codes, np.int32(1))

    def merge(self, other: Self) -> None:
        """Add the counts of another counter of the same size."""
        self._counts += other.counts()

    def counts(self) -> NDArray[np.int64]:
        """Return the counts so far, shape (size,)."""
        self._flush()
        return self._counts

    def _flush(self) -> None:
        self._counts += self._narrow
        self._narrow[:] = 0
        self._waiting = 0


class Workspace:
    """Arrays by name; what one held is gone when it is asked for again.

    Not thread-safe: one per worker. To another process it travels empty.
    """

    __slots__ = ("_arrays",)

    def __init__(self) -> None:
        """Start without memory."""
        self._arrays: dict[tuple[str, np.dtype[Any]], NDArray[Any]] = {}

    def __reduce__(self) -> tuple[type[Workspace], tuple[()]]:
        """Travel empty."""
        return Workspace, ()

    def array(self, name: str, size: int, dtype: np.dtype[NumberT]) -> NDArray[NumberT]:
        """Return the array ``name`` of this size; its contents are arbitrary."""
        kept = self._arrays.get((name, dtype))
        if kept is None or kept.size < size:
            kept = self._arrays[name, dtype] = np.empty(size, dtype=dtype)
        return kept[:size]
