"""A part of the input, whatever its format: its columns and chunks of its rows.

All partitions of an input, and who is told what was left out of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar, overload

from mipaudit.errors import InputError
from mipaudit.reading.columns.column import Chunk, Field
from mipaudit.reading.rows.left_out import Intake

if TYPE_CHECKING:
    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.columns.column_cache import ChunkStore
    from mipaudit.summaries.plan import ScoreKind
    from mipaudit.summaries.rows import Rows

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumn:
    """A score column that is read."""

    name: str
    kind: ScoreKind


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorScore:
    """A score of several numbers: which of the columns that are read are its coordinates."""

    name: str
    coordinates: tuple[int, ...]


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


class Partition(Protocol):
    """A part of the input that can be read on its own, here or by another process."""

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows in order, and count in ``intake`` what is left out of them.

        May be called several times, and for different partitions from several
        threads at once, each with an intake of its own.

        Raises:
            FaultyRowsError: a missing score, membership or key; three labels.
            BadPartsError: the part cannot be read.
        """
        ...


class Ledger(Protocol):
    """Keeps account of what was left out of an input."""

    def settle(self, intake: Intake) -> None:
        """Take the account of one full pass; raise the fault that it shows."""
        ...

    def fault(self) -> InputError:
        """Return the error for the faults of all rows."""
        ...


class FaultyRowsError(InputError):
    """Rows that must end the run; only the whole input knows what to say about them."""


PartitionT_co = TypeVar("PartitionT_co", bound=Partition, covariant=True)


OtherT = TypeVar("OtherT", bound=Partition)


class Partitions(Sequence[PartitionT_co], Generic[PartitionT_co]):
    """Partitions in row order."""

    __slots__ = ("_items", "_ledger")

    def __init__(self, items: Iterable[PartitionT_co], ledger: Ledger) -> None:
        """Keep them with the ledger of their input."""
        self._items = tuple(items)
        self._ledger = ledger

    @overload
    def __getitem__(self, index: int) -> PartitionT_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PartitionT_co, ...]: ...
    def __getitem__(self, index: int | slice) -> PartitionT_co | tuple[PartitionT_co, ...]:
        """Return one partition, or several."""
        return self._items[index]

    def __len__(self) -> int:
        """Return their number."""
        return len(self._items)

    def mapped(self, change: Callable[[PartitionT_co], OtherT]) -> Partitions[OtherT]:
        """Return them changed, with the same ledger."""
        return Partitions([change(one) for one in self._items], self._ledger)

    def settle(self, intake: Intake) -> None:
        """Close the account of one full pass.

        Raises:
            InputError: rows that must end the run.
        """
        self._ledger.settle(intake)

    def fault(self) -> InputError:
        """Return the error for the faults of all rows."""
        return self._ledger.fault()

    def rows(self) -> Iterator[Rows]:
        """Yield all rows in order, read here; a full pass is settled.

        Raises:
            InputError: a fault of the rows, with their number.
        """
        intake = Intake()
        try:
            for one in self._items:
                yield from one.batches(intake)
        except FaultyRowsError:
            raise self.fault() from None
        self.settle(intake)
