"""Parquet files: one piece per row group, only the columns that are needed.

pyarrow's accessors of row groups and of their columns end the process (C++ ``terminate``) where a
footer contradicts itself, as one with a flipped bit may: nothing catches their exceptions. Opening
a file and decoding it are safe. So the rows of a row group are learned by decoding none of its
columns, and no more is asked about it.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from mipaudit.data.column import CHUNK_ROWS, Chunk, ChunkStore, Part, Piece
from mipaudit.data.files.blob import Blob, FileBlob, encrypted
from mipaudit.data.formats.cells import arrow_fields, read_batches
from mipaudit.data.parts import input_changed
from mipaudit.data.words import unique_names
from mipaudit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# A larger row group is read through buffers instead of at once, which share so much: a file with a
# single huge row group must not be held in memory.
_READ_AT_ONCE: Final = 32 << 20
_BUFFERS: Final = range(1 << 16, 4 << 20)
# Of a file with more row groups than that, those of so many rows in all are read as one.
_MANY_GROUPS: Final = 1 << 10
_SMALL_TOGETHER: Final = 1 << 14
# Of so many rows, so many words are few.
_PEEKED: Final = 1024
_FEW_WORDS: Final = 512
# In Arrow's words where a column takes a key.
_ENCRYPTED: Final = "decrypt"
# More rows than any row group has.
_ALL_ROWS: Final = (1 << 63) - 1


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
        "Was it cut off or damaged while it was written or copied?",
    )


class ParquetPart(Part):
    """A Parquet file.

    Attributes:
        metadata: its footer as pyarrow reads it, to open the file with; never to be asked
            about row groups.
        rows: of each row group.
        few: whether a column of text has few words, as far as somebody has looked.
    """

    blob: Blob

    def __init__(self, blob: Blob) -> None:
        """Read the footer.

        Raises:
            InputError: ``bad_parquet`` when the file is truncated or something else,
                ``duplicate_columns``.
        """
        import pyarrow.parquet as pq

        with arrow_errors(blob.name), blob.open_ranges() as stream:
            file = pq.ParquetFile(stream, pre_buffer=False)
            self.schema, self.metadata = file.schema_arrow, file.metadata
            self.rows = _rows_of_groups(file)
        unique_names(self.schema.names, blob.name)
        # Of a row group that says less than it has, rows would be lost.
        if min(self.rows, default=0) < 0 or sum(self.rows) != self.metadata.num_rows:
            raise _incomplete(blob.name)
        self.name, self.blob, self.fields = blob.name, blob, arrow_fields(self.schema)
        self.rows_about = sum(self.rows)
        self.few: dict[str, bool] = {}
        self._store = ChunkStore()

    def pieces(self) -> Sequence[Piece]:
        """Return the row groups that have rows; of many, small ones together: each takes time."""
        found: list[RowGroup] = []
        most = _SMALL_TOGETHER if len(self.rows) > _MANY_GROUPS else 0
        for group, rows in enumerate(self.rows):
            last = found[-1] if found else None
            if last is not None and last.rows + rows <= most:
                found[-1] = replace(last, count=group + 1 - last.first, rows=last.rows + rows)
            elif rows:
                found.append(RowGroup(self.blob, group, 1, rows, self))
        return [Piece(one.rows, self.blob.bound, one.chunks) for one in found]


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
        if sum(part.rows[self.first : self.groups.stop]) != self.rows:
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

        about = part.blob.size * self.rows // part.rows_about
        buffer = 0
        if about > _READ_AT_ONCE:
            buffer = min(max(_READ_AT_ONCE // max(len(names), 1), _BUFFERS.start), _BUFFERS.stop)
        with arrow_errors(part.name), ExitStack() as stack:
            # Arrow reads a path without Python in between.
            source = (
                str(part.blob.path)
                if isinstance(part.blob, FileBlob)
                else stack.enter_context(part.blob.open_ranges())
            )
            open_file = partial(
                pq.ParquetFile,
                source,
                metadata=part.metadata,
                # Neighbouring columns in one request. Of a file it would only take memory.
                pre_buffer=buffer == 0 and part.blob.remote,
                buffer_size=buffer,
                page_checksum_verification=True,
            )
            try:
                file = open_file(read_dictionary=self._words(part, names, open_file))
                yield from file.iter_batches(
                    batch_size=CHUNK_ROWS,
                    row_groups=[*self.groups],
                    columns=list(names),
                    use_threads=False,
                )
            except OSError as error:
                if _ENCRYPTED in str(error):
                    file = open_file()
                    locked = (name for name in names if _takes_a_key(file, self.first, name))
                    raise encrypted(part.name, next(locked, None)) from None
                raise

    def _words(
        self, part: ParquetPart, names: Collection[str], open_file: Callable[..., pq.ParquetFile]
    ) -> list[str]:
        """Return the columns of few words: those are cheaper as they are stored.

        With many, every batch would carry all words of its row group; of small row groups
        together, every batch would be one of them alone.
        """
        texts = [one.name for one in part.fields if one.kind == "string" and one.name in names]
        if self.count > 1 or not texts:
            return []
        unknown = [name for name in texts if name not in part.few]
        if unknown:
            file = open_file(read_dictionary=unknown)
            for one in file.iter_batches(_PEEKED, row_groups=[self.first], columns=unknown):
                sizes = {name: len(one.column(name).dictionary) for name in unknown}
                part.few.update((name, size <= _FEW_WORDS) for name, size in sizes.items())
                break
        return [name for name in texts if part.few.get(name)]


def _takes_a_key(file: pq.ParquetFile, group: int, name: str) -> bool:
    """Tell whether a column of a row group cannot be decoded without a key."""
    try:
        next(file.iter_batches(1, row_groups=[group], columns=[name]), None)
    except OSError as error:
        return _ENCRYPTED in str(error)
    return False


def _rows_of_groups(file: pq.ParquetFile) -> tuple[int, ...]:
    """Return the rows of each row group: of no columns, each is a batch, or none if it is empty."""
    groups = range(file.num_row_groups)
    batches = (file.iter_batches(_ALL_ROWS, row_groups=[group], columns=[]) for group in groups)
    return tuple(sum(one.num_rows for one in found) for found in batches)


@lru_cache(maxsize=1)
def _opened_here(blob: Blob) -> ParquetPart:
    """Return a file that travelled: the row groups of one come one after the other."""
    # A file that is gone, or not there for this worker, is said to be so by opening it.
    part = ParquetPart(blob)
    if blob.changed():
        raise input_changed(blob)
    return part
