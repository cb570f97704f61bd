"""Opens two tables of records, and tells which columns are features and of what kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mipaudit.commands.shift.column_kinds import name_features, nested_columns
from mipaudit.commands.shift.source import FeatureSource, mixed_column
from mipaudit.data.opening import open_parts
from mipaudit.data.parts import Opened, other_hints, part_rows
from mipaudit.errors import InputError
from mipaudit.reading.bytes.paths import check_different, input_blobs
from mipaudit.reading.bytes.unpacked import claim_buffers
from mipaudit.reading.columns.layout import merge_fields, merged_kind, unreadable_column
from mipaudit.reading.columns.membership import CANDIDATES
from mipaudit.reading.columns.names import is_id_like
from mipaudit.reading.columns.score_selection import find_column
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.summaries.plan import kept_exactly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.shift.options import ShiftOptions
    from mipaudit.data.parts import Part
    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.columns.column import Field

_STDIN_IN_MEMORY: Final = 4 << 20
_NO_NUMBER: Final = "Mend the cell, or leave the column out with `ignore`."
_NAMES: Final = "a column that names a record"
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
    skipped += [(name, "neither numbers, nor text, nor times") for name in nested]
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


def _selected(
    tables: Sequence[tuple[bool, tuple[Part, ...]]], asked: ShiftOptions
) -> tuple[list[Field], list[tuple[str, str]]]:
    """Return the columns to read and those that are left out, with the reason."""
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
    """Return why a column is left out: empty for no need to say, None for it is kept."""
    name = one.name
    if name == asked.id_col:
        return ""
    if name not in both:
        return "in one of the two tables only"
    if name in asked.columns:
        return None
    if asked.columns:
        return "not asked for"
    rules = (
        (name in asked.ignore, "ignored as asked"),
        (name.casefold() in _MEMBERSHIP, "says membership"),
        (is_id_like(name) and _may_name(name), _NAMES),
    )
    return next((why for applies, why in rules if applies), None)


def _may_name(name: str) -> bool:
    """Tell a name of records from a label, which is a feature as any other."""
    folded = name.casefold()
    return re.search(r"(^|[_\W])(id|idx|index|uuid|key|row|rownum|row_number)$", folded) is not (
        None
    ) or folded.startswith(("unnamed", "__index_level"))


def _require_one_kind(
    tables: Sequence[tuple[bool, tuple[Part, ...]]], id_column: str | None
) -> None:
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
