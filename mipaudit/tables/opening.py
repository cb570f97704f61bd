"""From a request to an opened input: which files, which columns, which class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import InputError, UsageError
from mipaudit.tables.assembly import Assembly
from mipaudit.tables.blob import ZIP_MAGIC, blob_format
from mipaudit.tables.groups import GroupColumns
from mipaudit.tables.inspection import check_where, duplicated_ids
from mipaudit.tables.layout import (
    differing_types,
    merge_fields,
    plan_columns,
    require_columns,
    unreadable_column,
)
from mipaudit.tables.paths import check_different, input_blobs
from mipaudit.tables.request import ReadRequest
from mipaudit.tables.resolution import member_rule, no_member_column
from mipaudit.tables.selection import candidate_columns
from mipaudit.tables.source import Group, ScoreColumn, ScoreSource, VectorScore
from mipaudit.tables.units import choose_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mipaudit.summaries.plan import ScoreKind
    from mipaudit.tables.blob import Blob
    from mipaudit.tables.column import Field, Kind
    from mipaudit.tables.layout import Layout
    from mipaudit.tables.part import Part
    from mipaudit.tables.request import NanPolicy

_STDIN_IN_MEMORY = 4 << 20


def open_scores(request: ReadRequest) -> ScoreSource:
    """Open the files that ``request`` names.

    CSV is parsed here, once; Parquet is decoded in every pass.

    Raises:
        UsageError: the request contradicts itself.
        InputError: the input cannot be audited as it is.
    """
    sides = _sides(request)
    blobs = [(side, _blobs(specs)) for side, specs in sides]
    try:
        check_different(blobs)
        opened = [(side, *_open_parts(found)) for side, found in blobs]
        source = open_groups([(side, parts) for side, parts, _ in opened], request)
        source.bare = tuple(blob for _, _, bare in opened for blob in bare)
    except BaseException:
        for _, found in blobs:
            for blob in found:
                blob.close()
        raise
    return source


def _blobs(specs: Sequence[str]) -> list[Blob]:
    """Return the bytes of all that is named, in bytewise order of the names."""
    if "-" in specs and len(specs) > 1:
        raise UsageError(
            "stdin_and_files",
            "Standard input is given together with files.",
            hint="Give - alone, or write the stream to a file first.",
        )
    found = [blob for spec in specs for blob in input_blobs(spec, in_memory=_STDIN_IN_MEMORY)]
    return sorted(found, key=lambda blob: blob.name.encode()) if len(specs) > 1 else found


def _sides(request: ReadRequest) -> list[tuple[bool | None, tuple[str, ...]]]:
    """Return which class every path holds: None when a column says it."""
    pair = (request.members, request.holdout)
    if request.scores is not None and pair == (None, None):
        scores = request.scores
        return [(None, (scores,) if isinstance(scores, str) else scores)]
    if request.scores is None and request.members is not None and request.holdout is not None:
        if pair == ("-", "-"):
            raise UsageError("two_stdin", "Members and holdout cannot both be standard input.")
        return [(True, (request.members,)), (False, (request.holdout,))]
    raise UsageError(
        "which_input",
        "Give either one input with a membership column, or both --members and --holdout.",
    )


def _open_parts(blobs: Sequence[Blob]) -> tuple[tuple[Part, ...], tuple[Blob, ...]]:
    """Return the parts, and what has a header alone: fine unless nothing else is there."""
    parts: list[Part] = []
    bare: list[Blob] = []
    for blob in blobs:
        try:
            parts.append(open_part(blob))
        except InputError as error:
            if error.code != "no_rows" or (blob is blobs[-1] and not parts):
                raise
            bare.append(blob)
    return tuple(parts), tuple(bare)


def open_part(blob: Blob) -> Part:
    """Open one file by its first bytes."""
    found = blob_format(blob)
    if found == "csv":
        _refuse_archive(blob)
    if found == "parquet":
        from mipaudit.tables.parquet import open_parquet

        return open_parquet(blob)
    from mipaudit.tables.csv_part import CsvPart

    return CsvPart(blob, found)


def _refuse_archive(blob: Blob) -> None:
    """Refuse a zip archive, which may well be a summary under another name."""
    with blob.open() as stream:
        head = stream.read(len(ZIP_MAGIC))
    if head == ZIP_MAGIC:
        raise InputError(
            "zip_file",
            f"{blob.name}: a zip archive, not a table of scores.",
            hint="A summary of counts is named *.summary; cuts are given with --cuts.",
        )


def open_arrays(
    members: ArrayLike,
    holdout: ArrayLike,
    *,
    names: Sequence[str] = (),
    nan: NanPolicy = "error",
) -> ScoreSource:
    """Open the scores of both classes from arrays.

    Args:
        members: shape (n,) or (n, d), numbers or booleans.
        holdout: shape (m,) or (m, d).
        names: of the d scores; by default ``score``, or ``score_0`` and so on.
        nan: what to do with a missing score.

    Raises:
        InputError: a wrong shape or type, or a class without scores.
    """
    from mipaudit.tables.frame_part import array_part

    parts = (array_part("members", members, names), array_part("holdout", holdout, names))
    widths = [len(part.fields) for part in parts]
    if widths[0] != widths[1]:
        raise InputError(
            "columns_differ",
            f"Members have {widths[0]} scores a record, and holdout {widths[1]}.",
        )
    titles = tuple(field.name for field in parts[0].fields)
    request = ReadRequest(score_columns=titles, nan=nan)
    return open_groups([(True, parts[:1]), (False, parts[1:])], request)


def open_frame(frame: object, request: ReadRequest) -> ScoreSource:
    """Open a pandas or polars frame, or an Arrow table.

    Args:
        frame: anything with ``__arrow_c_stream__``.
        request: how to understand it; its files are not looked at.

    Raises:
        InputError: the frame cannot be audited as it is.
    """
    from mipaudit.tables.frame_part import open_arrow

    return open_groups([(None, (open_arrow(frame),))], request)


def open_frames(members: object, holdout: object, request: ReadRequest) -> ScoreSource:
    """Open one frame for each class; their columns are paired by name.

    Args:
        members: anything with ``__arrow_c_stream__``.
        holdout: the same.
        request: how to understand them; its files are not looked at.

    Raises:
        InputError: the frames cannot be audited as they are.
    """
    from mipaudit.tables.frame_part import open_arrow

    parts = (open_arrow(members, "the members' frame"), open_arrow(holdout, "the holdout frame"))
    return open_groups([(True, parts[:1]), (False, parts[1:])], request)


def open_groups(
    groups: Sequence[tuple[bool | None, tuple[Part, ...]]], request: ReadRequest
) -> ScoreSource:
    """Choose the columns, read what must be read at once, and check what is cheap.

    Args:
        groups: parts by the class that they were given for.
        request: how to understand them.
    """
    parts = [part for _, found in groups for part in found]
    fields = merge_fields(parts)
    if groups[0][0] is None and request.member_column is None and not candidate_columns(fields):
        raise no_member_column(parts)
    layout = plan_columns(fields, parts, request)
    if groups[0][0] is None and not layout.candidates and candidate_columns(fields):
        raise unreadable_column(candidate_columns(fields)[0], option="--member-col")
    for part in parts:
        require_columns(part, layout)
        present = {field.name for field in part.fields}
        part.load(layout.needed & present, layout.hashed & present)
    grouping = GroupColumns(columns=request.group_columns) if request.group_columns else None
    source = ScoreSource(
        columns=_score_columns(layout.scores, parts),
        skipped=layout.skipped,
        groups=[
            Group(
                parts=found,
                assembly=_assembly(
                    side=side, parts=found, layout=layout, request=request, groups=grouping
                ),
            )
            for side, found in groups
        ],
    )
    _name_scores(source, layout)
    source.mixed = tuple(f.name for f in layout.scores if differing_types(f.name, parts))
    return _checked(source, layout, request)


def _name_scores(source: ScoreSource, layout: Layout) -> None:
    """Say which of the columns are scores by themselves and which make up vectors."""
    place = {column.name: at for at, column in enumerate(source.columns)}
    source.scalars = tuple(at for name, at in place.items() if name in layout.scalars)
    source.vectors = tuple(
        VectorScore(name=one.name, coordinates=tuple(place[name] for name in one.columns))
        for one in layout.vectors
    )


def _score_columns(scores: Sequence[Field], parts: Sequence[Part]) -> tuple[ScoreColumn, ...]:
    """Return the scores with the kinds that all rows show."""
    kinds = {field.name: field.kind for field in merge_fields(parts)}
    return tuple(
        ScoreColumn(name=field.name, kind=_score_kind(kinds[field.name])) for field in scores
    )


def _score_kind(kind: Kind) -> ScoreKind:
    # A column without values reads as NaN, which is a float.
    match kind:
        case "empty" | "other":
            return "float"
        case _:
            return kind


def _assembly(
    *,
    side: bool | None,
    parts: Sequence[Part],
    layout: Layout,
    request: ReadRequest,
    groups: GroupColumns | None,
) -> Assembly:
    return Assembly(
        scores=layout.scores,
        rule=member_rule(parts, layout.candidates, request, required=side is None),
        side=side,
        where=layout.where,
        key=request.unit_column or request.key_column,
        nan=request.nan,
        groups=groups,
        named=request.named,
    )


def _checked(source: ScoreSource, layout: Layout, request: ReadRequest) -> ScoreSource:
    if not source.rows_hint:
        raise InputError("no_rows", "The input has no rows.")
    taken = {source.member_column, *(column.name for column in source.columns)}
    source.skipped = tuple((name, why) for name, why in source.skipped if name not in taken)
    if layout.where is not None:
        check_where(source, layout.where)
    if layout.id_column is not None:
        duplicated_ids(source, layout.id_column)
    if request.unit_column is not None:
        batches = (rows for part in source.partitions() for rows in part.batches())
        source.chosen = choose_units(batches, request.seed)
        source.intakes.clear()
    return source
