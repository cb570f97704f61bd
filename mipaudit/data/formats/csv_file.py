"""A CSV file as a part of the input: parsed once, block by block, whatever its size.

What its columns hold is told by its first rows, or by all of a small file. Numbers are what Python
reads, to the last bit, whether Arrow converts them or `cells` does: that is for keys, for what
Arrow refuses, and for numbers that may have lost digits.
"""

from __future__ import annotations

import csv
import io
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import IO, TYPE_CHECKING, Final

import numpy as np

from mipaudit.data.column import (
    EXACT,
    ChunkStore,
    Column,
    Field,
    Kind,
    Part,
    column_hashes,
    column_scores,
    compact_column,
)
from mipaudit.data.files.blob import Blob, Format, read_up_to
from mipaudit.data.files.contents import HEAD, plain_stream, read_whole, require_table
from mipaudit.data.formats.cells import (
    LEAST,
    MISSING,
    booleans_of,
    column_kind,
    column_of,
    keys_of,
    labels_of,
    looks_numeric,
    numbers_of,
    without,
)
from mipaudit.data.formats.csv_text import (
    Dialect,
    MisfitError,
    blocks,
    csv_fault,
    csv_rows,
    find_header,
    in_order,
    read_block,
    records_end,
)
from mipaudit.data.parts import merged_kind
from mipaudit.data.words import is_cell, is_known, is_score_like
from mipaudit.errors import InputError
from mipaudit.statements.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mipaudit.maths.arrays import Floats

# Up to here all is looked at before anything is parsed, so that no fault is found late.
SMALL_TEXT: Final = 4 << 20
# The kinds of a larger file's columns are guessed from so many bytes; a column
# that turns out otherwise is followed, or is an error.
HEAD_BYTES: Final = 1 << 18
_NUMBERS: Final = frozenset({"float", "integer", "empty"})
# Lines of a block in which digits are looked at, and in how many blocks; in later ones fewer.
_LINES: Final = 512
_LINES_LATER: Final = 8
_BLOCKS_OF_MANY: Final = 128
_SPARSE: Final = 97
_SPREAD: Final = 7919
# A first line with so many of its names among the cells below is a record.
_OWN_WORDS: Final = 2


@dataclass(slots=True, kw_only=True, eq=False)
class CsvColumn:
    """How the cells of a column become numbers, labels or keys; several threads may ask.

    Attributes:
        name: of the column.
        kind: as its first rows show it.
        key: it names records, persons or groups, as `keys_of` reads them.
        hashed: it is needed as hashes alone.
        exact: its numbers are read as text first, which tells what a float64 takes from them.
        found: the kinds that all rows show.
        forms: in which keys are written that were numbers so far; more than one are words.
        loses: whether a cell was met that says more than a float64, where not all are looked at.
    """

    name: str
    kind: Kind
    key: bool
    hashed: bool
    exact: bool
    found: set[Kind] = field(default_factory=set)
    forms: set[str] = field(default_factory=set)
    loses: bool = False

    @property
    def typed(self) -> bool:
        """Whether Arrow converts it."""
        return self.kind in {"float", "integer"} and not self.key and not self.exact

    @property
    def late(self) -> bool:
        """Whether what the column holds was seen too late for the rows before."""
        return self.loses or len(self.forms) > 1

    def again(self) -> CsvColumn:
        """Return how to read all rows once more."""
        kind: Kind = "string" if len(self.forms) > 1 else self.kind
        return replace(
            self, kind=kind, exact=self.exact or self.loses, found=set(), forms=set(), loses=False
        )

    def take(self, cells: Column) -> Column:
        """Return the column of some rows as it is kept.

        Args:
            cells: numbers, or the words that are to become some.

        Raises:
            MisfitError: a cell that must be a number is none.
        """
        column: Column | None = cells
        if cells.vocabulary is not None:
            if self.kind not in _NUMBERS:
                column = (booleans_of(cells) if self.kind == "bool" else None) or cells
            else:
                column = self._key(cells) if self.key else numbers_of(cells)
        if column is None:
            raise MisfitError
        fraction = self.kind == "float" and not self.key
        self.found.add("float" if fraction else column_kind(column))
        return column_hashes(column) if self.hashed else compact_column(column)

    def _key(self, cells: Column) -> Column:
        """Return keys that were numbers so far, and note in which form they are."""
        column = keys_of(cells)
        if cells.words:
            self.forms.add(column_kind(column))
            if column.vocabulary is not None:
                # The rows before were read as numbers.
                self.forms.add("late")
        return column


class CsvPart(Part):
    """A CSV file, plain or compressed.

    Attributes:
        large: whether most of the file is yet to be parsed.
        threads: that may parse it.
    """

    threads = 1

    def __init__(self, blob: Blob, found: Format, *, unnamed: bool = False) -> None:
        """Read the header and the first rows.

        Args:
            blob: the bytes.
            found: how they are compressed.
            unnamed: it may have no header if it holds only numbers; all of it is held as text.

        Raises:
            InputError: every fault of the header, and of all rows of a small file.
        """
        self.blob: Blob = blob
        self.name, self.format = blob.name, found
        with plain_stream(blob, found) as stream:
            if unnamed:
                data = read_whole(stream, blob, found)
            else:
                data = read_up_to(stream, SMALL_TEXT + 1)
                require_table(blob.name, data[:HEAD])
        self.large = not unnamed and len(data) > SMALL_TEXT
        if self.large:
            data = _complete_lines(data[: min(HEAD_BYTES, SMALL_TEXT)], blob.name)
        self.dialect = find_header(data, blob.name, unnamed=unnamed)
        self._text = data[self.dialect.header_bytes :]
        rows, kinds, self._exact = read_head(self._first_records(), self.dialect, blob.name)
        self._kinds: dict[str, Kind] = {}
        self._take_kinds(kinds)
        # Of a compressed file this is too small, which only makes it look harder.
        self.rows_about = rows * blob.size // len(data) if self.large else rows
        self._store = ChunkStore()

    def _first_records(self) -> bytes:
        if not self.large:
            return self._text
        text = self._text[: records_end(self._text, self.dialect.delimiter)]
        if not text.strip():
            longer = InputError(
                "long_row",
                f"{self.name}: the first row is longer than {HEAD_BYTES >> 10} KiB.",
                "Is it a table? Leave out columns of long text.",
            )
            raise csv_fault(io.BytesIO(self._text), self.dialect, (), self.name, unknown=longer)
        return text

    def take_as_words(self, names: Collection[str]) -> None:
        """Read these columns as they are written, whatever their cells look like."""
        self._take_kinds(dict.fromkeys(self._kinds.keys() & set(names), "string"))

    def _take_kinds(self, kinds: Mapping[str, Kind]) -> None:
        """Note what columns hold; of a large file all rows show it only when it is loaded."""
        self._kinds |= kinds
        self.fields = tuple(Field(name=name, kind=kind) for name, kind in self._kinds.items())

    def load(
        self, names: Collection[str], hashed: Collection[str] = (), keys: Collection[str] = ()
    ) -> None:
        """Parse the named columns.

        Raises:
            InputError: a cell does not fit its column, or a row the header.
        """
        columns = [
            CsvColumn(
                name=name,
                kind=self._kinds[name],
                key=name in hashed or name in keys,
                hashed=name in hashed,
                exact=name in self._exact,
            )
            for name in self.dialect.names
            if name in names
        ]
        self._parse(columns)
        if any(one.late for one in columns):
            columns = [one.again() for one in columns]
            self._parse(columns)
        self._take_kinds({one.name: merged_kind(one.found) for one in columns})

    @contextmanager
    def _rows(self) -> Iterator[IO[bytes]]:
        """Open the text after the header."""
        if not self.large:
            yield io.BytesIO(self._text)
            return
        with plain_stream(self.blob, self.format) as stream:
            stream.read(self.dialect.header_bytes)
            yield stream

    def _parse(self, columns: Sequence[CsvColumn]) -> None:
        """Parse everything into the store.

        Raises:
            InputError: every fault that ``csv_fault`` knows, and ``mixed_column``.
        """
        self._store.clear()
        try:
            with self._rows() as stream:
                found = enumerate(blocks(stream, self.dialect.delimiter, self.name))
                for rows, parsed in in_order(partial(self._block, columns), found, self.threads):
                    self._store.append(parsed, rows)
        except MisfitError:
            numeric = [one.name for one in columns if one.kind in _NUMBERS]
            with self._rows() as stream:
                raise csv_fault(stream, self.dialect, numeric, self.name) from None
        for one in columns:
            # The same cell would have two values: 1 here, a hash of its text there.
            if one.found >= {"bool", "string"}:
                raise InputError(
                    "mixed_column",
                    f"{self.name}: column {quoted_name(one.name)} holds true and false "
                    "in most rows and other words in some.",
                    "Write one kind of value in all rows of a column.",
                )

    def _block(
        self, columns: Sequence[CsvColumn], block: tuple[int, bytes]
    ) -> tuple[int, dict[str, Column]]:
        """Return the rows of a block and its columns.

        Raises:
            MisfitError: it is no such table.
        """
        at, text = block
        try:
            _ = text.isascii() or text.decode()
        except UnicodeDecodeError:
            raise MisfitError from None
        if b"\0" in text:
            raise MisfitError
        if self.large:
            many = _LINES if at < _BLOCKS_OF_MANY else _LINES_LATER
            self._look(columns, _some_lines(text, many))
        with suppress(MisfitError):
            return self._columns(columns, text, typed=True)
        return self._columns(columns, text, typed=False)

    def _columns(
        self, columns: Sequence[CsvColumn], text: bytes, *, typed: bool
    ) -> tuple[int, dict[str, Column]]:
        """Return rows and columns, converted by Arrow where they are typed.

        Raises:
            MisfitError: the text is no such table, or Arrow reads it otherwise than Python.
        """
        import pyarrow as pa

        words = pa.dictionary(pa.int32(), pa.string())
        numbers = {"float": pa.float64(), "integer": pa.int64()}
        types = {one.name: numbers[one.kind] if typed and one.typed else words for one in columns}
        rows, arrays = read_block(text, self.dialect, types, missing=MISSING)
        found = {}
        for one in columns if rows else ():
            cells = column_of(arrays[one.name])
            if cells.numeric:
                _require_numbers_of_python(cells, text)
                if one.kind == "float":
                    cells = self._with_lost(one.name, column_scores(cells), text)
            found[one.name] = one.take(cells)
        return rows, found

    def _with_lost(self, name: str, values: Floats, text: bytes) -> Column:
        """Return floats as Arrow converted them, and which say less than what is written."""
        size, column = np.abs(values), Column(values=values)
        # Two reductions serve nearly always; NaN passes neither.
        if size.size and size.min() >= LEAST and size.max() < EXACT:
            return column
        at = np.flatnonzero((size < LEAST) | (size >= EXACT))
        if not at.size:
            return column
        import pyarrow as pa

        _, arrays = read_block(text, self.dialect, {name: pa.string()})
        found = numbers_of(labels_of([arrays[name][row].as_py() for row in at.tolist()]))
        if found is None or found.lost is None:
            return column
        lost = np.zeros(values.size, dtype=np.bool_)
        lost[at] = found.lost
        return replace(column, lost=lost)

    def _look(self, columns: Sequence[CsvColumn], lines: Sequence[bytes]) -> None:
        """Note the columns that lose digits in some of the lines."""
        text = b"\n".join(lines).decode("utf-8", errors="replace")
        names = self.dialect.names
        with suppress(csv.Error):
            rows = [
                cells
                for cells in csv_rows(text.splitlines(), self.dialect.delimiter)
                if len(cells) == len(names)
            ]
            for one in columns:
                if one.typed and one.kind == "float" and not one.loses:
                    at = names.index(one.name)
                    column = numbers_of(labels_of([cells[at] for cells in rows]))
                    one.loses = column is not None and column.lost is not None


def read_head(
    body: bytes, dialect: Dialect, name: str
) -> tuple[int, dict[str, Kind], frozenset[str]]:
    """Split ``body``, whole records in UTF-8 after the header, into cells.

    Returns:
        The rows, the kinds of the columns, and those columns of numbers some of which say more
        than a float64 can hold.

    Raises:
        InputError: ``ragged_rows``, ``bad_quotes``, ``no_rows`` or ``no_header``.
    """
    import pyarrow as pa

    words = pa.dictionary(pa.int32(), pa.string())
    try:
        rows, columns = read_block(body, dialect, dict.fromkeys(dialect.names, words))
    except MisfitError:
        raise csv_fault(io.BytesIO(body), dialect, (), name) from None
    if not rows:
        raise InputError("no_rows", f"{name}: there is a header but no row.")
    written = {one: column_of(column) for one, column in columns.items()}
    cells = {one: without(column, MISSING) for one, column in written.items()}
    numbers = {one: numbers_of(column) or booleans_of(column) for one, column in cells.items()}
    numeric = {one for one, column in numbers.items() if column is not None}
    # A column ``member`` may say "member", and one of numbers be called "nan".
    own = {one for one, column in written.items() if one in column.words}
    if _is_record(dialect.names, own, numeric):
        raise InputError(
            "no_header",
            f"{name}: the first line holds values, or missing ones, instead of column names. The "
            "header is missing, or files were joined with their headers.",
            "Add a header line, and remove repeated ones.",
        )
    kinds: dict[str, Kind] = {}
    for one, found in numbers.items():
        if found is not None:
            kinds[one] = column_kind(found)
        else:
            meant = looks_numeric(cells[one], score_like=is_score_like(one))
            kinds[one] = "float" if meant else "string"
    exact = [one for one, column in numbers.items() if column and column.lost is not None]
    return rows, kinds, frozenset(exact)


def _is_record(names: tuple[str, ...], own: set[str], numeric: set[str]) -> bool:
    """Tell whether the names are cells of a record.

    Args:
        names: in order.
        own: those that are words of their own columns. Of a header few are.
        numeric: those of columns of numbers or booleans.
    """
    if len(own) >= min(_OWN_WORDS, len(names)):
        return True
    # A column of numbers that is called as a missing number is written. The first may lack a
    # name: it counts the rows where a frame was written.
    stray = any(is_cell(name) and name in numeric for name in names[1:])
    # A name that records do not hold: a column's, or one above numbers.
    headed = any(
        is_known(name) or (name in numeric and not is_cell(name))
        for name in names
        if name not in own
    )
    return (bool(own) or stray) and not headed


def _require_numbers_of_python(numbers: Column, text: bytes) -> None:
    """Refuse what only Arrow takes for a number.

    Raises:
        MisfitError: there may be such a cell.
    """
    if numbers.values.dtype.kind == "f":
        doubtful = b"(" in text and bool(np.isnan(column_scores(numbers)).any())  # nan(1)
    else:
        doubtful = any(one in text and b"0" + one in text for one in (b"x", b"X"))  # 0x1f
    if doubtful:
        raise MisfitError


def _complete_lines(data: bytes, name: str) -> bytes:
    end = max(data.rfind(b"\n"), data.rfind(b"\r"))
    if b"\0" in data or end < 0:
        raise InputError(
            "not_a_table", f"{name}: neither CSV text nor Parquet (it has no line end)."
        )
    return data[: end + 1]


def _some_lines(text: bytes, many: int) -> list[bytes]:
    """Return about so many lines, at places that the text decides: no order of rows evades them."""
    step = max(1, len(text) // many)
    bytes_of = np.frombuffer(text, dtype=np.uint8)
    first = int(bytes_of[::_SPARSE].sum(dtype=np.uint64)) * _SPREAD % step
    starts = {text.find(b"\n", place) + 1 for place in range(first, len(text), step)}
    return [text[start : text.find(b"\n", start)] for start in starts - {0}]
