"""Cells of a product grid over few coordinates, cut on the burn-in, as one discrete score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_COORDINATES: Final = 3
_ROWS_PER_CELL: Final = 16
_MOST_CELLS: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProductGrid:
    """Cells (e[i-1], e[i]] of each coordinate, and a number for each product of them.

    Every point of the space lies in a cell, so that no value outside the known ones
    can occur, whatever is read later.

    Attributes:
        edges: strictly increasing cut points of each coordinate; the end cells are open.
        codes: the number of each cell, in row-major order of the coordinates' cells, a
            permutation of 0 to K-1.
    """

    edges: tuple[NDArray[np.float64], ...]
    codes: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return int(self.codes.size)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of cells along each coordinate."""
        return tuple(edges.size + 1 for edges in self.edges)

    def score(self, columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the code of each row's cell, shape (n,); infinities lie in the end cells."""
        place = np.zeros(columns[0].size, dtype=np.int64)
        for edges, column in zip(self.edges, columns, strict=True):
            place *= edges.size + 1
            place += np.searchsorted(edges, column, side="left")
        return self.codes[place].astype(np.float64)

    def ranked(
        self, columns: Sequence[NDArray[np.float64]], member: NDArray[np.bool_]
    ) -> ProductGrid:
        """Return the grid with its cells numbered by their share of members in these rows.

        Attackers with thresholds and intervals on the code then mean something. A cell
        without rows takes a middle number: half a row of each class stands in every cell.
        """
        rank = rank_by_share(self.score(columns).astype(np.int64), member, self.count)
        return replace(self, codes=rank[self.codes])


def rank_by_share(
    code: NDArray[np.int64], member: NDArray[np.bool_], count: int
) -> NDArray[np.int64]:
    """Return the place of each of ``count`` codes by its share of members, shape (count,)."""
    members = np.bincount(code[member], minlength=count)
    holdout = np.bincount(code[~member], minlength=count)
    share = (members + 0.5) / (int(members.sum()) + 0.5 * count)
    against = (holdout + 0.5) / (int(holdout.sum()) + 0.5 * count)
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(share / against, kind="stable")] = np.arange(count)
    return rank


def make_grid(columns: Sequence[NDArray[np.float64]]) -> ProductGrid:
    """Return a grid with about 16 burn-in rows or more in a cell, at most 1,024 cells.

    Args:
        columns: burn-in values of at most 3 coordinates, each of shape (n,).
    """
    most = min(max(columns[0].size // _ROWS_PER_CELL, 2 ** len(columns)), _MOST_CELLS)
    per_axis = 2
    while (2 * per_axis) ** len(columns) <= most:
        per_axis *= 2
    edges = tuple(_axis_edges(column, per_axis) for column in columns)
    count = int(np.prod([one.size + 1 for one in edges]))
    return ProductGrid(edges=edges, codes=np.arange(count, dtype=np.int64))


def _axis_edges(values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return cut points that leave at most ``count`` cells of about equal mass.

    The end of a run of equal values is a cut only at a value of the data; a value so
    frequent that a quantile falls on it twice gets a cut on both of its sides.
    """
    if not values.size:
        return values
    ordered = np.sort(values)
    distinct = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    if distinct.size <= count:
        return np.asarray(distinct[:-1])
    at = (np.arange(1, count) * ordered.size) // count
    # The first of a quantile's equals: everything below it is cut off there.
    first = np.searchsorted(ordered, ordered[at], side="left")
    last = np.searchsorted(ordered, ordered[at], side="right")
    repeated = np.concatenate([[False], at[1:] < last[:-1]]) | np.concatenate(
        [at[1:] < last[:-1], [False]]
    )
    below = np.where(repeated, first, at)
    cuts = [ordered[i - 1] for i in below.tolist() if i > 0]
    cuts += [
        ordered[i - 1] for i, again in zip(last.tolist(), repeated.tolist(), strict=True) if again
    ]
    edges = np.unique(np.array(cuts))
    edges = edges[edges < distinct[-1]]
    while edges.size >= count:  # cells beyond the count go, those of least mass first
        mass = np.diff(np.searchsorted(ordered, edges, side="right"), prepend=0)
        edges = np.delete(edges, int(mass.argmin()))
    return edges
