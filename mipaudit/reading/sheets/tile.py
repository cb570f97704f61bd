"""Blocks of numbers put together into one matrix, with every bad cell counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.reading.columns.column import (
    Column,
    Hashes,
    Labels,
    Numbers,
    column_hashes,
    inexact_integers,
)
from mipaudit.reading.rows.intake import Fault
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matrix:
    """Finite numbers of shape (rows, columns), and the columns' names.

    ``widths`` says how many columns each column of the file became: 1, or a list's length.
    """

    columns: tuple[str, ...]
    values: NDArray[np.float64]
    widths: tuple[int, ...]


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


def plain_matrix(names: Sequence[str], values: NDArray[np.float64]) -> Matrix:
    """Return columns none of which is a list."""
    return Matrix(columns=tuple(names), values=values, widths=(1,) * len(names))


def text_words(column: Column) -> NDArray[np.str_]:
    """Return the words of a column of text, empty where it is null."""
    assert isinstance(column, Labels)  # noqa: S101 - the caller knows the kind
    # The last entry is for nulls, whose code is -1.
    return np.asarray(np.array([*column.vocabulary.words, ""], dtype=np.str_)[column.codes])


class TextSheet:
    """A text held in memory, whose columns are made as they are asked for.

    Attributes:
        name: what messages call the file.
        rows: how many.
    """

    lists: ClassVar[frozenset[str]] = frozenset()
    name: str
    rows: int

    def column(self, name: str) -> Column:
        """Return a column as numbers, or as labels when it is text."""
        raise NotImplementedError

    def key(self, name: str) -> Column:
        """Return a column that names records, persons or groups."""
        return self.column(name)

    def numbers(self, name: str) -> Numbers:
        """Return a column of numbers.

        Raises:
            InputError: ``unparsable``, ``decimal_comma`` or ``large_integers``.
        """
        column = self.column(name)
        if isinstance(column, Numbers):
            return column
        raise InputError("unparsable", f"{self.name}: column {quoted_name(name)} is no number.")

    def matrix(self, names: Sequence[str]) -> Matrix:
        """Return the named columns.

        Raises:
            InputError: as `numbers` and `fill_matrix`.
        """
        tiles = (column_tile(self.numbers(name), row=0, column=at) for at, name in enumerate(names))
        return plain_matrix(
            names, fill_matrix(tiles, rows=self.rows, columns=names, source=self.name)
        )

    def keys(self, names: Sequence[str]) -> dict[str, Hashes]:
        """Return a hash per row of each named column."""
        return {name: column_hashes(self.key(name)) for name in names}

    def words(self, name: str) -> NDArray[np.str_]:
        """Return a column of text, empty where it is null."""
        return text_words(self.column(name))


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
    listed = "; ".join(f"column {quoted_name(columns[at])} in {faults[at].told}" for at in shown)
    more = len(faults) - len(shown)
    return listed if not more else f"{listed}; and {more} more columns"
