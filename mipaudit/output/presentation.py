"""A report, made and written where it was asked for, in the form asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, TypeVar

from mipaudit.output.destination import Destination
from mipaudit.output.exit_code import report_exit
from mipaudit.output.progress import progress_bar
from mipaudit.output.terminal import note_written, table_width, use_color

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.options.declare import Options
    from mipaudit.options.groups.shown import Format, Shown
    from mipaudit.statements.reports.kinds import AnyReport


# What the tables draw with, where the terminal's character set lacks it.
_PLAIN: Final = {ord("─"): "-"}
AskedT = TypeVar("AskedT", bound="Options")


def present(report: AnyReport, format: Format, place: Destination) -> None:  # noqa: A002
    """Write the report to its place, in the form asked for.

    Raises:
        OutputError: the system refused.
    """
    place.write(encode(report, format, to_file=place.path is not None))


def encode(report: AnyReport, format: Format, *, to_file: bool) -> bytes:  # noqa: A002
    """Return the report in the form asked for.

    Args:
        report: what was found.
        format: ``table`` and ``html`` are for people, ``markdown`` for job summaries, ``json``
            and ``csv`` for programs, ``junit`` for servers that run pipelines.
        to_file: whether it goes to a file: UTF-8, no colour, fixed width.
    """
    if format == "json":
        from mipaudit.statements.reports.codec import to_json

        return to_json(report)
    if format != "table":
        from mipaudit.formats.documents import report_as

        return report_as(report, format).encode()
    from mipaudit.formats.documents import report_text

    text = report_text(report, width=table_width(to_file=to_file), color=use_color(to_file=to_file))
    charset = "utf-8" if to_file else (sys.stdout.encoding or "utf-8")
    try:
        return text.encode(charset)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(charset, errors="backslashreplace")


def write_report(asked: AskedT, shown: Shown, answer: Callable[[AskedT], AnyReport]) -> int:
    """Write the report that answers; return the exit code.

    Args:
        asked: what was asked.
        shown: in which form, and where.
        answer: makes the report.

    Raises:
        OutputError: the place cannot be written to, before anything is read.
    """
    destination = Destination.open(shown.output, inputs=asked.inputs(), sha256=shown.sha256)
    with progress_bar(quiet=shown.quiet) as progress:
        report = answer(asked.but(progress=progress) if hasattr(asked, "progress") else asked)
    present(report, shown.format, destination)
    if destination.path is not None:
        note_written(report, quiet=shown.quiet)
    return report_exit(report, exit_zero=getattr(shown, "exit_zero", False))
