"""Numbers in text whose digits a 64-bit float cannot hold."""

from __future__ import annotations

from operator import ne
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.reading.columns.column import FRACTIONS, INTEGERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

# Numbers of so many digits go to different float64s; IEEE 754 promises no more.
_TOLD_APART: Final = 15
# The least float64 of full precision.
_LEAST: Final = float(np.finfo(np.float64).tiny)
# A float64 has no more significant digits than that, all of them written out.
_MOST: Final = 767
# Beyond it, different integers are the same float64.
_EXACT: Final = 2**53
_ZEROS: Final = frozenset({"0", "0.0", "0.", "-0", "-0.0", "+0", "0.00", "0.000", "0.0000"})


def lost_digits(cells: Sequence[str], values: NDArray[np.float64]) -> NDArray[np.uint8] | None:
    """Return the marks of cells that say more than the float64 that they were read as.

    A cell of n digits does unless they are those of its float64, rounded to n digits: then
    it says no more than that, and so whoever wrote it may have had a float64.

    Args:
        cells: numbers as text.
        values: the float64 of each, shape (n,).

    Returns:
        `INTEGERS`, `FRACTIONS` or 0 for each cell; None where none loses digits.
    """
    marks = np.zeros(values.shape, dtype=np.uint8)
    for at in _doubtful(cells, values):
        if loses_digits(cells[at], float(values[at])):
            marks[at] = INTEGERS if _is_integer(cells[at], float(values[at])) else FRACTIONS
    return marks if marks.any() else None


def _doubtful(cells: Sequence[str], values: NDArray[np.float64]) -> Iterator[int]:
    """Yield the cells that may lose digits: most cannot, and are passed over quickly."""
    if not len(cells):
        return
    if len(max(cells, key=len)) > _TOLD_APART:
        differing = np.fromiter(map(ne, cells, map(repr, values.tolist())), np.bool_, len(cells))
        for at in np.flatnonzero(differing).tolist():
            if len(cells[at]) > _TOLD_APART:
                yield at
    size = np.abs(values)
    for at in np.flatnonzero((size < _LEAST) | (size == np.inf)).tolist():
        if len(cells[at]) <= _TOLD_APART and cells[at] not in _ZEROS:
            yield at


def loses_digits(cell: str, value: float) -> bool:
    """Tell whether ``cell`` says more than ``value``, the nearest float64.

    Args:
        cell: a number as text; infinity and NaN lose nothing.
        value: what it was read as.
    """
    mantissa, _, _ = cell.strip().lstrip("+-").lower().partition("e")
    digits = mantissa.replace(".", "", 1)
    if not digits.isdigit():
        return False
    digits = digits.strip("0")
    if not digits or (len(digits) <= _TOLD_APART and _LEAST <= abs(value) < np.inf):
        return False
    if value == 0 or abs(value) == np.inf or len(digits) > _MOST:
        return True
    shown = format(abs(value), f".{len(digits) - 1}e").partition("e")[0]
    return shown.replace(".", "").strip("0") != digits


def _is_integer(cell: str, value: float) -> bool:
    """Tell whether a number as text is an integer; what is beyond all floats is one."""
    mantissa, _, exponent = cell.strip().lower().partition("e")
    fraction = mantissa.partition(".")[2].rstrip("0")
    large = abs(value) >= _EXACT
    return large and (value in {np.inf, -np.inf} or int(exponent or 0) >= len(fraction))


def needs_text(values: NDArray[np.float64], *, extreme: bool) -> bool:
    """Tell whether only the cells say what a float64 may have taken from these numbers.

    Beyond 2^53 that is so of integers; at zero and infinity of all that is beyond its range.

    Args:
        values: as they were read.
        extreme: whether exponents or numbers were seen that may be out of range.
    """
    size = np.abs(values)
    if extreme and bool(((size < _LEAST) | (size == np.inf)).any()):
        return True
    return bool(((size >= _EXACT) & (size < np.inf)).any())
