"""A report, made and written where it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from mipaudit.output.destination import Destination
from mipaudit.output.notes import note_written
from mipaudit.output.presentation import present
from mipaudit.output.progress import progress_bar
from mipaudit.output.report_exit import report_exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.options.declare import Options
    from mipaudit.options.groups.shown import Shown
    from mipaudit.statements.reports.kinds import AnyReport

AskedT = TypeVar("AskedT", bound="Options")


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
