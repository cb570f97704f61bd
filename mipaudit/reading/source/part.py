"""A part of the input, whatever its format: its columns and chunks of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from mipaudit.reading.columns.column import Chunk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.columns.column import Field
    from mipaudit.reading.columns.column_cache import ChunkStore

# Rows per chunk: 0.5 MiB of float64 stays in a core's cache between decoding,
# checking and counting.
CHUNK_ROWS: Final = 1 << 17
_PIECE_CHUNKS: Final = 16


class Piece(Protocol):
    """Consecutive rows of a part that can be read on their own."""

    @property
    def rows(self) -> int:
        """How many rows."""
        ...

    @property
    def stays(self) -> bool:
        """Whether the rows are in this process, so that no other can read them."""
        ...

    def chunks(self, names: Collection[str], first_row: int) -> Iterator[Chunk]:
        """Yield the named columns; the piece's first row is global row ``first_row``."""
        ...


class Part(Protocol):
    """One file, frame or pair of arrays."""

    @property
    def name(self) -> str:
        """What messages call it, already safe to print."""
        ...

    @property
    def blob(self) -> Blob | None:
        """The bytes behind it, None for what was in memory."""
        ...

    @property
    def fields(self) -> tuple[Field, ...]:
        """All columns, in order."""
        ...

    @property
    def rows_about(self) -> int:
        """How many rows, as far as known before ``load``; never to be relied on."""
        ...

    def load(
        self, names: Collection[str], hashed: Collection[str], keys: Collection[str] = ()
    ) -> None:
        """Get ready to read these columns.

        ``hashed`` are needed as hashes only; they and ``keys`` name records, persons or groups:
        texts, of which two are never one number.
        """
        ...

    def pieces(self) -> Sequence[Piece]:
        """Return the pieces in row order, after ``load``."""
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Load:
    """A part to get ready, and the columns to read of it."""

    part: Part
    names: frozenset[str]
    hashed: frozenset[str]
    keys: frozenset[str] = frozenset()

    def here(self) -> None:
        """Load it in this thread."""
        self.part.load(self.names, self.hashed, self.keys)


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


def stored_pieces(store: ChunkStore) -> tuple[StoredPiece, ...]:
    """Return all of ``store`` in pieces of about a million rows."""
    chunks = len(store.rows)
    return tuple(
        StoredPiece(store=store, start=at, stop=min(at + _PIECE_CHUNKS, chunks))
        for at in range(0, chunks, _PIECE_CHUNKS)
    )
