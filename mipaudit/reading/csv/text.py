"""CSV files held as text: wide ones, ones without a header, and small vectors."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.errors import InputError
from mipaudit.reading.bytes.unpacked import read_whole
from mipaudit.reading.columns.column import Column, Field, Numbers
from mipaudit.reading.csv.cells import is_number
from mipaudit.reading.csv.dialect import (
    DELIMITERS,
    Dialect,
    csv_rows,
    decode_text,
    plain_stream,
    read_dialect,
)
from mipaudit.reading.csv.small import CsvText
from mipaudit.reading.sheets.tile import column_tile, fill_matrix
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.reading.bytes.blob import Blob, Format

_BOM: Final = b"\xef\xbb\xbf"
# pandas calls columns without names 0, 1, 2, ...; a file of fewer columns that
# begins so may as well hold these numbers.
_COUNTED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CsvTable:
    """A CSV text as columns.

    Attributes:
        name: what messages call the file.
        dialect: how it is written.
        header: the text up to the first row, with its byte order mark.
        newline: at the end of its first line.
        named: whether it has a header.
        text: the rows.
    """

    name: str
    dialect: Dialect
    header: str
    newline: str
    named: bool
    text: CsvText

    @property
    def rows(self) -> int:
        """How many rows."""
        return self.text.rows

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns by kind."""
        return tuple(Field(name=name, kind=self.text.kind(name)) for name in self.dialect.names)

    def matrix(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the named columns, finite, of shape (rows, len(names)).

        Raises:
            InputError: ``unparsable``, ``decimal_comma`` or as ``fill_matrix``.
        """
        tiles = (
            column_tile(self._numbers(name), row=0, column=at) for at, name in enumerate(names)
        )
        return fill_matrix(tiles, rows=self.rows, columns=names, source=self.name)

    def _numbers(self, name: str) -> Numbers:
        column = self.text.column(name)
        if isinstance(column, Numbers):
            return column
        raise InputError("unparsable", f"{self.name}: column {quoted_name(name)} is no number.")

    def keys(self, name: str) -> Column:
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
    return CsvTable(
        name=blob.name,
        dialect=dialect,
        header=data[: dialect.header_bytes].decode("utf-8"),
        newline=_newline(text),
        named=named,
        text=CsvText(data[dialect.header_bytes :], dialect, blob.name),
    )


def _newline(text: str) -> str:
    first = io.StringIO(text, newline="").readline()
    return next((end for end in ("\r\n", "\n", "\r") if first.endswith(end)), "\n")


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
