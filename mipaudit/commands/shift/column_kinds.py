"""What the common columns of two tables of records hold: numbers, texts or times."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.commands.shift.source import FeatureColumn, FeatureKind, mixed_column
from mipaudit.errors import InputError
from mipaudit.reading.columns.column import Labels, Numbers, are_days, column_hashes, is_day
from mipaudit.reading.columns.layout import uneven_storage, unreadable_column
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mipaudit.data.parts import Part
    from mipaudit.reading.columns.column import Column, Field

    Tables = Sequence[tuple[bool, tuple[Part, ...]]]

_NAMING: Final = "another value in every row: it names records"
_PARTED: Final = "another number in every row, of members and holdout in ranges of their own"
_WORDS_LOOKED_AT: Final = 1000
_ROWS_TO_TELL: Final = 20  # fewer may differ by chance


def name_features(
    names: Sequence[str],
    kinds: Mapping[str, str],
    tables: Tables,
    *,
    asked: bool,
    whole: bool,
) -> tuple[tuple[FeatureColumn, ...], list[tuple[str, str]]]:
    """Return the features, and which columns are none, with the reason.

    Args:
        names: of the columns that were read.
        kinds: of each, over both tables.
        tables: loaded.
        asked: whether the columns were named.
        whole: all rows are looked at where the first do not tell, so that no order of the
            rows can decide.

    Raises:
        InputError: ``mixed_column`` or ``no_features``.
    """
    found: list[FeatureColumn] = []
    skipped: list[tuple[str, str]] = []
    rounded, _ = uneven_storage(names, [part for _, parts in tables for part in parts])
    own = _with_values(tables)
    for name in names:
        kind = kinds[name]
        if kind == "empty":
            skipped.append((name, "no value in any row"))
        elif kind == "other":
            found.append(
                FeatureColumn(
                    name=name, kind=_of_time(name, own.get(name, []), tables, whole=whole)
                )
            )
        elif not asked and kind != "float" and _tells_rows_apart(name, tables, whole=whole):
            parted = kind == "integer" and _are_parted(name, tables, whole=whole)
            skipped.append((name, _PARTED if parted else _NAMING))
        else:
            days = kind == "string" and _holds_days(name, tables, whole=whole)
            text: FeatureKind = "date" if days else "category"
            found.append(
                FeatureColumn(
                    name=name,
                    kind=text if kind == "string" else "number",
                    fractions=kind == "float",
                    precision=rounded[name].precision if name in rounded else None,
                )
            )
    if not found:
        raise InputError(
            "no_features",
            "No column is left to compare: all are empty, ids, or left out.",
            hint="Name them with `columns`.",
        )
    return tuple(found), skipped


def _every(name: str, parts: Sequence[Part], *, whole: bool) -> Iterator[tuple[Column, int]]:
    """Yield a column of one table and its rows, piece by piece; unless whole the first alone."""
    chunks = (one for part in parts for piece in part.pieces() for one in piece.chunks({name}, 0))
    for chunk in chunks if whole else islice(chunks, 1):
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
            raise unreadable_column(name, option="`columns`")
        found.append(name)
    return found


def _with_values(tables: Tables) -> dict[str, list[Field]]:
    """Return every column as each part that has a value of it stores it."""
    found: dict[str, list[Field]] = {}
    for one in (one for _, parts in tables for part in parts for one in part.fields):
        if one.kind != "empty":
            found.setdefault(one.name, []).append(one)
    return found


def _of_time(
    name: str, own: Sequence[Field], tables: Tables, *, whole: bool
) -> Literal["date", "number"]:
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
            hint="Write it the same way everywhere, or leave it out with `ignore`.",
        )
    fits = len(moments) == 1 and {one.kind for one in own} <= {"other", "string"}
    if not fits or (
        words and not (moments <= {"day", "zoned"} and _holds_days(name, tables, whole=whole))
    ):
        raise mixed_column(name)
    return "date" if moments <= {"day", "zoned"} else "number"


def _holds_days(name: str, tables: Tables, *, whole: bool) -> bool:
    """Tell whether the texts of both tables, or the first, are days as 2024-05-31."""
    found: set[str] = set()
    for _, parts in tables:
        texts = [p for p in parts if any(f.name == name and f.kind == "string" for f in p.fields)]
        for column, rows in _every(name, texts, whole=whole):
            words = _words(column, most=rows if whole else _WORDS_LOOKED_AT)
            if not all(map(is_day, words)):
                return False
            found.update(words)
    return are_days(sorted(found))


def _words(column: Column, *, most: int) -> tuple[str, ...]:
    """Return some of the words of a column's rows; a dictionary may hold others, too."""
    if not isinstance(column, Labels):
        return ()
    used = np.unique(column.codes[column.codes >= 0])[:most]
    return tuple(column.vocabulary.words[at] for at in used.tolist())


def _are_parted(name: str, tables: Tables, *, whole: bool) -> bool:
    """Tell whether all numbers of one table lie below all of the other."""
    ends = []
    for _, parts in tables:
        values = [
            column.values
            for column, rows in _every(name, parts, whole=whole)
            if rows and isinstance(column, Numbers)
        ]
        ends.append((min(int(v.min()) for v in values), max(int(v.max()) for v in values)))
    (low, high), (other_low, other_high) = ends
    return high < other_low or other_high < low


def _tells_rows_apart(name: str, tables: Tables, *, whole: bool) -> bool:
    """Tell whether the rows of both tables hold as many texts, or numbers without a gap."""
    return all(_apart(_every(name, parts, whole=whole)) for _, parts in tables)


def _apart(pieces: Iterable[tuple[Column, int]]) -> bool:
    hashes, ends, looked, days = [], [], 0, True
    for column, rows in pieces:
        own = column_hashes(column)
        # Most columns repeat a value soon, and need no further look.
        if not _may_name(column) or own.missing is not None or np.unique(own.values).size < rows:
            return False
        if isinstance(column, Numbers) and rows:
            ends += [int(column.values.min()), int(column.values.max())]
        days = days and isinstance(column, Labels) and all(map(is_day, _words(column, most=rows)))
        hashes.append(own.values)
        looked += rows
    if looked < _ROWS_TO_TELL or np.unique(np.concatenate(hashes)).size < looked:
        return False
    return max(ends) - min(ends) == looked - 1 if ends else not days


def _may_name(column: Column) -> bool:
    return isinstance(column, Labels) or (
        isinstance(column, Numbers) and column.values.dtype.kind in "iu"
    )
