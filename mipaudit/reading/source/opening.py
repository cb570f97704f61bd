"""From a request to an opened input: which files, which columns, which class.

Each file is opened by its first bytes, many at once where they are far away; an input is looked
at cheaply before it is audited.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from mipaudit.errors import InputError, UsageError
from mipaudit.reading.bytes.blob import Blob, BoundBlob, blob_format, each_at_once
from mipaudit.reading.bytes.paths import FoundBlob, check_different, find_blobs
from mipaudit.reading.bytes.unpacked import claim_buffers
from mipaudit.reading.columns.layout import (
    Layout,
    member_rule,
    merge_fields,
    no_member_column,
    plan_columns,
    uneven_storage,
    unreadable_column,
)
from mipaudit.reading.columns.score_selection import candidate_columns, selection_findings
from mipaudit.reading.rows.copies import check_copies
from mipaudit.reading.rows.repetition import check_ids
from mipaudit.reading.rows.rows_of_chunk import Assembly, GroupColumns
from mipaudit.reading.rows.units import stand_for_units
from mipaudit.reading.source.model_outputs import ModelOutputs
from mipaudit.reading.source.part import (
    BadPartsError,
    Load,
    Part,
    ScoreColumn,
    VectorScore,
    input_changed,
    load_each,
    named_fault,
)
from mipaudit.reading.source.source import ScoreSource
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name, safe_name
from mipaudit.statements.verdict import CHOSEN

if TYPE_CHECKING:
    from mipaudit.reading.columns.column import Field, Kind
    from mipaudit.reading.columns.membership import Where
    from mipaudit.reading.columns.score_selection import Selection
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.summaries.plan import ScoreKind


Loader = Callable[[Sequence[Load]], None]

_STDIN_IN_MEMORY = 4 << 20
# Of 40 rows each, 1,000 take some three seconds.
MOST_SCORES: Final = 1024


def open_parts(files: Sequence[FoundBlob]) -> tuple[tuple[Part, ...], tuple[Blob, ...]]:
    """Return the parts, and what has a header alone: fine unless nothing else is there."""
    blobs = [blob for blob, _ in files]
    parts: list[Part] = []
    bare: list[Blob] = []
    opened = each_at_once(_open_or_error, blobs, remote=any(blob.remote for blob in blobs))
    bad = [one for one in opened if isinstance(one, BadPartsError)]
    if bad:
        raise BadPartsError.together(bad)
    for blob, part in zip(blobs, _with_keys(opened, files), strict=True):
        if isinstance(part, InputError):
            if blob is blobs[-1] and not parts:
                raise part
            bare.append(blob)
        else:
            parts.append(part)
    return tuple(parts), tuple(bare)


def _with_keys(
    opened: Sequence[Part | InputError], files: Sequence[FoundBlob]
) -> Sequence[Part | InputError]:
    """Return the parts with the columns that their folders name."""
    if not any("=" in folder for _, folders in files for folder in folders):
        return opened
    from mipaudit.reading.parquet.hive import HivePart, folder_keys

    keys = folder_keys([(blob.name, folders) for blob, folders in files])
    return [
        part if isinstance(part, InputError) else HivePart(part, own)
        for part, own in zip(opened, keys, strict=True)
    ]


def _open_or_error(blob: Blob) -> Part | InputError:
    """Return the part, or the error of a file with a header alone or one that is damaged."""
    try:
        return open_part(blob)
    except InputError as error:
        if error.code == "no_rows" and _said_to_be_parquet(blob):
            error = InputError(
                "bad_parquet", f"{blob.name}: named as Parquet, and one line of text."
            )
        found = named_fault(error, blob.name)
        if error.code != "no_rows" and not isinstance(found, BadPartsError):
            raise
        return found


def _said_to_be_parquet(blob: Blob) -> bool:
    """Tell whether a text is named as Parquet: whatever wrote it, its rows are not there."""
    return PurePath(blob.name).suffix.lower() in {".parquet", ".pq", ".parq"}


def open_part(blob: Blob) -> Part:
    """Open one file by its first bytes."""
    found = blob_format(blob)
    if found == "parquet":
        from mipaudit.reading.parquet.parquet import open_parquet

        return open_parquet(blob)
    from mipaudit.data.csv_file import CsvPart

    return CsvPart(blob, found)


def check_where(source: ScoreSource, where: Where) -> None:
    """Raise InputError ``no_rows`` when ``where`` keeps no row; stops at the first kept."""
    for partition in source.every_row():
        for chunk in partition.chunks((where.column,)):
            if where.mask(chunk.columns[where.column]).any():
                return
    raise InputError("no_rows", f"`where`: no row of column {quoted_name(where.column)} matches.")


def open_scores(request: ReadRequest, *, load: Loader | None = None) -> ScoreSource:
    """Open the files that ``request`` names.

    CSV is parsed here, once; Parquet is decoded in every pass.

    Args:
        request: what to read.
        load: gets all parts ready; None for one after the other.

    Raises:
        UsageError: the request contradicts itself.
        BadPartsError: parts that cannot be read.
        InputError: the input cannot be audited as it is.
    """
    claim_buffers()
    sides = _sides(request)
    found = [(side, _files(specs)) for side, specs in sides]
    blobs = [(side, [blob for blob, _ in files]) for side, files in found]
    try:
        check_different(blobs)
        sound = [(side, _sound(files, request.left_out)) for side, files in found]
        opened = [(side, *open_parts(files)) for side, files in sound]
        source = open_groups([(side, parts) for side, parts, _ in opened], request, load=load)
        source.bare = tuple(blob for _, _, bare in opened for blob in bare)
        source.left_out = tuple(
            blob for _, files in blobs for blob in files if blob.name in request.left_out
        )
    except BaseException as error:
        every = [blob for _, files in blobs for blob in files]
        try:
            if isinstance(error, BadPartsError):
                _require_skippable(error, every)
        finally:
            for blob in every:
                blob.close()
        raise
    return source


def _files(specs: Sequence[str]) -> list[FoundBlob]:
    """Return the bytes of all that is named, in bytewise order of the names."""
    if "-" in specs and len(specs) > 1:
        raise UsageError(
            "stdin_and_files",
            "Standard input is given together with files.",
            hint="Give - alone, or write the stream to a file first.",
        )
    found = [one for spec in specs for one in find_blobs(spec, in_memory=_STDIN_IN_MEMORY)]
    return sorted(found, key=lambda one: one[0].name.encode()) if len(specs) > 1 else found


def _sound(files: Sequence[FoundBlob], left_out: frozenset[str]) -> Sequence[FoundBlob]:
    sound = [one for one in files if one[0].name not in left_out]
    if not sound:
        raise InputError("no_part_left", "No file is left that can be read.")
    return sound


def _require_skippable(error: BadPartsError, blobs: Sequence[Blob]) -> None:
    """Raise an error for what is no damage, and for what cannot be read a second time."""
    for blob in blobs:
        if blob.name in error.parts and blob.changed():
            raise input_changed(blob)
    if any(isinstance(blob, BoundBlob) for blob in blobs):
        raise error.plain() from None


def _sides(request: ReadRequest) -> list[tuple[bool | None, tuple[str, ...]]]:
    """Return which class every path holds: None when a column says it."""
    pair = (request.members, request.holdout)
    if request.scores is not None and pair == (None, None):
        scores = request.scores
        return [(None, (scores,) if isinstance(scores, str) else scores)]
    if request.scores is None and request.members is not None and request.holdout is not None:
        if pair == ("-", "-"):
            raise UsageError(
                "two_stdin",
                "Members and holdout cannot both be standard input.",
                hint="Write one of them to a file first.",
            )
        return [(True, (request.members,)), (False, (request.holdout,))]
    raise UsageError(
        "which_input",
        "Give either one input with a membership column, or both `members` and `holdout`.",
    )


def open_groups(
    groups: Sequence[tuple[bool | None, tuple[Part, ...]]],
    request: ReadRequest,
    *,
    load: Loader | None = None,
) -> ScoreSource:
    """Choose the columns, read what must be read at once, and check what is cheap.

    Args:
        groups: parts by the class that they were given for.
        request: how to understand them.
        load: gets all parts ready; None for one after the other.
    """
    parts = [part for _, found in groups for part in found]
    fields = merge_fields(parts)
    if groups[0][0] is None and request.member_column is None and not candidate_columns(fields):
        raise no_member_column(parts)
    layout = plan_columns(fields, parts, request)
    outputs = ModelOutputs(groups=groups, fields=fields, layout=layout, request=request)
    layout = outputs.with_others()
    _require_few(layout.selection.scalars)
    if groups[0][0] is None and not layout.candidates and candidate_columns(fields):
        raise unreadable_column(candidate_columns(fields)[0], option="`member_col`")
    (load_each if load is None else load)([layout.load(part) for part in parts])
    rounded, mixed = uneven_storage([one.name for one in layout.selection.scores], parts)
    assembly = _assembly(layout, request, {name: one.precision for name, one in rounded.items()})
    rules = [
        member_rule(found, layout.candidates, request, required=side is None)
        for side, found in groups
    ]
    source = ScoreSource(
        columns=_score_columns(layout.selection.scores, parts),
        skipped=layout.selection.skipped,
        groups=[
            (found, replace(assembly, side=side, rule=rule))
            for (side, found), rule in zip(groups, rules, strict=True)
        ],
    )
    _name_scores(source, layout)
    source.chosen_words = selection_findings(layout.selection)
    if request.chosen_by is not None:
        source.chosen_words += (_chosen_by_file(layout.selection, request.chosen_by),)
    source.rounded, source.mixed = rounded, mixed
    return _checked(source, outputs, request)


def _chosen_by_file(selection: Selection, file: str) -> Finding:
    """Say which scores a policy file audits, and how many it leaves out."""
    names = ", ".join(f"'{safe_name(one.name)}'" for one in selection.scores)
    left = len(selection.unaudited)
    rest = "no other score column is there"
    if left:
        rest = f"{left} score {'column is' if left == 1 else 'columns are'} left out"
    text = f"{safe_name(file)} audits {names} alone; {rest}."
    return Finding(code=CHOSEN, serious=left > 0, text=text)


def _require_few(scores: Collection[str]) -> None:
    """Refuse more scores than can be judged together in some seconds, or with any power.

    Raises:
        UsageError: ``too_many_scores``.
    """
    if len(scores) > MOST_SCORES:
        raise UsageError(
            "too_many_scores",
            f"There are {len(scores):,} scores, and at most {MOST_SCORES:,} are audited together: "
            "they share one error, of which hardly any is left for each.",
            hint="Name those that were released with `score_col`, or as coordinates of one vector "
            "score in a comma list.",
        )


def _name_scores(source: ScoreSource, layout: Layout) -> None:
    """Say which of the columns are scores by themselves and which make up vectors."""
    place = {column.name: at for at, column in enumerate(source.columns)}
    source.scalars = tuple(at for name, at in place.items() if name in layout.selection.scalars)
    source.vectors = tuple(
        VectorScore(name=",".join(one), coordinates=tuple(place[name] for name in one))
        for one in layout.selection.vectors
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


def _assembly(layout: Layout, request: ReadRequest, precision: Mapping[str, str]) -> Assembly:
    """Return how rows are made, but for who is a member."""
    grouping = None
    if request.group_columns:
        grouping = GroupColumns(
            columns=request.group_columns,
            option=request.group_option,
            required=request.run_column is not None,
        )
    return Assembly(
        copies=layout.copies,
        scores=layout.selection.scores,
        where=layout.where,
        key=request.unit_column or request.key_column,
        nan=request.nan,
        precision=precision,
        groups=grouping,
        named=request.named,
    )


def _checked(source: ScoreSource, outputs: ModelOutputs, request: ReadRequest) -> ScoreSource:
    layout = outputs.layout
    if not source.rows_hint:
        raise InputError("no_rows", "The input has no rows.")
    taken = {source.member_column, *(column.name for column in source.columns)}
    source.skipped = tuple((name, why) for name, why in source.skipped if name not in taken)
    if layout.where is not None:
        check_where(source, layout.where)
    source.chosen_words += outputs.findings(source)
    source.assumed = check_ids(source, layout, request) or check_copies(source, request)
    if request.unit_column is not None:
        source.unit_seed = source.position_seed
        rows = source.every_row().rows()
        source.columns, source.standing, told = stand_for_units(source.columns, rows, request)
        source.assumed += told
    return source
