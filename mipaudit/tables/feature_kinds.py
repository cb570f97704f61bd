"""What the common columns of two tables of records hold: numbers, texts or times."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.errors import InputError
from mipaudit.report.names import quoted_name
from mipaudit.tables.column import Labels, Numbers
from mipaudit.tables.feature_source import FeatureColumn, FeatureKind, mixed_column
from mipaudit.tables.layout import common_precision, stored_fields, unreadable_column
from mipaudit.tables.moments import are_days, is_day

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mipaudit.tables.column import Column, Field
    from mipaudit.tables.part import Part

    Tables = Sequence[tuple[bool, tuple[Part, ...]]]

_WORDS_LOOKED_AT: Final = 1000
_ROWS_TO_TELL: Final = 20  # fewer may differ by chance


def name_features(
    names: Sequence[str],
    kinds: Mapping[str, str],
    tables: Tables,
    *,
    asked: bool,
) -> tuple[tuple[FeatureColumn, ...], list[tuple[str, str]]]:
    """Return the features, and which columns are none, with the reason.

    Args:
        names: of the columns that were read.
        kinds: of each, over both tables.
        tables: loaded.
        asked: whether the columns were named.

    Raises:
        InputError: ``mixed_column`` or ``no_features``.
    """
    found: list[FeatureColumn] = []
    skipped: list[tuple[str, str]] = []
    stored = stored_fields(part for _, parts in tables for part in parts)
    own = _with_values(tables)
    for name in names:
        kind = kinds[name]
        if kind == "empty":
            skipped.append((name, "no value in any row"))
        elif kind == "other":
            found.append(FeatureColumn(name=name, kind=_of_time(name, own.get(name, []), tables)))
        elif not asked and kind != "float" and _tells_rows_apart(name, tables):
            skipped.append((name, "another value in every row: it names records"))
        else:
            days = kind == "string" and _holds_days(name, tables)
            text: FeatureKind = "date" if days else "category"
            found.append(
                FeatureColumn(
                    name=name,
                    kind=text if kind == "string" else "number",
                    fractions=kind == "float",
                    precision=common_precision(stored.get(name, ())),
                )
            )
    if not found:
        raise InputError(
            "no_features",
            "No column is left to compare: all are empty, ids, or left out.",
            hint="Name them with --columns.",
        )
    return tuple(found), skipped


def _first(name: str, tables: Tables) -> Iterator[tuple[Column, int]]:
    """Yield the first rows of a column in each table, and how many they are."""
    for _, parts in tables:
        piece = next((piece for part in parts for piece in part.pieces()), None)
        chunk = None if piece is None else next(iter(piece.chunks({name}, 0)), None)
        if chunk is not None:
            yield chunk.columns[name], chunk.rows


def nested_columns(names: Sequence[str], tables: Tables, *, asked: bool) -> list[str]:
    """Return the columns that hold lists and the like everywhere.

    Raises:
        InputError: ``unreadable_column`` where they are asked for, ``mixed_column`` where
            one holds something else in another place.
    """
    found = []
    fields = _with_values(tables)
    for name in names:
        own = fields.get(name, [])
        nested = [one for one in own if one.kind == "other" and one.moment is None]
        if not nested:
            continue
        if len(nested) < len(own):
            raise mixed_column(name)
        if asked:
            raise unreadable_column(name, option="--columns")
        found.append(name)
    return found


def _with_values(tables: Tables) -> dict[str, list[Field]]:
    """Return every column as each part that has a value of it stores it."""
    found: dict[str, list[Field]] = {}
    for one in (one for _, parts in tables for part in parts for one in part.fields):
        if one.kind != "empty":
            found.setdefault(one.name, []).append(one)
    return found


def _of_time(name: str, own: Sequence[Field], tables: Tables) -> Literal["date", "number"]:
    """Return what a column is that holds times somewhere.

    Raises:
        InputError: ``mixed_column``.
    """
    moments = {one.moment for one in own if one.kind == "other"}
    words = any(one.kind == "string" for one in own)
    if moments == {"day", "zoned"}:
        raise InputError(
            "mixed_column",
            f"Column {quoted_name(name)} holds times with a time zone in one place, and days or "
            "times without a zone in another.",
            hint="Write it the same way everywhere, or leave it out with --ignore.",
        )
    fits = len(moments) == 1 and {one.kind for one in own} <= {"other", "string"}
    if not fits or (words and not (moments <= {"day", "zoned"} and _holds_days(name, tables))):
        raise mixed_column(name)
    return "date" if moments <= {"day", "zoned"} else "number"


def _holds_days(name: str, tables: Tables) -> bool:
    """Tell whether the first texts of both tables are days as 2024-05-31."""
    words: list[str] = []
    for _, parts in tables:
        texts = (p for p in parts if any(f.name == name and f.kind == "string" for f in p.fields))
        for column, _ in _first(name, [(True, tuple(islice(texts, 1)))]):
            words += _words(column)
    return are_days(words)


def _words(column: Column) -> tuple[str, ...]:
    """Return some of the words of a column's rows; a dictionary may hold others, too."""
    if not isinstance(column, Labels):
        return ()
    used = np.unique(column.codes[column.codes >= 0])[:_WORDS_LOOKED_AT]
    return tuple(column.vocabulary.words[at] for at in used.tolist())


def _tells_rows_apart(name: str, tables: Tables) -> bool:
    """Tell whether the first rows of both tables hold as many texts, or are counted on."""
    looked = 0
    for column, rows in _first(name, tables):
        if isinstance(column, Labels):
            apart = np.unique(column.codes).size == rows and int(column.codes.min(initial=0)) >= 0
            apart = apart and not all(map(is_day, _words(column)))
        elif isinstance(column, Numbers) and column.values.dtype.kind in "iu":
            apart = column.missing is None and bool((np.diff(column.values) == 1).all())
        else:
            return False
        if not apart or rows < _ROWS_TO_TELL:
            return False
        looked += 1
    return looked > 0
