"""From whatever the caller has to an opened input: files, a frame, an Arrow table, two arrays.

Each file is opened by its first bytes, many at once where they are far away; an input is looked
at cheaply before it is audited. CSV is parsed here, once; Parquet is decoded in every pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import PathLike, fspath
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from mipaudit.data.memory import array_part, is_frame, open_arrow
from mipaudit.data.model_outputs import ModelOutputs
from mipaudit.data.parts import (
    BadPartsError,
    Opened,
    Part,
    ScoreColumn,
    VectorScore,
    input_changed,
    named_fault,
)
from mipaudit.data.request import ReadRequest
from mipaudit.data.source import ScoreSource
from mipaudit.errors import InputError, UsageError
from mipaudit.reading.bytes.blob import Blob, blob_format, each_at_once
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
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import quoted_name, safe_name
from mipaudit.statements.verdict import CHOSEN

if TYPE_CHECKING:
    from mipaudit.options.plain_values import Given
    from mipaudit.reading.columns.column import Field, Kind
    from mipaudit.reading.columns.membership import Where
    from mipaudit.reading.columns.score_selection import Selection
    from mipaudit.summaries.plan import ScoreKind

# Parts by the class that they were given for; None where a column says it.
Sides = Sequence[tuple[bool | None, tuple[Part, ...]]]

_STDIN_IN_MEMORY: Final = 4 << 20
_GIVEN: Final = {True: "members", False: "holdout", None: "scores"}
# Of 40 rows each, 1,000 take some three seconds.
MOST_SCORES: Final = 1024


def open_input(
    data: Given, members: Given, holdout: Given, request: ReadRequest, *, threads: int = 1
) -> ScoreSource:
    """Return the opened input.

    Args:
        data: a path, several, a directory, glob, ``"-"``, a data frame or an Arrow table;
            or None.
        members: the members' path, frame or array, with ``holdout``; or None.
        holdout: the holdout's path, frame or array, of the same form.
        request: how to understand them.
        threads: that parse text.

    Raises:
        UsageError: neither or both forms are given, or only one of the two classes; or the
            request contradicts itself.
        BadPartsError: parts that cannot be read.
        InputError: the input cannot be audited as it is.
    """
    _require_one_form(data, members, holdout)
    if data is not None:
        paths = _paths(data)
        if paths is None:
            return open_groups([(None, (open_arrow(data),))], request)
        return _open_files([(None, paths)], request, threads)
    member_path, holdout_path = _path(members), _path(holdout)
    if member_path is not None and holdout_path is not None:
        if member_path == holdout_path == "-":
            raise UsageError(
                "two_stdin",
                "Members and holdout cannot both be standard input.",
                hint="Write one of them to a file first.",
            )
        sides = [(True, (member_path,)), (False, (holdout_path,))]
        return _open_files(sides, request, threads)
    frames = (is_frame(members), is_frame(holdout))
    if member_path is not None or holdout_path is not None or frames[0] != frames[1]:
        raise UsageError(
            "mixed_inputs",
            "Members and holdout are not given in the same form.",
            hint="Give two files, two frames, or two arrays.",
        )
    if frames[0]:
        parts = (
            open_arrow(members, "the members' frame"),
            open_arrow(holdout, "the holdout frame"),
        )
        return open_groups([(True, parts[:1]), (False, parts[1:])], request)
    _check_arrays(request)
    return open_arrays(members, holdout, request)


def open_arrays(members: Given, holdout: Given, request: ReadRequest) -> ScoreSource:
    """Open the scores of both classes from arrays.

    Args:
        members: shape (n,) or (n, d), numbers or booleans.
        holdout: shape (m,) or (m, d).
        request: says what to do with a missing score.

    Raises:
        InputError: a wrong shape or type, or a class without scores.
    """
    parts = (array_part("members", members), array_part("holdout", holdout))
    widths = [len(part.fields) for part in parts]
    if widths[0] != widths[1]:
        raise InputError(
            "columns_differ",
            f"Members have {widths[0]} scores a record, and holdout {widths[1]}.",
        )
    titles = tuple(field.name for field in parts[0].fields)
    request = ReadRequest(score_columns=titles, nan=request.nan, arrays=True)
    return open_groups([(True, parts[:1]), (False, parts[1:])], request)


def _check_arrays(request: ReadRequest) -> None:
    """Raise UsageError for what asks for a column by name: arrays have none."""
    given = {
        "score_col": bool(request.score_columns),
        "member_col": request.member_column is not None,
        "member_value": request.member_value is not None,
        "where": request.where is not None,
        "unit_col": request.unit_column is not None,
        "unit_rows": request.unit_rows is not None,
        "key_col": request.key_column is not None,
        request.group_option.strip("`"): bool(request.group_columns),
    }
    named = [name for name, present in given.items() if present]
    if named:
        raise UsageError(
            "not_for_arrays",
            f"{', '.join(named)}: arrays have no named columns.",
            hint="Give members and holdout as two frames instead.",
        )


def _paths(data: object) -> tuple[str, ...] | None:
    """Return one path or several, None for what is no path."""
    listed = data if isinstance(data, (list, tuple)) else (data,)
    paths = [path for path in map(_path, listed) if path is not None]
    return tuple(paths) if paths and len(paths) == len(listed) else None


def _path(data: object) -> str | None:
    if isinstance(data, str):
        return data
    if not isinstance(data, PathLike):
        return None
    name = fspath(data)
    return name.decode() if isinstance(name, bytes) else str(name)


def _require_one_form(data: object, members: object, holdout: object) -> None:
    if data is not None and (members is not None or holdout is not None):
        raise UsageError(
            "two_inputs",
            "Scores are given twice: SCORES, and `members` or `holdout`.",
            hint="Give SCORES alone, or `members` and `holdout`.",
        )
    if data is None and (members is None or holdout is None):
        raise UsageError(
            "no_input",
            "No scores are given."
            if members is None and holdout is None
            else "Only one of members and holdout is given.",
            hint="Give a score file, or `members` and `holdout`.",
        )


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
    from mipaudit.data.csv.file import CsvPart

    return CsvPart(blob, found)


def check_where(source: ScoreSource, where: Where) -> None:
    """Raise InputError ``no_rows`` when ``where`` keeps no row; stops at the first kept."""
    for partition in source.every_row():
        for chunk in partition.chunks((where.column,)):
            if where.mask(chunk.columns[where.column]).any():
                return
    raise InputError("no_rows", f"`where`: no row of column {quoted_name(where.column)} matches.")


def _open_files(
    sides: Sequence[tuple[bool | None, tuple[str, ...]]], request: ReadRequest, threads: int
) -> ScoreSource:
    """Open the files of each class; None for those in which a column says it."""
    claim_buffers()
    found = [(side, _files(specs)) for side, specs in sides]
    every = [blob for _, files in found for blob, _ in files]
    try:
        check_different((_GIVEN[side], [blob for blob, _ in files]) for side, files in found)
        sound = [(side, _sound(files, request.left_out)) for side, files in found]
        opened = [(side, *open_parts(files)) for side, files in sound]
        return open_groups(
            [(side, parts) for side, parts, _ in opened],
            request,
            threads=threads,
            bare=tuple(blob for _, _, bare in opened for blob in bare),
            left_out=tuple(blob for blob in every if blob.name in request.left_out),
        )
    except BaseException as error:
        try:
            if isinstance(error, BadPartsError):
                _require_skippable(error, every)
        finally:
            for blob in every:
                blob.close()
        raise


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
    if any(blob.bound for blob in blobs):
        raise error.plain() from None


def open_groups(
    groups: Sides,
    request: ReadRequest,
    *,
    threads: int = 1,
    bare: tuple[Blob, ...] = (),
    left_out: tuple[Blob, ...] = (),
) -> ScoreSource:
    """Choose the columns, read what must be read at once, and check what is cheap.

    Args:
        groups: parts by the class that they were given for.
        request: how to understand them.
        threads: that parse text.
        bare: files with a header alone.
        left_out: files that cannot be read and are skipped.
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
    _load(parts, layout, threads)
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
        opened=Opened(parts=tuple(parts), bare=bare, left_out=left_out),
    )
    _name_scores(source, layout)
    source.chosen_words = selection_findings(layout.selection)
    if request.chosen_by is not None:
        source.chosen_words += (_chosen_by_file(layout.selection, request.chosen_by),)
    source.rounded, source.mixed = rounded, mixed
    return _checked(source, outputs, request)


def _load(parts: Sequence[Part], layout: Layout, threads: int) -> None:
    """Get the columns ready: several large CSV files at a time, or one by several threads.

    Text is parsed without Python's lock, so that threads serve.

    Raises:
        BadPartsError: parts that cannot be read, all of them.
    """
    from mipaudit.data.csv.file import CsvPart

    loads = [(part.name, layout.load(part)) for part in parts]
    large = [part for part in parts if isinstance(part, CsvPart) and part.large]
    together = threads > 1 and len(large) > 1
    for one in large:
        one.threads = 1 if together else threads

    def fault(load: tuple[str, Callable[[], None]]) -> BadPartsError | None:
        name, work = load
        try:
            work()
        except InputError as error:
            named = named_fault(error, name)
            if not isinstance(named, BadPartsError):
                raise
            return named
        return None

    if together:
        with ThreadPoolExecutor(threads) as pool:
            faults = list(pool.map(fault, loads))
    else:
        faults = list(map(fault, loads))
    if bad := [one for one in faults if one is not None]:
        raise BadPartsError.together(bad)


def _chosen_by_file(selection: Selection, file: str) -> Finding:
    """Say which scores a policy file audits, and how many it leaves out."""
    names = ", ".join(f"'{safe_name(one.name)}'" for one in selection.scores)
    left = len(selection.unaudited)
    return Finding.of(CHOSEN, case="some" if left else "all", file=file, names=names, left=left)


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
