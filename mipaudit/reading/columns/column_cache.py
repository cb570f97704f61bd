"""Parsed columns kept between the passes: in memory, then in a temporary file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.reading.bytes.blob import read_at
from mipaudit.reading.columns.column import Chunk, Column, Hashes, Labels, Numbers

Mask = NDArray[np.bool_] | None
Arrays = tuple[NDArray[Any], Mask, Mask]

# Rows per chunk: 0.5 MiB of float64 stays in a core's cache between decoding,
# checking and counting.
CHUNK_ROWS: Final = 1 << 17
IN_MEMORY_BYTES: Final = 256 << 20
_PIECE_CHUNKS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnDisk:
    """An array in the temporary file."""

    offset: int
    dtype: np.dtype[Any]
    count: int


class ChunkStore:
    """Chunks of columns, appended once and read often, from any thread.

    The first ``in_memory`` bytes (256 MiB unless told) stay in memory; the rest goes to an unlinked
    temporary file that only its owner can read.
    """

    def __init__(self, *, in_memory: int | None = None) -> None:
        """Start empty."""
        self.rows: list[int] = []
        self._chunks: list[dict[str, tuple[Column, tuple[_OnDisk | None, ...]]]] = []
        self._in_memory = IN_MEMORY_BYTES if in_memory is None else in_memory
        self._left = self._in_memory
        self._file: IO[bytes] | None = None
        self._end = 0

    def append(self, columns: Mapping[str, Column], rows: int) -> None:
        """Add ``rows`` rows, as one chunk or as several."""
        for start in range(0, rows, CHUNK_ROWS):
            stop = min(start + CHUNK_ROWS, rows)
            self.rows.append(stop - start)
            self._chunks.append(
                {
                    name: self._put(slice_column(column, start, stop))
                    for name, column in columns.items()
                }
            )

    def get(self, at: int, names: Collection[str]) -> dict[str, Column]:
        """Return the named columns of chunk ``at``."""
        chunk = self._chunks[at]
        return {name: self._take(*chunk[name]) for name in names}

    def clear(self) -> None:
        """Forget every chunk, to begin again."""
        self.close()
        self._file, self._end, self._left = None, 0, self._in_memory

    def close(self) -> None:
        """Give memory and disk space back."""
        self._chunks.clear()
        self.rows.clear()
        if self._file is not None:
            self._file.close()

    def _put(self, column: Column) -> tuple[Column, tuple[_OnDisk | None, ...]]:
        arrays = column_arrays(column)
        size = sum(one.nbytes for one in arrays if one is not None)
        if size <= self._left:
            self._left -= size
            return column, ()
        self._left = 0
        empty = with_arrays(column, (arrays[0][:0], None, None))
        return empty, tuple(None if one is None else self._write(one) for one in arrays)

    def _write(self, array: NDArray[Any]) -> _OnDisk:
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="mipaudit-", buffering=0)  # noqa: SIM115
        place = _OnDisk(offset=self._end, dtype=array.dtype, count=array.size)
        view = np.ascontiguousarray(array).view(np.uint8).data
        while view:
            view = view[self._file.write(view) :]
        self._end += array.nbytes
        return place

    def _take(self, column: Column, places: tuple[_OnDisk | None, ...]) -> Column:
        if not places:
            return column
        first, missing, lost = (None if at is None else self._read(at) for at in places)
        return column if first is None else with_arrays(column, (first, missing, lost))

    def _read(self, place: _OnDisk) -> NDArray[Any]:
        assert self._file is not None  # noqa: S101 - a place exists only with a file
        size = place.count * place.dtype.itemsize
        data = read_at(self._file, size, place.offset)
        return np.frombuffer(data, dtype=place.dtype)


def column_arrays(column: Column) -> Arrays:
    """Return the arrays that hold ``column``'s rows: what they are, and the marks."""
    match column:
        case Labels():
            return column.codes, None, None
        case Numbers():
            return column.values, column.missing, column.lost
        case Hashes():
            return column.values, column.missing, None


def with_arrays(column: Column, arrays: Arrays) -> Column:
    """Return a column like ``column`` with other rows."""
    first, missing, lost = arrays
    match column:
        case Labels(vocabulary=vocabulary):
            return Labels(codes=first, vocabulary=vocabulary)
        case Numbers():
            return Numbers(values=first, missing=missing, lost=lost)
        case Hashes():
            return Hashes(values=first, missing=missing)


def slice_column(column: Column, start: int, stop: int) -> Column:
    """Return rows ``start`` to ``stop`` of ``column``, without copying."""
    first, missing, lost = column_arrays(column)
    missing = None if missing is None else missing[start:stop]
    lost = None if lost is None else lost[start:stop]
    return with_arrays(column, (first[start:stop], missing, lost))


def compact_column(column: Column) -> Column:
    """Return ``column`` with the narrowest type that holds its integers or codes."""
    first, missing, lost = column_arrays(column)
    if isinstance(column, Hashes) or first.dtype.kind not in "iu" or not first.size:
        return column
    low, high = int(first.min()), int(first.max())
    for narrow in (np.int8, np.int16, np.int32):
        if np.iinfo(narrow).min <= low and high <= np.iinfo(narrow).max:
            return with_arrays(column, (first.astype(narrow, copy=False), missing, lost))
    return column


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredPiece:
    """Some consecutive chunks of a store."""

    store: ChunkStore
    start: int
    stop: int

    @property
    def rows(self) -> int:
        """How many rows."""
        return sum(self.store.rows[self.start : self.stop])

    @property
    def stays(self) -> bool:
        """They do: what was parsed or given is kept here."""
        return True

    def chunks(self, names: Collection[str], first_row: int) -> Iterator[Chunk]:
        """Yield the stored chunks."""
        for at in range(self.start, self.stop):
            rows = self.store.rows[at]
            yield Chunk(first_row=first_row, rows=rows, columns=self.store.get(at, names))
            first_row += rows


class StoredPart:
    """A part whose rows are kept in a store."""

    _store: ChunkStore

    def pieces(self) -> Sequence[StoredPiece]:
        """Return the stored rows in pieces of about a million rows."""
        chunks = len(self._store.rows)
        return tuple(
            StoredPiece(store=self._store, start=at, stop=min(at + _PIECE_CHUNKS, chunks))
            for at in range(0, chunks, _PIECE_CHUNKS)
        )

    def close(self) -> None:
        """Give memory and temporary files back."""
        self._store.close()
