"""Two passes over two tables: what is in them, then how the classes differ.

Whole records are counted as one discrete score, too: where the columns hold few combinations
of values, each that the burn-in shows is a cell, and all others together are one more. The
upper limit of a discrete score for all attackers is then one of the blind advantage,
whatever the law of the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.shift.differences.columns import ColumnCells, ColumnTallies
from mipaudit.commands.shift.differences.record_copies import (
    CopyCount,
    HoldoutKeys,
    KeyForm,
    Wanted,
)
from mipaudit.summaries.cells.vector_cells import MOST_PATTERNS, JointAlphabet, joint_alphabet
from mipaudit.summaries.identity.row_rank import micro_blocks, rank_bytes
from mipaudit.summaries.plan import ColumnPlan, Plan, kept_exactly
from mipaudit.summaries.sample import BurnInSample, sample_size
from mipaudit.summaries.tally import Tally

if TYPE_CHECKING:
    from mipaudit.commands.shift.differences.learner import Learner
    from mipaudit.summaries.rows import Rows

    Columns = Sequence[NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WholeRecords:
    """How records are counted by their combination of values.

    Attributes:
        alphabet: the combinations of the burn-in.
        plan: of their counts.
    """

    alphabet: JointAlphabet
    plan: Plan

    def score(self, columns: Columns) -> NDArray[np.float64]:
        """Return the number of each row's combination, shape (n,)."""
        return self.alphabet.score(_one_missing(columns))


def whole_records(
    columns: Columns, member: NDArray[np.bool_], *, rows: int, burn_in: int, seed: int
) -> WholeRecords | None:
    """Return how to count whole records; None where they have too many combinations.

    Args:
        columns: of the burn-in, each of shape (n,), NaN where missing.
        member: shape (n,).
        rows: of both tables.
        burn_in: micro-blocks that only train.
        seed: of the row assignment.
    """
    found = joint_alphabet(_one_missing(columns), member, most=MOST_PATTERNS, asked=False)
    if found is None:
        return None
    column = ColumnPlan(cells=found.cells, discrete=True)
    exact = kept_exactly(rows, 1)
    return WholeRecords(
        alphabet=found, plan=Plan(columns=(column,), burn_in=burn_in, seed=seed, exact=exact)
    )


def _one_missing(columns: Columns) -> list[NDArray[np.float64]]:
    """Return the columns with one bit pattern for all that is missing."""
    return [np.where(np.isnan(column), np.nan, column) for column in columns]


class ShiftSurvey:
    """A burn-in sample of raw rows, the holdout's keys, and which columns vary.

    Attributes:
        sample: rows of smallest rank of each class, NaN where missing.
        keys: of the holdout.
        low: smallest value of each column, infinite where there is none.
        high: the largest.
        missing: whether a column has a missing value.
    """

    __slots__ = ("_seed", "high", "keys", "low", "missing", "sample")

    def __init__(self, form: KeyForm, seed: int) -> None:
        """Start empty."""
        self._seed = seed
        self.sample = BurnInSample(form.columns, seed, sample_size(form.columns))
        self.keys = HoldoutKeys(form, seed)
        self.low = np.full(form.columns, np.inf)
        self.high = np.full(form.columns, -np.inf)
        self.missing = np.zeros(form.columns, dtype=np.bool_)

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        top = rank_bytes(rows, self._seed)
        self.sample.take(rows, top)
        self.keys.take(rows, top)
        for at, values in enumerate(rows.scores):
            if not values.size:
                continue
            # fmin and fmax pass over NaN.
            low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
            self.missing[at] |= bool(np.isnan(values).any())
            if low <= high:
                self.low[at] = min(self.low[at], low)
                self.high[at] = max(self.high[at], high)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        self.sample.merge(other.sample)
        self.keys.merge(other.keys)
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        self.missing |= other.missing

    def constant(self, at: int) -> bool:
        """Tell whether a column is the same in all rows, missing ones included."""
        if self.low[at] > self.high[at]:
            return True
        return bool(self.low[at] == self.high[at]) and not self.missing[at]


class ShiftCount:
    """Counts by column and by learned score, and the copies that were found; mergeable.

    Attributes:
        columns: the rows outside the burn-in, by the cells of each column.
        copies: among all rows.
        scores: all rows by learned score; None where nothing was learned.
        whole: all rows by their combination of values; None where there are too many.
    """

    __slots__ = ("_burn_in", "_learner", "_seed", "_whole", "columns", "copies", "scores", "whole")

    def __init__(
        self,
        cells: Sequence[ColumnCells],
        wanted: Wanted,
        learner: Learner | None,
        whole: WholeRecords | None,
        *,
        burn_in: int,
        seed: int,
    ) -> None:
        """Start empty."""
        self._burn_in = burn_in
        self._seed = seed
        self._learner = learner
        self._whole = whole
        self.columns = ColumnTallies(cells)
        self.copies = CopyCount(wanted)
        self.scores = None if learner is None else Tally(learner.plan)
        self.whole = None if whole is None else Tally(whole.plan)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        top = rank_bytes(rows, self._seed)
        self.copies.take(rows)
        late = np.flatnonzero(micro_blocks(top) >= self._burn_in)
        self.columns.add([column[late] for column in rows.scores], rows.member[late])
        if self.scores is not None and self._learner is not None:
            scored = replace(rows, scores=self._learner.scores(rows.scores))
            self.scores.take(scored, top)
        if self.whole is not None and self._whole is not None:
            self.whole.take(replace(rows, scores=(self._whole.score(rows.scores),)), top)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.columns.merge(other.columns)
        self.copies.merge(other.copies)
        if self.scores is not None and other.scores is not None:
            self.scores.merge(other.scores)
        if self.whole is not None and other.whole is not None:
            self.whole.merge(other.whole)
