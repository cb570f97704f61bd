"""Several coordinates as one discrete score: cells of a grid, or the combinations that are seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.cells.cells import Cells, build_cells
from mipaudit.summaries.identity.row_rank import splitmix64

MOST_COORDINATES: Final = 3
_ROWS_PER_CELL: Final = 16
_MOST_CELLS: Final = 1024
MOST_PATTERNS: Final = 2048
MOST_PATTERNS_ASKED: Final = 8192
_ONCE_SHARE: Final = 0.1
_FRACTION: Final = 2.0**-53


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointAlphabet:
    """Known combinations by their hash, and the number of each.

    Attributes:
        hashes: uint64, increasing, shape (K,).
        codes: float64, shape (K,), a permutation of 0 to K-1.
    """

    hashes: NDArray[np.uint64]
    codes: NDArray[np.float64]

    @property
    def count(self) -> int:
        """Return the number of known combinations."""
        return int(self.codes.size)

    @property
    def cells(self) -> Cells:
        """Return a cell for each known combination, and one for all that the burn-in lacks."""
        known = np.arange(self.count, dtype=np.float64)
        return build_cells(known, known, prior=0.5, coarse=0, fine=0, discrete=True, grid=False)

    def score(self, columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the number of each row's combination, shape (n,).

        One that the burn-in lacks gets a number of its own above K - 1/2.
        """
        found = row_hashes(columns)
        at = np.minimum(np.searchsorted(self.hashes, found), self.count - 1)
        fraction = (found >> np.uint64(11)).astype(np.float64) * _FRACTION
        return np.where(self.hashes[at] == found, self.codes[at], self.count - 0.5 + fraction)


def row_hashes(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each row's values; equal rows have equal hashes."""
    mixed = np.zeros(columns[0].size, dtype=np.uint64)
    for index, column in enumerate(columns):
        bits = (column + 0.0).view(np.uint64)  # + 0.0: a zero has no sign
        mixed = splitmix64(mixed ^ bits, index + 1)
    return mixed


def joint_alphabet(
    columns: Sequence[NDArray[np.float64]], member: NDArray[np.bool_], *, most: int, asked: bool
) -> JointAlphabet | None:
    """Return the alphabet of discrete coordinates, or None where it is not small.

    Args:
        columns: burn-in values, each of shape (n,).
        member: shape (n,), for the order of the numbers alone.
        most: combinations allowed.
        asked: the user says that the alphabet is small: none need recur.
    """
    found = row_hashes(columns)
    hashes, place, times = np.unique(found, return_inverse=True, return_counts=True)
    once = int(np.count_nonzero(times == 1))
    if not hashes.size or hashes.size > most:
        return None
    if not asked and once > _ONCE_SHARE * found.size:
        return None
    rank = rank_by_share(place, member, hashes.size)
    return JointAlphabet(hashes=hashes, codes=rank.astype(np.float64))
