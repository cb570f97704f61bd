"""Parsed columns kept between the passes: in memory, then in a temporary file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.columns.column import Chunk, Column, Hashes, Labels
from mipaudit.data.files.blob import read_at

# Rows per chunk: 0.5 MiB of float64 stays in a core's cache between decoding,
# checking and counting.
CHUNK_ROWS: Final = 1 << 17
IN_MEMORY_BYTES: Final = 256 << 20
_PIECE_CHUNKS: Final = 16
_NO_ROWS: Final = slice(0, 0)


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
        # Of a column on disk no row is here, and where its arrays are there.
        self._chunks: list[dict[str, tuple[Column, Mapping[str, _OnDisk]]]] = []
        self._in_memory = IN_MEMORY_BYTES if in_memory is None else in_memory
        self._left = self._in_memory
        self._file: IO[bytes] | None = None
        self._end = 0

    def append(self, columns: Mapping[str, Column], rows: int) -> None:
        """Add ``rows`` rows, as one chunk or as several."""
        for start in range(0, rows, CHUNK_ROWS):
            some = slice(start, min(start + CHUNK_ROWS, rows))
            self.rows.append(some.stop - start)
            self._chunks.append(
                {name: self._put(_sliced(column, some)) for name, column in columns.items()}
            )

    def get(self, at: int, names: Collection[str]) -> dict[str, Column]:
        """Return the named columns of chunk ``at``."""
        chunk = self._chunks[at]
        return {name: self._taken(*chunk[name]) for name in names}

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

    def _put(self, column: Column) -> tuple[Column, Mapping[str, _OnDisk]]:
        arrays = _arrays(column)
        size = sum(one.nbytes for one in arrays.values())
        if size <= self._left:
            self._left -= size
            return column, {}
        self._left = 0
        return _sliced(column, _NO_ROWS), {name: self._written(one) for name, one in arrays.items()}

    def _written(self, array: NDArray[Any]) -> _OnDisk:
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="mipaudit-", buffering=0)  # noqa: SIM115
        place = _OnDisk(offset=self._end, dtype=array.dtype, count=array.size)
        view = np.ascontiguousarray(array).view(np.uint8).data
        while view:
            view = view[self._file.write(view) :]
        self._end += array.nbytes
        return place

    def _taken(self, column: Column, places: Mapping[str, _OnDisk]) -> Column:
        if not places or self._file is None:
            return column
        arrays: dict[str, Any] = {}
        for name, one in places.items():
            data = read_at(self._file, one.count * one.dtype.itemsize, one.offset)
            arrays[name] = np.frombuffer(data, dtype=one.dtype)
        return replace(column, **arrays)


def _arrays(column: Column) -> dict[str, NDArray[Any]]:
    """Return the arrays that hold ``column``'s rows, by field: what they are, and the marks."""
    found = ((one.name, getattr(column, one.name)) for one in fields(column))
    return {name: one for name, one in found if isinstance(one, np.ndarray)}


def _sliced(column: Column, rows: slice) -> Column:
    """Return some rows of ``column``, without copying."""
    arrays: dict[str, Any] = {name: one[rows] for name, one in _arrays(column).items()}
    return replace(column, **arrays)


def compact_column(column: Column) -> Column:
    """Return ``column`` with the narrowest type that holds its integers or codes."""
    if isinstance(column, Hashes):
        return column
    name = "codes" if isinstance(column, Labels) else "values"
    first: NDArray[Any] = getattr(column, name)
    if first.dtype.kind not in "iu" or not first.size:
        return column
    low, high = int(first.min()), int(first.max())
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            narrow: dict[str, Any] = {name: first.astype(kind, copy=False)}
            return replace(column, **narrow)
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
