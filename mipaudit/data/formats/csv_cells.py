"""The cells of one CSV column as numbers, booleans or labels, of whatever size the file is."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import ne
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.column import EXACT, TOLD_APART, Column, Kind, met_numbers, text_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FRACTION, _INTEGER = 1, 2
# The least float64 of full precision.
_LEAST: Final = float(np.finfo(np.float64).tiny)
# A float64 has no more significant digits than that, all of them written out.
_MOST: Final = 767
# What an empty cell may be written as; a score that says so is missing.
MISSING: Final = frozenset(
    {"", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "-nan", "-NaN", "null", "NULL", "Null"}
    | {"None", "<NA>", "#N/A"}
)
TRUE: Final = frozenset({"true", "True", "TRUE"})
FALSE: Final = frozenset({"false", "False", "FALSE"})
_DECIMAL_COMMA: Final = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
_PROBED: Final = 100


def lost_digits(cells: Sequence[str], values: NDArray[np.float64]) -> NDArray[np.uint8] | None:
    """Return the marks of cells that say more than the float64 that they were read as.

    A cell of n digits does unless they are those of its float64, rounded to n digits: then
    it says no more than that, and so whoever wrote it may have had a float64.

    Args:
        cells: numbers as text.
        values: the float64 of each, shape (n,).

    Returns:
        1 for numbers with a fraction, 2 for integers, 0 for cells that lose nothing; None where
        none does.
    """
    size = np.abs(values)
    doubtful = (size < _LEAST) | (size == np.inf)
    if len(cells) and len(max(cells, key=len)) > TOLD_APART:
        # Most are written as Python writes them, and lose nothing.
        doubtful |= np.fromiter(map(ne, cells, map(repr, values.tolist())), np.bool_, len(cells))
    marks = np.zeros(values.shape, dtype=np.uint8)
    for at in np.flatnonzero(doubtful).tolist():
        if loses_digits(cells[at], float(values[at])):
            whole = _is_integer(cells[at], float(values[at]))
            marks[at] = _INTEGER if whole else _FRACTION
    return marks if marks.any() else None


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
    if not digits or (len(digits) <= TOLD_APART and _LEAST <= abs(value) < np.inf):
        return False
    if value == 0 or abs(value) == np.inf or len(digits) > _MOST:
        return True
    shown = format(abs(value), f".{len(digits) - 1}e").partition("e")[0]
    return shown.replace(".", "").strip("0") != digits


def _is_integer(cell: str, value: float) -> bool:
    """Tell whether a number as text is an integer; what is beyond all floats is one."""
    mantissa, _, exponent = cell.strip().lower().partition("e")
    fraction = mantissa.partition(".")[2].rstrip("0")
    large = abs(value) >= EXACT
    return large and (value in {np.inf, -np.inf} or int(exponent or 0) >= len(fraction))


def is_decimal_comma(cell: str) -> bool:
    """Tell whether ``cell`` looks like a number with a comma for its point."""
    return _DECIMAL_COMMA.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """Tell whether ``cell`` is a number as every reader here understands it."""
    if not cell.isascii() or "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def labels_of(cells: Sequence[str]) -> Column:
    """Return cells as text; those that say that they are empty are null."""
    places = {word: at for at, word in enumerate(dict.fromkeys(cells))}
    codes = np.fromiter(map(places.__getitem__, cells), dtype=np.int64, count=len(cells))
    return without(text_column(codes, [*places]), MISSING)


def without(cells: Column, blank: Collection[str]) -> Column:
    """Return text of which the words in ``blank`` are null."""
    words = cells.words
    left = [at for at, word in enumerate(words) if word not in blank]
    if len(left) == len(words):
        return cells
    places = np.full(len(words) + 1, -1, dtype=np.int64)
    places[left] = np.arange(len(left))
    return text_column(places[cells.values], [words[at] for at in left])


def numbers_of(cells: Column) -> Column | None:
    """Return what is written as integers or floats, or None where a word is not a number.

    Of numbers that lose digits, integers are lost, and others where rows meet in one float64.
    """
    values = _values(cells.words)
    if values is None:
        return None
    marks = lost_digits(cells.words, values) if values.dtype.kind == "f" else None
    found = _spread(values, cells.values)
    if marks is None:
        return found
    rows = np.append(marks, np.uint8(0))[cells.values]
    return replace(found, lost=(rows == _INTEGER) | met_numbers(found.values, rows > 0))


def _values(words: Sequence[str]) -> NDArray[Any] | None:
    # Python takes 1_000 and digits of any script for numbers; no other reader does.
    joined = "".join(words)
    if not joined.isascii() or "_" in joined:
        return None
    with suppress(ValueError):
        integers = list(map(int, words))
        for dtype in (np.int64, np.uint64):
            with suppress(OverflowError):
                return np.array(integers, dtype=dtype)
    with suppress(ValueError):
        return np.fromiter(map(float, words), dtype=np.float64, count=len(words))
    return None


def _spread(values: NDArray[Any], codes: NDArray[Any]) -> Column:
    """Return the column whose distinct cells are ``values``; a negative code is a null."""
    missing = codes < 0
    return Column(
        values=np.append(values, values.dtype.type(0))[codes],
        missing=missing if missing.any() else None,
    )


def booleans_of(cells: Column) -> Column | None:
    """Return what is written as booleans, or None where a word is not, or there is none."""
    if not cells.words or not set(cells.words) <= TRUE | FALSE:
        return None
    return _spread(np.array([word in TRUE for word in cells.words], dtype=np.bool_), cells.values)


def keys_of(cells: Column) -> Column:
    """Return what names records, persons or groups.

    Numbers where each is written as its number always is: as text 007 and 7 are two, and so are
    1.0 and 1, or 1000 and 1e3.
    """
    values = _values(cells.words)
    if values is None:
        return booleans_of(cells) or cells
    written = [word.strip() for word in cells.words] == list(map(str, values.tolist()))
    return _spread(values, cells.values) if written else cells


def looks_numeric(cells: Column, *, score_like: bool) -> bool:
    """Tell whether a column that is not all numbers was meant to be one.

    True when more than half of its first cells are numbers, or a single one in a
    column whose name says that it is a score. Such a column is never passed
    over as text: its bad cell is an error.
    """
    first = cells.values[:_PROBED]
    probed = [cells.words[at] for at in first[first >= 0].tolist()]
    numbers = sum(is_number(cell) or is_decimal_comma(cell) for cell in probed)
    return numbers > 0 and (score_like or 2 * numbers > len(probed))


def column_kind(column: Column) -> Kind:
    """Return the kind of a parsed column."""
    if not column.numeric:
        return "string"
    if column.missing is not None and bool(column.missing.all()):
        return "empty"
    kinds: dict[str, Kind] = {"b": "bool", "i": "integer", "u": "integer"}
    return kinds.get(column.values.dtype.kind, "float")
