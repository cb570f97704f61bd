"""Summary files as the user names them: paths, globs, or what `summarize` returned."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import UsageError
from mipaudit.options.plain_values import path_of
from mipaudit.reading.summaries.file import SummaryFile, read_summary

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIX: Final = ".summary"


def listed(data: Any) -> list[Any]:  # noqa: ANN401 - one input or several
    """Return what was given as a list: one path, or several in a list or a tuple."""
    return list(data) if isinstance(data, (list, tuple)) else [data]


def are_summaries(data: Any) -> bool:  # noqa: ANN401 - whatever was given as scores
    """Tell whether the input is summaries: by their name, or because they are in memory.

    Raises:
        UsageError: ``mixed_inputs``: some are, some are not.
    """
    found = [_is_summary(one) for one in listed(data)]
    if any(found) and not all(found):
        raise UsageError(
            "mixed_inputs",
            "Summaries and scores are given together.",
            hint="Summarize the scores too: mipaudit summarize SCORES -o part.summary.",
        )
    return any(found)


def read_summaries(data: Iterable[Any]) -> tuple[SummaryFile, ...]:
    """Return the summaries, in the order of their names where a glob finds several.

    Raises:
        InputError: a file is not there, cannot be read, or is no summary.
    """
    files: list[SummaryFile] = []
    for one in data:
        if isinstance(one, SummaryFile):
            files.append(one)
        else:
            files += _read(str(path_of(one)))
    return tuple(files)


def _is_summary(one: object) -> bool:
    if isinstance(one, SummaryFile):
        return True
    return isinstance(one, (str, PathLike)) and str(path_of(one)).endswith(SUFFIX)


def _read(spec: str) -> list[SummaryFile]:
    from mipaudit.reading.bytes.paths import input_blobs

    found = []
    for blob in input_blobs(spec, in_memory=1 << 26):
        try:
            with blob.open() as stream:
                found.append(read_summary(blob.name, stream.read()))
        finally:
            blob.close()
    return found
