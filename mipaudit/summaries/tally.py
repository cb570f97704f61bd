"""Pass two: counts per micro-block, cell and class, mergeable.

Up to `plan.EXACT_ROWS` rows the scores themselves are kept for the threshold
statistics, which are then exact; above, fine cells are counted and the statistics
are bracketed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mipaudit.maths.ladder import Ladder, ladder_of_sorted
from mipaudit.summaries.buckets import Locator
from mipaudit.summaries.identity import MICRO_BLOCKS, micro_blocks, rank_bytes
from mipaudit.summaries.sample import in_burn_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.summaries.cells import Cells
    from mipaudit.summaries.plan import Plan
    from mipaudit.summaries.rows import Rows

_BURN_IN_FLAG: Final = 2
# Codes are gathered and counted this many at a time: each count walks the whole table.
_GATHERED: Final = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnCounts:
    """What one score column is estimated from.

    Attributes:
        blocks: int64, shape (64, K, 2): micro-block, coarse cell, (holdout, member).
        burn_in: number of micro-blocks that only train.
        single: bool, shape (K,): coarse cells that hold one value.
        everyone: ladder of all rows.
        evaluated: ladder of the rows outside the burn-in.
        infinite: number of infinite scores.
        discrete: whether every burn-in value is a cell of its own.
    """

    blocks: NDArray[np.int64]
    burn_in: int
    single: NDArray[np.bool_]
    everyone: Ladder
    evaluated: Ladder
    infinite: int
    discrete: bool

    @property
    def trained(self) -> NDArray[np.int64]:
        """Return the burn-in counts, shape (K, 2)."""
        return np.asarray(self.blocks[: self.burn_in].sum(axis=0))

    @property
    def scored(self) -> NDArray[np.int64]:
        """Return the counts outside the burn-in, shape (K, 2)."""
        return np.asarray(self.blocks[self.burn_in :].sum(axis=0))


class CodeCounter:
    """Counts codes in [0, size), many at a time."""

    __slots__ = ("_counts", "_gathered", "_waiting")

    def __init__(self, size: int) -> None:
        """Start at zero."""
        self._counts = np.zeros(size, dtype=np.int64)
        self._gathered: list[NDArray[np.int32]] = []
        self._waiting = 0

    def add(self, codes: NDArray[np.int32]) -> None:
        """Count codes, shape (n,); the array must not change afterwards."""
        self._gathered.append(codes)
        self._waiting += codes.size
        if self._waiting >= _GATHERED:
            self._flush()

    def merge(self, other: Self) -> None:
        """Add the counts of another counter of the same size."""
        self._counts += other.counts()

    def counts(self) -> NDArray[np.int64]:
        """Return the counts so far, shape (size,)."""
        self._flush()
        return self._counts

    def _flush(self) -> None:
        if self._gathered:
            codes = np.concatenate(self._gathered)
            self._gathered.clear()
            self._waiting = 0
            self._counts += np.bincount(codes, minlength=self._counts.size)


class ColumnTally:
    """Counts of one column as they grow. Not thread-safe; one per worker, then merged."""

    __slots__ = ("_blocks", "_cells", "_coarse", "_fine", "_infinite", "_kept", "_locate")

    def __init__(self, cells: Cells, *, exact: bool) -> None:
        """Start empty."""
        self._cells = cells
        self._locate = Locator(cells.edges, cells.buckets)
        self._coarse = (cells.coarse * 2).astype(np.int32)
        self._blocks = CodeCounter(MICRO_BLOCKS * cells.coarse_count * 2)
        self._fine = None if exact else CodeCounter(cells.count * 4)
        self._kept: list[tuple[NDArray[np.float64], NDArray[np.uint8]]] = []
        self._infinite = 0

    def add(
        self,
        scores: NDArray[np.float64],
        flags: NDArray[np.uint8],
        block: NDArray[np.int32],
    ) -> None:
        """Count a batch.

        Args:
            scores: float64, shape (n,).
            flags: 2 * in burn-in + member, shape (n,).
            block: micro-block of each row, shape (n,).
        """
        cell = self._locate(scores)
        code = block * np.int32(2 * self._cells.coarse_count)
        code += self._coarse.take(cell)
        code += flags & np.uint8(1)
        self._blocks.add(code)
        if self._fine is None:
            self._kept.append((scores, flags))
        else:
            cell <<= 2
            cell += flags
            self._fine.add(cell)
        with np.errstate(invalid="ignore", over="ignore"):
            doubtful = not np.isfinite(scores.sum())  # cheaper than a test of every row
        if doubtful:
            self._infinite += int(np.count_nonzero(np.isinf(scores)))

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self._blocks.merge(other._blocks)
        self._infinite += other._infinite
        self._kept.extend(other._kept)
        if self._fine is not None and other._fine is not None:
            self._fine.merge(other._fine)

    def counts(self, *, burn_in: int, discrete: bool) -> ColumnCounts:
        """Return the finished counts."""
        everyone, evaluated = (
            self._exact_ladders() if self._fine is None else self._ladders(self._fine.counts())
        )
        cells = self._cells
        alone = np.bincount(cells.coarse) == 1
        single = np.zeros(cells.coarse_count, dtype=bool)
        single[cells.coarse[cells.single]] = True
        return ColumnCounts(
            blocks=self._blocks.counts().reshape(MICRO_BLOCKS, cells.coarse_count, 2),
            burn_in=burn_in,
            single=single & alone,
            everyone=everyone,
            evaluated=evaluated,
            infinite=self._infinite,
            discrete=discrete,
        )

    def _ladders(self, counts: NDArray[np.int64]) -> tuple[Ladder, Ladder]:
        fine = counts.reshape(-1, 4)
        single = self._cells.single
        everyone = Ladder(
            members=fine[:, 1] + fine[:, 3], holdout=fine[:, 0] + fine[:, 2], single=single
        )
        return everyone, Ladder(members=fine[:, 1], holdout=fine[:, 0], single=single)

    def _exact_ladders(self) -> tuple[Ladder, Ladder]:
        scores = np.concatenate([part for part, _ in self._kept])
        flags = np.concatenate([part for _, part in self._kept])
        self._kept.clear()
        everyone = _ladder(scores, flags)
        late = flags < _BURN_IN_FLAG
        return everyone, _ladder(scores[late], flags[late])


def _ladder(scores: NDArray[np.float64], flags: NDArray[np.uint8]) -> Ladder:
    """Return the ladder of scores whose lowest flag bit says 'member'."""
    member = (flags & 1) == 1
    x, y = scores[member], scores[~member]
    x.sort()
    y.sort()
    return ladder_of_sorted(x, y)


class Tally:
    """Counts of all score columns of the input as they grow."""

    __slots__ = ("_plan", "columns")

    def __init__(self, plan: Plan) -> None:
        """Start empty."""
        self._plan = plan
        self.columns = tuple(ColumnTally(one.cells, exact=plan.exact) for one in plan.columns)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        self.take(rows, rank_bytes(rows, self._plan.seed))

    def take(self, rows: Rows, top: NDArray[np.uint8]) -> None:
        """Count a batch, given the rows' top rank bytes."""
        flags = in_burn_in(top, self._plan.burn_in).view(np.uint8) << np.uint8(1)
        flags |= rows.member.view(np.uint8)
        block = micro_blocks(top).astype(np.int32)
        for tally, scores in zip(self.columns, rows.scores, strict=True):
            tally.add(scores, flags, block)

    def merge(self, other: Self) -> None:
        """Add the counts of another part; exactly associative and commutative."""
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            mine.merge(theirs)

    def counts(self) -> tuple[ColumnCounts, ...]:
        """Return the finished counts, in the order of the plan's columns."""
        return tuple(
            tally.counts(burn_in=self._plan.burn_in, discrete=planned.discrete)
            for tally, planned in zip(self.columns, self._plan.columns, strict=True)
        )
