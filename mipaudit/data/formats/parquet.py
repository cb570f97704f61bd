"""Parquet files: one piece per row group, only the columns that are needed."""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Final

from mipaudit.data.column import CHUNK_ROWS, Chunk, Field
from mipaudit.data.files.blob import Blob, FileBlob, encrypted, read_up_to
from mipaudit.data.formats.arrow import arrow_fields, read_batches
from mipaudit.data.formats.parquet_footer import MAGIC, TRAILER, BadFooterError, ColumnPlace, Footer
from mipaudit.data.parts import Piece, input_changed
from mipaudit.data.words import unique_names
from mipaudit.errors import InputError

if TYPE_CHECKING:
    from io import RawIOBase

    import pyarrow as pa
    import pyarrow.parquet as pq

# A larger column chunk is read through a buffer instead of at once: a file with
# a single huge row group must not be held in memory.
_READ_AT_ONCE: Final = 32 << 20
_BUFFER: Final = 4 << 20
# Of a file with more row groups than that, those of so many rows in all are read as one.
_MANY_GROUPS: Final = 1 << 10
_SMALL_TOGETHER: Final = 1 << 14
# The same for all columns of a row group together, where there are many.
_READ_TOGETHER: Final = 32 << 20
_LEAST_BUFFER: Final = 1 << 16
# Bytes of a dictionary that is worth keeping: with a large one every batch would
# carry all words of its row group.
_SMALL_DICTIONARY: Final = 1 << 14
# What is read of a file's end at once, in the hope that it holds the footer.
_LIKELY_FOOTER: Final = 1 << 16


@contextmanager
def arrow_errors(name: str) -> Iterator[None]:
    """Turn Arrow's errors into ours: theirs may quote the data.

    For Arrow's own calls alone: a ValueError of ours is a bug, not a damaged file.
    """
    import pyarrow as pa

    try:
        yield
    except MemoryError:  # Arrow's own is one of its errors, too
        raise
    except (pa.ArrowException, OSError, EOFError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            raise
        if isinstance(error, OSError) and error.strerror and error.errno:
            raise InputError("unreadable", f"{name}: {error.strerror}.") from None
        raise _incomplete(name) from None


def _incomplete(name: str) -> InputError:
    return InputError(
        "bad_parquet",
        f"{name}: not a complete Parquet file.",
        hint="Was it cut off or damaged while it was written or copied?",
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParquetPart:
    """A Parquet file.

    Attributes:
        blob: its bytes.
        fields: its columns.
        metadata: its footer as pyarrow reads it, to open the file with; never to be asked
            about row groups.
        footer: its row groups.
        leaves: the place of every column without parts in a row group.
    """

    blob: Blob
    fields: tuple[Field, ...]
    metadata: pq.FileMetaData
    footer: Footer
    leaves: Mapping[str, int]

    @property
    def name(self) -> str:
        """The file's name."""
        return self.blob.name

    @property
    def rows_about(self) -> int:
        """The rows that the footer states."""
        return sum(self.footer.rows)

    def places(self, name: str, groups: range) -> list[ColumnPlace]:
        """Return where a column is in some row groups; nowhere, if it has parts."""
        leaf = self.leaves.get(name)
        return [] if leaf is None else [self.footer.column(group, leaf) for group in groups]

    def load(
        self, names: Collection[str], hashed: Collection[str], keys: Collection[str] = ()
    ) -> None:
        """Do nothing: rows are decoded as they are asked for."""

    def pieces(self) -> Sequence[Piece]:
        """Return the row groups that have rows; of many, small ones together: each takes time."""
        found: list[RowGroup] = []
        most = _SMALL_TOGETHER if len(self.footer.rows) > _MANY_GROUPS else 0
        for group, rows in enumerate(self.footer.rows):
            last = found[-1] if found else None
            if last is not None and last.rows + rows <= most:
                found[-1] = replace(last, count=group + 1 - last.first, rows=last.rows + rows)
            elif rows:
                found.append(RowGroup(self.blob, group, 1, rows, self))
        return tuple(found)

    def close(self) -> None:
        """Release the bytes."""
        self.blob.close()


@dataclass(frozen=True, slots=True, eq=False)
class RowGroup:
    """One row group, or small ones in a row. Every call opens the file anew: threads share nothing.

    Attributes:
        blob: the file's bytes.
        first: number of the first row group.
        count: how many row groups.
        rows: how many rows.
        part: the file; None where it travelled, and its footer is read where the rows are.
    """

    blob: Blob
    first: int
    count: int
    rows: int
    part: ParquetPart | None = None

    @property
    def stays(self) -> bool:
        """Whether the bytes are in this process, as those of standard input are."""
        return self.blob.bound

    def __reduce__(self) -> tuple[object, ...]:
        """Travel as place and numbers: the footer of a file may be larger than its rows."""
        return RowGroup, (self.blob, self.first, self.count, self.rows)

    @property
    def groups(self) -> range:
        """The numbers of the row groups."""
        return range(self.first, self.first + self.count)

    def chunks(self, names: Collection[str], first_row: int) -> Iterator[Chunk]:
        """Decode the named columns in chunks.

        Raises:
            InputError: ``bad_parquet``, or ``input_changed`` where the file is not as the
                run found it.
        """
        part = _opened_here(self.blob) if self.part is None else self.part
        if sum(part.footer.rows[self.first : self.groups.stop]) != self.rows:
            raise input_changed(self.blob)
        left = self.rows
        for rows, columns in read_batches(self._batches(part, names), names, part.name):
            yield Chunk(first_row=first_row, rows=rows, columns=columns)
            first_row += rows
            left -= rows
        if left:
            raise _incomplete(part.name)

    def _batches(self, part: ParquetPart, names: Collection[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        places = {name: part.places(name, self.groups) for name in names}
        for name, found in places.items():
            if any(place.encrypted for place in found):
                raise encrypted(part.name, name)
        # Each row group has words of its own: of small ones, every batch would be one of them
        # alone. Of one, words are cheaper as they are where they are few.
        few = [field.name for field in part.fields if field.kind == "string" and self.count == 1]
        few = [name for name in few if any(map(_has_few_words, places.get(name, ())))]
        buffer = _buffer_size([place.size for found in places.values() for place in found])
        with arrow_errors(part.name), ExitStack() as stack:
            # Arrow reads a path without Python in between.
            source = (
                str(part.blob.path)
                if isinstance(part.blob, FileBlob)
                else stack.enter_context(part.blob.open_ranges())
            )
            file = pq.ParquetFile(
                source,
                metadata=part.metadata,
                # Neighbouring columns in one request. Of a file it would only take memory.
                pre_buffer=buffer == 0 and part.blob.remote,
                buffer_size=buffer,
                read_dictionary=few or None,
                page_checksum_verification=True,
            )
            yield from file.iter_batches(
                batch_size=CHUNK_ROWS,
                row_groups=[*self.groups],
                columns=list(names),
                use_threads=False,
            )


def _has_few_words(place: ColumnPlace) -> bool:
    """Tell whether a string column has a small dictionary."""
    return place.dictionary is not None and 0 < place.data - place.dictionary <= _SMALL_DICTIONARY


def _buffer_size(sizes: Sequence[int]) -> int:
    """Return the bytes to read of a column at once, 0 for all: many columns share the room."""
    if max(sizes, default=0) > _READ_AT_ONCE:
        return _BUFFER
    if sum(sizes) > _READ_TOGETHER:
        return max(_READ_TOGETHER // len(sizes), _LEAST_BUFFER)
    return 0


def open_parquet(blob: Blob) -> ParquetPart:
    """Read the footer of a Parquet file.

    Raises:
        InputError: ``bad_parquet`` when it is truncated or something else,
            ``duplicate_columns``.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = _footer_bytes(blob)
    trailer = len(data).to_bytes(4, "little") + MAGIC
    with arrow_errors(blob.name):
        # The rows are not there, which nobody asks for yet.
        file = pq.ParquetFile(pa.BufferReader(MAGIC + data + trailer), pre_buffer=False)
        schema, metadata = file.schema_arrow, file.metadata
        leaves = _leaves(metadata.schema)
    unique_names(schema.names, blob.name)
    try:
        footer = Footer.parse(data, metadata.num_columns)
    except BadFooterError:
        raise _incomplete(blob.name) from None
    for leaf in leaves.values():
        # Columns that are not as long as the file says: rows of it would be lost. Of an
        # encrypted column the footer may say nothing.
        if footer.values(leaf) != footer.rows and not footer.column(0, leaf).encrypted:
            raise _incomplete(blob.name)
    return ParquetPart(
        blob=blob, fields=arrow_fields(schema), metadata=metadata, footer=footer, leaves=leaves
    )


def _footer_bytes(blob: Blob) -> bytes:
    """Return the footer of a file, read in one request if it is not large."""
    with blob.open_ranges() as stream:
        tail = _tail(stream, blob, _LIKELY_FOOTER)
        size = int.from_bytes(tail[-TRAILER:-4], "little") + TRAILER
        if not tail.endswith(MAGIC) or size + len(MAGIC) > blob.size:
            raise _incomplete(blob.name)
        if size > len(tail):
            tail = _tail(stream, blob, size)
    return tail[-size:-TRAILER]


def _tail(stream: IO[bytes] | RawIOBase, blob: Blob, size: int) -> bytes:
    """Return the last ``size`` bytes of a file, or all where it has fewer."""
    size = min(size, blob.size)
    stream.seek(blob.size - size)
    tail = read_up_to(stream, size)
    if len(tail) < size:  # somebody has cut it since
        raise _incomplete(blob.name)
    return tail


def _leaves(schema: pq.ParquetSchema) -> dict[str, int]:
    """Return the places of the columns without parts, which have one value in each row."""
    columns = (schema.column(leaf) for leaf in range(len(schema)))
    return {
        column.path: leaf
        for leaf, column in enumerate(columns)
        if column.path == column.name and not column.max_repetition_level
    }


@lru_cache(maxsize=1)
def _opened_here(blob: Blob) -> ParquetPart:
    """Return a file that travelled: the row groups of one come one after the other."""
    # A file that is gone, or not there for this worker, is said to be so by opening it.
    part = open_parquet(blob)
    if blob.changed():
        raise input_changed(blob)
    return part
