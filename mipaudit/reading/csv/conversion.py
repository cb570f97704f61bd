"""What readers make of the cells of a large CSV file: numbers, booleans or labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mipaudit.reading.columns.column import Column, Kind, Labels, Numbers, column_missing
from mipaudit.reading.columns.column_cache import column_arrays
from mipaudit.reading.csv.cells import FALSE, TRUE, parse_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


def from_numbers(values: NDArray[Any], kind: Kind) -> Numbers:
    """Return what pandas parsed without labels.

    Raises:
        ValueError: the block holds something else than numbers.
    """
    if values.dtype.kind not in "iuf":
        raise ValueError
    numbers = Numbers(values=values)
    if kind == "float" or values.dtype.kind != "f":
        return numbers
    return _whole_again(numbers)


def _whole_again(numbers: Numbers) -> Numbers:
    """Return integers that became floats because some are missing as integers."""
    missing = column_missing(numbers)
    if missing is None:
        return numbers
    filled = np.where(missing, 0.0, numbers.values)
    whole = np.abs(filled).max(initial=0.0) < 2.0**53 and bool((np.floor(filled) == filled).all())
    return Numbers(values=filled.astype(np.int64) if whole else filled, missing=missing)


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
