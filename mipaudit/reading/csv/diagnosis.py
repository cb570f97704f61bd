"""Finding what is wrong with a CSV file, once something is known to be.

The fast readers only notice that something does not fit. This one walks the
rows and says where, without ever quoting a cell.
"""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Final

from mipaudit.errors import InputError
from mipaudit.reading.csv.cells import MISSING, is_decimal_comma, is_number
from mipaudit.reading.csv.dialect import binary, csv_rows, not_utf8_after
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mipaudit.reading.csv.dialect import Dialect

_DECIMAL_HINT: Final = "Write numbers with a decimal point."


def diagnose_csv(stream: IO[bytes], dialect: Dialect, numeric: Iterable[str], name: str) -> None:
    """Walk ``stream``, which begins after the header, and raise the first fault.

    Args:
        stream: the rows as bytes.
        dialect: how they are written.
        numeric: the columns that must hold numbers.
        name: what messages call the file.

    Raises:
        InputError: ``ragged_rows``, ``bad_quotes``, ``decimal_comma``,
            ``unparsable``, ``not_utf8`` or ``not_a_table``. Returns when there
            is no fault.
    """
    positions = [(dialect.names.index(column), column) for column in numeric]
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    try:
        _walk(text, dialect, positions, name)
    finally:
        # The stream is the caller's: it must not be closed with the wrapper.
        text.detach()


def _walk(
    text: io.TextIOWrapper, dialect: Dialect, numeric: Sequence[tuple[int, str]], name: str
) -> None:
    reader = csv_rows(_lines(text, dialect, name), dialect.delimiter)
    line = dialect.header_lines + 1
    try:
        for cells in reader:
            if not is_blank(cells):
                _check_row(cells, dialect, numeric, _place(name, line))
            line = dialect.header_lines + reader.line_num + 1
    except csv.Error:
        raise InputError("bad_quotes", f"{_place(name, line)}: the quotes do not match.") from None


def is_blank(cells: Sequence[str]) -> bool:
    """Tell whether a row is an empty line."""
    return not cells or (len(cells) == 1 and not cells[0].strip())


def _place(name: str, line: int) -> str:
    return f"{name}: line {line}"


def _lines(text: io.TextIOWrapper, dialect: Dialect, name: str) -> Iterator[str]:
    # The decoder works ahead of the lines, so the line is the last one known good.
    good = dialect.header_lines
    try:
        for content in text:
            if "\0" in content:
                raise binary(name)
            good += 1
            yield content
    except UnicodeDecodeError:
        raise not_utf8_after(name, good) from None


def _check_row(
    cells: Sequence[str], dialect: Dialect, numeric: Sequence[tuple[int, str]], place: str
) -> None:
    expected = len(dialect.names)
    if len(cells) != expected:
        more = len(cells) > expected and dialect.delimiter == ","
        raise InputError(
            "ragged_rows",
            f"{place} has {len(cells)} cells where the header has {expected}.",
            hint="If numbers are written with a decimal comma, write them with a point."
            if more
            else None,
        )
    for at, column in numeric:
        _check_number(cells[at], column, place)


def _check_number(cell: str, column: str, place: str) -> None:
    if cell in MISSING or is_number(cell):
        return
    if is_decimal_comma(cell):
        raise InputError(
            "decimal_comma",
            f"{place}, column {quoted_name(column)}: a number with a decimal comma.",
            hint=_DECIMAL_HINT,
        )
    raise InputError(
        "unparsable",
        f"{place}, column {quoted_name(column)}: not a number.",
        hint="Name the columns to audit with --score-col if this is not a score.",
    )
