"""Two passes over two tables: what is in them, then how the classes differ.

Cells of columns are cut on the burn-in; the other rows are counted. So the cells are fixed
before the counts, and each test of a column is exact or conservative at every sample size.

Whole records are counted as one discrete score, too: where the columns hold few combinations
of values, each that the burn-in shows is a cell, and all others together are one more. The
upper limit of a discrete score for all attackers is then one of the blind advantage,
whatever the law of the records.

Records that are in both classes are looked for: copies, near copies, and shared persons. Of
the holdout up to some hundred thousand records of smallest rank are looked for among all
members: a uniform sample of a larger one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints, Places
from mipaudit.maths.exact_tests import holm, independence_p
from mipaudit.summaries.cells import MOST_PATTERNS, JointAlphabet, joint_alphabet
from mipaudit.summaries.plan import BurnInSample, ColumnPlan, Plan, kept_exactly, sample_size
from mipaudit.summaries.rows import Rows, micro_blocks, rank_bytes, ranks, splitmix64
from mipaudit.summaries.tally import Tally

if TYPE_CHECKING:
    Columns = Sequence[Floats]

    Words = NDArray[np.uint64]

_MOST_KEYS: Final = 1 << 21
_FEWEST_ROWS: Final = 1 << 11
_KEYS_AT_ONCE: Final = 1 << 20  # of a batch's rows together: it may have thousands of columns
_FEWEST_COLUMNS: Final = 3  # of fewer, all but one say too little
_DIGITS: Final = 3
_LARGEST_SIEVE: Final = 1 << 20
_SIEVE_A_ROW: Final = 16
_ROUNDED: Final = 1 << 20  # salts columns of rounded numbers apart from the others


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRecords:
    """How many holdout records have a like among the members.

    Attributes:
        searched: holdout records that were looked for.
        holdout: holdout records in all.
        exact: all columns equal.
        exact_within: with another copy in the holdout itself, for comparison; None where
            not all of the holdout was looked at.
        but_one: all columns but one equal; None for fewer than 3 columns.
        rounded: all columns equal after rounding numbers to 3 digits, not before; None
            where no column holds fractions.
        persons: of a person who is among the members too; None without an id column.
    """

    searched: int
    holdout: int
    exact: int
    exact_within: int | None
    but_one: int | None
    rounded: int | None
    persons: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyForm:
    """What is compared: columns, each of which may hold fractions, and whether there are ids."""

    fractions: tuple[bool, ...]
    persons: bool

    @property
    def each(self) -> bool:
        """Whether all columns but one are compared."""
        return len(self.fractions) >= _FEWEST_COLUMNS

    @property
    def count(self) -> int:
        """Keys of a row: exact, rounded, person, and one without each column."""
        return 3 + len(self.fractions) * self.each

    @property
    def most_rows(self) -> int:
        """Holdout records that are looked for."""
        return max(_MOST_KEYS // self.count, _FEWEST_ROWS)

    def slices(self, rows: int) -> Iterator[slice]:
        """Yield so many rows in pieces whose keys take little memory."""
        step = max(1, _KEYS_AT_ONCE // self.count)
        for start in range(0, rows, step):
            yield slice(start, start + step)

    def keys(self, rows: Rows, at: Places | slice) -> list[Words]:
        """Return the keys of some rows, each of shape (n,)."""
        columns = [column[at] for column in rows.scores]
        parts = [_hashed(column, place) for place, column in enumerate(columns)]
        whole = np.add.reduce(parts)
        rounded = whole
        if any(self.fractions):
            rounded = np.zeros(whole.size, dtype=np.uint64)
            for place, fraction in enumerate(self.fractions):
                digits = _to_digits(columns[place]) if fraction else None
                rounded += parts[place] if digits is None else _hashed(digits, _ROUNDED + place)
        found = [whole, rounded, whole if rows.keys is None else rows.keys[at]]
        if self.each:
            # A salt for each column: the rest of two columns may not be confused.
            found += [splitmix64(whole - part, place) for place, part in enumerate(parts)]
        return found


def _hashed(column: Floats, salt: int) -> Words:
    values = column + 0.0  # minus zero is zero
    values[np.isnan(values)] = np.nan  # one kind of NaN
    return splitmix64(values.view(np.uint64), salt)


def _to_digits(column: Floats) -> Floats:
    """Return numbers rounded to 3 significant digits."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        size = np.floor(np.log10(np.abs(column)))
        scale = 10.0 ** (size - (_DIGITS - 1))
        rounded = np.round(column / scale)
        # A mantissa and a size: the product need not round to the same number twice.
        return np.where(np.isfinite(column) & (column != 0), rounded + size * 1e6, column)


class HoldoutKeys:
    """The keys of the holdout records of smallest rank; mergeable.

    Attributes:
        form: of the keys.
        rows: holdout records in all.
        searched: how many are looked for among the members.
        sought: their keys, of each kind, once they are all known.
    """

    __slots__ = ("_limit", "_pending", "_seed", "form", "rows", "searched", "sought")

    def __init__(self, form: KeyForm, seed: int) -> None:
        """Start empty."""
        self.form = form
        self.searched = 0
        self.sought: list[Sought] = []
        self._seed = seed
        self._limit = np.uint64((1 << 64) - 1)
        self._pending: list[tuple[Words, Words]] = []
        self.rows = 0

    def take(self, rows: Rows, top: NDArray[np.uint8]) -> None:
        """Consider the holdout records of a batch, given the rows' top rank bytes."""
        chosen = np.flatnonzero(~rows.member)
        self.rows += chosen.size
        rank = ranks(rows, self._seed, chosen, top[chosen])
        for part in self.form.slices(chosen.size):
            # The limit falls from part to part.
            inside = rank[part] <= self._limit
            keys = self.form.keys(rows, chosen[part][inside])
            self._offer(rank[part][inside], np.stack(keys, axis=1))

    def _offer(self, rank: Words, keys: Words) -> None:
        self._pending.append((rank, keys))
        if sum(part.size for part, _ in self._pending) > self.form.most_rows * 5 // 4:
            self.prune()

    def prune(self) -> None:
        """Keep the rows of smallest rank."""
        none = np.empty(0, np.uint64), np.empty((0, self.form.count), np.uint64)
        ranked, keyed = zip(*self._pending or [none], strict=True)
        rank, keys = np.concatenate(ranked), np.concatenate(keyed)
        most = self.form.most_rows
        if rank.size > most:
            order = np.lexsort((keys[:, 0], rank))[:most]
            rank, keys = rank[order], keys[order]
            self._limit = rank[-1]
        self._pending = [(rank, keys)]

    def merge(self, other: Self) -> None:
        """Take in the keys of another part."""
        self.rows += other.rows
        for rank, keys in other._pending:
            self._offer(rank, keys)

    def finish(self) -> Self:
        """Make the keys ready to be looked up among the members."""
        self.prune()
        keys = self._pending.pop()[1]
        self.searched = len(keys)
        size = min(_LARGEST_SIEVE, 1 << (_SIEVE_A_ROW * len(keys)).bit_length())
        self.sought = [Sought(column, size) for column in keys.T]
        return self


class Sought:
    """Keys of one kind, ready to be looked up; read by several threads.

    Attributes:
        values: the different ones, in increasing order, shape (k,).
        inverse: which of them each record has, shape (n,).
        sieve: whether any has these last bits.
    """

    __slots__ = ("inverse", "sieve", "values")

    def __init__(self, keys: Words, size: int) -> None:
        """Start with the keys, and how large the sieve is."""
        self.values, self.inverse = np.unique(keys, return_inverse=True)
        self.sieve = np.zeros(size, dtype=np.bool_)
        self.sieve[_last_bits(self.values, size)] = True

    def found(self, keys: Words) -> Places:
        """Return the places of those that are among the keys."""
        likely = keys[self.sieve[_last_bits(keys, self.sieve.size)]]
        place = np.minimum(np.searchsorted(self.values, likely), self.values.size - 1)
        return np.asarray(place[self.values[place] == likely])


def _last_bits(keys: Words, size: int) -> Places:
    return (keys & np.uint64(size - 1)).astype(np.intp)


class CopyCount:
    """Which of the wanted keys were found among the members; mergeable."""

    __slots__ = ("_found", "_wanted")

    def __init__(self, wanted: HoldoutKeys) -> None:
        """Start with none; the keys are ready to be looked up."""
        self._wanted = wanted
        self._found = [np.zeros(one.values.size, dtype=np.bool_) for one in wanted.sought]

    def take(self, rows: Rows) -> None:
        """Look for the members of a batch."""
        wanted, members = self._wanted, np.flatnonzero(rows.member)
        every = members.size == rows.member.size
        for part in wanted.form.slices(members.size if wanted.searched else 0):
            keys = wanted.form.keys(rows, part if every else members[part])
            for found, one, own in zip(self._found, wanted.sought, keys, strict=True):
                found[one.found(own)] = True

    def merge(self, other: Self) -> None:
        """Add what another part found."""
        pairs = zip(self._found, other._found, strict=True)
        self._found = [mine | theirs for mine, theirs in pairs]

    def copies(self) -> SharedRecords:
        """Return how many holdout records have a like among the members."""
        wanted, form = self._wanted, self._wanted.form
        pairs = zip(self._found, wanted.sought, strict=True)
        exact, rounded, persons, *near = (found[one.inverse] for found, one in pairs)
        times = np.bincount(wanted.sought[0].inverse, minlength=1)
        but_one = np.logical_or.reduce(near) & ~exact if near else None
        return SharedRecords(
            searched=wanted.searched,
            holdout=wanted.rows,
            exact=int(exact.sum()),
            exact_within=int(times[times > 1].sum()) if wanted.searched == wanted.rows else None,
            but_one=None if but_one is None else int(but_one.sum()),
            rounded=int((rounded & ~exact).sum()) if any(form.fractions) else None,
            persons=int(persons.sum()) if form.persons else None,
        )


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

    def locate(self, values: Floats) -> Ints:
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
    """Return the edges, or the frequent texts, of one column."""
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

    def add(self, columns: Sequence[Floats], member: Bools) -> None:
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


def _test(name: str, aspect: Aspect, table: Ints, *, category: bool) -> ColumnTest:
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


# How records are counted by what scores them, and the scores of rows whose columns are given.
Scorer: TypeAlias = tuple[Plan, Callable[["Columns"], "tuple[Floats, ...]"]]


def _patterns(alphabet: JointAlphabet, columns: Columns) -> tuple[Floats]:
    """Return the number of each row's combination of values, shape (n,)."""
    return (alphabet.score(_one_missing(columns)),)


def whole_records(
    columns: Columns, member: Bools, *, rows: int, burn_in: int, seed: int
) -> Scorer | None:
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
    plan = Plan(columns=(column,), burn_in=burn_in, seed=seed, exact=exact)
    return plan, partial(_patterns, found)


def _one_missing(columns: Columns) -> list[Floats]:
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
        scorers: Mapping[str, Scorer],
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
        self.scores = {name: Tally(plan) for name, (plan, _) in scorers.items()}

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        top = rank_bytes(rows, self._seed)
        self.copies.take(rows)
        late = np.flatnonzero(micro_blocks(top) >= self._burn_in)
        self.columns.add([column[late] for column in rows.scores], rows.member[late])
        for name, (_, scores) in self._scorers.items():
            self.scores[name].take(replace(rows, scores=scores(rows.scores)), top)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.columns.merge(other.columns)
        self.copies.merge(other.copies)
        for name, tally in self.scores.items():
            tally.merge(other.scores[name])
