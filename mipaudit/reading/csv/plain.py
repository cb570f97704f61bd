"""Plain CSV text, piece by piece and on several threads, by Arrow.

Arrow reads numbers as Python does, to the last bit, and refuses rows that are longer or
shorter than the header; it takes 0.6 of pandas' time, and no pandas. What it may
understand otherwise than the other readers here is not plain: a quote anywhere, zero bytes,
an integer in hexadecimal. Nothing of such a file is kept; pandas reads it from the start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Final, TypeVar

import numpy as np

from mipaudit.reading.columns.column import Column, Numbers, column_scores
from mipaudit.reading.csv.cells import MISSING
from mipaudit.reading.csv.stream import LINES, may_be_extreme, some_lines

if TYPE_CHECKING:
    from mipaudit.reading.columns.column import Kind

# Text that is parsed at once: some fifty thousand short rows.
PIECE_BYTES: Final = 1 << 20
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
