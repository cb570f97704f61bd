"""Cells of a score that are finer than its plan's, for what is counted in a third pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mipaudit.summaries.cells.cells import quantile_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.summaries.cells.cells import Cells
    from mipaudit.summaries.rows import Rows
    from mipaudit.summaries.sample import BurnInSample

GRID_SIDE: Final = 32
_MOST_CELLS: Final = 1 << 15
_FEWEST_CELLS: Final = 1 << 9
# Counts held at once over all meetings, 8 bytes each.
_COUNTS_AT_ONCE: Final = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreCells:
    """Cells of one score that refine the coarse cells of its plan.

    Attributes:
        edges: increasing, shape (m-1,): cells (e[i-1], e[i]].
        single: bool, shape (m,), cells whose rows share one value.
        coarse: intp, shape (m,), the coarse cell that holds each.
        side: intp, shape (m,), the row of a product grid that holds each.
    """

    edges: NDArray[np.float64]
    single: NDArray[np.bool_]
    coarse: NDArray[np.intp]
    side: NDArray[np.intp]

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return int(self.single.size)

    @property
    def sides(self) -> int:
        """Return the number of rows that the score gives a product grid."""
        return int(self.side[-1]) + 1


def cells_at_once(meetings: int, blocks: int) -> int:
    """Return how many cells a rival's score may have, so that all counts fit in memory."""
    room = _COUNTS_AT_ONCE // (4 * blocks * max(1, meetings))
    return min(max(room, _FEWEST_CELLS), _MOST_CELLS)


def score_cells(
    cells: Cells,
    sample: BurnInSample,
    index: int,
    *,
    burn_in: int,
    prior: float,
    count: int,
    values: NDArray[np.float64] | None = None,
) -> ScoreCells:
    """Return finer cells of a score, cut on the burn-in only, or one for each value.

    Args:
        cells: of the score's plan.
        sample: settled.
        index: of the score among the columns.
        burn_in: micro-blocks that only train.
        prior: p in (0, 1), the weight of the members' law in the cuts.
        count: about how many cells.
        values: all scores of the input, where there are few enough for a cell each: the
            best of a class is then found without a bracket.
    """
    burned, weights = _burn_in(sample, index, burn_in, prior)
    last = np.flatnonzero(np.diff(cells.coarse))
    coarse_edges = cells.edges[last]
    # The coarse edges may have been moved to a grid of buckets; a side ends at one of them.
    wanted = np.searchsorted(coarse_edges, quantile_edges(burned, weights, GRID_SIDE))
    side_edges = coarse_edges[np.unique(wanted[wanted < coarse_edges.size])]
    edges = coarse_edges
    if values is not None:
        edges = np.union1d(coarse_edges, values[values < np.inf])
    elif not cells.single.all():
        edges = np.union1d(coarse_edges, quantile_edges(burned, weights, count))
    tops = np.append(edges, np.inf)
    coarse = np.searchsorted(coarse_edges, tops, side="left")
    whole = np.zeros(coarse_edges.size + 1, dtype=bool)
    whole[cells.coarse[cells.single]] = True
    whole &= np.bincount(cells.coarse) == 1
    side_of = np.searchsorted(side_edges, tops, side="left")
    single = np.ones(tops.size, dtype=bool) if values is not None else whole[coarse]
    return ScoreCells(edges=edges, single=single, coarse=coarse, side=side_of)


def _burn_in(
    sample: BurnInSample, index: int, burn_in: int, prior: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sorted burn-in scores of one column and the mass of each."""
    parts = [(sample.members, prior), (sample.holdout, 1 - prior)]
    scores = [one.scores[one.within(burn_in), index] for one, _ in parts]
    weights = [
        np.full(found.size, share / max(1, found.size))
        for found, (_, share) in zip(scores, parts, strict=True)
    ]
    values = np.concatenate(scores)
    order = np.argsort(values, kind="stable")
    mass = np.concatenate(weights)[order]
    return values[order], mass / max(float(mass.sum()), 1e-300)


class ValueSet:
    """The distinct values of each score, for inputs of few rows."""

    __slots__ = ("_columns",)

    def __init__(self, columns: int) -> None:
        """Start empty."""
        self._columns = [np.empty(0) for _ in range(columns)]

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        self._columns = [
            np.union1d(mine, theirs)
            for mine, theirs in zip(self._columns, rows.scores, strict=True)
        ]

    def merge(self, other: Self) -> None:
        """Take in the values of another part."""
        self._columns = [
            np.union1d(mine, theirs)
            for mine, theirs in zip(self._columns, other._columns, strict=True)
        ]

    def values(self) -> tuple[NDArray[np.float64], ...]:
        """Return the distinct values of each score, increasing."""
        return tuple(self._columns)
