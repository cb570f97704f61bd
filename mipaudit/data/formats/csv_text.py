"""The text of a CSV file: its header, its records in blocks, and what is wrong with it."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import IO, TYPE_CHECKING, Final, TypeVar

from mipaudit.data.files.contents import largest_text, too_large
from mipaudit.data.formats.cells import MISSING, is_decimal_comma, is_number
from mipaudit.data.words import unique_names
from mipaudit.errors import InputError
from mipaudit.statements.printable_names import quoted_name

if TYPE_CHECKING:
    from _csv import Reader

    import pyarrow as pa

DELIMITERS: Final = (",", ";", "\t", "|")
# Python's readers of text know no other byte order mark.
BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
# The most that fits a C long everywhere.
_LONGEST_CELL: Final = (1 << 31) - 1
_DATE: Final = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}")
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
# pandas calls columns without names 0, 1, 2, ...; a file of fewer columns that
# begins so may as well hold these numbers.
_COUNTED: Final = 3


@dataclass(frozen=True, slots=True)
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
        InputError: ``not_utf8`` or ``not_a_table``.
    """
    if data.startswith(_UTF16):
        raise _not_utf8(name, "line 1 is not UTF-8 text")
    if b"\0" in data:
        raise _binary(name)
    try:
        return data.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _not_utf8(name, f"line {line} is not UTF-8 text") from None


def _not_utf8(name: str, what: str) -> InputError:
    return InputError("not_utf8", f"{name}: {what}.", "Save the file as UTF-8.")


def _binary(name: str) -> InputError:
    return InputError(
        "not_a_table", f"{name}: neither CSV text nor Parquet (it contains zero bytes)."
    )


def find_header(data: bytes, name: str, *, unnamed: bool = False) -> Dialect:
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
    lines = io.StringIO(text, newline="")
    blank, line = 0, lines.readline()
    while not line.strip():
        blank, line = blank + 1, lines.readline()
    outside = "".join(line.split('"')[::2])
    delimiter = max(DELIMITERS, key=outside.count)
    reader = csv_rows(chain([line], lines), delimiter)
    try:
        cells = [cell.strip() for cell in next(reader)]
    except (csv.Error, StopIteration):
        raise InputError("bad_quotes", f"{name}: the header's quotes do not match.") from None
    bom = len(BOM) if data.startswith(BOM) else 0
    taken = bom + len(text[: lines.tell()].encode())
    numbers = cells if cells[0] else cells[1:]
    if not any(map(_is_value, cells)):
        names = [cell or f"unnamed:{at}" for at, cell in enumerate(cells)]
        unique_names(names, name)
    elif unnamed and len(numbers) >= _COUNTED and numbers == _counted(numbers):
        names = cells if cells[0] else ["unnamed:0", *numbers]
    elif unnamed and all(map(is_number, cells)) and cells != _counted(cells):
        names = [f"c{at}" for at in range(len(cells))]
        return Dialect(delimiter, tuple(names), header_lines=0, header_bytes=bom, named=False)
    else:
        # Later messages name columns: a record must not be taken for their names.
        raise InputError(
            "no_header",
            f"{name}: the first line holds values where column names are expected "
            "(a number, a date or an address).",
            "Add a header line, or give such columns a name that begins with a letter.",
        )
    return Dialect(
        delimiter, tuple(names), header_lines=blank + reader.line_num, header_bytes=taken
    )


def _counted(cells: Sequence[str]) -> list[str]:
    return [str(at) for at in range(len(cells))]


def csv_rows(lines: Iterable[str], delimiter: str) -> Reader:
    """Return a strict reader of ``lines`` that takes cells of any length."""
    # The limit is the process's; raising it takes nothing from anybody else.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    return csv.reader(lines, delimiter=delimiter, strict=True)


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


def csv_fault(
    stream: IO[bytes],
    dialect: Dialect,
    numeric: Iterable[str],
    name: str,
    *,
    unknown: InputError | None = None,
) -> InputError:
    """Walk ``stream``, which begins after the header, and return the first fault.

    Args:
        stream: the rows as bytes.
        dialect: how they are written.
        numeric: the columns that must hold numbers.
        name: what messages call the file.
        unknown: the error where no row is known to be wrong; None for ``unparsable``.

    Returns:
        ``ragged_rows``, ``bad_quotes``, ``decimal_comma``, ``unparsable``, ``not_utf8`` or
        ``not_a_table``.
    """
    positions = [(dialect.names.index(column), column) for column in numeric]
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    reader = csv_rows((_without_zeros(line, name) for line in text), dialect.delimiter)
    line = dialect.header_lines + 1
    try:
        for cells in reader:
            if not is_blank(cells):
                _check_row(cells, dialect, positions, f"{name}: line {line}")
            line = dialect.header_lines + reader.line_num + 1
    except InputError as fault:
        return fault
    except csv.Error:
        return InputError("bad_quotes", f"{name}: line {line}: the quotes do not match.")
    except UnicodeDecodeError:
        # The decoder works ahead of the lines, so the line is the last one known good.
        good = dialect.header_lines + reader.line_num
        return _not_utf8(name, f"not UTF-8 text somewhere after line {good}")
    finally:
        # The stream is the caller's: it must not be closed with the wrapper.
        text.detach()
    return unknown or InputError("unparsable", f"{name}: some rows cannot be read as CSV.")


def _without_zeros(line: str, name: str) -> str:
    if "\0" in line:
        raise _binary(name)
    return line


def is_blank(cells: Sequence[str]) -> bool:
    """Tell whether a row is an empty line."""
    return not cells or (len(cells) == 1 and not cells[0].strip())


def _check_row(
    cells: Sequence[str], dialect: Dialect, numeric: Sequence[tuple[int, str]], place: str
) -> None:
    expected = len(dialect.names)
    if len(cells) != expected:
        comma = "If numbers are written with a decimal comma, write them with a point."
        raise InputError(
            "ragged_rows",
            f"{place} has another number of cells than the header ({len(cells)}, not {expected}).",
            comma if len(cells) > expected and dialect.delimiter == "," else None,
        )
    for at, column in numeric:
        if is_decimal_comma(cells[at]):
            raise InputError(
                "decimal_comma",
                f"{place}, column {quoted_name(column)}: a number with a decimal comma.",
                "Write numbers with a decimal point.",
            )
        if cells[at] not in MISSING and not is_number(cells[at]):
            raise InputError(
                "unparsable",
                f"{place}, column {quoted_name(column)}: not a number.",
                "Correct the cell. If the column is no score, name the scores with `score_col`.",
            )


# Some hundred thousand short rows. Of less, threads wait for Python's lock more often than they
# parse.
BLOCK_BYTES: Final = 1 << 21
_LARGEST: Final = (1 << 31) - 1
# A line of blanks is none, and may be one where a line begins so.
_BLANKS: Final = (b" ", b"\t")
_BLANK_LINE: Final = re.compile(rb"(?:\A|[\r\n])[ \t]+(?:[\r\n]|\Z)")
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class MisfitError(Exception):
    """A block is no table of the columns that are read; `csv_fault` says where the fault is."""


def blocks(stream: IO[bytes], delimiter: str, name: str) -> Iterator[bytes]:
    """Yield a text in blocks of whole records.

    Args:
        stream: begins after the header.
        delimiter: between cells.
        name: what messages call the file.

    Raises:
        InputError: ``too_large`` for a record that is longer than a text may be.
    """
    text, size = b"", BLOCK_BYTES
    while block := stream.read(size):
        text += block
        end = records_end(text, delimiter)
        if end:
            yield text[:end]
            text, size = text[end:], BLOCK_BYTES
        elif len(text) > largest_text():
            raise too_large(name, "a row, or a block of them,")
        else:
            size *= 2
    if text:
        yield text


def records_end(text: bytes, delimiter: str) -> int:
    """Return where the last record ends that is whole; 0 where none is."""
    if b'"' not in text:
        return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    found = _patterns(delimiter)[0].match(text)
    return 0 if found is None else found.end()


@lru_cache
def _patterns(delimiter: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return what matches whole records, and what matches a text whose quotes are all in order."""
    between = re.escape(delimiter.encode())
    ends = between + rb"\r\n"
    quoted = rb'"(?:[^"]++|"")*+"'
    loose = rb'(?:%b[^%b]*+|[^"%b][^%b]*+)?+' % (quoted, ends, ends, ends)
    strict = rb'(?:%b|[^"%b]*+)' % (quoted, ends)
    records = rb"(?:%b(?:%b%b)*+[\r\n]++)*+" % (loose, between, loose)
    return re.compile(records), re.compile(rb"%b(?:[%b]++%b)*+" % (strict, ends, strict))


def read_block(
    text: bytes,
    dialect: Dialect,
    types: Mapping[str, pa.DataType],
    *,
    missing: Collection[str] = (),
) -> tuple[int, dict[str, pa.Array]]:
    """Return the number of rows, and the named columns; of no rows there are none.

    What is a record is what Python's csv module says: where Arrow reads it otherwise (words behind
    a closing quote, a quote that nothing closes, a line of blanks) the block is written anew before
    Arrow sees it. Any number of threads may read blocks at once.

    Args:
        text: whole records in UTF-8.
        dialect: how they are written.
        types: by column.
        missing: words that say that a cell is empty.

    Raises:
        MisfitError: the text is no such table.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if not text.strip():
        return 0, {}
    if not _is_plain(text, dialect.delimiter):
        text = _straightened(text, dialect)
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(text),
            # The default one reserves twelve megabytes at its first use.
            memory_pool=pa.system_memory_pool(),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, block_size=_LARGEST, column_names=list(dialect.names)
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=dialect.delimiter, newlines_in_values=b'"' in text
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                # Of no columns, Arrow reads all.
                include_columns=list(types) or [dialect.names[0]],
                null_values=sorted(missing),
                strings_can_be_null=bool(missing),
                check_utf8=False,
            ),
        )
    except MemoryError:  # Arrow's own is one of its errors, too
        raise
    except pa.ArrowException:
        raise MisfitError from None  # its message quotes a cell
    # There is one batch, since a block is parsed at once; none where it has no rows.
    for batch in table.to_batches():
        return batch.num_rows, {name: batch.column(name) for name in types}
    return 0, {}


def _is_plain(text: bytes, delimiter: str) -> bool:
    """Tell whether Arrow reads the same records as Python's csv module."""
    if b'"' in text and not _patterns(delimiter)[1].fullmatch(text):
        return False
    # One byte is found much faster than two.
    lines = (end + blank for blank in _BLANKS if blank in text for end in (b"\n", b"\r"))
    blanks = text.startswith(_BLANKS) or any(line in text for line in lines)
    return not (blanks and _BLANK_LINE.search(text))


def _straightened(text: bytes, dialect: Dialect) -> bytes:
    """Return the same records without blank lines, every cell in quotes.

    Raises:
        MisfitError: quotes do not match, or a record has another number of cells than the header.
    """
    lines = io.StringIO(text.decode(), newline="")
    sink = io.StringIO(newline="")
    writer = csv.writer(
        sink, delimiter=dialect.delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n"
    )
    try:
        for cells in csv_rows(lines, dialect.delimiter):
            if not is_blank(cells):
                if len(cells) != len(dialect.names):
                    raise MisfitError
                writer.writerow(cells)
    except csv.Error:
        raise MisfitError from None
    return sink.getvalue().encode()


def in_order(
    work: Callable[[ItemT], ResultT], items: Iterator[ItemT], threads: int
) -> Iterator[ResultT]:
    """Yield what ``work`` makes of each item, in their order, with few of them under way."""
    if threads == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[ResultT]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()
