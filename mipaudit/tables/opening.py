"""From a request to an opened input: which files, which columns, which class."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mipaudit.errors import InputError, UsageError
from mipaudit.tables.assembly import Assembly
from mipaudit.tables.blob import FileBlob, blob_format, file_blob, stream_blob
from mipaudit.tables.inspection import check_where, duplicated_ids
from mipaudit.tables.layout import merge_fields, plan_columns, require_columns
from mipaudit.tables.paths import expand_paths
from mipaudit.tables.request import ReadRequest
from mipaudit.tables.resolution import member_rule, no_member_column
from mipaudit.tables.selection import candidate_columns
from mipaudit.tables.source import Group, ScoreColumn, ScoreSource
from mipaudit.tables.units import choose_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mipaudit.tables.blob import Blob
    from mipaudit.tables.column import Field, Kind
    from mipaudit.tables.layout import Layout
    from mipaudit.tables.part import Part
    from mipaudit.tables.source import ScoreKind

_STDIN_IN_MEMORY = 4 << 20


def open_scores(request: ReadRequest) -> ScoreSource:
    """Open the files that ``request`` names.

    CSV is parsed here, once; Parquet is decoded in every pass.

    Raises:
        UsageError: the request contradicts itself.
        InputError: the input cannot be audited as it is.
    """
    sides = _sides(request)
    blobs = [(side, _blobs(spec)) for side, spec in sides]
    try:
        _check_different(blobs)
        groups = [(side, tuple(open_part(blob) for blob in found)) for side, found in blobs]
        return open_groups(groups, request)
    except BaseException:
        for _, found in blobs:
            for blob in found:
                blob.close()
        raise


def _sides(request: ReadRequest) -> list[tuple[bool | None, str]]:
    """Return which class every path holds: None when a column says it."""
    pair = (request.members, request.holdout)
    if request.scores is not None and pair == (None, None):
        return [(None, request.scores)]
    if request.scores is None and request.members and request.holdout:
        if pair == ("-", "-"):
            raise UsageError("two_stdin", "Members and holdout cannot both be standard input.")
        return [(True, request.members), (False, request.holdout)]
    raise UsageError(
        "which_input",
        "Give either one input with a membership column, or both --members and --holdout.",
    )


def _blobs(spec: str) -> list[Blob]:
    if spec == "-":
        stream = sys.stdin.buffer
        return [stream_blob("standard input", stream, in_memory=_STDIN_IN_MEMORY)]
    return [file_blob(path) for path in expand_paths(spec)]


def _check_different(blobs: list[tuple[bool | None, list[Blob]]]) -> None:
    seen: dict[tuple[int, int], bool | None] = {}
    for side, found in blobs:
        for blob in found:
            same = isinstance(blob, FileBlob) and seen.setdefault(blob.identity, side) is not side
            if same:
                raise InputError(
                    "same_file", f"{blob.name}: the same file is given as members and holdout."
                )


def open_part(blob: Blob) -> Part:
    """Open one file by its first bytes."""
    found = blob_format(blob)
    if found == "parquet":
        from mipaudit.tables.parquet import open_parquet

        return open_parquet(blob)
    from mipaudit.tables.csv_part import CsvPart

    return CsvPart(blob, found)


def open_arrays(
    members: ArrayLike, holdout: ArrayLike, *, names: Sequence[str] = ()
) -> ScoreSource:
    """Open the scores of both classes from arrays.

    Args:
        members: shape (n,) or (n, d), numbers or booleans.
        holdout: shape (m,) or (m, d).
        names: of the d scores; by default ``score``, or ``score_0`` and so on.

    Raises:
        InputError: a wrong shape or type, or a class without scores.
    """
    from mipaudit.tables.frame_part import array_part

    parts = (array_part("members", members, names), array_part("holdout", holdout, names))
    request = ReadRequest(score_columns=tuple(field.name for field in parts[0].fields))
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
    for part in parts:
        require_columns(part, layout)
        present = {field.name for field in part.fields}
        part.load(layout.needed & present, layout.hashed & present)
    source = ScoreSource(
        columns=_score_columns(layout.scores, parts),
        skipped=layout.skipped,
        groups=[
            Group(
                parts=found,
                assembly=_assembly(side=side, parts=found, layout=layout, request=request),
            )
            for side, found in groups
        ],
    )
    return _checked(source, layout, request)


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
    *, side: bool | None, parts: Sequence[Part], layout: Layout, request: ReadRequest
) -> Assembly:
    return Assembly(
        scores=layout.scores,
        rule=member_rule(parts, layout.candidates, request, required=side is None),
        side=side,
        where=layout.where,
        key=request.unit_column or request.key_column,
        nan=request.nan,
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
