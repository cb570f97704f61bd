"""The fine and the coarse cell of each score as one integer, by one lookup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.summaries.cells import Cells
    from mipaudit.summaries.workspace import Workspace

# Room below a fine cell for two flags, once its coarse cell is shifted out.
_LEAST_SHIFT: Final = 2
_INT64: Final = np.dtype(np.int64)
_FLOAT64: Final = np.dtype(np.float64)
_LARGEST_INT32: Final = (1 << 31) - 1


class CellCodes:
    """Finds ``fine << shift | coarse`` of each score: always the answer of a search.

    Attributes:
        shift: bits that the coarse cell takes.
    """

    __slots__ = ("_cells", "_of_cell", "_table", "shift")

    def __init__(self, cells: Cells) -> None:
        """Prepare the table where there is a grid."""
        self._cells = cells
        self.shift = max((cells.coarse_count - 1).bit_length(), _LEAST_SHIFT)
        fits = cells.count << self.shift <= _LARGEST_INT32
        dtype = np.dtype(np.int32 if fits else np.int64)
        fine = np.arange(cells.count, dtype=dtype) << self.shift
        self._of_cell: NDArray[np.signedinteger[Any]] = fine | cells.coarse.astype(dtype)
        self._table: NDArray[np.signedinteger[Any]] | None = None
        if cells.buckets is not None:
            cell = cells.buckets.table(cells.edges)
            self._table = np.where(cell < 0, dtype.type(-1), self._of_cell[cell])

    def __reduce__(self) -> tuple[type[CellCodes], tuple[Cells]]:
        """Travel to another process without what can be made again there."""
        return CellCodes, (self._cells,)

    def __call__(
        self, scores: NDArray[np.float64], room: Workspace
    ) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.float64]]:
        """Return the codes, shape (n,), and the scores that were searched for.

        All infinite scores are among those. The codes last until the next call with ``room``.
        """
        buckets, table = self._cells.buckets, self._table
        if buckets is None or table is None:
            return self._of_cell.take(self._searched(scores)), scores
        size = scores.size
        place = room.array("place", size, _INT64)
        buckets.locate_into(scores, room.array("scaled", size, _FLOAT64), place)
        codes = room.array("codes", size, table.dtype)
        table.take(place, mode="clip", out=codes)
        divided = np.flatnonzero(codes < 0)
        searched = scores[divided]
        codes[divided] = self._of_cell[self._searched(searched)]
        return codes, searched

    def _searched(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        return np.searchsorted(self._cells.edges, scores, side="left")
