"""Groups of rows: one hash for the values of several columns, and what it stands for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.reading.columns.column import (
    Chunk,
    Column,
    Labels,
    Numbers,
    column_hashes,
    column_missing,
    mix64,
)

MOST_GROUPS: Final = 1024
_MISSING_WORD: Final = "missing"
# A name is column=word, column=word: what would read otherwise is quoted.
_QUOTED: Final = frozenset(',="')
_MOST_WHOLE: Final = 2.0**53
_MISSING_HASH: Final = np.uint64(0x6D697373696E6721)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupColumns:
    """The columns that name a row's group.

    Attributes:
        columns: their names.
        option: how the user names them.
        required: whether every row must name its group; else those that do not are one.
        found: what each hash seen so far stands for, a text for each column; filled as rows
            are read, from several threads.
    """

    columns: tuple[str, ...]
    option: str = "`by`"
    required: bool = False
    found: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def hashes(
        self, columns: Mapping[str, Column], kept: NDArray[np.intp] | None = None
    ) -> NDArray[np.uint64]:
        """Return the hash of each row's group, uint64, shape (n,).

        Args:
            columns: the cells.
            kept: the n rows that are audited; None for all. Values of the others make no group.

        Raises:
            InputError: ``too_many_groups``.
        """
        total: NDArray[np.uint64] | None = None
        for name in self.columns:
            one = _hashes(columns[name])
            total = one if total is None else mix64(total) ^ one
        assert total is not None  # noqa: S101 - there is at least one column
        if kept is not None:
            total = total[kept]
        values, first = np.unique(total, return_index=True)
        for value, row in zip(values.tolist(), first.tolist(), strict=True):
            if value not in self.found:
                at = row if kept is None else int(kept[row])
                self.found[value] = tuple(_word(columns[name], at) for name in self.columns)
        self._require_few()
        return total

    def unnamed(self, columns: Mapping[str, Column]) -> NDArray[np.bool_] | None:
        """Return which rows lack a value that they must have, None for none."""
        masks = [_missing(columns[name]) for name in self.columns if self.required]
        found = [mask for mask in masks if mask is not None]
        return np.logical_or.reduce(found) if found else None

    def learn(self, found: Mapping[int, tuple[str, ...]]) -> None:
        """Take in what other processes saw.

        Raises:
            InputError: ``too_many_groups``.
        """
        self.found.update(found)
        self._require_few()

    def _require_few(self) -> None:
        if len(self.found) > MOST_GROUPS:
            raise InputError(
                "too_many_groups",
                f"The columns of {self.option} have more than {MOST_GROUPS:,} combinations of "
                "values.",
                hint="Name columns with few values: categories, not measurements or ids.",
            )


def _hashes(column: Column) -> NDArray[np.uint64]:
    found = column_hashes(column)
    missing = _missing(column)
    values = found.values
    return values if missing is None else np.where(missing, _MISSING_HASH, values)


def _missing(column: Column) -> NDArray[np.bool_] | None:
    """Return where a cell has no value; an empty text is none, as in a file without types."""
    missing = column_missing(column)
    if not isinstance(column, Labels) or "" not in column.vocabulary.words:
        return missing
    empty = np.asarray(column.codes == column.vocabulary.words.index(""))
    return empty if missing is None else missing | empty


def _word(column: Column, row: int) -> str:
    """Return a cell as a group's name has it."""
    match column:
        case Labels():
            code = int(column.codes[row])
            word = "" if code < 0 else column.vocabulary.words[code]
            return _text_word(word) if word else _MISSING_WORD
        case Numbers():
            gap = column.missing is not None and bool(column.missing[row])
            value = column.values[row]
            if gap or value != value:  # noqa: PLR0124 - NaN
                return _MISSING_WORD
            return _number_word(value.item())
        case _:
            raise TypeError("a group column is read with its values")


def _text_word(text: str) -> str:
    """Return a text so that no two groups get the same name."""
    if text != _MISSING_WORD and _QUOTED.isdisjoint(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _number_word(value: float | bool) -> str:  # noqa: FBT001 - a cell of a table
    """Return a number so that unequal ones differ: the shortest text that gives it back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    whole = math.isfinite(value) and abs(value) < _MOST_WHOLE and value == int(value)
    return str(int(value)) if whole else repr(value)


def column_values(column: Column) -> NDArray[Any]:
    """Return the values of a key column as they are: numbers, or text as objects."""
    match column:
        case Labels():
            words = np.array([*column.vocabulary.words, None], dtype=object)
            return np.asarray(words[column.codes])
        case Numbers():
            return column.values
        case _:
            raise TypeError("a key that is written out is read with its values")


def group_hashes(
    groups: GroupColumns | None, chunk: Chunk, kept: NDArray[np.intp] | None
) -> NDArray[np.uint64] | None:
    """Return the hash of each kept row's group, or None where no group was asked for."""
    return None if groups is None else groups.hashes(chunk.columns, kept)
