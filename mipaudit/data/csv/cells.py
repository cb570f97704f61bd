"""The cells of one CSV column as numbers, booleans or labels, of whatever size the file is.

Numbers in text whose digits a 64-bit float cannot hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import ne
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.reading.columns.column import (
    EXACT,
    FRACTIONS,
    INTEGERS,
    TOLD_APART,
    Column,
    Kind,
    Labels,
    Numbers,
    Vocabulary,
)
from mipaudit.reading.columns.column_cache import column_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The least float64 of full precision.
_LEAST: Final = float(np.finfo(np.float64).tiny)
# A float64 has no more significant digits than that, all of them written out.
_MOST: Final = 767
_ZEROS: Final = frozenset({"0", "0.0", "0.", "-0", "-0.0", "+0", "0.00", "0.000", "0.0000"})
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
    if len(max(cells, key=len)) > TOLD_APART:
        differing = np.fromiter(map(ne, cells, map(repr, values.tolist())), np.bool_, len(cells))
        for at in np.flatnonzero(differing).tolist():
            if len(cells[at]) > TOLD_APART:
                yield at
    size = np.abs(values)
    for at in np.flatnonzero((size < _LEAST) | (size == np.inf)).tolist():
        if len(cells[at]) <= TOLD_APART and cells[at] not in _ZEROS:
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


def parse_numbers(cells: Sequence[str]) -> Numbers | None:
    """Return ``cells`` as integers or floats, or None when one is not a number."""
    has_missing = not MISSING.isdisjoint(cells)
    present = [cell for cell in cells if cell not in MISSING] if has_missing else cells
    values = _parse_present(present)
    if values is None:
        return None
    rounded = lost_digits(present, values) if values.dtype.kind == "f" else None
    if not has_missing:
        return Numbers(values=values, rounded=rounded)
    missing = np.array([cell in MISSING for cell in cells], dtype=np.bool_)
    spread = np.zeros(missing.shape, dtype=values.dtype)
    spread[~missing] = values
    if rounded is None:
        return Numbers(values=spread, missing=missing)
    marks = np.zeros(missing.shape, dtype=np.uint8)
    marks[~missing] = rounded
    return Numbers(values=spread, missing=missing, rounded=marks)


def _parse_present(cells: Sequence[str]) -> NDArray[Any] | None:
    values = _parse_integers(cells)
    if values is None:
        try:
            values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
        except ValueError:
            return None
    # Python takes 1_000 and digits of any script for numbers; no other reader does.
    joined = "".join(cells)
    return values if joined.isascii() and "_" not in joined else None


def _parse_integers(cells: Sequence[str]) -> NDArray[Any] | None:
    try:
        integers = list(map(int, cells))
    except ValueError:
        return None
    for dtype in (np.int64, np.uint64):
        try:
            return np.array(integers, dtype=dtype)
        except OverflowError:
            continue
    return None


def parse_booleans(cells: Sequence[str]) -> Numbers | None:
    """Return ``cells`` as booleans, or None when one is not."""
    words = set(cells)
    if not words <= (TRUE | FALSE | MISSING) or words <= MISSING:
        return None
    values = np.array([cell in TRUE for cell in cells], dtype=np.bool_)
    if words.isdisjoint(MISSING):
        return Numbers(values=values)
    missing = np.array([cell in MISSING for cell in cells], dtype=np.bool_)
    return Numbers(values=values, missing=missing)


def parse_keys(cells: Sequence[str]) -> Column:
    """Return ``cells`` that name records, persons or groups.

    Numbers where each is written as its number always is: as text 007 and 7 are two, and so are
    1.0 and 1, or 1000 and 1e3.
    """
    numbers = parse_numbers(cells)
    if numbers is None:
        return parse_booleans(cells) or parse_labels(cells)
    missing = numbers.missing
    values = numbers.values if missing is None else numbers.values[~missing]
    written = [cell.strip() for cell in cells if cell not in MISSING]
    return numbers if written == [str(value) for value in values.tolist()] else parse_labels(cells)


def parse_labels(cells: Sequence[str]) -> Labels:
    """Return ``cells`` as labels."""
    words = sorted(set(cells) - MISSING)
    code = {word: at for at, word in enumerate(words)}
    codes = np.fromiter((code.get(cell, -1) for cell in cells), dtype=np.int64, count=len(cells))
    return Labels(codes=codes, vocabulary=Vocabulary(tuple(words)))


def looks_numeric(cells: Iterable[str], *, score_like: bool) -> bool:
    """Tell whether a column that is not all numbers was meant to be one.

    True when more than half of its first cells are numbers, or a single one in a
    column whose name says that it is a score. Such a column is never passed
    over as text: its bad cell is an error.
    """
    probed = [cell for cell in islice(cells, _PROBED) if cell not in MISSING]
    numbers = sum(is_number(cell) or is_decimal_comma(cell) for cell in probed)
    return numbers > 0 and (score_like or 2 * numbers > len(probed))


def column_kind(column: Column) -> Kind:
    """Return the kind of a parsed column."""
    if not isinstance(column, Numbers):
        return "string"
    if column.missing is not None and bool(column.missing.all()):
        return "empty"
    kinds: dict[str, Kind] = {"b": "bool", "i": "integer", "u": "integer"}
    return kinds.get(column.values.dtype.kind, "float")


def exact_numbers(cells: Labels) -> Column:
    """Return numbers that were read as text, and which of them lose digits.

    Raises:
        ValueError: a cell is no number.
    """
    table = parse_numbers(cells.vocabulary.words)
    if table is None:
        raise ValueError
    return spread(table, cells.codes)


def spread(table: Column, codes: NDArray[np.intp]) -> Column:
    """Return the column whose distinct cells are ``table``; a negative code is a null."""
    if isinstance(table, Labels):
        places = np.append(table.codes, -1)
        return Labels(codes=places[codes], vocabulary=table.vocabulary)
    missing = codes < 0
    numbers, _, lost = column_arrays(table)
    values = np.append(numbers, numbers.dtype.type(0))[codes]
    rounded = None if lost is None else np.append(lost, np.zeros(1, dtype=np.uint8))[codes]
    return Numbers(values=values, missing=missing if missing.any() else None, rounded=rounded)


def categories(cells: Labels, *, boolean: bool) -> Column:
    """Return text as labels, or as booleans where it is asked for and every word is one."""
    words = cells.vocabulary.words
    if not boolean or not set(words) <= TRUE | FALSE:
        return cells
    values = np.array([*(word in TRUE for word in words), False], dtype=np.bool_)[cells.codes]
    missing = cells.codes < 0
    return Numbers(values=values, missing=missing if missing.any() else None)
