"""Opens whatever the caller has: files, a frame, an Arrow table, two arrays."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from mipaudit.tables.request import ReadRequest
    from mipaudit.tables.source import ScoreSource


def open_input(
    data: Any,  # noqa: ANN401 - a path, a frame or an Arrow table
    members: Any,  # noqa: ANN401 - a path or an array
    holdout: Any,  # noqa: ANN401
    request: ReadRequest,
) -> ScoreSource:
    """Return the opened input.

    Args:
        data: a path, directory, glob, ``"-"``, a data frame or an Arrow table; or None.
        members: the members' path or array, with ``holdout``; or None.
        holdout: the holdout's path or array, of the same form.
        request: what to read; its paths are filled in here.

    Raises:
        UsageError: neither or both forms are given, or only one of the two classes.
        InputError: the input cannot be read.
    """
    from mipaudit.tables.opening import open_arrays, open_frame, open_scores

    _require_one_form(data, members, holdout)
    if data is not None:
        path = _path(data)
        if path is None:
            return open_frame(data, request)
        return open_scores(replace(request, scores=path))
    member_path, holdout_path = _path(members), _path(holdout)
    if member_path is not None and holdout_path is not None:
        return open_scores(replace(request, members=member_path, holdout=holdout_path))
    if member_path is not None or holdout_path is not None:
        raise UsageError(
            "mixed_inputs",
            "Members and holdout are one file and one array.",
            hint="Give two files, or two arrays.",
        )
    return open_arrays(members, holdout)


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
            "Scores are given twice: SCORES, and --members or --holdout.",
            hint="Give SCORES alone, or --members FILE --holdout FILE.",
        )
    if data is None and (members is None or holdout is None):
        raise UsageError(
            "no_input",
            "No scores are given."
            if members is None and holdout is None
            else "Only one of members and holdout is given.",
            hint="Give a score file, or --members FILE --holdout FILE.",
        )
