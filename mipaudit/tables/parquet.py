"""Parquet files: one piece per row group, only the columns that are needed."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, cast

from mipaudit.errors import InputError
from mipaudit.tables.arrow import ArrowReader, arrow_fields, read_columns
from mipaudit.tables.at_once import is_remote
from mipaudit.tables.blob import FileBlob, MemoryBlob, TemporaryBlob
from mipaudit.tables.column import Chunk
from mipaudit.tables.csv_dialect import unique_names
from mipaudit.tables.part import CHUNK_ROWS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from io import RawIOBase

    import pyarrow as pa
    import pyarrow.parquet as pq

    from mipaudit.tables.blob import Blob
    from mipaudit.tables.column import Field
    from mipaudit.tables.part import Piece
    from mipaudit.tables.remote_blob import RemoteBlob

# A larger column chunk is read through a buffer instead of at once: a file with
# a single huge row group must not be held in memory.
_READ_AT_ONCE: Final = 32 << 20
_BUFFER: Final = 4 << 20
# The same for all columns of a row group together, where there are many.
_READ_TOGETHER: Final = 32 << 20
_LEAST_BUFFER: Final = 1 << 16
# Bytes of a dictionary that is worth keeping: with a large one every batch would
# carry all words of its row group.
_SMALL_DICTIONARY: Final = 1 << 14


@contextmanager
def arrow_errors(name: str) -> Iterator[None]:
    """Turn Arrow's errors into ours: theirs may quote the data.

    For Arrow's own calls alone: a ValueError of ours is a bug, not a damaged file.
    """
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, EOFError, ValueError) as error:
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
    """A Parquet file; ``words`` are the string columns with few distinct values."""

    blob: Blob
    fields: tuple[Field, ...]
    metadata: pq.FileMetaData

    @property
    def name(self) -> str:
        """The file's name."""
        return self.blob.name

    @property
    def rows_about(self) -> int:
        """The rows that the footer states."""
        return int(self.metadata.num_rows)

    def load(self, names: Collection[str], hashed: Collection[str]) -> None:
        """Do nothing: rows are decoded as they are asked for."""

    def pieces(self) -> Sequence[Piece]:
        """Return the row groups that have rows."""
        groups = range(self.metadata.num_row_groups)
        sizes = [self.metadata.row_group(group).num_rows for group in groups]
        return tuple(
            RowGroup(part=self, group=group, rows=rows)
            for group, rows in zip(groups, sizes, strict=True)
            if rows
        )

    def close(self) -> None:
        """Release the bytes."""
        self.blob.close()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowGroup:
    """One row group. Every call opens the file anew, so threads share nothing."""

    part: ParquetPart
    group: int
    rows: int

    @property
    def stays(self) -> bool:
        """Whether the bytes are in this process, as those of standard input are."""
        return isinstance(self.part.blob, MemoryBlob | TemporaryBlob)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel as place and number: the footer of a file may be larger than its rows."""
        from mipaudit.tables.distant_row_group import DistantRowGroup

        return DistantRowGroup, (self.part.blob, self.group, self.rows)

    def chunks(self, names: Collection[str], first_row: int) -> Iterator[Chunk]:
        """Decode the named columns in chunks."""
        readers = {name: ArrowReader() for name in names}
        left = self.rows
        for batch in self._batches(names):
            columns = read_columns(batch, readers, self.part.name)
            yield Chunk(first_row=first_row, rows=batch.num_rows, columns=columns)
            first_row += batch.num_rows
            left -= batch.num_rows
        if left:
            raise _incomplete(self.part.name)

    def _batches(self, names: Collection[str]) -> Iterator[pa.RecordBatch]:
        with arrow_errors(self.part.name), _opened(self.part.blob) as source:
            file = _parquet_file(source, self.part, self.group, names)
            yield from file.iter_batches(
                batch_size=CHUNK_ROWS,
                row_groups=[self.group],
                columns=list(names),
                use_threads=False,
            )


@contextmanager
def _opened(blob: Blob) -> Iterator[str | IO[bytes] | RawIOBase]:
    if isinstance(blob, FileBlob):
        # Arrow reads a path without Python in between.
        yield str(blob.path)
        return
    if is_remote(blob):
        with cast("RemoteBlob", blob).open_ranges() as stream:
            yield stream
        return
    with blob.open() as stream:
        yield stream


def _parquet_file(
    source: str | IO[bytes] | RawIOBase, part: ParquetPart, group: int, names: Collection[str]
) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    strings = [f.name for f in part.fields if f.name in names and f.kind == "string"]
    few = [name for name in strings if _few_words(part, group, name)]
    buffer = _buffer_size(part, group, names)
    return pq.ParquetFile(
        source,
        metadata=part.metadata,
        # Neighbouring columns in one request. Of a file it would only take memory.
        pre_buffer=buffer == 0 and is_remote(part.blob),
        buffer_size=buffer,
        read_dictionary=few or None,
        page_checksum_verification=True,
    )


def _few_words(part: ParquetPart, group: int, name: str) -> bool:
    """Tell whether a string column has a small dictionary, which is cheaper as it is."""
    row_group = part.metadata.row_group(group)
    for at in range(row_group.num_columns):
        column = row_group.column(at)
        if column.path_in_schema == name and column.dictionary_page_offset is not None:
            size = column.data_page_offset - column.dictionary_page_offset
            return bool(0 < size <= _SMALL_DICTIONARY)
    return False


def _buffer_size(part: ParquetPart, group: int, names: Collection[str]) -> int:
    """Return the bytes to read of a column at once, 0 for all: many columns share the room."""
    row_group = part.metadata.row_group(group)
    columns = (row_group.column(at) for at in range(row_group.num_columns))
    sizes = [c.total_compressed_size for c in columns if c.path_in_schema in names]
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
    import pyarrow.parquet as pq

    with arrow_errors(blob.name), _opened(blob) as source:
        file = pq.ParquetFile(source, pre_buffer=False)
        schema, metadata = file.schema_arrow, file.metadata
    unique_names(schema.names, blob.name)
    return ParquetPart(blob=blob, fields=arrow_fields(schema), metadata=metadata)
