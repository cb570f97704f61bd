"""A third pass: challengers' guesses added up beside the finer cells of other scores, mergeable."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints, Places
from mipaudit.summaries.cells import Cells, quantile_edges
from mipaudit.summaries.rows import MICRO_BLOCKS, Rows, micro_blocks, rank_bytes

if TYPE_CHECKING:
    from mipaudit.summaries.plan import BurnInSample

_ROWS_AT_ONCE: Final = 1 << 17
# Counts held at once, 8 bytes each: more of them are taken in several passes over the rows.
_COUNTS_AT_ONCE: Final = 1 << 24
# Sums that a meeting has of each cell.
_SUMS: Final = 8
# The largest weight of a row, in whole numbers: squares of 2^33 rows add up within 64 bits.
_FINEST: Final = 1 << 15
GRID_SIDE: Final = 32
_MOST_CELLS: Final = 1 << 15
_FEWEST_CELLS: Final = 1 << 9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedRows:
    """Rows of a batch, and where they are.

    Attributes:
        at: their places in the batch.
        block: micro-block of each.
        member: whether each is a member.
        cells: for every score column the cell of each.
        scores: cells of every score column.
    """

    at: Places
    block: Places
    member: Bools
    cells: Sequence[Places]
    scores: Sequence[ScoreCells]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TabledGuesses:
    """Guesses that micro-block, class and cells tell.

    Attributes:
        weights: int64, shape (64, 2), of a row, by micro-block and class.
        guessed: the challenger's part of it by micro-block, class and cell of a table, shape
            (64, 2, K), for each table; they add up.
        columns: of each table; one column for a score's coarse cells, two for the product
            grid of two scores.
    """

    weights: Ints
    guessed: tuple[Ints, ...]
    columns: tuple[tuple[int, ...], ...]

    def of(self, rows: PlacedRows) -> tuple[Ints, Ints]:
        """Return what each row weighs, and the challenger's part of that, in whole numbers."""
        side = rows.member.astype(np.intp)
        parts = [
            table[rows.block, side, table_cells(columns, rows.scores, rows.cells)]
            for table, columns in zip(self.guessed, self.columns, strict=True)
        ]
        return self.weights[rows.block, side], np.asarray(np.sum(parts, axis=0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowGuesses:
    """Guesses of every row of an input that is one batch in memory.

    Attributes:
        weights: int32, shape (n,), of each row.
        guessed: the challenger's part of it, likewise.
    """

    weights: NDArray[np.int32]
    guessed: NDArray[np.int32]

    def of(self, rows: PlacedRows) -> tuple[Ints, Ints]:
        """Return what each row weighs, and the challenger's part of that."""
        return self.weights[rows.at].astype(np.int64), self.guessed[rows.at].astype(np.int64)


# What a challenger, who may be a mean of several attackers, makes of rows.
Guesses: TypeAlias = TabledGuesses | RowGuesses


def whole_guesses(added: Floats, weights: Floats) -> tuple[Ints, Ints]:
    """Return shares of rows of a class, and their weights, in whole numbers of one unit."""
    unit = float(weights.max(initial=0)) / _FINEST or 1.0
    guessed, whole = (np.rint(one / unit).astype(np.int64) for one in (added, weights))
    return np.minimum(guessed, whole), whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeetingPlan:
    """Which challengers meet which scores.

    Attributes:
        scores: cells of every score column.
        seed: of the row assignment.
        guesses: of the challengers.
        meetings: (challenger, score column) pairs to count.
    """

    scores: tuple[ScoreCells, ...]
    seed: int
    guesses: tuple[Guesses, ...]
    meetings: tuple[tuple[int, int], ...]

    def parts(self, counts_at_once: int = _COUNTS_AT_ONCE) -> tuple[MeetingPlan, ...]:
        """Return the plan in parts, in order, whose counts each fit in memory.

        Args:
            counts_at_once: of all meetings of a part; one meeting may have more.
        """
        parts: list[list[tuple[int, int]]] = []
        room = 0
        for who, score in self.meetings:
            size = self.scores[score].count * _SUMS
            if size > room or not parts:
                parts.append([])
                room = counts_at_once
            parts[-1].append((who, score))
            room -= size
        return tuple(replace(self, meetings=tuple(one)) for one in parts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeetingCounts:
    """What the rows of a meeting add up to, w being a row's weight and g its guessed part.

    Attributes:
        sums: int64, shape (4, 2, K): of w, g, w^2 and w g, by class and cell.
        squares: int64, shape (2,): of g^2, by class.
    """

    sums: Ints
    squares: Ints


class MeetingTally:
    """What every meeting adds up to, as it grows."""

    __slots__ = ("_lock", "_plan", "counts")

    def __init__(self, plan: MeetingPlan) -> None:
        """Start empty."""
        self._plan = plan
        self.counts = tuple(
            MeetingCounts(
                sums=np.zeros((4, 2, plan.scores[score].count), dtype=np.int64),
                squares=np.zeros(2, dtype=np.int64),
            )
            for _, score in plan.meetings
        )
        self._lock = threading.Lock()

    def shared(self) -> Self:
        """Return itself, for every thread: the counts of many meetings are held only once."""
        return self

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        block = micro_blocks(rank_bytes(rows, self._plan.seed)).astype(np.intp)
        for start in range(0, block.size, _ROWS_AT_ONCE):
            some = slice(start, start + _ROWS_AT_ONCE)
            cells = [
                np.searchsorted(one.edges, values[some], side="left")
                for one, values in zip(self._plan.scores, rows.scores, strict=True)
            ]
            self._take(
                PlacedRows(
                    at=np.arange(block.size)[some],
                    block=block[some],
                    member=rows.member[some],
                    cells=cells,
                    scores=self._plan.scores,
                )
            )

    def _take(self, rows: PlacedRows) -> None:
        plan = self._plan
        found = {who: plan.guesses[who].of(rows) for who in {who for who, _ in plan.meetings}}
        for counts, (who, score) in zip(self.counts, plan.meetings, strict=True):
            weight, guessed = found[who]
            code = rows.member * plan.scores[score].count + rows.cells[score]
            more = [
                np.bincount(code, weights=one, minlength=counts.sums[0].size)
                for one in (weight, guessed, weight * weight, weight * guessed)
            ]
            squares = np.bincount(rows.member, weights=guessed * guessed, minlength=2)
            with self._lock:
                counts.sums[...] += np.asarray(more).astype(np.int64).reshape(counts.sums.shape)
                counts.squares[...] += squares.astype(np.int64)

    def merge(self, other: Self) -> None:
        """Add the counts of another part, if it has counts of its own."""
        if other is self:
            return
        for mine, theirs in zip(self.counts, other.counts, strict=True):
            mine.sums[...] += theirs.sums
            mine.squares[...] += theirs.squares


def table_cells(
    columns: Sequence[int], scores: Sequence[ScoreCells], cells: Sequence[Places]
) -> Places:
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

    edges: Floats
    single: Bools
    coarse: Places
    side: Places

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return int(self.single.size)

    @property
    def sides(self) -> int:
        """Return the number of rows that the score gives a product grid."""
        return int(self.side[-1]) + 1


def cells_at_once(meetings: int) -> int:
    """Return how many cells a rival's score may have, so that all counts fit in memory."""
    room = _COUNTS_AT_ONCE // (_SUMS * max(1, meetings))
    return min(max(room, _FEWEST_CELLS), _MOST_CELLS)


def score_cells(
    cells: Cells,
    sample: BurnInSample,
    index: int,
    *,
    burn_in: int,
    prior: float,
    count: int,
    values: Floats | None = None,
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


def _burn_in(sample: BurnInSample, index: int, burn_in: int, prior: float) -> tuple[Floats, Floats]:
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
