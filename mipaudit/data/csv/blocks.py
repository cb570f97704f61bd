"""The text of a CSV file in blocks of whole records, and a block as Arrow's columns.

Any number of threads may read blocks at once. What is a record is what Python's csv module says:
where Arrow reads it otherwise (words behind a closing quote, a quote that nothing closes, a line of
blanks) the block is written anew before Arrow sees it.
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Final, TypeVar

from mipaudit.data.csv.dialect import Dialect, csv_rows, is_blank
from mipaudit.data.files.unpacked import largest_text, too_large

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from concurrent.futures import Future

    import pyarrow as pa

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
    """A block is no table of the columns that are read; a walk over the rows says where."""


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
