"""The text of a large CSV file on its way to pandas or Arrow, and what is seen of it in passing.

Plain text is read piece by piece and on several threads, by Arrow: numbers as Python does, to the
last bit; rows that are longer or shorter than the header are refused. It takes 0.6 of pandas' time,
and no pandas. What Arrow may understand otherwise than the other readers here is not plain: a quote
anywhere, zero bytes, an integer in hexadecimal. Nothing of such a file is kept; pandas reads it
from the start.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from mipaudit.reading.bytes.unpacked import largest_text, too_large
from mipaudit.reading.columns.column import Column, Numbers, column_scores
from mipaudit.reading.csv.cells import MISSING

if TYPE_CHECKING:
    from mipaudit.reading.columns.column import Kind

# Lines kept of each block that pandas asks for, and after so many one of each.
LINES: Final = 64
_MOST_LINES: Final = 1 << 16
_SPARSE: Final = 97
_SPREAD: Final = 7919
# Bytes of an exponent after its letter: a sign and three digits.
_EXPONENT: Final = 4
_NEWLINE, _PLUS, _MINUS, _ZERO, _TEN = ord("\n"), ord("+"), ord("-"), np.uint8(ord("0")), 10
_LOWER, _E = np.uint8(0x20), ord("e")
# Bytes without a delimiter: cells are shorter, unless one is of hundreds of digits.
_STRETCH: Final = 128


class CountedStream:
    """Feeds pandas bytes, and counts the delimiters that pass.

    Attributes:
        in_block: bytes that passed since pandas handed over the last block of rows; whoever
            takes the block sets it to 0.
        delimiters: that passed so far.
        lines: some of those that passed, complete unless a cell holds line ends.
        extreme: whether a number out of the range of floats may be among the cells.
        failure: what reading raised.
    """

    mode = "r"

    def __init__(self, stream: IO[bytes], delimiter: str, *, single: bool, name: str) -> None:
        """Read ``stream``, of one column or of several, in the file ``name``."""
        self._stream = stream
        self._name = name
        self._most = largest_text()
        self.in_block = 0
        self._delimiter = ord(delimiter)
        self._break = _NEWLINE if single else self._delimiter
        self._end = b""
        self.extreme = False
        self.lines: list[bytes] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._ascii = True
        self.delimiters = 0
        self.failure: BaseException | None = None

    def __iter__(self) -> Iterator[bytes]:
        """Yield nothing."""
        # pandas asks for it and reads by read() alone.
        return iter(())

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        try:
            return self._read(size)
        except BaseException as error:
            # pandas may turn it into an error of its own.
            self.failure = error
            raise

    def _read(self, size: int) -> bytes:
        block = self._stream.read(size)
        self.in_block += len(block)
        if self.in_block > self._most:
            raise too_large(self._name, "a row, or a block of them,")
        # The decoder is only needed from the first byte beyond ASCII on, and
        # holds nothing between two blocks that are ASCII.
        if not (self._ascii and block.isascii()):
            self._ascii = False
            self._decoder.decode(block, final=not block)
        if b"\0" in block:
            raise ValueError
        found = np.frombuffer(block, dtype=np.uint8)
        counted = found == self._delimiter
        self.delimiters += int(np.count_nonzero(counted))
        many = LINES if len(self.lines) < _MOST_LINES else 1
        self.lines += some_lines(block, found, many)
        if not self.extreme:
            breaks = counted if self._break == self._delimiter else found == self._break
            self.extreme = _has_long_cell(breaks) or self._has_exponent(block)
        return block

    def _has_exponent(self, block: bytes) -> bool:
        """Tell whether an exponent of three digits is in sight, of whatever column."""
        if b"e" not in block and b"E" not in block and not self._end:
            return False
        text = self._end + block
        self._end = block[-_EXPONENT:]
        return _has_exponent(text)


def some_lines(block: bytes, found: NDArray[np.uint8], many: int) -> list[bytes]:
    """Return lines at places that the block itself decides, so that no order evades them.

    Args:
        block: text.
        found: the same as numbers.
        many: about how many lines.
    """
    lines = []
    step = max(1, len(block) // many)
    first = int(found[::_SPARSE].sum(dtype=np.uint64)) * _SPREAD % step
    for place in range(first, len(block), step):
        start = block.find(b"\n", place) + 1
        end = block.find(b"\n", start)
        if start and end > 0:
            lines.append(block[start:end])
    return lines


def may_be_extreme(text: bytes, breaking: str) -> bool:
    """Tell whether a number out of the range of floats may be among the cells of whole lines.

    Args:
        text: whole lines.
        breaking: ends a cell, of all but the last column where there are several.
    """
    breaks = np.frombuffer(text, dtype=np.uint8) == ord(breaking)
    # Room for an exponent at the end, of which only digits count.
    return _has_long_cell(breaks) or _has_exponent(text + b"\n" * (_EXPONENT + 1))


def _has_exponent(text: bytes) -> bool:
    found = np.frombuffer(text, dtype=np.uint8)
    at = np.flatnonzero((found[:-_EXPONENT] | _LOWER) == _E)
    after = [found[at + 1 + step] for step in range(_EXPONENT)]
    signed = (after[0] == _PLUS) | (after[0] == _MINUS)
    digits = [(one - _ZERO).astype(np.uint8) < _TEN for one in after]
    second = digits[1] & digits[2]
    return bool((second & (digits[0] | (signed & digits[3]))).any())


def _has_long_cell(breaks: NDArray[np.bool_]) -> bool:
    """Tell whether a cell may have hundreds of characters."""
    whole = breaks.size - breaks.size % _STRETCH
    return not bool(breaks[:whole].reshape(-1, _STRETCH).any(axis=1).all())


# Text that is parsed at once: some hundred thousand short rows. Of less, threads wait for Python's
# lock more often than they parse.
PIECE_BYTES: Final = 1 << 21
# Lines kept of each piece, as many as of the blocks that pandas asks for, and of later ones.
_LINES_EACH: Final = LINES * (PIECE_BYTES >> 18)
_PIECES_OF_MANY: Final = (1 << 16) // _LINES_EACH
_NEVER_PLAIN: Final = (b'"', b"\0")
_HEXADECIMAL: Final = (b"0x", b"0X")
_LARGEST: Final = (1 << 31) - 1
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class NotPlainError(Exception):
    """Arrow may not understand the text as others do; nothing is said of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Whole lines of a text, and their place among the pieces."""

    text: bytes
    at: int

    def require_plain(self) -> None:
        """Raise NotPlainError where another reader might understand the text otherwise."""
        if any(byte in self.text for byte in _NEVER_PLAIN):
            raise NotPlainError
        if not self.text.isascii():
            try:
                self.text.decode()
            except UnicodeDecodeError:
                raise NotPlainError from None

    def has_hexadecimal(self) -> bool:
        """Tell whether a number may be written as 0x1f."""
        return any(byte[1:] in self.text and byte in self.text for byte in _HEXADECIMAL)

    def lines(self) -> list[bytes]:
        """Return some of the lines."""
        many = _LINES_EACH if self.at < _PIECES_OF_MANY else LINES >> 3
        return some_lines(self.text, np.frombuffer(self.text, dtype=np.uint8), many)

    def extreme(self, breaking: str) -> bool:
        """Tell whether a number out of the range of floats may be among the cells."""
        return may_be_extreme(self.text, breaking)


def pieces(stream: IO[bytes]) -> Iterator[Piece]:
    """Yield a text in pieces of whole lines.

    Raises:
        NotPlainError: a line is longer than a piece.
    """
    rest, at = b"", 0
    while block := stream.read(PIECE_BYTES):
        cut = block.rfind(b"\n") + 1
        if not cut:
            if len(rest) + len(block) > PIECE_BYTES:
                raise NotPlainError
            rest += block
            continue
        yield Piece(text=rest + block[:cut], at=at)
        rest, at = block[cut:], at + 1
    if rest:
        yield Piece(text=rest, at=at)


@dataclass(frozen=True, kw_only=True)
class PlainReader:
    """Parses pieces of a CSV text with Arrow; any number of threads may use it at once.

    Attributes:
        names: of all columns.
        delimiter: between them.
        wanted: those to parse, and what their first rows held.
        words: of these, those that are read as they are written.
    """

    names: Sequence[str]
    delimiter: str
    wanted: dict[str, Kind]
    words: Collection[str]

    @cached_property
    def _options(self) -> dict[str, object]:
        import pyarrow as pa
        from pyarrow import csv

        words = pa.dictionary(pa.int32(), pa.string())
        numbers = {"float": pa.float64(), "integer": pa.int64()}
        places = {name: f"c{self.names.index(name)}" for name in self.wanted}
        return {
            "read_options": csv.ReadOptions(
                use_threads=False,
                block_size=_LARGEST,
                column_names=[f"c{at}" for at in range(len(self.names))],
            ),
            "parse_options": csv.ParseOptions(delimiter=self.delimiter, quote_char=False),
            "convert_options": csv.ConvertOptions(
                column_types={
                    place: words if name in self.words else numbers[self.wanted[name]]
                    for name, place in places.items()
                },
                include_columns=list(places.values()),
                null_values=sorted(MISSING),
                strings_can_be_null=True,
                check_utf8=False,
            ),
        }

    def columns(self, piece: Piece) -> tuple[int, dict[str, Column]]:
        """Return how many rows a piece has, and the wanted columns.

        Raises:
            NotPlainError: pandas may understand it otherwise, or say what is wrong.
        """
        import pyarrow as pa
        from pyarrow import csv

        from mipaudit.reading.parquet.arrow import ArrowReader

        piece.require_plain()
        try:
            table = csv.read_csv(pa.BufferReader(piece.text), **self._options)
        except MemoryError:
            raise
        except (pa.ArrowException, ValueError):
            raise NotPlainError from None
        found: dict[str, Column] = {}
        # One batch: the block that Arrow parses at once is as large as the piece.
        for batch in table.to_batches():
            for name, array in zip(self.wanted, batch.columns, strict=True):
                found[name] = self._same(name, ArrowReader().read(array), piece)
        return table.num_rows, found

    def _same(self, name: str, column: Column, piece: Piece) -> Column:
        """Return a column as pandas has it: a float that is missing is NaN.

        Raises:
            NotPlainError: integers are missing, or only Arrow takes the cells for numbers.
        """
        if not isinstance(column, Numbers):
            return column
        if self.wanted[name] == "integer":
            if column.missing is not None or piece.has_hexadecimal():
                raise NotPlainError
            return column
        values = column_scores(column)
        if b"(" in piece.text and np.isnan(values).any():
            raise NotPlainError  # nan(1)
        return Numbers(values=values)


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
