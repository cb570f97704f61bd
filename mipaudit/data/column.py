"""One column of a chunk of rows as arrays, 64-bit hashes of its cells, and chunks that are kept.

Arrow stores dates as whole numbers of some unit. A point in time without a zone, and a
text without one, counts from 1970 as if in UTC; one with a zone is in UTC.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from hashlib import blake2b
from typing import IO, TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.files.blob import Blob, read_at
from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.summaries.rows import splitmix64

if TYPE_CHECKING:
    import pyarrow as pa


# "empty" is a column without a single value; "other" cannot be read as a score.
Kind = Literal["float", "integer", "bool", "string", "empty", "other"]
# Beyond it, different integers are the same float64.
EXACT: Final = 2**53
# Numbers of so many digits go to different float64s; IEEE 754 promises no more.
TOLD_APART: Final = 15
_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
# A string is a score only as a category: 53 bits fit a float64 exactly.
_SCORE_BITS = 53
Moment = Literal["day", "zoned", "time", "duration"]
_DATE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?(Z|[+-]\d{2}:?\d{2})?"
)
_SECONDS_A_DAY: Final = 86_400
_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = timedelta(days=1)
_UNITS_A_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column of an input before any choice is made.

    ``storage`` names the stored type of floats, such as ``float32``; None for text. A
    ``folder`` column is a key of the folders that files lie in: one value a file. A column
    of kind ``other`` that is read as days has a ``moment``; one of ``lists`` has lists of
    numbers in its cells.
    """

    name: str
    kind: Kind
    storage: str | None = None
    folder: bool = False
    moment: Moment | None = None
    lists: bool = False


class Vocabulary:
    """The distinct words of one chunk, with what is derived from them once."""

    def __init__(self, words: tuple[str, ...]) -> None:
        """Keep ``words``; codes index into them."""
        self.words = words

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """A 64-bit hash per word: the same for equal words anywhere."""
        return words64(self.words)

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A 64-bit hash per word that tells rows apart: the same for 12 and "12"."""
        return _word_hashes(self.words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """The cells of one column: numbers, text, or hashes of what was a key.

    Attributes:
        values: booleans, integers or floats; of text the codes of words, negative where null; or
            64-bit hashes.
        missing: marks the nulls of what is no text; None for none.
        lost: marks numbers that a float64 does not tell from others, since they have more digits
            than it holds, or are beyond its range; None where no number has.
        vocabulary: of text, what its codes stand for; None for all else.
        hashed: whether the values are hashes.
    """

    values: NDArray[Any]
    missing: Bools | None = None
    lost: Bools | None = None
    vocabulary: Vocabulary | None = None
    hashed: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """What the codes of text stand for."""
        return () if self.vocabulary is None else self.vocabulary.words

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers or booleans."""
        return self.vocabulary is None and not self.hashed

    @property
    def used_words(self) -> list[str]:
        """The words that rows have: a dictionary may hold others."""
        return [self.words[at] for at in np.unique(self.values[self.values >= 0]).tolist()]

    def told(
        self, of_words: Sequence[Any] | NDArray[Any], null: object, dtype: type | None = None
    ) -> NDArray[Any]:
        """Return for each row of text what its word means, or what a null does."""
        # A null's code -1 finds the entry at the end.
        table = np.append(np.asarray(of_words, dtype), np.asarray(null, dtype))
        return np.asarray(table[self.values])


def text_column(codes: NDArray[Any], words: Sequence[str]) -> Column:
    """Return text as codes into words; a negative code is a null."""
    return Column(values=codes, vocabulary=Vocabulary(tuple(words)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chunk:
    """Consecutive rows: ``first_row`` is global, counted from 0."""

    first_row: int
    rows: int
    columns: Mapping[str, Column]


def column_missing(column: Column) -> Bools | None:
    """Return where ``column`` is null or NaN, or None when nowhere."""
    mask = column.missing
    if column.vocabulary is not None:
        mask = column.values < 0
    elif column.values.dtype.kind == "f":
        nan = np.isnan(column.values)
        mask = nan if mask is None else nan | mask
    return mask if mask is not None and mask.any() else None


def missing_cells(column: Column) -> Bools:
    """Return where ``column`` is null or NaN, shape (n,)."""
    found = column_missing(column)
    return np.zeros(column.values.shape, dtype=np.bool_) if found is None else found


def at_precision(scores: Floats, precision: str) -> Floats:
    """Return float64 rounded to the float type ``precision``; infinite beyond its largest."""
    with np.errstate(over="ignore"):
        return scores.astype(precision).astype(np.float64)


def column_scores(column: Column, precision: str | None = None) -> Floats:
    """Return ``column`` as float64 with NaN where it is missing.

    A string becomes a 53-bit hash of itself, which orders nothing but tells
    different strings apart, whatever chunk they come from.

    Args:
        column: a chunk of it.
        precision: the float type, such as ``float32``, that its numbers are rounded to.
    """
    if precision is not None:
        return at_precision(column_scores(column), precision)
    if column.vocabulary is not None:
        return column.told(_hash_scores(column.vocabulary.hashes), np.nan)
    values = column.values
    scores = _hash_scores(values) if column.hashed else values.astype(float, copy=False)
    return scores if column.missing is None else np.where(column.missing, np.nan, scores)


def merged_numbers(column: Column) -> Bools | None:
    """Return which numbers a float64 does not tell from others; None for none.

    These are integers beyond 2^53, and what is marked as lost.
    """
    if not column.numeric or not column.values.size:
        return None
    mask = column.lost
    if mask is None and column.values.dtype in (np.int64, np.uint64):
        lowest = -EXACT if column.values.dtype == np.int64 else 0
        mask = (column.values < lowest) | (column.values > EXACT)
    if mask is not None and column.missing is not None:
        mask = mask & ~column.missing
    return mask if mask is not None and mask.any() else None


def met_numbers(values: NDArray[Any], mask: Bools) -> Bools:
    """Return which rows of ``mask`` have the float64 of another row, shape (rows,).

    Args:
        values: of the rows.
        mask: rows that lost digits, perhaps those in which they differed.
    """
    found, counts = np.unique(values[np.isin(values, values[mask])], return_counts=True)
    return np.asarray(mask & np.isin(values, found[counts > 1]))


def _hash_scores(hashes: NDArray[np.uint64]) -> Floats:
    return (hashes >> np.uint64(64 - _SCORE_BITS)).astype(np.float64)


def _word_hashes(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hash of each word as a key: of 12 as text that of the number 12.

    Where a file has no types, or one of several parts has an id with a letter in it, the same
    id is a number here and text there.
    """
    hashes = words64(words)
    # Most ids of words have letters: those are told for a third of what a pattern takes.
    numbers = {
        at: int(word)
        for at, word in enumerate(words)
        if word.lstrip("-").isdecimal() and _WHOLE.fullmatch(word)
    }
    held = {at: number for at, number in numbers.items() if -(2**63) <= number < 2**63}
    if held:
        hashes[[*held]] = mix64(np.array([*held.values()], dtype=np.int64).view(np.uint64))
    return hashes


def column_hashes(column: Column) -> Column:
    """Return a 64-bit hash per row that depends on the row's value alone."""
    if column.hashed:
        return column
    if column.vocabulary is None:
        hashes = mix64(_words(column.values))
    else:
        hashes = column.told(column.vocabulary.keys, np.uint64(0))
    return Column(values=hashes, missing=column_missing(column), hashed=True)


def _words(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return numbers as 64-bit words; equal numbers of any width get equal words."""
    if values.dtype.kind == "f":
        floats = values.astype(np.float64)
        whole = (np.abs(floats) < 2.0**63) & (np.floor(floats) == floats)
        integers = np.where(whole, floats, 0.0).astype(np.int64).view(np.uint64)
        return np.where(whole, integers, floats.view(np.uint64))
    if values.dtype == np.uint64:
        return values
    return values.astype(np.int64).view(np.uint64)


def number_word(number: float) -> str:
    """Return a number as a word so that unequal ones differ: 1 and 1.0 are the same."""
    if isinstance(number, int):
        return str(number)
    whole = math.isfinite(number) and abs(number) < EXACT and number == int(number)
    return str(int(number)) if whole else repr(number)


def moment_of(kind: pa.DataType) -> Moment | None:
    """Return what an Arrow type says of time: ``day`` with or without a time; None for nothing."""
    from pyarrow import types

    if types.is_timestamp(kind) or types.is_date(kind):
        return "zoned" if getattr(kind, "tz", None) else "day"
    if types.is_time(kind):
        return "time"
    return "duration" if types.is_duration(kind) else None


def moment_days(ticks: Ints, kind: pa.DataType) -> Floats:
    """Return days, shape (n,): the same for the same moment in any unit.

    Args:
        ticks: as stored, shape (n,).
        kind: their Arrow type, of which `moment_of` is not None.
    """
    from pyarrow import types

    unit = "ms" if types.is_date64(kind) else "" if types.is_date32(kind) else kind.unit
    a_day = _SECONDS_A_DAY * _UNITS_A_SECOND[unit] if unit else 1
    # Whole days first: nanoseconds since 1970 are beyond what a float64 tells apart.
    whole, rest = np.divmod(ticks, a_day)
    return np.asarray(whole + rest / a_day, dtype=np.float64)


def is_day(word: str) -> bool:
    """Tell whether a text has the form of a day, 2024-05-31, with or without a time."""
    return _DATE.fullmatch(word.strip()) is not None


def are_days(words: Sequence[str]) -> bool:
    """Tell whether there are words, and all are days of the calendar."""
    return bool(words) and word_days(words) is not None


def word_days(words: Sequence[str]) -> Floats | None:
    """Return days since 1970; None where a word is no day of the calendar (ISO 8601)."""
    if not all(map(is_day, words)):
        return None
    try:
        moments = [datetime.fromisoformat(word.strip()) for word in words]
    except ValueError:
        return None
    aware = (m if m.tzinfo is not None else m.replace(tzinfo=UTC) for m in moments)
    # As of stored ticks, so that both forms of a moment are the same number.
    since = [moment - _START for moment in aware]
    return np.array([one.days + (one - timedelta(one.days)) / _DAY for one in since])


def mix64(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return splitmix64 of each word: a bijection of the 64-bit integers."""
    return splitmix64(words, 0)


def words64(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return blake2b-64 of the UTF-8 form of each word."""
    digests = b"".join(
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


# Rows per chunk: 0.5 MiB of float64 stays in a core's cache between decoding,
# checking and counting.
CHUNK_ROWS: Final = 1 << 17
IN_MEMORY_BYTES: Final = 256 << 20
_PIECE_CHUNKS: Final = 16
_ARRAYS: Final = ("values", "missing", "lost")
# An array in the temporary file: where it begins, its type, and how many it holds.
_OnDisk = tuple[int, np.dtype[Any], int]


class ChunkStore:
    """Chunks of columns, appended once and read often, from any thread.

    The first ``in_memory`` bytes (256 MiB unless told) stay in memory; the rest goes to an unlinked
    temporary file that only its owner can read.
    """

    def __init__(self, *, in_memory: int | None = None) -> None:
        """Start empty."""
        self.rows: list[int] = []
        # Of a column on disk no row is here, and where its arrays are there.
        self._chunks: list[dict[str, tuple[Column, Mapping[str, _OnDisk]]]] = []
        self._in_memory = IN_MEMORY_BYTES if in_memory is None else in_memory
        self._file: IO[bytes] | None = None
        self.clear()

    def append(self, columns: Mapping[str, Column], rows: int) -> None:
        """Add ``rows`` rows, as one chunk or as several."""
        for start in range(0, rows, CHUNK_ROWS):
            some = slice(start, min(start + CHUNK_ROWS, rows))
            self.rows.append(some.stop - start)
            self._chunks.append({name: self._put(one, some) for name, one in columns.items()})

    def get(self, at: int, names: Collection[str]) -> dict[str, Column]:
        """Return the named columns of chunk ``at``."""
        chunk = self._chunks[at]
        return {name: self._taken(*chunk[name]) for name in names}

    def clear(self) -> None:
        """Give memory and disk space back, and forget every chunk."""
        self._chunks.clear()
        self.rows.clear()
        if self._file is not None:
            self._file.close()
        self._file, self._end, self._left = None, 0, self._in_memory

    def chunks(
        self, start: int, stop: int, names: Collection[str], first_row: int
    ) -> Iterator[Chunk]:
        """Yield some of the stored chunks; the first begins with global row ``first_row``."""
        for at in range(start, stop):
            yield Chunk(first_row=first_row, rows=self.rows[at], columns=self.get(at, names))
            first_row += self.rows[at]

    def _put(self, column: Column, rows: slice) -> tuple[Column, Mapping[str, _OnDisk]]:
        held = ((name, getattr(column, name)) for name in _ARRAYS)
        arrays: dict[str, Any] = {name: one[rows] for name, one in held if one is not None}
        size = sum(one.nbytes for one in arrays.values())
        if size <= self._left:
            self._left -= size
            return replace(column, **arrays), {}
        self._left = 0
        places = {name: self._written(one) for name, one in arrays.items()}
        return replace(column, values=column.values[:0], missing=None, lost=None), places

    def _written(self, array: NDArray[Any]) -> _OnDisk:
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="mipaudit-", buffering=0)  # noqa: SIM115
        place = (self._end, array.dtype, array.size)
        view = np.ascontiguousarray(array).view(np.uint8).data
        while view:
            view = view[self._file.write(view) :]
        self._end += array.nbytes
        return place

    def _taken(self, column: Column, places: Mapping[str, _OnDisk]) -> Column:
        arrays: dict[str, Any] = {}
        for name, (offset, dtype, count) in places.items():
            assert self._file is not None  # noqa: S101 - the arrays are in it
            data = read_at(self._file, offset, count * dtype.itemsize)
            arrays[name] = np.frombuffer(data, dtype=dtype)
        return replace(column, **arrays) if arrays else column


def compact_column(column: Column) -> Column:
    """Return ``column`` with the narrowest type that holds its integers or codes."""
    if column.hashed or column.values.dtype.kind not in "iu":
        return column
    return replace(column, values=_narrow(column.values))


def _narrow(whole: NDArray[Any]) -> NDArray[Any]:
    low, high = int(whole.min(initial=0)), int(whole.max(initial=0))
    fitting = (kind for kind in (np.int8, np.int16, np.int32) if np.iinfo(kind).max >= high)
    kind = next((one for one in fitting if np.iinfo(one).min <= low), whole.dtype)
    return whole.astype(kind, copy=False)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Consecutive rows of a part that can be read on their own.

    Attributes:
        rows: how many.
        stays: whether they are in this process, so that no other can read them.
        chunks: yields the named columns, given which global row is the first.
    """

    rows: int
    stays: bool
    chunks: Callable[[Collection[str], int], Iterator[Chunk]]


class Part:
    """One file, frame or pair of arrays; most keep their rows in a store.

    Attributes:
        name: what messages call it, already safe to print.
        blob: the bytes behind it, None for what was in memory.
        fields: all columns, in order.
        rows_about: how many rows, as far as known before `load`; never to be relied on.
    """

    name: str
    blob: Blob | None = None
    fields: tuple[Field, ...]
    rows_about: int
    _store: ChunkStore

    def load(
        self, names: Collection[str], hashed: Collection[str] = (), keys: Collection[str] = ()
    ) -> None:
        """Get ready to read these columns.

        ``hashed`` are needed as hashes only; they and ``keys`` name records, persons or groups:
        texts, of which two are never one number.
        """

    def pieces(self) -> Sequence[Piece]:
        """Return the pieces in row order, after `load`: of what is stored about a million rows."""
        rows = self._store.rows
        places = (slice(at, at + _PIECE_CHUNKS) for at in range(0, len(rows), _PIECE_CHUNKS))
        return [
            Piece(sum(rows[one]), True, partial(self._store.chunks, *one.indices(len(rows))[:2]))  # noqa: FBT003 - they stay
            for one in places
        ]

    def chunks(self, names: Collection[str]) -> Iterator[Chunk]:
        """Yield the named columns of all rows, after `load`, the first being row 0."""
        row = 0
        for piece in self.pieces():
            yield from piece.chunks(names, row)
            row += piece.rows

    def close(self) -> None:
        """Release what is held."""
        self._store.clear()
        if self.blob is not None:
            self.blob.close()
