"""Records that are in both classes: copies, near copies, and shared persons.

Of the holdout up to some hundred thousand records of smallest rank are looked for among
all members: a uniform sample of a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mipaudit.summaries.rows import ranks, splitmix64

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mipaudit.summaries.rows import Rows

    Words = NDArray[np.uint64]
    Floats = NDArray[np.float64]

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

    def keys(self, rows: Rows, at: NDArray[np.intp] | slice) -> list[Words]:
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

    def found(self, keys: Words) -> NDArray[np.intp]:
        """Return the places of those that are among the keys."""
        likely = keys[self.sieve[_last_bits(keys, self.sieve.size)]]
        place = np.minimum(np.searchsorted(self.values, likely), self.values.size - 1)
        return np.asarray(place[self.values[place] == likely])


def _last_bits(keys: Words, size: int) -> NDArray[np.intp]:
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
