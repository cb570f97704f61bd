"""Pass two: counts per micro-block, cell and class, mergeable, also beside pass one.

Up to `plan.EXACT_ROWS` rows the scores themselves are kept for the threshold
statistics, which are then exact; above, fine cells are counted and the statistics
are bracketed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.class_limits.roc_counts import Ladder, ladder_of_rows
from mipaudit.summaries.cells.codes import CellCodes, CodeCounter, Workspace
from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS, micro_labels, rank_bytes
from mipaudit.summaries.ranked_rows import RankedRows, further_blocks, ranked
from mipaudit.summaries.sample import BurnInSample

if TYPE_CHECKING:
    from mipaudit.summaries.cells.cells import Cells
    from mipaudit.summaries.plan import ColumnPlan, Plan
    from mipaudit.summaries.rows import Rows

# Rows whose codes are widened for counting at once.
_AT_ONCE: Final = 1 << 18
_INT64: Final = np.dtype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
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
        ranked: the rows themselves, for more than one assignment to blocks; None for many.
    """

    blocks: NDArray[np.int64]
    burn_in: int
    single: NDArray[np.bool_]
    everyone: Ladder
    evaluated: Ladder
    infinite: int
    discrete: bool
    ranked: RankedRows | None = None

    @cached_property
    def trained(self) -> NDArray[np.int64]:
        """Return the burn-in counts, shape (K, 2)."""
        return np.asarray(self.blocks[: self.burn_in].sum(axis=0))

    @cached_property
    def scored(self) -> NDArray[np.int64]:
        """Return the counts outside the burn-in, shape (K, 2)."""
        return np.asarray(self.blocks[self.burn_in :].sum(axis=0))


class ColumnTally(ABC):
    """The rows of one column, or their counts, as they come in.

    Not thread-safe: one per worker, then merged.
    """

    __slots__ = ()

    @abstractmethod
    def add(
        self, scores: NDArray[np.float64], labels: NDArray[np.uint8], further: NDArray[np.uint8]
    ) -> None:
        """Take in a batch; for the labels and the further draws see `Tally.take`."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add the rows of another part."""

    @abstractmethod
    def counts(self, burn_in: int) -> ColumnCounts:
        """Return the finished counts; nothing may be added afterwards."""


class KeptColumn(ColumnTally):
    """One column of an input small enough to keep: counted once all rows are there."""

    __slots__ = ("_kept", "_plan")

    def __init__(self, plan: ColumnPlan) -> None:
        """Start empty."""
        self._plan = plan
        self._kept: list[tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint8]]] = []

    def add(
        self, scores: NDArray[np.float64], labels: NDArray[np.uint8], further: NDArray[np.uint8]
    ) -> None:
        """Keep a batch; the arrays must not change afterwards."""
        self._kept.append((scores, labels, further))

    def merge(self, other: Self) -> None:
        """Add the rows of another part."""
        self._kept.extend(other._kept)

    def counts(self, burn_in: int) -> ColumnCounts:
        """Return the finished counts; the rows are let go.

        One sort serves the cells and both ladders: rows in order of score are cut
        into cells by looking up the edges, not the rows.
        """
        scores, labels, further = self._in_order()
        cells = self._plan.cells
        member = labels & np.uint8(1)
        late = np.flatnonzero(labels >= 2 * burn_in)
        return ColumnCounts(
            blocks=_block_counts(scores, labels, cells),
            burn_in=burn_in,
            single=coarse_atoms(cells),
            everyone=ladder_of_rows(scores, member),
            evaluated=ladder_of_rows(scores[late], member[late]),
            infinite=int(
                np.searchsorted(scores, -np.inf, side="right")
                + scores.size
                - np.searchsorted(scores, np.inf, side="left")
            ),
            discrete=self._plan.discrete,
            # One draw hardly moves the answer of many rows.
            ranked=ranked(scores, labels, further, discrete=self._plan.discrete)
            if further.shape[1]
            else None,
        )

    def _in_order(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the scores in increasing order with their labels, and let go of the rows."""
        if len(self._kept) == 1:
            ((scores, labels, further),) = self._kept
        else:
            scores = np.concatenate([part for part, _, _ in self._kept])
            labels = np.concatenate([part for _, part, _ in self._kept])
            further = np.concatenate([part for _, _, part in self._kept])
        self._kept.clear()
        if (scores[1:] >= scores[:-1]).all():  # as rows in canonical order are
            return scores, labels, further
        order = np.argsort(scores)
        return scores[order], labels[order], further[order]


class CountedColumn(ColumnTally):
    """One column of a large input: counts per fine cell as they grow."""

    __slots__ = ("_blocks", "_burn_in", "_codes", "_fine", "_infinite", "_plan", "_room")

    def __init__(self, plan: ColumnPlan, burn_in: int, room: Workspace) -> None:
        """Start empty; columns of one worker may share ``room``."""
        cells = plan.cells
        self._plan = plan
        self._burn_in = burn_in
        self._room = room
        self._codes = CellCodes(cells)
        self._blocks = CodeCounter(2 * MICRO_BLOCKS * cells.coarse_count)
        self._fine = CodeCounter(cells.count * 4)
        self._infinite = 0

    def add(
        self, scores: NDArray[np.float64], labels: NDArray[np.uint8], further: NDArray[np.uint8]
    ) -> None:
        """Count a batch."""
        del further
        codes, searched = self._codes(scores, self._room)
        shift = self._codes.shift
        index = self._room.array("place", scores.size, _INT64)
        block = self._room.array("block", scores.size, codes.dtype)
        other = self._room.array("other", scores.size, codes.dtype)
        np.copyto(block, labels)
        block *= self._plan.cells.coarse_count
        block += np.bitwise_and(codes, (1 << shift) - 1, out=other)
        np.copyto(index, block)
        self._blocks.add(index)
        codes >>= shift - 2
        codes &= ~3
        codes += _flags(labels, self._burn_in)
        np.copyto(index, codes)
        self._fine.add(index)
        self._infinite += int(np.count_nonzero(np.isinf(searched)))

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self._blocks.merge(other._blocks)
        self._fine.merge(other._fine)
        self._infinite += other._infinite

    def counts(self, burn_in: int) -> ColumnCounts:
        """Return the finished counts."""
        cells = self._plan.cells
        fine = self._fine.counts().reshape(-1, 4)
        everyone = fine[:, :2] + fine[:, 2:]
        return ColumnCounts(
            blocks=_by_block(self._blocks.counts(), cells),
            burn_in=burn_in,
            single=coarse_atoms(cells),
            everyone=Ladder(members=everyone[:, 1], holdout=everyone[:, 0], single=cells.single),
            evaluated=Ladder(members=fine[:, 1], holdout=fine[:, 0], single=cells.single),
            infinite=self._infinite,
            discrete=self._plan.discrete,
        )


def _flags(labels: NDArray[np.uint8], burn_in: int) -> NDArray[np.uint8]:
    """Return 2 * in burn-in + member."""
    flags = (labels < 2 * burn_in).view(np.uint8)
    flags += flags  # a shift of bytes is several times slower
    flags |= labels & np.uint8(1)
    return flags


def _block_counts(
    scores: NDArray[np.float64], labels: NDArray[np.uint8], cells: Cells
) -> NDArray[np.int64]:
    """Return counts per micro-block, coarse cell and class of rows in order of score."""
    rows = np.append(np.searchsorted(scores, cells.edges, side="right"), scores.size)
    rows[1:] -= rows[:-1].copy()
    code = np.repeat(cells.coarse.astype(np.int32), rows)
    code += labels * np.int32(cells.coarse_count)
    counts = np.zeros(2 * MICRO_BLOCKS * cells.coarse_count, dtype=np.int64)
    for start in range(0, code.size, _AT_ONCE):
        counts += np.bincount(code[start : start + _AT_ONCE], minlength=counts.size)
    return _by_block(counts, cells)


def _by_block(counts: NDArray[np.int64], cells: Cells) -> NDArray[np.int64]:
    """Return counts by (label, coarse cell) as (micro-block, coarse cell, class).

    Each class stays contiguous in memory: sums over blocks are then several times faster.
    """
    return counts.reshape(MICRO_BLOCKS, 2, cells.coarse_count).transpose(0, 2, 1)


def coarse_atoms(cells: Cells) -> NDArray[np.bool_]:
    """Tell which coarse cells hold one value: those that are one fine cell, an atom."""
    single = np.zeros(cells.coarse_count, dtype=bool)
    single[cells.coarse[cells.single]] = True
    return np.asarray(single & (np.bincount(cells.coarse) == 1))


class Tally:
    """Counts of all score columns of the input as they grow."""

    __slots__ = ("_plan", "columns")

    def __init__(self, plan: Plan) -> None:
        """Start empty."""
        self._plan = plan
        room = Workspace()
        self.columns: tuple[ColumnTally, ...] = tuple(
            KeptColumn(one) if plan.exact else CountedColumn(one, plan.burn_in, room)
            for one in plan.columns
        )

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        self.take(rows, rank_bytes(rows, self._plan.seed))

    def take(self, rows: Rows, top: NDArray[np.uint8]) -> None:
        """Count a batch, given the rows' top rank bytes.

        A row's label is 2 * micro-block + member; the micro-blocks of further draws, shape
        (n, draws - 1), are for rows that are assigned more than once.
        """
        labels = micro_labels(top)
        labels |= rows.member.view(np.uint8)
        further = further_blocks(rows, self._plan)
        for tally, scores in zip(self.columns, rows.scores, strict=True):
            tally.add(scores, labels, further)

    def merge(self, other: Self) -> None:
        """Add the counts of another part; exactly associative and commutative."""
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            mine.merge(theirs)

    def counts(self) -> tuple[ColumnCounts, ...]:
        """Return the finished counts, in the order of the plan's columns."""
        return tuple(tally.counts(self._plan.burn_in) for tally in self.columns)


class Survey:
    """A burn-in sample, and a tally if a plan is at hand."""

    __slots__ = ("_seed", "sample", "tally")

    def __init__(self, columns: int, seed: int, plan: Plan | None) -> None:
        """Start empty."""
        self._seed = seed
        self.sample = BurnInSample(columns, seed)
        self.tally = None if plan is None else Tally(plan)

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        top = rank_bytes(rows, self._seed)
        self.sample.take(rows, top)
        if self.tally is not None:
            self.tally.take(rows, top)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        self.sample.merge(other.sample)
        if self.tally is not None and other.tally is not None:
            self.tally.merge(other.tally)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary:
    """The counts of every score by one plan; any number of them can be added, in any order.

    Attributes:
        columns: one per score, in the order of the plan.
        n_members: rows of members.
        n_holdout: rows of holdout records.
    """

    columns: tuple[ColumnCounts, ...]
    n_members: int
    n_holdout: int

    def __add__(self, other: Summary) -> Summary:
        """Return the counts of both parts together; both must be by the same plan."""
        return Summary(
            columns=tuple(
                _added(one, two) for one, two in zip(self.columns, other.columns, strict=True)
            ),
            n_members=self.n_members + other.n_members,
            n_holdout=self.n_holdout + other.n_holdout,
        )

    def smallest_count(self) -> int | None:
        """Return the smallest count above zero of the tables, None where all are zero."""
        found = [int(one.blocks[one.blocks > 0].min()) for one in self.columns if one.blocks.any()]
        return min(found, default=None)


def sum_of(parts: Sequence[Summary]) -> Summary:
    """Return the counts of all parts together.

    Args:
        parts: at least one, all by the same plan.
    """
    return reduce(lambda one, two: one + two, parts)


def _added(one: ColumnCounts, two: ColumnCounts) -> ColumnCounts:
    return ColumnCounts(
        blocks=one.blocks + two.blocks,
        burn_in=one.burn_in,
        single=one.single,
        everyone=_stacked(one.everyone, two.everyone),
        evaluated=_stacked(one.evaluated, two.evaluated),
        infinite=one.infinite + two.infinite,
        discrete=one.discrete,
    )


def _stacked(one: Ladder, two: Ladder) -> Ladder:
    return Ladder(
        members=one.members + two.members, holdout=one.holdout + two.holdout, single=one.single
    )
