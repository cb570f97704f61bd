"""What pass one samples, and what it decides for pass two: cells, burn-in, whether values are kept.

The sample holds, for each class, the rows of smallest rank: a uniform sample whatever the order of
the file, the same for every way of cutting the input up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.summaries.cells import Cells, build_cells, distinct_values
from mipaudit.summaries.rows import MICRO_BLOCKS, Rows, ScoreKind, rank_bytes, ranks

SAMPLE_SIZE: Final = 1 << 16
_LARGEST_BURN_IN: Final = 0.3
_SMALLEST_BURN_IN: Final = 0.1
# Those of any burn-in, however large the input, or small.
FEWEST_BURN_IN_BLOCKS: Final = math.ceil(MICRO_BLOCKS * _SMALLEST_BURN_IN)
MOST_BURN_IN_BLOCKS: Final = math.ceil(MICRO_BLOCKS * _LARGEST_BURN_IN)
_MOST_SAMPLED: Final = 1 << 20
_FEWEST_ROWS: Final = 8192


def burn_in_blocks(n_members: int, n_holdout: int) -> int:
    """Return how many of the 64 micro-blocks train before any row counts.

    A share of 3/sqrt(min N), within [0.1, 0.3]: small files need it to start with
    sensible attackers, large ones do not.
    """
    smaller = max(1, min(n_members, n_holdout))
    share = min(max(3 / math.sqrt(smaller), _SMALLEST_BURN_IN), _LARGEST_BURN_IN)
    return math.ceil(MICRO_BLOCKS * share)


class ClassSample:
    """The rows of smallest rank of one class: ranks (k,) and scores (k, d)."""

    __slots__ = ("_pending", "_size", "_waiting", "limit", "ranks", "rows", "scores")

    def __init__(self, columns: int, size: int = SAMPLE_SIZE) -> None:
        """Start empty, for ``columns`` score columns and at most ``size`` rows."""
        self.rows = 0
        self.ranks = np.empty(0, dtype=np.uint64)
        self.scores = np.empty((0, columns), dtype=np.float64)
        self.limit = np.uint64(((MOST_BURN_IN_BLOCKS << 58) - 1) & ((1 << 64) - 1))
        self._pending: list[tuple[NDArray[np.uint64], Floats]] = []
        self._waiting = 0
        self._size = size

    def offer(self, ranks: NDArray[np.uint64], scores: Floats) -> None:
        """Consider rows of the class; those that cannot belong may be left out."""
        keep = np.flatnonzero(ranks <= self.limit)
        if keep.size < ranks.size:
            ranks, scores = ranks[keep], scores[keep]
        self._pending.append((ranks, scores))
        self._waiting += ranks.size
        if self._waiting > self._size:
            self.prune()

    def prune(self) -> None:
        """Fold the pending rows in and drop those that cannot stay; ties of rank stay."""
        ranks = np.concatenate([self.ranks, *(part for part, _ in self._pending)])
        scores = np.concatenate([self.scores, *(part for _, part in self._pending)])
        self._pending.clear()
        self._waiting = 0
        if ranks.size >= self._size:
            self.limit = np.partition(ranks, self._size - 1)[self._size - 1]
            keep = ranks <= self.limit
            ranks, scores = ranks[keep], scores[keep]
        self.ranks, self.scores = ranks, scores

    def settle(self) -> None:
        """Finish: sort by rank and cut to size.

        Rows of one key share a rank; their scores break the tie, so that the cut does
        not depend on the order of arrival.
        """
        self.prune()
        order = np.argsort(self.ranks)
        ordered = self.ranks[order]
        if (ordered[1:] == ordered[:-1]).any():
            order = np.lexsort((*self.scores.T, self.ranks))
        order = order[: self._size]
        self.ranks, self.scores = self.ranks[order], self.scores[order]

    def merge(self, other: Self) -> None:
        """Take in the sample of another part."""
        self.rows += other.rows
        other.prune()
        self.offer(other.ranks, other.scores)
        self.prune()

    def within(self, blocks: int) -> Bools:
        """Tell which sampled rows lie in the first ``blocks`` micro-blocks."""
        return np.asarray((self.ranks >> np.uint64(58)) < blocks)


class BurnInSample:
    """Class sizes and one `ClassSample` per class."""

    __slots__ = ("_seed", "holdout", "members")

    def __init__(self, columns: int, seed: int, size: int = SAMPLE_SIZE) -> None:
        """Start empty."""
        self._seed = seed
        self.members = ClassSample(columns, size)
        self.holdout = ClassSample(columns, size)

    def add(self, rows: Rows) -> None:
        """Count a batch and sample from it."""
        self.take(rows, rank_bytes(rows, self._seed))

    def take(self, rows: Rows, top: NDArray[np.uint8]) -> None:
        """Count a batch and sample from it, given the rows' top rank bytes."""
        count_members = int(np.count_nonzero(rows.member))
        self.members.rows += count_members
        self.holdout.rows += rows.member.size - count_members
        ceiling = np.uint8(max(self.members.limit, self.holdout.limit) >> np.uint64(56))
        chosen = np.flatnonzero(top <= ceiling)
        rank = ranks(rows, self._seed, chosen, top[chosen])
        member = rows.member[chosen]
        for one, side in ((self.members, member), (self.holdout, ~member)):
            at = np.flatnonzero(side)
            mine = chosen[at]
            scores = np.empty((at.size, len(rows.scores)), dtype=np.float64)
            for index, column in enumerate(rows.scores):
                scores[:, index] = column[mine]
            one.offer(rank[at], scores)

    def merge(self, other: Self) -> None:
        """Take in the sample of another part; the result does not depend on the order."""
        self.members.merge(other.members)
        self.holdout.merge(other.holdout)

    def settle(self) -> None:
        """Finish: after this the samples are in rank order."""
        self.members.settle()
        self.holdout.settle()


def sample_size(columns: int) -> int:
    """Return how many rows of each class the sample holds: fewer of many coordinates."""
    return min(SAMPLE_SIZE, max(_MOST_SAMPLED // max(columns, 1), _FEWEST_ROWS))


class ScoreRange:
    """The finite extremes and the infinities of each column; they never leave the program.

    Attributes:
        low: smallest finite value of each column, shape (d,), infinite where there is none.
        high: the largest.
        infinite: number of infinite values, int64, shape (d, 2), (below, above).
    """

    __slots__ = ("high", "infinite", "low")

    def __init__(self, columns: int) -> None:
        """Start empty."""
        self.low = np.full(columns, np.inf)
        self.high = np.full(columns, -np.inf)
        self.infinite = np.zeros((columns, 2), dtype=np.int64)

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        for index, values in enumerate(rows.scores):
            if not values.size:
                continue
            low, high = float(values.min()), float(values.max())
            if np.isinf(low) or np.isinf(high):
                self.infinite[index] += (
                    np.count_nonzero(values == -np.inf),
                    np.count_nonzero(values == np.inf),
                )
                finite = values[np.isfinite(values)]
                if not finite.size:
                    continue
                low, high = float(finite.min()), float(finite.max())
            self.low[index] = min(self.low[index], low)
            self.high[index] = max(self.high[index], high)

    def merge(self, other: Self) -> None:
        """Take in the range of another part."""
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        self.infinite += other.infinite

    def constant(self, index: int) -> bool:
        """Tell whether every row has the same value in a column."""
        below, above = (int(count) for count in self.infinite[index])
        if self.low[index] > self.high[index]:  # no finite value
            return not (below and above)
        return bool(self.low[index] == self.high[index]) and not below + above


class VectorSurvey(ScoreRange):
    """A burn-in sample of all columns, with their range.

    Attributes:
        sample: rows of smallest rank of each class.
    """

    __slots__ = ("sample",)

    def __init__(self, columns: int, seed: int) -> None:
        """Start empty."""
        super().__init__(columns)
        self.sample = BurnInSample(columns, seed, sample_size(columns))

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        super().add(rows)
        self.sample.add(rows)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        super().merge(other)
        self.sample.merge(other.sample)


EXACT_ROWS: Final = 1 << 21  # what keeps the whole run under 400 MiB
_EXACT_VALUES: Final = 1 << 23
# Draws of up to so many rows.
_DRAWS: Final = {1 << 12: 4, 1 << 17: 2}
_LEAST_CELLS: Final = 512
_MOST_CELLS: Final = 4096
_ROWS_PER_CELL: Final = 1 << 18
_FINE_CELLS: Final = 1 << 16
_FEW_VALUES: Final = 256
_MOST_VALUES: Final = 2048
_MOST_VALUES_ASKED: Final = 8192
_SINGLETON_SHARE: Final = 0.1
_OVERFULL_FINE: Final = 32.0
_OVERFULL_COARSE: Final = 3.0
_SLACK: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnPlan:
    """The cells of one score column, and whether every burn-in value is one."""

    cells: Cells
    discrete: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """How all columns are counted.

    Attributes:
        columns: one per score column.
        burn_in: micro-blocks that only train.
        seed: of the row assignment.
        exact: the scores are kept, so that threshold statistics are exact.
        draws: how often the rows are assigned to micro-blocks, at least 1.
    """

    columns: tuple[ColumnPlan, ...]
    burn_in: int
    seed: int
    exact: bool
    draws: int = 1


def kept_exactly(rows: int, columns: int) -> bool:
    """Tell whether an input is small enough to keep every score."""
    return rows <= EXACT_ROWS and rows * columns <= _EXACT_VALUES


def make_plan(
    sample: BurnInSample,
    kinds: Sequence[ScoreKind],
    *,
    prior: float,
    discrete: bool,
    seed: int,
    early_for: int | None = None,
) -> Plan:
    """Return the plan that a settled sample calls for.

    Args:
        sample: of both classes, neither empty.
        kinds: of each score column.
        prior: p in (0, 1).
        discrete: take every column as discrete.
        seed: of the row assignment.
        early_for: plan for a large input of this many rows, of which the sample has
            seen the first ones; see `plan_holds`.

    Raises:
        InputError: a column taken as discrete has too many values.
    """
    if early_for is None:
        rows = sample.members.rows + sample.holdout.rows
        burn_in = burn_in_blocks(sample.members.rows, sample.holdout.rows)
    else:
        rows, burn_in = early_for, burn_in_blocks(early_for, early_for)
    exact = kept_exactly(rows, len(kinds))
    columns = []
    for index, kind in enumerate(kinds):
        members = sample.members.scores[sample.members.within(burn_in), index]
        holdout = sample.holdout.scores[sample.holdout.within(burn_in), index]
        columns.append(
            column_plan(
                members, holdout, kind, prior=prior, discrete=discrete, rows=rows, exact=exact
            )
        )
    return Plan(
        columns=tuple(columns),
        burn_in=burn_in,
        seed=seed,
        exact=exact,
        draws=_draws(rows) if exact else 1,
    )


def _draws(rows: int) -> int:
    """Return how many draws keep luck small: one hardly moves the answer of many rows."""
    return next((draws for most, draws in _DRAWS.items() if rows <= most), 1)


def column_plan(
    members: Floats,
    holdout: Floats,
    kind: ScoreKind,
    *,
    prior: float,
    discrete: bool,
    rows: int,
    exact: bool,
) -> ColumnPlan:
    """Return the cells of one column.

    Args:
        members: burn-in scores, shape (b1,).
        holdout: burn-in scores, shape (b2,).
        kind: of the column.
        prior: p in (0, 1).
        discrete: take it as discrete.
        rows: of the whole input.
        exact: the scores are kept, so that no fine cells are needed.

    Raises:
        InputError: it is taken as discrete and has too many values.
    """
    each_value = is_discrete(np.concatenate([members, holdout]), kind, asked=discrete)
    cells = build_cells(
        members,
        holdout,
        prior=prior,
        coarse=coarse_cells(rows),
        fine=0 if exact else _FINE_CELLS,
        discrete=each_value,
        grid=not exact,
    )
    return ColumnPlan(cells=cells, discrete=each_value)


def coarse_cells(rows: int) -> int:
    """Return how many coarse cells an input of so many rows bears."""
    return min(max(rows // _ROWS_PER_CELL, _LEAST_CELLS), _MOST_CELLS)


def is_discrete(values: Floats, kind: ScoreKind, *, asked: bool) -> bool:
    """Tell from the burn-in whether every value may have a cell of its own.

    A float score is discrete when it has few values and nearly all of them recur: a
    small sample of a continuous score has few values too, but each once.

    Args:
        values: burn-in scores, shape (n,).
        kind: of the column.
        asked: the user says that it is discrete.

    Raises:
        InputError: it must be discrete and has too many values.
    """
    distinct, times = distinct_values(np.sort(values))
    if asked or kind in {"bool", "string"}:
        if distinct.size > _MOST_VALUES_ASKED:
            raise InputError(
                "too_many_values",
                f"A discrete score may have at most {_MOST_VALUES_ASKED} distinct values in the "
                "rows that set the score ranges; this one has more.",
                "Leave `discrete` out, or choose another column with `score_col`.",
            )
        return True
    if kind == "integer":
        return bool(distinct.size <= _MOST_VALUES)
    once = int(np.count_nonzero(times == 1))
    return bool(0 < distinct.size <= _FEW_VALUES and once <= _SINGLETON_SHARE * values.size)


def plan_holds(early: Plan, sample: BurnInSample, plan: Plan) -> bool:
    """Tell whether a plan made from the first rows serves the whole input.

    It does where no cell holds much more of the burn-in than it should; a file sorted
    by score or by class, or one that drifts, has to be counted again. Only burn-in
    rows decide, so the limits stay valid either way.

    Args:
        early: made from the first rows.
        sample: of the whole input, settled.
        plan: what the whole sample calls for.
    """
    if early.burn_in != plan.burn_in or plan.exact:
        return False
    return all(
        one.discrete == whole.discrete
        and (
            np.array_equal(one.cells.edges, whole.cells.edges)
            if whole.discrete
            else _evenly_filled(one.cells, sample, index, early.burn_in)
        )
        for index, (one, whole) in enumerate(zip(early.columns, plan.columns, strict=True))
    )


def _evenly_filled(cells: Cells, sample: BurnInSample, index: int, burn_in: int) -> bool:
    """Tell whether no cell but an atom's holds far more than an equal share of a class."""
    for one in (sample.members, sample.holdout):
        # In order, since to search for those is several times faster.
        values = np.sort(one.scores[one.within(burn_in), index])
        cell = np.searchsorted(cells.edges, values, side="left")
        several = ~cells.single[cell]
        fine = np.bincount(cell[several], minlength=1).max()
        coarse = np.bincount(cells.coarse[cell[several]], minlength=1).max()
        if fine > _OVERFULL_FINE * values.size / _FINE_CELLS + _SLACK:
            return False
        if coarse > _OVERFULL_COARSE * values.size / _LEAST_CELLS + _SLACK:
            return False
    return True
