"""A report that a command wrote as JSON, read back, with a verdict that follows from its checks.

A report that was edited so that only its verdict says something else must not pass a gate.
It is no proof against one that was edited with care: for that there is ``verify``.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mipaudit.errors import InputError, MipauditError, UsageError, bad_report
from mipaudit.options.values import Given, path_of
from mipaudit.statements.copies import COPIES
from mipaudit.statements.policy import check_status
from mipaudit.statements.verdict import WITHHELD, reach_verdict

if TYPE_CHECKING:
    from mipaudit.statements.any_report import AnyReport

# A report, or a part of one, of a kind that nobody asked for.
Stored: TypeAlias = Any
_LARGEST: Final = 1 << 28
_LONGEST_NAME: Final = 200
_STDIN: Final = "-"
_MADE: Final = "Give a file that a command wrote as JSON: mipaudit estimate SCORES -o report.json."
# A limit in other units is compared in those of the advantage: the last digits can differ.
_ROUNDING: Final = 1e-9


@contextmanager
def foreign(*reports: Given) -> Iterator[None]:
    """Read reports, draw them, judge them or compute them again, no matter who wrote the files.

    A file may say anything that its types allow, and no list of checks holds all of it. So
    whatever goes wrong within is an error of the file. What this process made is not suspected:
    a fault with that is one of the program.

    Args:
        reports: as they were given.

    Raises:
        InputError: ``bad_report``: a fault, which is its cause.
    """
    try:
        yield
    except (MipauditError, OSError, MemoryError, ImportError):
        raise  # these have words of their own, or are no matter of what a file says
    except Exception as error:
        if reports and all(map(_is_ours, reports)):
            raise
        what = "a number" if isinstance(error, ArithmeticError) else "something"
        raise bad_report(
            f"The report holds {what} that no command writes: it cannot be read, drawn or computed "
            "again.",
            hint="Use the file as the command wrote it. If this is that file, run again with -v "
            "and report the lines of code that are printed.",
        ) from error


def _is_ours(report: Given) -> bool:
    path = isinstance(report, (str, bytes, bytearray, os.PathLike))
    return not path and hasattr(report, "schema")


def report_bytes(report: Given) -> bytes:
    """Return a report's file: JSON, or a page that carries it.

    Args:
        report: a path, ``"-"`` for standard input, the bytes of a file, or a report.

    Raises:
        UsageError: something else.
        InputError: the file cannot be read, or is far too long for a report.
    """
    from mipaudit.report.codec import to_json

    if isinstance(report, (bytes, bytearray)):
        return bytes(report)
    path = path_of(report)
    if isinstance(path, str):
        return _read(path)
    if hasattr(report, "schema") and hasattr(report, "provenance"):
        return to_json(report)
    raise UsageError("report", "The report must be a path, bytes, or what a command returned.")


def read_report(report: Given) -> AnyReport:
    """Return the report that a file holds; a report is itself.

    Raises:
        UsageError: neither a path, nor bytes, nor a report.
        InputError: the file cannot be read, holds no report, or one that contradicts itself.
    """
    from mipaudit.report.codec import from_json

    found: AnyReport
    if _is_ours(report):
        found = report
        return found
    with foreign(report):
        found = from_json(report_bytes(report))
        place = contradiction(found)
    if place is not None:
        raise bad_report(
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
        raise InputError(
            "unreadable_report",
            f"The report {_shown(path)} cannot be read: {why_unread(error)}.",
            "Give a file that a command wrote as JSON, or - for standard input.",
        ) from None
    if len(data) > _LARGEST:
        raise bad_report("The file is over 256 MiB; no report is that large.", hint=_MADE)
    if not data.strip():
        raise bad_report(f"{_shown(path)}: the file is empty.", hint=_MADE)
    return data


def why_unread(error: Exception) -> str:
    """Return why a file cannot be read, in the system's words where it has any."""
    number = error.errno if isinstance(error, OSError) else None
    return os.strerror(number) if number else "it cannot be opened"


def _shown(path: str) -> str:
    from mipaudit.statements.printable_names import safe_name

    return "standard input" if path == _STDIN else safe_name(path, longest=_LONGEST_NAME)


def contradiction(report: Stored) -> str | None:
    """Return the place at which a report contradicts itself, or None."""
    if getattr(report, "agrees", None) is not None:
        told = all(part.status != "differs" for part in report.parts)
        return None if report.agrees == told else "$.agrees"
    verdict = getattr(report, "verdict", None)
    if verdict is None:
        return None
    for number, check in enumerate(report.policy):
        if check.status not in _statuses(check):
            return f"$.policy[{number}].status"
    copies = getattr(report, "copies", None)
    codes = {one.code for one in report.findings}
    # Copies of a report of shift are others, and have no chance.
    if not getattr(copies, "chance", True) and COPIES not in codes:
        return "$.findings"
    expected = reach_verdict(report.policy, getattr(report, "claims", ())).status
    if expected in {"met", "waived"} and WITHHELD & {one.code for one in verdict.reasons}:
        expected = "inconclusive"
    return None if verdict.status == expected else "$.verdict.status"


def _statuses(check: Stored) -> set[str]:
    """Return what the limits of a check can have decided."""
    near = _ROUNDING * max(1.0, abs(check.limit))
    limits = (check.limit, check.limit - near, check.limit + near)
    found: set[str] = {
        check_status(one, check.lower, check.upper) for one in limits if math.isfinite(one)
    }
    # It would not be met but for what the records may explain.
    return found | {"inconclusive"} if check.blind is not None and "met" in found else found
