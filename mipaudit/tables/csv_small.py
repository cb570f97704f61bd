"""CSV text that fits in memory, by the standard library: no import, no wait."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from mipaudit.errors import InputError
from mipaudit.tables.cell_digits import needs_text
from mipaudit.tables.column import Numbers
from mipaudit.tables.csv_cells import (
    column_kind,
    looks_numeric,
    parse_booleans,
    parse_labels,
    parse_numbers,
)
from mipaudit.tables.csv_diagnosis import diagnose_csv, is_blank
from mipaudit.tables.csv_dialect import csv_rows
from mipaudit.tables.selection import is_score_like

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mipaudit.tables.column import Column, Kind
    from mipaudit.tables.csv_dialect import Dialect


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
        """Raise InputError when the names are words of their own columns.

        A column ``member`` may say "member"; that two name a value of theirs is no header.
        """
        own = sum(name in self._cells[name] for name in self._dialect.names)
        if own >= min(_OWN_WORDS, len(self._dialect.names)):
            raise InputError(
                "no_header",
                f"{self._name}: names of columns ({own}) are also values: the first line is a "
                "record, or files were joined with their headers.",
                hint="Add a header line, and leave out those that are repeated.",
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
