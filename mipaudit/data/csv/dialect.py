"""The header of a CSV file, and what is wrong with one that does not fit.

The fast readers only notice that something does not fit. What walks the rows here says where,
without ever quoting a cell.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

from mipaudit.data.csv.cells import MISSING, is_decimal_comma, is_number
from mipaudit.errors import InputError
from mipaudit.reading.columns.names import unique_names
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from _csv import Reader


DELIMITERS: Final = (",", ";", "\t", "|")
# Python's readers of text know no other byte order mark.
BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
# The most that fits a C long everywhere.
_LONGEST_CELL: Final = (1 << 31) - 1
_DATE: Final = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}")
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_DECIMAL_HINT: Final = "Write numbers with a decimal point."


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a CSV file is written.

    Attributes:
        delimiter: one of comma, semicolon, tab and bar.
        names: the columns; one without a name is called ``unnamed:<position>``.
        header_lines: physical lines up to and with the header.
        header_bytes: bytes up to the first row, a byte order mark included.
        named: whether there is a header.
    """

    delimiter: str
    names: tuple[str, ...]
    header_lines: int
    header_bytes: int
    named: bool = True


def decode_text(data: bytes, name: str) -> str:
    """Return ``data`` as text.

    Raises:
        InputError: ``not_utf8`` or ``binary``.
    """
    if data.startswith(_UTF16):
        raise not_utf8(name, 1)
    if b"\0" in data:
        raise binary(name)
    try:
        return data.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(name, data.count(b"\n", 0, error.start) + 1) from None


def not_utf8(name: str, line: int) -> InputError:
    """Return the error for bytes that are not UTF-8."""
    return InputError(
        "not_utf8", f"{name}: line {line} is not UTF-8 text.", hint="Save the file as UTF-8."
    )


def not_utf8_after(name: str, line: int) -> InputError:
    """Return the error for bytes that are not UTF-8, somewhere after ``line``."""
    return InputError(
        "not_utf8",
        f"{name}: not UTF-8 text somewhere after line {line}.",
        hint="Save the file as UTF-8.",
    )


def binary(name: str) -> InputError:
    """Return the error for bytes that are no text at all."""
    return InputError(
        "not_a_table", f"{name}: neither CSV text nor Parquet (it contains zero bytes)."
    )


def read_dialect(data: bytes, text: str, name: str) -> Dialect:
    """Find the header in ``text``, the decoded form of ``data``.

    Raises:
        InputError: ``no_header``, ``duplicate_columns`` or ``bad_quotes``.
    """
    lines = io.StringIO(text, newline="")
    blank = _skip_blank(lines)
    start = lines.tell()
    delimiter = _delimiter(lines.readline())
    lines.seek(start)
    reader = csv_rows(lines, delimiter)
    try:
        cells = next(reader)
    except (csv.Error, StopIteration):
        raise InputError("bad_quotes", f"{name}: the header's quotes do not match.") from None
    taken = sum(len(line.encode()) for line in _first_lines(text, blank + reader.line_num))
    bom = len(BOM) if data.startswith(BOM) else 0
    return Dialect(
        delimiter=delimiter,
        names=_column_names(cells, name),
        header_lines=blank + reader.line_num,
        header_bytes=taken + bom,
    )


def csv_rows(lines: Iterable[str], delimiter: str) -> Reader:
    """Return a strict reader of ``lines`` that takes cells of any length."""
    # The limit is the process's; raising it takes nothing from anybody else.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    return csv.reader(lines, delimiter=delimiter, strict=True)


def _skip_blank(lines: io.StringIO) -> int:
    """Move to the first line with something on it; return how many were skipped."""
    skipped = 0
    while True:
        start = lines.tell()
        line = lines.readline()
        if line.strip() or not line:
            lines.seek(start)
            return skipped
        skipped += 1


def _first_lines(text: str, count: int) -> Iterator[str]:
    lines = io.StringIO(text, newline="")
    for _ in range(count):
        yield lines.readline()


def _delimiter(line: str) -> str:
    """Return the delimiter that occurs most in ``line`` outside quotes; comma if none does."""
    counts: Counter[str] = Counter()
    for part in line.split('"')[::2]:
        counts.update(char for char in part if char in DELIMITERS)
    return max(DELIMITERS, key=lambda delimiter: counts[delimiter])


def _column_names(cells: Sequence[str], name: str) -> tuple[str, ...]:
    stripped = [cell.strip() for cell in cells]
    if any(_is_value(cell) for cell in stripped):
        # Later messages name columns: a record must not be taken for their names.
        raise InputError(
            "no_header",
            f"{name}: the first line holds values where column names are expected "
            "(a number, a date or an address).",
            hint="Add a header line, or give such columns a name that begins with a letter.",
        )
    names = tuple(cell or f"unnamed:{at}" for at, cell in enumerate(stripped))
    unique_names(names, name)
    return names


def _is_value(cell: str) -> bool:
    """Tell whether ``cell`` cannot be a column's name: a number, a date or an address."""
    if is_decimal_comma(cell) or _DATE.fullmatch(cell) or _EMAIL.fullmatch(cell):
        return True
    try:
        float(cell)
    except ValueError:
        return False
    # A column may be called "nan" or "inf".
    return any(char.isdigit() for char in cell)


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


def unlike_csv(name: str) -> InputError:
    """Return the error for rows that do not fit, none of which is known to be wrong."""
    return InputError("unparsable", f"{name}: some rows cannot be read as CSV.")


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
        hint="Name the columns to audit with `score_col` if this is not a score.",
    )
