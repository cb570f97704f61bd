"""The first rows of a CSV file, or all of a small one: its header, and what its columns hold."""

from __future__ import annotations

import csv
import io
from functools import cached_property
from typing import TYPE_CHECKING, Final

from mipaudit.data.csv.blocks import read_block
from mipaudit.data.csv.cells import (
    MISSING,
    booleans_of,
    column_kind,
    is_number,
    looks_numeric,
    numbers_of,
    without,
)
from mipaudit.data.csv.dialect import (
    BOM,
    DELIMITERS,
    Dialect,
    csv_rows,
    decode_text,
    diagnose_csv,
    read_dialect,
    unlike_csv,
)
from mipaudit.errors import InputError
from mipaudit.reading.columns.column import Labels
from mipaudit.reading.columns.names import is_score_like
from mipaudit.reading.columns.score_selection import is_cell, is_known

if TYPE_CHECKING:
    from collections.abc import Collection

    from mipaudit.reading.columns.column import Kind, Numbers

# A first line with so many of its names among the cells below is a record.
_OWN_WORDS: Final = 2
# pandas calls columns without names 0, 1, 2, ...; a file of fewer columns that
# begins so may as well hold these numbers.
_COUNTED: Final = 3


def find_header(data: bytes, name: str, *, unnamed: bool) -> Dialect:
    """Return how a text is written.

    Args:
        data: the text, to the end of a line.
        name: what messages call the file.
        unnamed: whether it may begin with a row, if that holds only numbers: its columns are
            c0, c1 and so on.

    Raises:
        InputError: ``empty_file``, ``not_utf8``, ``not_a_table``, ``no_header``,
            ``duplicate_columns`` or ``bad_quotes``.
    """
    text = decode_text(data, name)
    if not text.strip():
        raise InputError("empty_file", f"{name}: the file is empty.")
    try:
        return read_dialect(data, text, name)
    except InputError as error:
        found = _numeric_header(data, text) if unnamed and error.code == "no_header" else None
        if found is None:
            raise
        return found


def _numeric_header(data: bytes, text: str) -> Dialect | None:
    """Return how a file is written that begins with numbers, which may be names.

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
    bom = len(BOM) if data.startswith(BOM) else 0
    numbers = cells if cells[0] else cells[1:]
    if len(numbers) >= _COUNTED and numbers == [str(at) for at in range(len(numbers))]:
        return Dialect(
            delimiter=delimiter,
            names=(*(["unnamed:0"] if not cells[0] else []), *numbers),
            header_lines=blank + 1,
            header_bytes=bom + len(text[: lines.tell()].encode()),
        )
    counted = len(cells) < _COUNTED and cells == [str(at) for at in range(len(cells))]
    if counted or not all(map(is_number, cells)):
        return None
    names = tuple(f"c{at}" for at in range(len(cells)))
    return Dialect(delimiter=delimiter, names=names, header_lines=0, header_bytes=bom, named=False)


class CsvHead:
    """Whole records as columns of cells.

    Attributes:
        rows: how many.
    """

    def __init__(self, body: bytes, dialect: Dialect, name: str) -> None:
        """Split ``body``, the UTF-8 text after the header, into cells.

        Raises:
            InputError: ``ragged_rows``, ``bad_quotes``, ``no_rows`` or ``no_header``.
        """
        import pyarrow as pa

        from mipaudit.reading.parquet.arrow import ArrowReader

        self._dialect, self._name = dialect, name
        words = pa.dictionary(pa.int32(), pa.string())
        try:
            self.rows, columns = read_block(body, dialect, dict.fromkeys(dialect.names, words))
        except ValueError:
            columns = None
        if columns is None:
            diagnose_csv(io.BytesIO(body), dialect, (), name)
            raise unlike_csv(name)
        if not self.rows:
            raise InputError("no_rows", f"{name}: there is a header and no row.")
        # With the words that say that a cell is empty.
        self._written: dict[str, Labels] = {}
        for one, column in columns.items():
            labels = ArrowReader().read(column)
            assert isinstance(labels, Labels)  # noqa: S101 - read as words
            self._written[one] = labels
        self._columns: dict[str, Numbers | None] = {}
        self._refuse_record()

    def _refuse_record(self) -> None:
        """Raise InputError when the names are cells of a record.

        A column ``member`` may say "member", and one of numbers be called "nan", where another
        name tells that this is a header; that two name a value of theirs never is.
        """
        names = self._dialect.names
        own = {name for name in names if name in self._written[name].vocabulary.words}
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
        return any(self._numbers(name) is not None for name in stray)

    def _is_headed(self, own: Collection[str]) -> bool:
        """Tell whether a name is one that records do not hold: a column's, or above numbers."""
        return any(
            is_known(name) or (not is_cell(name) and self._numbers(name) is not None)
            for name in self._dialect.names
            if name not in own
        )

    def _numbers(self, name: str) -> Numbers | None:
        """Return the column as numbers or booleans, or None for text."""
        if name not in self._columns:
            cells = self._cells(name)
            self._columns[name] = numbers_of(cells) or booleans_of(cells)
        return self._columns[name]

    def _cells(self, name: str) -> Labels:
        return without(self._written[name], MISSING)

    def kind(self, name: str) -> Kind:
        """Return what kind of column ``name`` is."""
        column = self._numbers(name)
        if column is not None:
            return column_kind(column)
        score_like = is_score_like(name)
        return "float" if looks_numeric(self._cells(name), score_like=score_like) else "string"

    @cached_property
    def exact(self) -> frozenset[str]:
        """The columns of numbers some of which say more than a float64 can hold."""
        return frozenset(
            name
            for name in self._dialect.names
            if (column := self._numbers(name)) is not None and column.lost is not None
        )
