"""Counts on equal-width grids, for kernel densities: integers only, mergeable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.identity.row_rank import micro_blocks, rank_bytes

if TYPE_CHECKING:
    from mipaudit.summaries.grids.plan import GridPlan
    from mipaudit.summaries.rows import Rows

# A score gives its two nearest nodes shares that are multiples of 1/PLACES: sums of
# them are whole numbers, whatever the order of the parts.
_PLACES_LOG2: Final = 10
PLACES: Final = 1 << _PLACES_LOG2
_FLAGS: Final = 4
# Codes are gathered and counted this many at a time: each count walks the whole table.
_GATHERED: Final = 1 << 18
HOLDOUT: Final = 0
MEMBER: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridSide:
    """One class on a grid.

    Attributes:
        records: rows in all.
        nodes: rows at each node, shared between neighbours, shape (nodes,).
        outside: finite rows beyond either end.
        infinite: rows at minus and plus infinity, shape (2,).
        atoms: rows at each recurring value, shape (a,).
    """

    records: int
    nodes: NDArray[np.float64]
    outside: int
    infinite: NDArray[np.int64]
    atoms: NDArray[np.int64]


def gains_of(
    of_members: NDArray[np.float64],
    of_holdout: NDArray[np.float64],
    members: GridSide,
    holdout: GridSide,
    prior: float,
) -> NDArray[np.float64]:
    """Return p P - (1-p) Q of rows of both classes."""
    return np.asarray(
        prior / max(1, members.records) * of_members
        - (1 - prior) / max(1, holdout.records) * of_holdout
    )


def beyond(members: GridSide, holdout: GridSide, prior: float) -> float:
    """Return what rows off the grid may add: all of the outlying, the gain of infinities."""
    n1, n2 = max(1, members.records), max(1, holdout.records)
    infinite = np.abs(prior * members.infinite / n1 - (1 - prior) * holdout.infinite / n2)
    outside = prior * members.outside / n1 + (1 - prior) * holdout.outside / n2
    return float(infinite.sum() + outside)


class GridColumn:
    """What the kernel densities of one score column are made from, as it grows.

    The last axis of every array is (holdout, member) outside the burn-in, then within.

    Attributes:
        plan: the grid and what else the burn-in decided.
        cells: int64, shape (nodes + 1, 4): rows below the grid, in each of its intervals, and
            above it.
        parts: int64, shape (nodes + 1, 4): by how much they lie towards the upper node
            of their interval, in units of 1/PLACES of the interval.
        infinite: int64, shape (2, 4): rows at minus and at plus infinity, which the first and
            the last cell hold too.
        atoms: int64, shape (a, 4): rows at each recurring value, which the cells hold too.
    """

    __slots__ = ("_codes", "_shares", "_waiting", "atoms", "cells", "infinite", "parts", "plan")

    def __init__(self, plan: GridPlan) -> None:
        """Start empty."""
        self.plan = plan
        self.cells, self.parts = np.zeros((2, plan.grid.nodes + 1, _FLAGS), dtype=np.int64)
        self.infinite = np.zeros((2, _FLAGS), dtype=np.int64)
        self.atoms = np.zeros((plan.atoms.size, _FLAGS), dtype=np.int64)
        self._codes: list[NDArray[np.int32]] = []
        self._shares: list[NDArray[np.int16]] = []
        self._waiting = 0

    def add(self, scores: NDArray[np.float64], flags: NDArray[np.uint8]) -> None:
        """Count rows; a flag is 2 * in the burn-in + member."""
        grid = self.plan.grid
        with np.errstate(over="ignore", invalid="ignore"):
            place = scores - grid.low
            doubtful = not np.isfinite(scores.sum())  # cheaper than a test of every row
            place *= PLACES / grid.step
        # Whole numbers of shares from one interval below the grid, rounded by the cast.
        place += PLACES + 0.5
        np.clip(place, 0.0, float(grid.nodes * PLACES), out=place)
        fixed = place.astype(np.int32)
        self._shares.append((fixed & np.int32(PLACES - 1)).astype(np.int16))
        fixed >>= _PLACES_LOG2
        fixed <<= 2
        fixed += flags
        self._codes.append(fixed)
        self._waiting += fixed.size
        if self._waiting >= _GATHERED:
            self.settle()
        if doubtful:
            for row, value in enumerate((-np.inf, np.inf)):
                self.infinite[row] += np.bincount(flags[scores == value], minlength=_FLAGS)
        if self.plan.atoms.size:
            self._count_atoms(scores, flags)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        other.settle()
        self.cells += other.cells
        self.parts += other.parts
        self.infinite += other.infinite
        self.atoms += other.atoms

    def settle(self) -> None:
        """Count the rows that wait."""
        if not self._codes:
            return
        codes, shares = np.concatenate(self._codes), np.concatenate(self._shares)
        self._codes.clear()
        self._shares.clear()
        self._waiting = 0
        size, shape = self.cells.size, self.cells.shape
        self.cells += np.bincount(codes, minlength=size).reshape(shape)
        # Sums of whole numbers far below 2^53: exact as floats.
        parts = np.bincount(codes, weights=shares, minlength=size)
        self.parts += parts.astype(np.int64).reshape(shape)

    def _count_atoms(self, scores: NDArray[np.float64], flags: NDArray[np.uint8]) -> None:
        values = self.plan.atoms
        at = np.searchsorted(values, scores)
        np.minimum(at, values.size - 1, out=at)
        hit = values[at] == scores
        counts = np.bincount(at[hit] * _FLAGS + flags[hit], minlength=self.atoms.size)
        self.atoms += counts.reshape(self.atoms.shape)

    def side(self, member: int, *, everyone: bool) -> GridSide:
        """Return one class: its rows outside the burn-in, or all of them."""
        flags = [member, member + 2] if everyone else [member]
        cells, parts, infinite, atoms = (
            one[:, flags].sum(axis=1) for one in (self.cells, self.parts, self.infinite, self.atoms)
        )
        whole = np.zeros(cells.size - 1, dtype=np.int64)
        whole[:-1] = cells[1:-1] * PLACES - parts[1:-1]
        whole[1:] += parts[1:-1]
        return GridSide(
            records=int(cells.sum()),
            nodes=whole / PLACES,
            outside=int(cells[0] + cells[-1] - infinite.sum()),
            infinite=infinite,
            atoms=atoms,
        )


class GridCounts:
    """Counts of all score columns on their grids as they grow; a column may have none."""

    __slots__ = ("_burn_in", "_columns", "_seed")

    def __init__(self, plans: Sequence[GridPlan | None], *, burn_in: int, seed: int) -> None:
        """Start empty.

        Args:
            plans: one for each score column, or None where it is not counted.
            burn_in: micro-blocks that only train.
            seed: of the row assignment.
        """
        self._burn_in = burn_in
        self._seed = seed
        self._columns = tuple(None if plan is None else GridColumn(plan) for plan in plans)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        burned = micro_blocks(rank_bytes(rows, self._seed)) < self._burn_in
        flags = burned.view(np.uint8) << np.uint8(1)
        flags |= rows.member.view(np.uint8)
        for column, scores in zip(self._columns, rows.scores, strict=True):
            if column is not None:
                column.add(scores, flags)

    def merge(self, other: Self) -> None:
        """Add the counts of another part; exactly associative and commutative."""
        for mine, theirs in zip(self._columns, other._columns, strict=True):
            if mine is not None and theirs is not None:
                mine.merge(theirs)

    def columns(self) -> tuple[GridColumn | None, ...]:
        """Return the finished counts, in the order of the plans."""
        for one in self._columns:
            if one is not None:
                one.settle()
        return self._columns
