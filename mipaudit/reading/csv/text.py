"""CSV files held as text: small ones, wide ones, and ones without a header.

By the standard library: no import, no wait.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.errors import InputError
from mipaudit.reading.bytes.unpacked import plain_stream, read_whole
from mipaudit.reading.columns.column import Column, Field, Kind, Numbers
from mipaudit.reading.columns.names import is_score_like
from mipaudit.reading.columns.score_selection import is_cell, is_known
from mipaudit.reading.csv.cells import (
    column_kind,
    is_number,
    looks_numeric,
    needs_text,
    parse_booleans,
    parse_keys,
    parse_labels,
    parse_numbers,
)
from mipaudit.reading.csv.dialect import (
    DELIMITERS,
    Dialect,
    csv_rows,
    decode_text,
    diagnose_csv,
    is_blank,
    read_dialect,
)
from mipaudit.reading.sheets.tile import TextSheet

if TYPE_CHECKING:
    from mipaudit.reading.bytes.blob import Blob, Format

_OWN_WORDS: Final = 2


class CsvText:
    """The rows of a CSV text as columns of cells, converted when asked for."""

    def __init__(self, body: bytes, dialect: Dialect, name: str) -> None:
        """Split ``body``, the UTF-8 text after the header, into cells.

        Raises:
            InputError: ``ragged_rows``, ``bad_quotes``, ``no_rows`` or ``no_header``.
        """
        self._body, self._dialect, self._name = body, dialect, name
        rows = self._rows()
        if not rows:
            raise InputError("no_rows", f"{name}: there is a header and no row.")
        self.rows = len(rows)
        self._cells: dict[str, Sequence[str]] = dict(
            zip(dialect.names, zip(*rows, strict=True), strict=True)
        )
        self._columns: dict[str, Column] = {}
        self._refuse_record()

    def _refuse_record(self) -> None:
        """Raise InputError when the names are cells of a record.

        A column ``member`` may say "member", and one of numbers be called "nan", where another
        name tells that this is a header; that two name a value of theirs never is.
        """
        names = self._dialect.names
        own = {name for name in names if name in self._cells[name]}
        many = len(own) >= min(_OWN_WORDS, len(names))
        if many or ((own or self._has_stray_cell()) and not self._is_headed(own)):
            raise InputError(
                "no_header",
                f"{self._name}: the first line is a record, or files were joined with their "
                "headers: it holds values, or says that one is missing, where names are expected.",
                hint="Add a header line, and leave out those that are repeated.",
            )

    def _has_stray_cell(self) -> bool:
        """Tell whether a column of numbers is called as a missing number is written.

        The first may lack a name: it counts the rows where a frame was written.
        """
        stray = [name for name in self._dialect.names[1:] if is_cell(name)]
        return any(self._parsed(name) is not None for name in stray)

    def _is_headed(self, own: Collection[str]) -> bool:
        """Tell whether a name is one that records do not hold: a column's, or above numbers."""
        return any(
            is_known(name) or (not is_cell(name) and self._parsed(name) is not None)
            for name in self._dialect.names
            if name not in own
        )

    def _rows(self) -> list[list[str]]:
        text = io.StringIO(self._body.decode("utf-8"), newline="")
        width = len(self._dialect.names)
        rows: list[list[str]] = [[]]
        with suppress(csv.Error):
            rows = list(csv_rows(text, self._dialect.delimiter))
        if set(map(len, rows)) - {width} or width == 1:
            self._diagnose(())
            rows = [row for row in rows if not is_blank(row)]
        return rows

    def _diagnose(self, numeric: Iterable[str]) -> None:
        diagnose_csv(io.BytesIO(self._body), self._dialect, numeric, self._name)

    def kind(self, name: str) -> Kind:
        """Return what kind of column ``name`` is."""
        column = self._parsed(name)
        if column is not None:
            return column_kind(column)
        score_like = is_score_like(name)
        return "float" if looks_numeric(self._cells[name], score_like=score_like) else "string"

    def needing_text(self) -> frozenset[str]:
        """Return the columns of floats whose cells alone say what a float64 takes from them."""
        floats = ((name, self._parsed(name)) for name in self._dialect.names)
        return frozenset(
            name
            for name, column in floats
            if column is not None
            and column.values.dtype.kind == "f"
            and (column.rounded is not None or needs_text(column.values, extreme=False))
        )

    def _parsed(self, name: str) -> Numbers | None:
        """Return the column as numbers or booleans, or None for text."""
        column = self._columns.get(name)
        if column is None:
            cells = self._cells[name]
            column = parse_numbers(cells) or parse_booleans(cells)
            if column is not None:
                self._columns[name] = column
        return column if isinstance(column, Numbers) else None

    def words(self, name: str) -> Column:
        """Return the column ``name`` as it is written, numbers too."""
        return parse_labels(self._cells[name])

    def keys(self, name: str) -> Column:
        """Return the column ``name``, which names records, persons or groups."""
        return parse_keys(self._cells[name])

    def column(self, name: str) -> Column:
        """Return the column ``name``.

        Raises:
            InputError: ``unparsable`` or ``decimal_comma`` when it should be
                numbers and one cell is not.
        """
        column = self._parsed(name)
        if column is not None:
            return column
        if self.kind(name) == "float":
            self._diagnose((name,))
        return parse_labels(self._cells[name])


_BOM: Final = b"\xef\xbb\xbf"
# pandas calls columns without names 0, 1, 2, ...; a file of fewer columns that
# begins so may as well hold these numbers.
_COUNTED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CsvTable(TextSheet):
    """A CSV text as columns.

    Attributes:
        name: what messages call the file.
        dialect: how it is written.
        named: whether it has a header.
        rows: how many.
        text: holds them.
    """

    name: str
    dialect: Dialect
    named: bool
    rows: int
    text: CsvText

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns by kind."""
        return tuple(Field(name=name, kind=self.text.kind(name)) for name in self.dialect.names)

    def key(self, name: str) -> Column:
        """Return the column ``name``, which names records, persons or groups."""
        return self.text.keys(name)

    def column(self, name: str) -> Column:
        """Return the column ``name`` as numbers, or as labels when it is text."""
        return self.text.column(name)


def read_csv_text(blob: Blob, kind: Format) -> CsvTable:
    """Read all of a CSV file, which may have no header if it holds only numbers.

    Raises:
        InputError: every fault of the header and of the rows' lengths.
    """
    with plain_stream(blob, kind) as stream:
        data = read_whole(stream, blob, kind)
    text = decode_text(data, blob.name)
    if not text.strip():
        raise InputError("empty_file", f"{blob.name}: the file is empty.")
    try:
        dialect, named = read_dialect(data, text, blob.name), True
    except InputError as error:
        found = _numeric_header(data, text) if error.code == "no_header" else None
        if found is None:
            raise
        dialect, named = found
    rows = CsvText(data[dialect.header_bytes :], dialect, blob.name)
    return CsvTable(
        name=blob.name,
        dialect=dialect,
        named=named,
        rows=rows.rows,
        text=rows,
    )


def _numeric_header(data: bytes, text: str) -> tuple[Dialect, bool] | None:
    """Return how a file is written that begins with numbers, and whether they are names.

    None when its first line holds something else beside numbers.
    """
    lines = io.StringIO(text, newline="")
    line, blank = lines.readline(), 0
    while not line.strip():
        line, blank = lines.readline(), blank + 1
    delimiter = max(DELIMITERS, key=line.count)
    try:
        cells = [cell.strip() for cell in next(csv_rows([line], delimiter))]
    except csv.Error:
        return None
    bom = len(_BOM) if data.startswith(_BOM) else 0
    numbers = cells if cells[0] else cells[1:]
    if len(numbers) >= _COUNTED and numbers == [str(at) for at in range(len(numbers))]:
        before = len(text[: lines.tell()].encode())
        names = (*(["unnamed:0"] if not cells[0] else []), *numbers)
        return _dialect(delimiter, names, lines=blank + 1, size=bom + before), True
    if not all(map(is_number, cells)):
        return None
    if len(cells) < _COUNTED and cells == [str(at) for at in range(len(cells))]:
        return None
    return _dialect(delimiter, [f"c{at}" for at in range(len(cells))], lines=0, size=bom), False


def _dialect(delimiter: str, names: Sequence[str], *, lines: int, size: int) -> Dialect:
    return Dialect(delimiter=delimiter, names=tuple(names), header_lines=lines, header_bytes=size)
