"""The fine and the coarse cell of each score as one integer, by one lookup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.summaries.cells.buckets import Buckets
from mipaudit.summaries.cells.float_grid import LAST, FloatGrid, float_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.summaries.cells.cells import Cells
    from mipaudit.summaries.cells.workspace import Workspace

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


class CellCodes:
    """Finds ``fine << shift | coarse`` of each score: always the answer of a search.

    Attributes:
        shift: bits that the coarse cell takes.
    """

    __slots__ = ("_cells", "_edges", "_grid", "_of_cell", "_table", "shift")

    def __init__(self, cells: Cells) -> None:
        """Prepare the table where there is a grid."""
        self._cells = cells
        self.shift = max((cells.coarse_count - 1).bit_length(), _LEAST_SHIFT)
        fits = cells.count << self.shift <= _LARGEST_INT32
        dtype = np.dtype(np.int32 if fits else np.int64)
        fine = np.arange(cells.count, dtype=dtype) << self.shift
        self._of_cell: NDArray[np.signedinteger[Any]] = fine | cells.coarse.astype(dtype)
        # No score lies above the last: a walk ends there.
        self._edges = np.append(cells.edges, np.inf)
        self._grid = cells.buckets or float_grid(cells.edges, most=_MOST_WALKED)
        self._table = None if self._grid is None else self._coded(self._grid)

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
