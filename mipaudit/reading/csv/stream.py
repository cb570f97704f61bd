"""The bytes of a CSV file on their way to pandas, and what is seen of them in passing."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.reading.bytes.unpacked import largest_text, too_large

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
