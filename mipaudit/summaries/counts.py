"""What one score is estimated from: rows as cells with counts, no matter who counted them.

Rows that were held in memory and rows that were counted as they went by come to the same type;
counts by one plan can be added, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints, Places
from mipaudit.maths.class_limits.roc_counts import Ladder, ladder_of_rows
from mipaudit.summaries.rows import MICRO_BLOCKS, Rows, micro_blocks, micro_labels, rank_bytes

if TYPE_CHECKING:
    from mipaudit.summaries.plan import ColumnPlan, Plan

# An alphabet of more values than these is cut into cells like any other score.
_MOST_VALUES: Final = 1 << 13
# Added to the seed for each further draw.
_NEXT_DRAW: Final = 0x5EC0_5EC0_5EC0_5EC1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedRows:
    """Rows in order of their score, and where each of several draws puts them.

    Attributes:
        rank: of each row's score among the distinct ones, increasing, shape (n,).
        member: shape (n,).
        micro_blocks: uint8, shape (draws, n), in [0, 64).
        discrete: the distinct scores are an alphabet, and each has a cell.
        order: where each row stands among all, shape (n,); None where nobody asks.
    """

    rank: Ints
    member: Bools
    micro_blocks: NDArray[np.uint8]
    discrete: bool
    order: Places | None = None


def ranked(
    scores: Floats, labels: NDArray[np.uint8], further: NDArray[np.uint8], *, discrete: bool
) -> RankedRows:
    """Return rows in order of their score.

    Args:
        scores: increasing, shape (n,).
        labels: 2 * micro-block of the first draw + member.
        further: micro-blocks of the other draws, shape (n, draws - 1).
        discrete: the scores were planned as an alphabet.
    """
    rank = np.zeros(scores.size, dtype=np.int64)
    np.cumsum(scores[1:] != scores[:-1], out=rank[1:])
    return RankedRows(
        rank=rank,
        member=(labels & np.uint8(1)).astype(bool),
        micro_blocks=np.vstack([labels >> np.uint8(1), further.T]),
        discrete=discrete and int(rank[-1]) < _MOST_VALUES,
    )


def further_blocks(rows: Rows, plan: Plan) -> NDArray[np.uint8]:
    """Return the micro-blocks of all draws but the first, shape (n, draws - 1)."""
    further = np.empty((rows.member.size, plan.draws - 1), dtype=np.uint8)
    for draw in range(further.shape[1]):
        further[:, draw] = micro_blocks(rank_bytes(rows, plan.seed + (draw + 1) * _NEXT_DRAW))
    return further


def rows_by_score(rows: Rows, plan: Plan) -> list[RankedRows]:
    """Return all rows of an input, which are one batch, in order of each of their scores."""
    labels = micro_labels(rank_bytes(rows, plan.seed))
    labels |= rows.member.view(np.uint8)
    further = further_blocks(rows, plan)
    found = []
    for scores, column in zip(rows.scores, plan.columns, strict=True):
        order = np.argsort(scores, kind="stable")
        own = ranked(scores[order], labels[order], further[order], discrete=column.discrete)
        found.append(replace(own, order=order))
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreCounts:
    """What one score is estimated from.

    The table by micro-block, class and coarse cell is held by its occupied places alone: an
    input may have many groups of few rows, each with a table that is nearly all zeros.

    Attributes:
        places: increasing, shape (c,): ``(2 * micro-block + member) * K + cell`` where rows are.
        times: int64, shape (c,): rows at each place.
        burn_in: number of micro-blocks that only train.
        single: bool, shape (K,): coarse cells that hold one value.
        everyone: ladder of all rows.
        evaluated: ladder of the rows outside the burn-in.
        infinite: number of infinite scores.
        discrete: whether every burn-in value is a cell of its own.
        ranked: the rows themselves, for more than one assignment to blocks; None for many.
    """

    places: Places
    times: Ints
    burn_in: int
    single: Bools
    everyone: Ladder
    evaluated: Ladder
    infinite: int
    discrete: bool
    ranked: RankedRows | None = None

    @property
    def blocks(self) -> Ints:
        """Return the rows by micro-block, coarse cell and (holdout, member), shape (64, K, 2).

        Each class is contiguous in memory: sums over blocks are then several times faster.
        """
        table = np.zeros((MICRO_BLOCKS, 2, self.single.size), dtype=np.int64)
        table.reshape(-1)[self.places] = self.times
        return table.transpose(0, 2, 1)

    @cached_property
    def trained(self) -> Ints:
        """Return the burn-in counts, shape (K, 2)."""
        return self._by_cell(slice(None, self._start_of(self.burn_in)))

    @cached_property
    def scored(self) -> Ints:
        """Return the counts outside the burn-in, shape (K, 2)."""
        return self._by_cell(slice(self._start_of(self.burn_in), None))

    def without_blocks(self, first: int) -> ScoreCounts:
        """Return the counts with nothing in the first micro-blocks of the table."""
        later = slice(self._start_of(first), None)
        return replace(self, places=self.places[later], times=self.times[later])

    def _start_of(self, block: int) -> int:
        """Return where the places of a micro-block begin."""
        return int(np.searchsorted(self.places, 2 * block * self.single.size))

    def _by_cell(self, some: slice) -> Ints:
        table = np.zeros((2, self.single.size), dtype=np.int64)
        np.add.at(table.reshape(-1), self.places[some] % table.size, self.times[some])
        return table.T

    def __add__(self, other: ScoreCounts) -> ScoreCounts:
        """Return the counts of both parts together; both must be by the same plan."""
        places, times = occupied(self.blocks + other.blocks)
        return ScoreCounts(
            places=places,
            times=times,
            burn_in=self.burn_in,
            single=self.single,
            everyone=_stacked(self.everyone, other.everyone),
            evaluated=_stacked(self.evaluated, other.evaluated),
            infinite=self.infinite + other.infinite,
            discrete=self.discrete,
        )


def occupied(blocks: Ints) -> tuple[Places, Ints]:
    """Return the places of a table of shape (64, K, 2) that have rows, and how many."""
    return filled(blocks.transpose(0, 2, 1).ravel())


def filled(counts: Ints) -> tuple[Places, Ints]:
    """Return where counts are above 0, and these counts."""
    places = np.flatnonzero(counts)
    return places, counts[places]


def counts_of_rows(
    scores: Floats,
    labels: NDArray[np.uint8],
    further: NDArray[np.uint8],
    cell: NDArray[np.int32],
    plan: ColumnPlan,
    burn_in: int,
    *,
    assigned: bool,
) -> ScoreCounts:
    """Return the counts of rows in memory.

    Args:
        scores: increasing, shape (n,).
        labels: 2 * micro-block + member of each row.
        further: micro-blocks of further draws, shape (n, draws - 1).
        cell: coarse cell of each row.
        plan: of the score.
        burn_in: micro-blocks that only train.
        assigned: keep the rows, for more than one assignment to blocks.
    """
    member = labels & np.uint8(1)
    late = np.flatnonzero(labels >= 2 * burn_in)
    places, times = _counted(cell + labels * np.int32(plan.cells.coarse_count), plan)
    return ScoreCounts(
        places=places,
        times=times,
        burn_in=burn_in,
        single=plan.cells.coarse_single,
        everyone=ladder_of_rows(scores, member),
        evaluated=ladder_of_rows(scores[late], member[late]),
        infinite=int(
            np.searchsorted(scores, -np.inf, side="right")
            + scores.size
            - np.searchsorted(scores, np.inf, side="left")
        ),
        discrete=plan.discrete,
        ranked=ranked(scores, labels, further, discrete=plan.discrete) if assigned else None,
    )


def _counted(codes: NDArray[np.int32], plan: ColumnPlan) -> tuple[Places, Ints]:
    """Return which codes there are, and how often: of few rows by sorting, of many in a table."""
    size = 2 * MICRO_BLOCKS * plan.cells.coarse_count
    if codes.size >= size:
        return filled(np.bincount(codes, minlength=size))
    found, times = np.unique(codes, return_counts=True)
    return found.astype(np.intp), times


def _stacked(one: Ladder, two: Ladder) -> Ladder:
    return Ladder(
        members=one.members + two.members, holdout=one.holdout + two.holdout, single=one.single
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary:
    """The counts of every score by one plan; any number of them can be added, in any order.

    Attributes:
        columns: one per score, in the order of the plan.
        n_members: rows of members.
        n_holdout: rows of holdout records.
    """

    columns: tuple[ScoreCounts, ...]
    n_members: int
    n_holdout: int

    def __add__(self, other: Summary) -> Summary:
        """Return the counts of both parts together; both must be by the same plan."""
        return Summary(
            columns=tuple(map(add, self.columns, other.columns)),
            n_members=self.n_members + other.n_members,
            n_holdout=self.n_holdout + other.n_holdout,
        )

    def smallest_count(self) -> int | None:
        """Return the smallest count above zero of the tables, None where all are zero."""
        return min((int(one.times.min()) for one in self.columns if one.times.size), default=None)


def sum_of(parts: Sequence[Summary]) -> Summary:
    """Return the counts of all parts together.

    Args:
        parts: at least one, all by the same plan.
    """
    return reduce(add, parts)
