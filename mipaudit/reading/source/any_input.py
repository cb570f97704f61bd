"""Opens whatever the caller has: files, a frame, an Arrow table, two arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from mipaudit.reading.source.part import Load
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.reading.source.source import ScoreSource


def open_input(
    data: Any,  # noqa: ANN401 - a path, a frame or an Arrow table
    members: Any,  # noqa: ANN401 - a path or an array
    holdout: Any,  # noqa: ANN401
    request: ReadRequest,
    *,
    load: Callable[[Sequence[Load]], None] | None = None,
) -> ScoreSource:
    """Return the opened input.

    Args:
        data: a path, several, a directory, glob, ``"-"``, a data frame or an Arrow table;
            or None.
        members: the members' path, frame or array, with ``holdout``; or None.
        holdout: the holdout's path, frame or array, of the same form.
        request: what to read; its paths are filled in here.
        load: gets the files ready; None for one after the other.

    Raises:
        UsageError: neither or both forms are given, or only one of the two classes.
        InputError: the input cannot be read.
    """
    from mipaudit.reading.source.in_memory import open_arrays, open_frame, open_frames
    from mipaudit.reading.source.opening import open_scores

    _require_one_form(data, members, holdout)
    if data is not None:
        paths = _paths(data)
        if paths is None:
            return open_frame(data, request)
        return open_scores(replace(request, scores=paths), load=load)
    member_path, holdout_path = _path(members), _path(holdout)
    if member_path is not None and holdout_path is not None:
        return open_scores(replace(request, members=member_path, holdout=holdout_path), load=load)
    frames = (_is_frame(members), _is_frame(holdout))
    if member_path is not None or holdout_path is not None or frames[0] != frames[1]:
        raise UsageError(
            "mixed_inputs",
            "Members and holdout are not given in the same form.",
            hint="Give two files, two frames, or two arrays.",
        )
    if frames[0]:
        return open_frames(members, holdout, request)
    _check_arrays(request)
    return open_arrays(members, holdout, nan=request.nan)


def _is_frame(data: object) -> bool:
    """Tell a table from a series, which offers the same stream without columns."""
    has_columns = hasattr(data, "__arrow_c_stream__") or type(data).__name__ == "DataFrame"
    return has_columns and (hasattr(data, "columns") or hasattr(data, "schema"))


def _check_arrays(request: ReadRequest) -> None:
    """Raise UsageError for what asks for a column by name: arrays have none."""
    given = {
        "score_columns": bool(request.score_columns),
        "member_column": request.member_column is not None,
        "member_value": request.member_value is not None,
        "where": request.where is not None,
        "unit_column": request.unit_column is not None,
        "unit_rows": request.unit_rows is not None,
        "key_column": request.key_column is not None,
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
