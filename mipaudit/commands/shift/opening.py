"""Opens two tables of records, and tells which columns are features and of what kind."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.commands.shift.source import FeatureColumn, FeatureKind, FeatureSource, mixed_column
from mipaudit.data.opening import open_parts
from mipaudit.data.parts import Opened, other_hints, part_rows
from mipaudit.errors import InputError
from mipaudit.reading.bytes.paths import check_different, input_blobs
from mipaudit.reading.bytes.unpacked import claim_buffers
from mipaudit.reading.columns.choice import unreadable_column
from mipaudit.reading.columns.column import Labels, Numbers, are_days, column_hashes, is_day
from mipaudit.reading.columns.fields import merge_fields, merged_kind, uneven_storage
from mipaudit.reading.columns.membership import CANDIDATES
from mipaudit.reading.columns.names import find_column, is_id_like
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.summaries.plan import kept_exactly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mipaudit.commands.shift.options import ShiftOptions
    from mipaudit.data.parts import Part
    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.columns.column import Column, Field

    Tables = Sequence[tuple[bool, tuple[Part, ...]]]

_STDIN_IN_MEMORY: Final = 4 << 20
_NO_NUMBER: Final = "Mend the cell, or leave the column out with `ignore`."
_WORDS_LOOKED_AT: Final = 1000
_ROWS_TO_TELL: Final = 20  # fewer may differ by chance
_MEMBERSHIP: Final = frozenset({*CANDIDATES, "part"})


def open_tables(asked: ShiftOptions) -> FeatureSource:
    """Open two tables of records, and choose what is compared of them.

    Raises:
        InputError: a table cannot be read or is empty, or they have no column in common.
    """
    claim_buffers()
    members, holdout = asked.members, asked.holdout
    blobs = [
        (side, input_blobs(one, in_memory=_STDIN_IN_MEMORY) if isinstance(one, str) else [])
        for side, one in ((True, members), (False, holdout))
    ]
    try:
        check_different(("members" if side else "holdout", found) for side, found in blobs)
        opened = [
            (side, *_parts(given, found, side=side))
            for (side, found), given in zip(blobs, (members, holdout), strict=True)
        ]
        return _opened(opened, asked)
    except BaseException:
        for _, found in blobs:
            for blob in found:
                blob.close()
        raise


def _parts(
    given: object, blobs: Sequence[Blob], *, side: bool
) -> tuple[tuple[Part, ...], tuple[Blob, ...]]:
    if not isinstance(given, str):
        from mipaudit.data.memory import open_arrow

        return (open_arrow(given, "the members' frame" if side else "the holdout frame"),), ()
    return open_parts([(blob, ()) for blob in blobs])


def _opened(
    opened: Sequence[tuple[bool, tuple[Part, ...], tuple[Blob, ...]]], asked: ShiftOptions
) -> FeatureSource:
    tables = [(side, parts) for side, parts, _ in opened]
    kept, skipped = _selected(tables, asked)
    nested = nested_columns([one.name for one in kept], tables, asked=bool(asked.columns))
    skipped += [(name, "not_comparable_values") for name in nested]
    names = [one.name for one in kept if one.name not in nested]
    _require_one_kind(tables, asked.id_col)
    hashed = {asked.id_col} - {None, *names}
    for _, parts in tables:
        for part in parts:
            _require_same(part, names, asked.id_col)
            own = {n for n in hashed if n}
            with other_hints({"unparsable": _NO_NUMBER}):
                part.load({*names, *own}, own)
    kinds = {one.name: one.kind for one in merge_fields([p for _, ps in tables for p in ps])}
    rows = sum(part_rows(part) for _, parts in tables for part in parts)
    held = kept_exactly(rows, len(names))
    named = bool(asked.columns)
    features, empty = name_features(names, kinds, tables, asked=named, whole=held)
    source = FeatureSource(
        columns=features,
        skipped=(*skipped, *empty),
        id_column=asked.id_col,
        held=held,
        sides=tuple(tables),
        opened=Opened(
            parts=tuple(part for _, parts in tables for part in parts),
            bare=tuple(blob for _, _, found in opened for blob in found),
        ),
    )
    for side, parts in tables:
        if not sum(map(part_rows, parts)):
            which = "members'" if side else "holdout's"
            raise InputError("empty_class", f"The {which} table has no rows.")
    return source


def _selected(tables: Tables, asked: ShiftOptions) -> tuple[list[Field], list[tuple[str, str]]]:
    """Return the columns to read and those that are left out, with the code of why."""
    (_, members), (_, holdout) = tables
    inside, outside = merge_fields(members), merge_fields(holdout)
    person = () if asked.id_col is None else (asked.id_col,)
    for option, names in (("`columns`", asked.columns), ("`id_col`", person)):
        for name in names:
            find_column(inside, name, option=option)
            find_column(outside, name, option=option)
    for name in asked.ignore:
        find_column((*inside, *outside), name, option="`ignore`")
    both = {f.name for f in inside} & {f.name for f in outside}
    if not both:
        raise InputError(
            "no_common_columns",
            "The two tables have no column in common: nothing can be compared.",
            hint="Give both tables the same header.",
        )
    kept: list[Field] = []
    skipped: list[tuple[str, str]] = []
    for one in merge_fields([*members, *holdout]):
        why = _left_out(one, both, asked)
        if why is None:
            kept.append(one)
        elif why:
            skipped.append((one.name, why))
    return kept, skipped


def _left_out(one: Field, both: set[str], asked: ShiftOptions) -> str | None:
    """Return the code of why a column is left out: empty for no need to say, None: it is kept."""
    name = one.name
    if name == asked.id_col:
        return ""
    if name not in both:
        return "in_one_table"
    if name in asked.columns:
        return None
    if asked.columns:
        return "not_asked_for"
    rules = (
        (name in asked.ignore, "ignored_as_asked"),
        (name.casefold() in _MEMBERSHIP, "says_membership"),
        (is_id_like(name) and _may_name(name), "names_a_record"),
    )
    return next((why for applies, why in rules if applies), None)


def _may_name(name: str) -> bool:
    """Tell a name of records from a label, which is a feature as any other."""
    folded = name.casefold()
    return re.search(r"(^|[_\W])(id|idx|index|uuid|key|row|rownum|row_number)$", folded) is not (
        None
    ) or folded.startswith(("unnamed", "__index_level"))


def _require_one_kind(tables: Tables, id_column: str | None) -> None:
    """Refuse ids that are numbers in one place and text in another: none would be shared."""
    fields = [f for _, parts in tables for p in parts for f in p.fields if f.name == id_column]
    forms = {(one.kind, one.moment) for one in fields if one.kind != "empty"}
    if forms == {("other", None)}:
        raise unreadable_column(str(id_column), option="`id_col`")
    if len(forms) > 1 and merged_kind({one.kind for one in fields}) == "other":
        raise mixed_column(str(id_column))


def _require_same(part: Part, names: Sequence[str], id_column: str | None) -> None:
    missing = {*names, *([id_column] if id_column else [])} - {one.name for one in part.fields}
    if missing:
        shown = ", ".join(quoted_name(name) for name in sorted(missing)[:5])
        raise InputError(
            "missing_column",
            f"{part.name}: columns that other files of the table have are missing: {shown}.",
            hint="Give all files of a table the same columns, or leave them out with `ignore`.",
        )


def name_features(
    names: Sequence[str],
    kinds: Mapping[str, str],
    tables: Tables,
    *,
    asked: bool,
    whole: bool,
) -> tuple[tuple[FeatureColumn, ...], list[tuple[str, str]]]:
    """Return the features, and which columns are none, with the code of why.

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
            skipped.append((name, "without_values"))
        elif kind == "other":
            found.append(
                FeatureColumn(
                    name=name, kind=_of_time(name, own.get(name, []), tables, whole=whole)
                )
            )
        elif not asked and kind != "float" and _tells_rows_apart(name, tables, whole=whole):
            parted = kind == "integer" and _are_parted(name, tables, whole=whole)
            skipped.append((name, "numbers_apart" if parted else "another_in_every_row"))
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
        if (
            not _may_be_names(column)
            or own.missing is not None
            or np.unique(own.values).size < rows
        ):
            return False
        if isinstance(column, Numbers) and rows:
            ends += [int(column.values.min()), int(column.values.max())]
        days = days and isinstance(column, Labels) and all(map(is_day, _words(column, most=rows)))
        hashes.append(own.values)
        looked += rows
    if looked < _ROWS_TO_TELL or np.unique(np.concatenate(hashes)).size < looked:
        return False
    return max(ends) - min(ends) == looked - 1 if ends else not days


def _may_be_names(column: Column) -> bool:
    return isinstance(column, Labels) or (
        isinstance(column, Numbers) and column.values.dtype.kind in "iu"
    )
