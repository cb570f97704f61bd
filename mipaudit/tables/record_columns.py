"""The columns of a table of records as they are: numbers, or words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.report.names import quoted_name
from mipaudit.tables.column import Labels, Numbers, column_missing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mipaudit.tables.column import Column, Kind
    from mipaudit.tables.moments import Moment
    from mipaudit.tables.part import Part

MOMENT_KINDS: Final = frozenset({"date", "time", "duration"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordColumn:
    """One column of a table.

    Attributes:
        kind: ``date`` for days with or without a time, as days since 1970; ``time`` of a day
            and ``duration``, in days.
        numbers: shape (n,), 0 where missing; None for words.
        codes: of words, shape (n,), negative where missing; None for numbers.
        words: what the codes stand for.
        missing: which cells are empty, shape (n,).
    """

    kind: Kind | str
    numbers: NDArray[np.float64] | None
    codes: NDArray[np.int64] | None
    words: tuple[str, ...]
    missing: NDArray[np.bool_]


def read_record_column(parts: Sequence[Part], name: str, kinds: Sequence[str]) -> RecordColumn:
    """Return a column of all parts, one after the other.

    Args:
        parts: loaded for this column.
        name: of the column.
        kinds: what the column is, by part.

    Raises:
        InputError: ``mixed_column``, ``infinite_cell``, ``unreadable_column``.
    """
    found = [column for part in parts for column in _columns(part, name)]
    missing = np.concatenate([_missing(column) for column in found])
    labels = [column for column in found if isinstance(column, Labels)]
    empty = all(kind == "empty" for kind in kinds)
    held = set(kinds) - {"empty"}
    if held & MOMENT_KINDS and len(held) > 1:
        raise InputError(
            "mixed_column",
            f"{parts[0].name}: column {quoted_name(name)} holds times in one part of the table and "
            "something else in another.",
        )
    # A part without any value reads as numbers.
    if labels and any(isinstance(c, Numbers) and not _missing(c).all() for c in found):
        raise InputError(
            "mixed_column",
            f"{parts[0].name}: column {quoted_name(name)} mixes words and numbers.",
        )
    if labels:
        codes, words = _joined(found)
        return RecordColumn(kind="string", numbers=None, codes=codes, words=words, missing=missing)
    numbers = np.concatenate(
        [np.asarray(c.values, np.float64) for c in found if isinstance(c, Numbers)]
    )
    numbers[missing] = 0.0
    _refuse_infinite(numbers, parts[0].name, name)
    kind = "empty" if empty else _merged(kinds)
    return RecordColumn(kind=kind, numbers=numbers + 0.0, codes=None, words=(), missing=missing)


def _merged(kinds: Sequence[str]) -> str:
    held = {kind for kind in kinds if kind != "empty"}
    if len(held) == 1 and held <= {"bool", *MOMENT_KINDS}:
        return held.pop()
    return "integer" if held <= {"bool", "integer"} else "float"


def _missing(column: Column) -> NDArray[np.bool_]:
    found = column_missing(column)
    if found is not None:
        return found
    held = column.codes if isinstance(column, Labels) else column.values
    return np.zeros(held.shape, dtype=np.bool_)


def _columns(part: Part, name: str) -> Iterator[Column]:
    row = 0
    for piece in part.pieces():
        for chunk in piece.chunks([name], row):
            yield chunk.columns[name]
            row += chunk.rows


def _joined(columns: Sequence[Column]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the codes of all chunks in one vocabulary."""
    known: dict[str, int] = {}
    codes = []
    for column in columns:
        if not isinstance(column, Labels):
            codes.append(np.full(len(_missing(column)), -1, dtype=np.int64))
            continue
        places = [known.setdefault(word, len(known)) for word in column.vocabulary.words]
        # A null's code -1 finds the entry at the end.
        codes.append(np.array([*places, -1], dtype=np.int64)[column.codes])
    return np.concatenate(codes), tuple(known)


def _refuse_infinite(numbers: NDArray[np.float64], source: str, name: str) -> None:
    infinite = np.flatnonzero(~np.isfinite(numbers))
    if infinite.size:
        raise InputError(
            "infinite_cell",
            f"{source}: column {quoted_name(name)} is infinite in {infinite.size:,} rows, "
            f"first in row {infinite[0] + 1:,}: no distance can be taken.",
            hint="Leave the column out with --ignore, or take it as words with --categorical.",
        )


def moment_kind(moment: Moment) -> str:
    """Return the kind of a column of moments: ``date``, ``time`` or ``duration``."""
    return "date" if moment in {"day", "zoned"} else moment
