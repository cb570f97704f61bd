"""Two scores seen together: attackers on either of them, and on a grid of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.evidence.named_attackers.difference import challenger
from mipaudit.evidence.scores.prequential import trials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.evidence.named_attackers.difference import Challenger
    from mipaudit.evidence.scores.evidence import Evidence

# The grid is merged this many rows or columns at a time: up to 32, 16, 8 and 4 a side.
_MERGED: Final = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointScores:
    """The attackers on two scores together, chosen as they go.

    Attributes:
        challenger: its tables are the first score, the second, then grids.
        cells: for each grid, the merged cell of every cell of the finest one.
    """

    challenger: Challenger
    cells: tuple[NDArray[np.intp], ...]

    def full_sets(self) -> tuple[NDArray[np.bool_], ...]:
        """Return the sets by block, those on a grid as cells of the finest one."""
        grids = self.challenger.table - 2
        return tuple(
            one if grid < 0 else one[self.cells[grid]]
            for one, grid in zip(self.challenger.sets, grids, strict=True)
        )


def joint_scores(
    first: Evidence, second: Evidence, grid: NDArray[np.int64], sides: tuple[int, int]
) -> JointScores:
    """Return the attackers on two scores of the same rows.

    Args:
        first: one score.
        second: the other.
        grid: counts in their product grid, shape (64, sides[0] * sides[1], 2).
        sides: cells of the grid along each score.
    """
    burn_in, prior = first.counts.burn_in, first.prior
    cells = tuple(_merged_cells(sides, step) for step in _MERGED)
    tables = [first.counts.blocks, second.counts.blocks, *(_merged(grid, one) for one in cells)]
    runs = [trials(table, burn_in, prior) for table in tables]
    return JointScores(challenger=challenger(runs, prior), cells=cells)


def _merged_cells(sides: tuple[int, int], step: int) -> NDArray[np.intp]:
    """Return the cell of a coarser grid that holds each cell of the finest one."""
    rows, columns = np.arange(sides[0]) // step, np.arange(sides[1]) // step
    return (rows[:, None] * (int(columns[-1]) + 1) + columns).ravel()


def _merged(grid: NDArray[np.int64], cells: NDArray[np.intp]) -> NDArray[np.int64]:
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], np.arange(int(cells.max()) + 1))
    return np.add.reduceat(grid[:, order], starts, axis=1)
