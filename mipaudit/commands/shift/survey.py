"""Two passes over two tables: what is in them, then how the classes differ.

Cells of columns are cut on the burn-in; the other rows are counted. So the cells are fixed
before the counts, and each test of a column is exact or conservative at every sample size.

Whole records are counted as one discrete score, too: where the columns hold few combinations
of values, each that the burn-in shows is a cell, and all others together are one more. The
upper limit of a discrete score for all attackers is then one of the blind advantage,
whatever the law of the records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.shift.learner import Learner
from mipaudit.commands.shift.record_copies import CopyCount, HoldoutKeys, KeyForm
from mipaudit.maths.exact_tests import holm, independence_p
from mipaudit.summaries.cells import MOST_PATTERNS, JointAlphabet, joint_alphabet
from mipaudit.summaries.plan import BurnInSample, ColumnPlan, Plan, kept_exactly, sample_size
from mipaudit.summaries.rows import micro_blocks, rank_bytes
from mipaudit.summaries.tally import Tally

if TYPE_CHECKING:
    from mipaudit.commands.shift.learner import Floats
    from mipaudit.summaries.rows import Rows

    Columns = Sequence[NDArray[np.float64]]

Aspect = Literal["numbers", "categories", "dates", "missing"]

_MOST_CELLS: Final = 32
_ROWS_PER_CUT: Final = 20
_FEWEST_CUTS: Final = 3
_NEARLY_ALL: Final = 0.8  # total variation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnCells:
    """The cells of one column: up to each edge, or each of some texts; then all others.

    Attributes:
        category: whether the column holds texts.
        marks: edges or texts, in increasing order, shape (k,).
    """

    category: bool
    marks: Floats

    @property
    def count(self) -> int:
        """Cells, without that of the missing ones."""
        return self.marks.size + 1

    def locate(self, values: Floats) -> NDArray[np.int64]:
        """Return each row's cell, shape (n,); ``count`` for a missing value."""
        at = np.searchsorted(self.marks, values, side="left")
        if self.category:
            known = np.append(self.marks, np.nan)[at] == values
            at = np.where(known, at, self.marks.size)
        return np.where(np.isnan(values), self.count, at)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnTest:
    """How one column differs between the classes.

    Attributes:
        column: its name, as it is.
        aspect: what is compared: the values, or how many are missing.
        effect: largest difference, members less holdout, between the shares of records at
            or below one value, with one text, or with a missing value; in [-1, 1].
        p_value: of equality, exact or conservative.
        adjusted: of all tests together (Holm): what is at most alpha differs.
        n_members: members behind it.
        n_holdout: holdout records behind it.
    """

    column: str
    aspect: Aspect
    effect: float
    p_value: float
    adjusted: float
    n_members: int
    n_holdout: int


def cut_columns(values: Floats, categories: Sequence[bool]) -> tuple[ColumnCells, ...]:
    """Return the cells of every column, from rows that are not counted in them.

    Args:
        values: of the burn-in, shape (n, d), NaN where missing.
        categories: for each column, whether its numbers stand for texts.
    """
    return tuple(
        ColumnCells(category=category, marks=_marks(values[:, at], category=category))
        for at, category in enumerate(categories)
    )


def _marks(column: Floats, *, category: bool) -> Floats:
    present = np.sort(column[~np.isnan(column)])
    if not present.size:
        return np.empty(0)
    most = min(_MOST_CELLS - 1, max(_FEWEST_CUTS, present.size // _ROWS_PER_CUT))
    if category:
        words, rows = np.unique(present, return_counts=True)
        return np.sort(words[np.argsort(-rows, kind="stable")[:most]])
    values = np.unique(present)
    if values.size <= most + 1:
        return values[:-1]
    places = np.arange(1, most + 1) * present.size // (most + 1)
    return np.unique(present[places])


class ColumnTallies:
    """Counts of every column's cells by class, as they grow; mergeable."""

    __slots__ = ("_cells", "counts")

    def __init__(self, cells: Sequence[ColumnCells]) -> None:
        """Start empty."""
        self._cells = tuple(cells)
        self.counts = [np.zeros((one.count + 1, 2), dtype=np.int64) for one in cells]

    def add(self, columns: Sequence[Floats], member: NDArray[np.bool_]) -> None:
        """Count rows whose columns are given, each of shape (n,)."""
        side = member.astype(np.int64)
        for at, (cells, values) in enumerate(zip(self._cells, columns, strict=True)):
            table = self.counts[at]
            code = 2 * cells.locate(values) + side
            self.counts[at] = table + np.bincount(code, minlength=table.size).reshape(table.shape)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        pairs = zip(self.counts, other.counts, strict=True)
        self.counts = [mine + theirs for mine, theirs in pairs]

    def telling(self) -> tuple[bool, ...]:
        """Return for each column whether its cells alone tell nearly all records apart."""
        shares = (table / np.maximum(table.sum(axis=0), 1) for table in self.counts)
        return tuple(
            bool(np.abs(share[:, 1] - share[:, 0]).sum() / 2 >= _NEARLY_ALL) for share in shares
        )

    def tests(self, names: Sequence[str], kinds: Sequence[Aspect]) -> tuple[ColumnTest, ...]:
        """Return the tests of all columns, those that differ most surely first.

        Args:
            names: of the columns.
            kinds: what each holds.
        """
        found = []
        for cells, table, name, kind in zip(self._cells, self.counts, names, kinds, strict=True):
            present, missing = table[:-1], table[-1]
            # By the sums over the classes alone: what is left out says nothing of them.
            if np.count_nonzero(present.sum(axis=1)) > 1:
                found.append(_test(name, kind, present, category=cells.category))
            if missing.any() and present.any():
                both = np.stack([missing, present.sum(axis=0)])
                found.append(_test(name, "missing", both, category=True))
        adjusted = holm(np.array([one.p_value for one in found])).tolist()
        tests = [replace(one, adjusted=p) for one, p in zip(found, adjusted, strict=True)]
        return tuple(sorted(tests, key=lambda one: (one.p_value, -abs(one.effect))))


def _test(name: str, aspect: Aspect, table: NDArray[np.int64], *, category: bool) -> ColumnTest:
    """Return the test of counts of shape (k, 2), not yet adjusted for the others.

    Texts are tested one by one, numbers up to each edge; the error is shared over them
    (Bonferroni).
    """
    n_holdout, n_members = table.sum(axis=0).tolist()
    inside = table if category else np.cumsum(table, axis=0)[:-1]
    if len(table) == 2:  # noqa: PLR2004 - the second text says the same as the first
        inside = inside[:1]
    share = inside / np.maximum([n_holdout, n_members], 1)
    difference = share[:, 1] - share[:, 0]
    largest = float(difference[np.abs(difference).argmax()])
    p_values = independence_p(inside[:, 1], inside.sum(axis=1), n_members, n_members + n_holdout)
    p_value = min(1.0, float(p_values.min()) * len(p_values))
    return ColumnTest(
        column=name,
        aspect=aspect,
        effect=largest if min(n_members, n_holdout) else 0.0,
        p_value=p_value,
        adjusted=p_value,
        n_members=n_members,
        n_holdout=n_holdout,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WholeRecords:
    """How records are counted by their combination of values.

    Attributes:
        alphabet: the combinations of the burn-in.
        plan: of their counts.
    """

    alphabet: JointAlphabet
    plan: Plan

    def scores(self, columns: Columns) -> tuple[NDArray[np.float64]]:
        """Return the number of each row's combination, shape (n,)."""
        return (self.alphabet.score(_one_missing(columns)),)


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
        varying: places of the columns that have two values, a missing one among them.
    """

    __slots__ = ("_first", "_seed", "keys", "sample", "varying")

    def __init__(self, form: KeyForm, seed: int) -> None:
        """Start empty."""
        columns = len(form.fractions)
        self._seed = seed
        self._first: dict[int, float] = {}
        self.sample = BurnInSample(columns, seed, sample_size(columns))
        self.keys = HoldoutKeys(form, seed)
        self.varying: set[int] = set()

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        top = rank_bytes(rows, self._seed)
        self.sample.take(rows, top)
        self.keys.take(rows, top)
        for at, values in enumerate(rows.scores):
            if values.size and at not in self.varying:
                self._note(at, values)

    def _note(self, at: int, values: Floats) -> None:
        first = self._first.setdefault(at, float(values[0]))
        same = np.isnan(values) if math.isnan(first) else values == first
        if not same.all():
            self.varying.add(at)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        self.sample.merge(other.sample)
        self.keys.merge(other.keys)
        self.varying |= other.varying
        for at, first in other._first.items():
            self._note(at, np.array([first]))


class ShiftCount:
    """Counts by column and by learned score, and the copies that were found; mergeable.

    Attributes:
        columns: the rows outside the burn-in, by the cells of each column.
        copies: among all rows.
        scores: all rows by what scores them: by learned score, and by their combination of
            values.
    """

    __slots__ = ("_burn_in", "_scorers", "_seed", "columns", "copies", "scores")

    def __init__(
        self,
        cells: Sequence[ColumnCells],
        wanted: HoldoutKeys,
        scorers: Mapping[str, Learner | WholeRecords],
        *,
        burn_in: int,
        seed: int,
    ) -> None:
        """Start empty."""
        self._burn_in = burn_in
        self._seed = seed
        self._scorers = scorers
        self.columns = ColumnTallies(cells)
        self.copies = CopyCount(wanted)
        self.scores = {name: Tally(one.plan) for name, one in scorers.items()}

    @property
    def learner(self) -> Learner | None:
        """Return what the burn-in taught; None where no column differs in it."""
        return next((one for one in self._scorers.values() if isinstance(one, Learner)), None)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        top = rank_bytes(rows, self._seed)
        self.copies.take(rows)
        late = np.flatnonzero(micro_blocks(top) >= self._burn_in)
        self.columns.add([column[late] for column in rows.scores], rows.member[late])
        for name, scorer in self._scorers.items():
            self.scores[name].take(replace(rows, scores=scorer.scores(rows.scores)), top)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.columns.merge(other.columns)
        self.copies.merge(other.copies)
        for name, tally in self.scores.items():
            tally.merge(other.scores[name])
