"""A report that a command wrote as JSON, read back."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import InputError, UsageError
from mipaudit.options.plain_values import path_of

if TYPE_CHECKING:
    from mipaudit.statements.reports.kinds import AnyReport

_LARGEST: Final = 1 << 28
_STDIN: Final = "-"


def report_bytes(report: Any) -> bytes:  # noqa: ANN401 - a path, bytes, or a report
    """Return a report as the JSON of its file.

    Args:
        report: a path, ``"-"`` for standard input, the bytes of a file, or a report.

    Raises:
        UsageError: something else.
        InputError: the file cannot be read, or is far too long for a report.
    """
    from mipaudit.statements.reports.codec import to_json

    if isinstance(report, (bytes, bytearray)):
        return bytes(report)
    path = path_of(report)
    if isinstance(path, str):
        return _read(path)
    if hasattr(report, "schema") and hasattr(report, "provenance"):
        return to_json(report)
    raise UsageError("report", "The report must be a path, bytes, or what a command returned.")


def read_report(report: Any) -> AnyReport:  # noqa: ANN401
    """Return the report that a file holds; a report is itself.

    Raises:
        UsageError: neither a path, nor bytes, nor a report.
        InputError: the file cannot be read, holds no report, or one that contradicts itself.
    """
    from mipaudit.statements.reports.codec import from_json
    from mipaudit.statements.reports.soundness import contradiction

    found: AnyReport
    if not isinstance(report, (str, bytes, bytearray, os.PathLike)) and hasattr(report, "schema"):
        found = report
        return found
    found = from_json(report_bytes(report))
    place = contradiction(found)
    if place is not None:
        raise InputError(
            "bad_report",
            f"The report contradicts itself: {place} does not follow from what it lists.",
            hint="Use the file as the command wrote it; mipaudit verify checks one on its scores.",
        )
    return found


def _read(path: str) -> bytes:
    try:
        if path == _STDIN:
            data = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with open(path, "rb") as file:  # noqa: PTH123 - the name may hold anything
                data = file.read(_LARGEST + 1)
    except (OSError, ValueError, AttributeError) as error:
        # ValueError: a NUL in the name. AttributeError: standard input is closed.
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number else "it cannot be opened"
        raise InputError(
            "unreadable_report",
            f"The report cannot be read: {reason}.",
            hint="Give the file that a command wrote with -f json -o FILE, or - for standard "
            "input.",
        ) from None
    if len(data) > _LARGEST:
        raise InputError(
            "bad_report",
            "The file is over 256 MiB long: no report is.",
            hint="Give the file that a command wrote with -f json -o FILE.",
        )
    return data
