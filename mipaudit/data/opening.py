"""From whatever the caller has to an opened input: files, a frame, an Arrow table, two arrays.

Each file is opened by its first bytes, many at once where they are far away; an input is looked
at cheaply before it is audited. CSV is parsed here, once; Parquet is decoded in every pass.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from os import PathLike
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from mipaudit.data import parts as inputs
from mipaudit.data.choice import Choice, choose, no_member_column, unreadable_column
from mipaudit.data.files.blob import Blob, blob_format, closed_on_error, each_at_once
from mipaudit.data.files.contents import claim_buffers
from mipaudit.data.files.paths import FoundBlob, check_different, find_blobs
from mipaudit.data.model_outputs import ModelOutputs
from mipaudit.data.parts import BadPartsError, HivePart, Opened, folder_keys
from mipaudit.data.request import ReadRequest
from mipaudit.data.rows.repetition import check_copies, check_ids, several_files
from mipaudit.data.rows.units import stand_for_units
from mipaudit.data.source import ScoreSource, Sides
from mipaudit.data.words import Where, candidate_columns
from mipaudit.errors import InputError, UsageError
from mipaudit.statements.printable_names import quoted_name

if TYPE_CHECKING:
    from mipaudit.data.column import Part
    from mipaudit.options.values import Given

_GIVEN: Final = {True: "members", False: "holdout", None: "scores"}
_FRAMES: Final = {True: "the members' frame", False: "the holdout frame", None: "the frame"}
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
    given = [(None, data)] if data is not None else [(True, members), (False, holdout)]
    paths = [(side, _paths(one, several=side is None)) for side, one in given]
    if all(found for _, found in paths):
        return _open_files(paths, request, threads)
    frames = [data is not None or inputs.is_frame(one) for _, one in given]
    if any(found for _, found in paths) or len(set(frames)) > 1:
        raise UsageError(
            "mixed_inputs",
            "Members and holdout are not given in the same form.",
            "Give two files, two frames, or two arrays.",
        )
    if not all(frames):
        return _open_arrays(members, holdout, request)
    return _opened(
        [(side, (inputs.open_arrow(one, _FRAMES[side]),)) for side, one in given], request
    )


def _require_one_form(data: object, members: object, holdout: object) -> None:
    if data is not None and (members is not None or holdout is not None):
        raise UsageError(
            "two_inputs",
            "Scores are given twice: SCORES, and `members` or `holdout`.",
            "Give SCORES alone, or `members` and `holdout`.",
        )
    if data is None and (members is None or holdout is None):
        raise UsageError(
            "no_input",
            "No scores are given."
            if members is None and holdout is None
            else "Only one of members and holdout is given.",
            "Give a score file, or `members` and `holdout`.",
        )


def _paths(data: object, *, several: bool) -> tuple[str, ...]:
    """Return one path, or several where they may be; nothing for what is no path."""
    listed = data if several and isinstance(data, (list, tuple)) else (data,)
    if not all(isinstance(one, (str, PathLike)) for one in listed):
        return ()
    return tuple(os.fsdecode(one) for one in listed)


def _open_arrays(members: Given, holdout: Given, request: ReadRequest) -> ScoreSource:
    """Open the scores of both classes from arrays, shapes (n,) or (n, d), and (m,) or (m, d).

    Raises:
        UsageError: ``not_for_arrays`` for what asks for a column by name.
        InputError: a wrong shape or type, or a class without scores.
    """
    given = {
        "score_col": request.score_columns,
        "member_col": request.member_column,
        "member_value": request.member_value,
        "where": request.where,
        "unit_col": request.unit_column,
        "unit_rows": request.unit_rows,
        "key_col": request.key_column,
        request.group_option.strip("`"): request.group_columns,
    }
    if named := [name for name, value in given.items() if value not in {None, ()}]:
        raise UsageError(
            "not_for_arrays",
            f"{', '.join(named)}: arrays have no named columns.",
            "Give members and holdout as two frames instead.",
        )
    parts = inputs.array_part("members", members), inputs.array_part("holdout", holdout)
    titles, others = (tuple(field.name for field in part.fields) for part in parts)
    if len(titles) != len(others):
        raise InputError(
            "columns_differ",
            f"Scores of each record: {len(titles)} for members, but {len(others)} for holdout.",
        )
    request = ReadRequest(score_columns=titles, nan=request.nan, arrays=True)
    return _opened([(True, parts[:1]), (False, parts[1:])], request)


def _open_files(
    sides: Sequence[tuple[bool | None, tuple[str, ...]]], request: ReadRequest, threads: int
) -> ScoreSource:
    """Open the files of each class; None for those in which a column says it."""
    if [names for _, names in sides] == [("-",), ("-",)]:
        raise UsageError(
            "two_stdin",
            "Members and holdout cannot both be standard input.",
            "Write one of them to a file first.",
        )
    claim_buffers()
    found = [(side, _files(specs)) for side, specs in sides]
    every = [blob for _, files in found for blob, _ in files]
    with closed_on_error(every), _skippable(every):
        check_different((_GIVEN[side], [blob for blob, _ in files]) for side, files in found)
        sound = [
            [one for one in files if one[0].name not in request.left_out] for _, files in found
        ]
        opened = [(side, *open_parts(own)) for (side, _), own in zip(found, sound, strict=True)]
        return _opened(
            [(side, parts) for side, parts, _ in opened],
            request,
            threads=threads,
            bare=tuple(blob for _, _, bare in opened for blob in bare),
            left_out=tuple(blob for blob in every if blob.name in request.left_out),
        )


def _files(specs: Sequence[str]) -> list[FoundBlob]:
    """Return the bytes of all that is named, in bytewise order of the names."""
    if "-" in specs and len(specs) > 1:
        raise UsageError(
            "stdin_and_files",
            "Standard input is given together with files.",
            "Give - alone, or write the stream to a file first.",
        )
    found = [one for spec in specs for one in find_blobs(spec)]
    return sorted(found, key=lambda one: one[0].name.encode()) if len(specs) > 1 else found


@contextmanager
def _skippable(blobs: Sequence[Blob]) -> Iterator[None]:
    """Raise another error of bad parts for what is no damage, or cannot be read a second time."""
    try:
        yield
    except BadPartsError as error:
        for blob in blobs:
            if blob.name in error.parts and blob.changed():
                raise inputs.input_changed(blob) from None
        if any(blob.bound for blob in blobs):
            raise error.plain() from None
        raise


def open_parts(files: Sequence[FoundBlob]) -> tuple[tuple[Part, ...], tuple[Blob, ...]]:
    """Return the parts, and what has a header alone: fine unless nothing else is there."""
    if not files:
        raise InputError("no_part_left", "None of the files can be read.")
    blobs = [blob for blob, _ in files]
    found = each_at_once(_open_or_error, blobs, remote=any(blob.remote for blob in blobs))
    if bad := [one for one in found if isinstance(one, BadPartsError)]:
        raise BadPartsError.together(bad)
    if any("=" in folder for _, folders in files for folder in folders):
        keys = folder_keys([(blob.name, folders) for blob, folders in files])
        found = [
            part if isinstance(part, InputError) else HivePart(part, own)
            for part, own in zip(found, keys, strict=True)
        ]
    parts = tuple(one for one in found if not isinstance(one, InputError))
    bare = [
        (blob, one) for blob, one in zip(blobs, found, strict=True) if isinstance(one, InputError)
    ]
    if not parts:
        raise bare[-1][1]
    return parts, tuple(blob for blob, _ in bare)


def _open_or_error(blob: Blob) -> Part | InputError:
    """Return the part, or the error of a file with a header alone or one that is damaged."""
    try:
        return open_part(blob)
    except InputError as error:
        suffix = PurePath(blob.name).suffix.lower()
        if error.code == "no_rows" and suffix in {".parquet", ".pq", ".parq"}:
            # Whatever wrote it, its rows are not there.
            error = InputError(
                "bad_parquet",
                f"{blob.name}: the name says Parquet, but the file is one line of text.",
            )
        found = inputs.named_fault(error, blob.name)
        if error.code != "no_rows" and not isinstance(found, BadPartsError):
            raise
        return found


def open_part(blob: Blob) -> Part:
    """Open one file by its first bytes."""
    found = blob_format(blob)
    if found == "parquet":
        from mipaudit.data.formats.parquet import ParquetPart

        return ParquetPart(blob)
    from mipaudit.data.formats.csv_file import CsvPart

    return CsvPart(blob, found)


def _opened(
    sides: Sides,
    request: ReadRequest,
    *,
    threads: int = 1,
    bare: tuple[Blob, ...] = (),
    left_out: tuple[Blob, ...] = (),
) -> ScoreSource:
    """Choose the columns, read what must be read at once, and check what is cheap.

    Args:
        sides: parts by the class that they were given for.
        request: how to understand them.
        threads: that parse text.
        bare: files with a header alone.
        left_out: files that cannot be read and are skipped.
    """
    parts = tuple(part for _, found in sides for part in found)
    fields = inputs.merge_fields(parts)
    named_members = candidate_columns(fields)
    told_by_column = sides[0][0] is None
    if told_by_column and request.member_column is None and not named_members:
        raise no_member_column(parts)
    choice = choose(fields, parts, request)
    outputs = ModelOutputs(sides, fields, choice, request)
    if (scores := len(choice.scalars)) > MOST_SCORES:
        raise UsageError(
            "too_many_scores",
            f"There are {scores:,} scores, but at most {MOST_SCORES:,} can be audited together: "
            "the error allowed is shared, and too little would be left for each.",
            "Name those that were released with `score_col`, or as coordinates of one vector "
            "score in a comma list.",
        )
    if told_by_column and named_members and not choice.members:
        if named_members[0] in choice.names:
            text = f"Column {quoted_name(named_members[0])} says who is a member, and is no score."
            raise UsageError("two_roles", text, "Name a column of scores with `score_col`.")
        raise unreadable_column(named_members[0], option="`member_col`")
    _load(parts, choice, outputs.names, threads)
    source = ScoreSource(choice, request, sides, Opened(parts=parts, bare=bare, left_out=left_out))
    if not source.rows_hint:
        raise InputError("no_rows", "The input has no rows.")
    if choice.where is not None:
        _require_rows(source, choice.where)
    source.chosen_words += outputs.findings(source)
    source.assumed = check_ids(source, request) or check_copies(source, request)
    source.assumed += several_files(source)
    if request.unit_column is not None:
        source.unit_seed = source.position_seed
        rows = source.every_row().rows()
        source.columns, source.standing, told = stand_for_units(source.columns, rows, request)
        source.assumed += told
    return source


def _load(parts: Sequence[Part], choice: Choice, beside: Collection[str], threads: int) -> None:
    """Get the columns ready: several large CSV files at a time, or one by several threads.

    Text is parsed without Python's lock, so that threads serve.

    Raises:
        InputError: ``columns_differ`` when a part lacks a column that is read.
        BadPartsError: parts that cannot be read, all of them.
    """
    from mipaudit.data.formats.csv_file import CsvPart

    columns = [choice.of_part(part, beside) for part in parts]
    large = [part for part in parts if isinstance(part, CsvPart) and part.large]
    together = threads > 1 and len(large) > 1
    for one in large:
        one.threads = 1 if together else threads

    def fault(part: Part, columns: tuple[Collection[str], ...]) -> BadPartsError | None:
        """Load a part; return its error where it is damaged."""
        try:
            part.load(*columns)
        except InputError as error:
            named = inputs.named_fault(error, part.name)
            if not isinstance(named, BadPartsError):
                raise
            return named
        return None

    with ThreadPoolExecutor(threads) as pool:
        every = (pool.map if together else map)(fault, parts, columns)
        bad = [one for one in every if one is not None]
    if bad:
        raise BadPartsError.together(bad)


def _require_rows(source: ScoreSource, where: Where) -> None:
    """Refuse a filter that keeps no row; reading stops at the first that it keeps.

    Raises:
        InputError: ``no_rows``.
    """
    for partition in source.every_row():
        chunks = partition.chunks((where.column,))
        if any(where.mask(chunk.columns[where.column]).any() for chunk in chunks):
            return
    raise InputError("no_rows", f"`where`: no row of {quoted_name(where.column)} has this value.")
