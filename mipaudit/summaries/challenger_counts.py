"""A third pass: challengers' guesses counted beside the cells of other scores, mergeable.

Cells of a score that are finer than its plan's, for what is counted in a third pass.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.cells.cells import Cells, quantile_edges
from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS, micro_blocks, rank_bytes

if TYPE_CHECKING:
    from mipaudit.summaries.rows import Rows
    from mipaudit.summaries.sample import BurnInSample

_ROWS_AT_ONCE: Final = 1 << 17
# Counts held at once, 8 bytes each: more of them are taken in several passes over the rows.
_COUNTS_AT_ONCE: Final = 1 << 24
GRID_SIDE: Final = 32
_MOST_CELLS: Final = 1 << 15
_FEWEST_CELLS: Final = 1 << 9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GuessPlan:
    """How a challenger guesses: for each evaluation block, a set of cells of some table.

    Attributes:
        columns: of the tables that it is on, in the order of ``table``; one column for a
            score's coarse cells, two for the product grid of two scores.
        table: index into ``columns`` by block, shape (15,).
        sets: by block, the cells of that table that it guesses to be members.
    """

    columns: tuple[tuple[int, ...], ...]
    table: NDArray[np.intp]
    sets: tuple[NDArray[np.bool_], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeetingPlan:
    """Which challengers meet which scores.

    Attributes:
        scores: cells of every score column.
        groups: evaluation block of each micro-block, -1 in the burn-in, shape (64,).
        seed: of the row assignment.
        guesses: the challengers.
        meetings: (challenger, score column) pairs to count.
    """

    scores: tuple[ScoreCells, ...]
    groups: NDArray[np.intp]
    seed: int
    guesses: tuple[GuessPlan, ...]
    meetings: tuple[tuple[int, int], ...]

    @property
    def blocks(self) -> int:
        """Return the number of evaluation blocks."""
        return int(self.groups.max()) + 1

    def parts(self, counts_at_once: int = _COUNTS_AT_ONCE) -> tuple[MeetingPlan, ...]:
        """Return the plan in parts, in order, whose counts each fit in memory.

        Args:
            counts_at_once: of all meetings of a part; one meeting may have more.
        """
        parts: list[list[tuple[int, int]]] = []
        room = 0
        for who, score in self.meetings:
            size = self.blocks * self.scores[score].count * 4
            if size > room or not parts:
                parts.append([])
                room = counts_at_once
            parts[-1].append((who, score))
            room -= size
        return tuple(replace(self, meetings=tuple(one)) for one in parts)


class MeetingTally:
    """Counts by block, guess, cell and class for every meeting, as they grow.

    Each is int64 of shape (blocks, 2, K, 2).
    """

    __slots__ = ("_lock", "_plan", "counts")

    def __init__(self, plan: MeetingPlan) -> None:
        """Start empty."""
        self._plan = plan
        self.counts = tuple(
            np.zeros((plan.blocks, 2, plan.scores[score].count, 2), dtype=np.int64)
            for _, score in plan.meetings
        )
        self._lock = threading.Lock()

    def shared(self) -> Self:
        """Return itself, for every thread: the counts of many meetings are held only once."""
        return self

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        plan = self._plan
        group = plan.groups[micro_blocks(rank_bytes(rows, plan.seed))]
        late = np.flatnonzero(group >= 0)
        for start in range(0, late.size, _ROWS_AT_ONCE):
            chosen = late[start : start + _ROWS_AT_ONCE]
            self._take(group[chosen], rows.member[chosen], [one[chosen] for one in rows.scores])

    def _take(
        self,
        group: NDArray[np.intp],
        member: NDArray[np.bool_],
        scores: Sequence[NDArray[np.float64]],
    ) -> None:
        plan = self._plan
        cells = [
            np.searchsorted(one.edges, values, side="left")
            for one, values in zip(plan.scores, scores, strict=True)
        ]
        guesses = {
            who: _guessed(plan.guesses[who], plan.scores, cells, group)
            for who in sorted({who for who, _ in plan.meetings})
        }
        for counts, (who, score) in zip(self.counts, plan.meetings, strict=True):
            code = (group * 2 + guesses[who]) * plan.scores[score].count + cells[score]
            code = code * 2 + member
            more = np.bincount(code, minlength=counts.size).reshape(counts.shape)
            with self._lock:
                np.add(counts, more, counts)

    def merge(self, other: Self) -> None:
        """Add the counts of another part, if it has counts of its own."""
        if other is self:
            return
        for mine, theirs in zip(self.counts, other.counts, strict=True):
            np.add(mine, theirs, out=mine)


def _guessed(
    plan: GuessPlan,
    scores: Sequence[ScoreCells],
    cells: Sequence[NDArray[np.intp]],
    group: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Return a challenger's guess of each row."""
    guess = np.zeros(group.size, dtype=bool)
    for block in np.unique(group):
        at = np.flatnonzero(group == block)
        columns = plan.columns[plan.table[block]]
        place = table_cells(columns, scores, [one[at] for one in cells])
        guess[at] = plan.sets[block][place]
    return guess


def table_cells(
    columns: Sequence[int], scores: Sequence[ScoreCells], cells: Sequence[NDArray[np.intp]]
) -> NDArray[np.intp]:
    """Return the cell of each row in a score's coarse table, or in a grid of two scores."""
    if len(columns) == 1:
        return scores[columns[0]].coarse[cells[columns[0]]]
    first, second = columns
    return (
        scores[first].side[cells[first]] * scores[second].sides + scores[second].side[cells[second]]
    )


class GridTally:
    """Counts in the product grid of pairs of scores: int64, shape (64, cells, 2) each."""

    __slots__ = ("_pairs", "_scores", "_seed", "counts")

    def __init__(
        self, scores: Sequence[ScoreCells], pairs: Sequence[tuple[int, int]], seed: int
    ) -> None:
        """Start empty."""
        self._scores, self._pairs, self._seed = scores, pairs, seed
        self.counts = tuple(
            np.zeros((MICRO_BLOCKS, scores[a].sides * scores[b].sides, 2), dtype=np.int64)
            for a, b in pairs
        )

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        block = micro_blocks(rank_bytes(rows, self._seed)).astype(np.intp)
        cells = [
            np.searchsorted(one.edges, values, side="left")
            for one, values in zip(self._scores, rows.scores, strict=True)
        ]
        for counts, pair in zip(self.counts, self._pairs, strict=True):
            code = block * counts.shape[1] + table_cells(pair, self._scores, cells)
            code = code * 2 + rows.member
            np.add(counts, np.bincount(code, minlength=counts.size).reshape(counts.shape), counts)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        for mine, theirs in zip(self.counts, other.counts, strict=True):
            np.add(mine, theirs, out=mine)


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
