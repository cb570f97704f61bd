"""Blocks of numbers put together into one matrix, with every bad cell counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.reading.columns.column import Numbers, inexact_integers
from mipaudit.reading.rows.left_out import Fault
from mipaudit.statements.text.printable_names import quoted_name

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tile:
    """Numbers or booleans of shape (r, k) whose first cell is at (row, column).

    ``missing`` marks the nulls, None for none.
    """

    row: int
    column: int
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None


def column_tile(numbers: Numbers, *, row: int, column: int) -> Tile:
    """Return consecutive cells of one column as a tile."""
    missing = None if numbers.missing is None else numbers.missing[:, None]
    return Tile(row=row, column=column, values=numbers.values[:, None], missing=missing)


def fill_matrix(
    tiles: Iterable[Tile], *, rows: int, columns: Sequence[str], source: str
) -> NDArray[np.float64]:
    """Return the matrix that ``tiles`` cover completely.

    Args:
        tiles: in any order, without overlap.
        rows: of the matrix.
        columns: the names of its columns.
        source: what messages call the file.

    Returns:
        Finite numbers of shape (rows, len(columns)), each column contiguous.

    Raises:
        InputError: ``missing_cells``, ``infinite_cells`` or ``large_integers``.
    """
    # Tables are read column by column: writing a column must not stride.
    values = np.empty((rows, len(columns)), order="F")
    census = _Census()
    for tile in tiles:
        height, width = tile.values.shape
        part = values[tile.row : tile.row + height, tile.column : tile.column + width]
        # A wider float that does not fit becomes infinite, and is counted as that.
        with np.errstate(over="ignore", invalid="ignore"):
            part[...] = tile.values
        census.note(tile, part)
    census.check(columns, source)
    return values


def array_matrix(
    array: NDArray[Any], *, columns: Sequence[str], source: str
) -> NDArray[np.float64]:
    """Return an array of shape (rows, len(columns)) as a matrix of its own.

    Raises:
        InputError: as ``fill_matrix``.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.array(array, dtype=np.float64)
    census = _Census()
    census.note(Tile(row=0, column=0, values=array), values)
    census.check(columns, source)
    return values


@dataclass(slots=True, kw_only=True)
class _Census:
    """The bad cells by the position of their column."""

    missing: dict[int, Fault] = field(default_factory=dict)
    infinite: dict[int, Fault] = field(default_factory=dict)
    inexact: dict[int, Fault] = field(default_factory=dict)

    def note(self, tile: Tile, values: NDArray[np.float64]) -> None:
        """Count the bad cells of ``tile``, whose numbers are now ``values``."""
        inexact = inexact_integers(Numbers(values=tile.values, missing=tile.missing), "float")
        if inexact is not None:
            _count(self.inexact, inexact, tile)
        absent = tile.missing
        if np.isfinite(values).all():
            if absent is not None:
                _count(self.missing, absent, tile)
            return
        empty = np.isnan(values) if absent is None else np.isnan(values) | absent
        _count(self.missing, empty, tile)
        _count(self.infinite, np.isinf(values) & ~empty, tile)

    def check(self, columns: Sequence[str], source: str) -> None:
        """Raise the gravest fault that was counted."""
        if self.missing:
            raise InputError(
                "missing_cells",
                f"{source}: empty cells or NaN: {_places(self.missing, columns)}.",
                hint="Leave out these rows or columns: every number is needed.",
            )
        if self.infinite:
            raise InputError(
                "infinite_cells",
                f"{source}: infinite numbers: {_places(self.infinite, columns)}.",
                hint="No noise hides an infinite number: leave out these rows or columns.",
            )
        if self.inexact:
            raise large_integers(self.inexact, columns, source)


def large_integers(faults: Mapping[int, Fault], columns: Sequence[str], source: str) -> InputError:
    """Return the error for integers that a float cannot hold exactly."""
    return InputError(
        "large_integers",
        f"{source}: integers beyond 2^53, which cannot be told apart: {_places(faults, columns)}.",
        hint="Subtract a constant, or store them as floats if their last digits do not matter.",
    )


def _count(faults: dict[int, Fault], mask: NDArray[np.bool_], tile: Tile) -> None:
    for at in np.flatnonzero(mask.any(axis=0)):
        cells = mask[:, at]
        fault = faults.setdefault(tile.column + int(at), Fault())
        fault.add(int(np.count_nonzero(cells)), tile.row + int(np.argmax(cells)))


def _places(faults: Mapping[int, Fault], columns: Sequence[str]) -> str:
    shown = sorted(faults)[:_SHOWN]
    listed = "; ".join(f"column {quoted_name(columns[at])} in {_rows(faults[at])}" for at in shown)
    more = len(faults) - len(shown)
    return listed if not more else f"{listed}; and {more} more columns"


def _rows(fault: Fault) -> str:
    rows = "1 row" if fault.count == 1 else f"{fault.count} rows"
    return f"{rows}, first in data row {fault.first_row + 1}"
