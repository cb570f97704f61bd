"""Records that are in both classes: copies, near copies, and shared persons.

Of the holdout up to some hundred thousand records of smallest rank are looked for among
all members: a uniform sample of a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mipaudit.summaries.identity.row_rank import ranks, splitmix64

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    """What is compared: how many columns, which hold fractions, whether there are ids."""

    columns: int
    fractions: tuple[bool, ...]
    persons: bool

    @property
    def each(self) -> bool:
        """Whether all columns but one are compared."""
        return self.columns >= _FEWEST_COLUMNS

    @property
    def count(self) -> int:
        """Keys of a row: exact, rounded, person, and one without each column."""
        return 3 + self.columns * self.each

    @property
    def most_rows(self) -> int:
        """Holdout records that are looked for."""
        return max(_MOST_KEYS // self.count, _FEWEST_ROWS)

    def slices(self, rows: int) -> Iterator[slice]:
        """Yield so many rows in pieces whose keys take little memory."""
        step = max(1, _KEYS_AT_ONCE // self.count)
        for start in range(0, rows, step):
            yield slice(start, start + step)

    def keys(self, columns: Sequence[Floats], persons: Words | None) -> list[Words]:
        """Return the keys of rows, each of shape (n,)."""
        parts = [_hashed(column, at) for at, column in enumerate(columns)]
        whole = np.add.reduce(parts) if parts else np.empty(0, np.uint64)
        found = [whole, whole if not any(self.fractions) else self._rounded(columns, parts)]
        found.append(whole if persons is None else persons)
        if self.each:
            # A salt for each column: the rest of two columns may not be confused.
            found += [splitmix64(whole - part, at) for at, part in enumerate(parts)]
        return found

    def _rounded(self, columns: Sequence[Floats], parts: Sequence[Words]) -> Words:
        total = np.zeros(parts[0].size, dtype=np.uint64)
        for at, (column, part) in enumerate(zip(columns, parts, strict=True)):
            total += _hashed(_to_digits(column), _ROUNDED + at) if self.fractions[at] else part
        return total


def _hashed(column: Floats, at: int) -> Words:
    values = column + 0.0  # minus zero is zero
    values[np.isnan(values)] = np.nan  # one kind of NaN
    return splitmix64(values.view(np.uint64), at)


def _to_digits(column: Floats) -> Floats:
    """Return numbers rounded to 3 significant digits."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        size = np.floor(np.log10(np.abs(column)))
        scale = 10.0 ** (size - (_DIGITS - 1))
        rounded = np.round(column / scale)
        # A mantissa and a size: the product need not round to the same number twice.
        return np.where(np.isfinite(column) & (column != 0), rounded + size * 1e6, column)


class HoldoutKeys:
    """The keys of the holdout records of smallest rank; mergeable."""

    __slots__ = ("_form", "_limit", "_pending", "_seed", "_waiting", "rows")

    def __init__(self, form: KeyForm, seed: int) -> None:
        """Start empty."""
        self._form = form
        self._seed = seed
        self._limit = np.uint64((1 << 64) - 1)
        self._pending: list[tuple[Words, Words]] = []
        self._waiting = 0
        self.rows = 0

    def take(self, rows: Rows, top: NDArray[np.uint8]) -> None:
        """Consider the holdout records of a batch, given the rows' top rank bytes."""
        chosen = np.flatnonzero(~rows.member)
        if not chosen.size:
            return
        self.rows += chosen.size
        rank = ranks(rows, self._seed, chosen, top[chosen])
        inside = rank <= self._limit
        chosen, rank = chosen[inside], rank[inside]
        for part in self._form.slices(chosen.size):
            # A smaller limit by now leaves more of them out.
            at = chosen[part][rank[part] <= self._limit]
            columns = [column[at] for column in rows.scores]
            persons = None if rows.keys is None else rows.keys[at]
            keys = np.stack(self._form.keys(columns, persons), axis=1)
            self._offer(rank[part][rank[part] <= self._limit], keys)

    def _offer(self, rank: Words, keys: Words) -> None:
        self._pending.append((rank, keys))
        self._waiting += rank.size
        if self._waiting > self._form.most_rows * 5 // 4:
            self.prune()

    def prune(self) -> None:
        """Keep the rows of smallest rank."""
        if not self._pending:
            return
        rank = np.concatenate([part for part, _ in self._pending])
        keys = np.concatenate([part for _, part in self._pending])
        most = self._form.most_rows
        if rank.size > most:
            order = np.lexsort((keys[:, 0], rank))[:most]
            rank, keys = rank[order], keys[order]
            self._limit = rank[-1]
        self._pending, self._waiting = [(rank, keys)], rank.size

    def merge(self, other: Self) -> None:
        """Take in the keys of another part."""
        self.rows += other.rows
        for rank, keys in other._pending:
            self._offer(rank, keys)

    def finish(self) -> Wanted:
        """Return what is looked for among the members."""
        self.prune()
        keys = self._pending[0][1] if self._pending else np.empty((0, self._form.count), np.uint64)
        return Wanted(self._form, keys, self.rows)


class Wanted:
    """Keys of holdout records, ready to be looked up; read by several threads."""

    __slots__ = ("form", "holdout", "inverse", "rows", "sieve", "sieves", "sorted")

    def __init__(self, form: KeyForm, keys: Words, holdout: int) -> None:
        """Sort the keys, shape (n, form.count), of a holdout of so many records."""
        self.form = form
        self.holdout = holdout
        self.rows = len(keys)
        self.sorted: list[Words] = []
        self.inverse: list[NDArray[np.intp]] = []
        size = min(_LARGEST_SIEVE, 1 << (_SIEVE_A_ROW * self.rows).bit_length())
        self.sieve = np.uint64(size - 1)
        self.sieves: list[NDArray[np.bool_]] = []
        for column in keys.T:
            values, inverse = np.unique(column, return_inverse=True)
            sieve = np.zeros(size, dtype=np.bool_)
            sieve[(values & self.sieve).astype(np.intp)] = True
            self.sorted.append(values)
            self.inverse.append(inverse.ravel())
            self.sieves.append(sieve)


class CopyCount:
    """Which of the wanted keys were found among the members; mergeable."""

    __slots__ = ("_found", "_wanted")

    def __init__(self, wanted: Wanted) -> None:
        """Start with none."""
        self._wanted = wanted
        self._found = [np.zeros(one.size, dtype=np.bool_) for one in wanted.sorted]

    def take(self, rows: Rows) -> None:
        """Look for the members of a batch."""
        member = rows.member
        if not member.any() or not self._wanted.rows:
            return
        every = bool(member.all())
        columns = [column if every else column[member] for column in rows.scores]
        persons = rows.keys if rows.keys is None or every else rows.keys[member]
        for part in self._wanted.form.slices(columns[0].size):
            self._look(
                [column[part] for column in columns], None if persons is None else persons[part]
            )

    def _look(self, columns: Sequence[Floats], persons: Words | None) -> None:
        wanted = self._wanted
        for at, keys in enumerate(wanted.form.keys(columns, persons)):
            likely = keys[wanted.sieves[at][(keys & wanted.sieve).astype(np.intp)]]
            place = np.searchsorted(wanted.sorted[at], likely)
            place = np.minimum(place, wanted.sorted[at].size - 1)
            self._found[at][place[wanted.sorted[at][place] == likely]] = True

    def merge(self, other: Self) -> None:
        """Add what another part found."""
        pairs = zip(self._found, other._found, strict=True)
        self._found = [mine | theirs for mine, theirs in pairs]

    def copies(self) -> SharedRecords:
        """Return how many holdout records have a like among the members."""
        wanted, form = self._wanted, self._wanted.form
        hits = [found[inverse] for found, inverse in zip(self._found, wanted.inverse, strict=True)]
        exact = hits[0]
        near = np.logical_or.reduce(hits[3:]) & ~exact if form.each else None
        times = np.bincount(wanted.inverse[0], minlength=1) if wanted.rows else np.zeros(1)
        return SharedRecords(
            searched=wanted.rows,
            holdout=wanted.holdout,
            exact=int(exact.sum()),
            exact_within=int(times[times > 1].sum()) if wanted.rows == wanted.holdout else None,
            but_one=None if near is None else int(near.sum()),
            rounded=int((hits[1] & ~exact).sum()) if any(form.fractions) else None,
            persons=int(hits[2].sum()) if form.persons else None,
        )
