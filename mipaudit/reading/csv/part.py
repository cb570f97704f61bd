"""A CSV file as a part of the input: parsed once, whatever its size."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import Blob, BoundBlob, Format, read_up_to
from mipaudit.reading.bytes.foreign import HEAD, require_table
from mipaudit.reading.bytes.unpacked import plain_stream
from mipaudit.reading.columns.column import Column, Field, Kind, column_hashes
from mipaudit.reading.columns.column_cache import (
    ChunkStore,
    StoredPart,
    compact_column,
    slice_column,
)
from mipaudit.reading.csv.cells import column_kind
from mipaudit.reading.csv.dialect import Dialect, csv_rows, decode_text, read_dialect
from mipaudit.reading.csv.text import CsvText
from mipaudit.reading.source.part import CHUNK_ROWS, input_changed

# Up to here the standard library is faster than importing pandas.
SMALL_TEXT: Final = 4 << 20
# The kinds of a larger file's columns are guessed from so many bytes; a column
# that turns out otherwise is followed, or is an error.
HEAD_BYTES: Final = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParsedCsv:
    """The kinds of all columns, and the parsed ones in chunks with their rows."""

    kinds: dict[str, Kind]
    chunks: list[tuple[int, dict[str, Column]]]


class CsvPart(StoredPart):
    """A CSV file, plain or compressed.

    Attributes:
        threads: that may parse a large one.
    """

    def __init__(self, blob: Blob, found: Format) -> None:
        """Read the header and the first rows.

        Raises:
            InputError: every fault of the header, and of all rows of a small file.
        """
        self.blob = blob
        self.format: Format = found
        with plain_stream(blob, found) as stream:
            data = read_up_to(stream, SMALL_TEXT + 1)
        require_table(blob.name, data[:HEAD])
        whole = len(data) <= SMALL_TEXT
        if not whole:
            data = _complete_lines(data[: min(HEAD_BYTES, SMALL_TEXT)], blob.name)
        text = decode_text(data, blob.name)
        if not text.strip():
            raise InputError("empty_file", f"{blob.name}: the file is empty.")
        self._dialect = read_dialect(data, text, blob.name)
        if not whole:
            data = _complete_records(data, self._dialect)
        rows = self._first_rows(data, whole=whole)
        self._row_bytes = max(1, len(data) // rows.rows)
        self._text = rows if whole else None
        self._kinds = {name: rows.kind(name) for name in self._dialect.names}
        self._exact = frozenset() if whole else rows.needing_text()
        # Of a compressed file this is too small, which only makes it look harder.
        self.rows_about = rows.rows if whole else rows.rows * blob.size // len(data)
        self._fields: tuple[Field, ...] | None = None
        self._store = ChunkStore()
        self._words: frozenset[str] = frozenset()
        self.threads = 1

    def _first_rows(self, data: bytes, *, whole: bool) -> CsvText:
        try:
            return CsvText(data[self._dialect.header_bytes :], self._dialect, self.blob.name)
        except InputError as error:
            if whole or error.code != "no_rows":
                raise
            # There is one, which does not end in the bytes that were looked at.
            raise InputError(
                "long_row",
                f"{self.blob.name}: the first row is longer than {HEAD_BYTES >> 10} KiB.",
                hint="Is it a table? Leave out columns of long text.",
            ) from None

    @property
    def name(self) -> str:
        """The file's name."""
        return self.blob.name

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns; of a large file, as its first rows show them until it is loaded."""
        if self._fields is None:
            found = (Field(name=name, kind=kind) for name, kind in self._kinds.items())
            self._fields = tuple(found)
        return self._fields

    def take_as_words(self, names: Collection[str]) -> None:
        """Read these columns as they are written, whatever their cells look like."""
        self._words = frozenset(names) & self._kinds.keys()
        self._kinds |= dict.fromkeys(self._words, "string")
        self._fields = None

    def load(
        self, names: Collection[str], hashed: Collection[str], keys: Collection[str] = ()
    ) -> None:
        """Parse the named columns.

        Raises:
            InputError: a cell does not fit its column, or a row the header.
        """
        self._store.close()
        self._store = ChunkStore()
        named = frozenset(hashed) | frozenset(keys)
        if self._text is None:
            self._load_large(names, hashed, named)
        else:
            self._load_small(self._text, names, hashed, named)

    def _load_small(
        self,
        text: CsvText,
        names: Collection[str],
        hashed: Collection[str],
        keys: frozenset[str],
    ) -> None:
        found: dict[str, Column] = {}
        for name in names:
            if name in self._words:
                found[name] = text.words(name)
            elif name in keys:
                found[name] = text.keys(name)
                self._kinds[name] = column_kind(found[name])
            else:
                found[name] = text.column(name)
        self._fields = None
        columns = {
            name: column_hashes(column) if name in hashed else column
            for name, column in found.items()
        }
        for start in range(0, text.rows, CHUNK_ROWS):
            stop = min(start + CHUNK_ROWS, text.rows)
            chunk = {
                name: compact_column(slice_column(column, start, stop))
                for name, column in columns.items()
            }
            self._store.append(chunk, stop - start)

    def _load_large(
        self, names: Collection[str], hashed: Collection[str], keys: frozenset[str]
    ) -> None:
        from mipaudit.reading.csv.large import LargeCsv, SeenLateError

        large = LargeCsv(
            blob=self.blob,
            format=self.format,
            dialect=self._dialect,
            kinds=self._kinds,
            exact=self._exact - self._words - keys,
            keys=keys - self._words,
            row_bytes=self._row_bytes,
            threads=self.threads,
        )
        try:
            self._kinds |= large.parse(self._store, names, hashed)
        except SeenLateError as late:
            # What a column holds was seen too late for the rows before.
            self._store.clear()
            again = replace(
                large,
                exact=large.exact | late.exact,
                kinds={**large.kinds, **dict.fromkeys(late.words, "string")},
            )
            self._kinds |= again.parse(self._store, names, hashed)
        self._fields = None

    @property
    def large(self) -> bool:
        """Tell whether most of the file is yet to be parsed."""
        return self._text is None

    @property
    def travels(self) -> bool:
        """Tell whether another process can open the file, too."""
        return not isinstance(self.blob, BoundBlob)

    def textual(self, names: Collection[str]) -> bool:
        """Tell whether one of the named columns is text, as its first rows show it."""
        return any(self._kinds.get(name) in {"string", "other"} for name in names)

    def adopt(self, parsed: ParsedCsv) -> None:
        """Take what another process parsed in place of `load`."""
        self._store.close()
        self._store = ChunkStore()
        self._kinds |= parsed.kinds
        self._fields = None
        for rows, columns in parsed.chunks:
            self._store.append(columns, rows)

    def parsed(self, names: Collection[str]) -> ParsedCsv:
        """Return what `load` left, to be handed to another process."""
        store = self._store
        return ParsedCsv(
            kinds=self._kinds,
            chunks=[(rows, store.get(at, names)) for at, rows in enumerate(store.rows)],
        )

    def close(self) -> None:
        """Release memory, temporary file and bytes."""
        super().close()
        self.blob.close()


def parse_elsewhere(
    blob: Blob,
    found: Format,
    names: Collection[str],
    hashed: Collection[str],
    keys: Collection[str],
) -> ParsedCsv:
    """Parse a file in a process that has not opened it.

    Raises:
        InputError: as `CsvPart` and its `load`; ``input_changed``.
    """
    part = CsvPart(blob, found)
    try:
        part.load(names, hashed, keys)
        if blob.changed():
            raise input_changed(blob)
        return part.parsed(names)
    finally:
        part.close()


def _complete_lines(data: bytes, name: str) -> bytes:
    end = max(data.rfind(b"\n"), data.rfind(b"\r"))
    if b"\0" in data or end < 0:
        raise InputError(
            "not_a_table", f"{name}: neither CSV text nor Parquet (no line ends in it)."
        )
    return data[: end + 1]


def _complete_records(data: bytes, dialect: Dialect) -> bytes:
    """Return ``data`` without a last row that goes on beyond it.

    A quoted cell may hold line ends, so that complete lines can end inside one.
    """
    text = data[dialect.header_bytes :].decode("utf-8")
    lines = io.StringIO(text, newline="").readlines()
    reader = csv_rows(lines, dialect.delimiter)
    taken = 0
    try:
        for _ in reader:
            taken = reader.line_num
    except csv.Error:
        # In the last line: the row goes on. Elsewhere, or in the only row: a fault.
        if taken and reader.line_num == len(lines):
            return data[: -len("".join(lines[taken:]).encode())]
    return data
