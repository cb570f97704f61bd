"""``mipaudit validate``: the report, and control-C on the way to it."""

from __future__ import annotations

from contextlib import contextmanager
from os.path import realpath
from typing import TYPE_CHECKING

from mipaudit.commands.validate.page import headline
from mipaudit.commands.validate.run import answer_validate
from mipaudit.errors import MipauditError, UsageError
from mipaudit.output import exit_code
from mipaudit.output.destination import Destination
from mipaudit.output.presentation import present
from mipaudit.output.progress import progress_bar
from mipaudit.output.terminal import note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.validate.options import ValidateOptions
    from mipaudit.options.groups.shown import Shown


def run_validate(asked: ValidateOptions, shown: Shown) -> int:
    """Run it and write the report; return the exit code."""
    _require_apart(shown.output, asked.resume)
    destination = Destination.open(shown.output, inputs=(asked.resume,), sha256=shown.sha256)
    with (
        _kept_cells(asked.resume),
        progress_bar(quiet=shown.quiet, doing="validating", estimate=True) as progress,
    ):
        report = answer_validate(asked.but(progress=progress))
    present(report, shown, destination)
    if destination.path is not None:
        note(headline(report), quiet=shown.quiet)
    return exit_code.OK if report.passed else exit_code.NOT_MET


def _require_apart(output: str | None, resume: str | None) -> None:
    """Refuse a report that would take the place of the finished cells."""
    if output is not None and resume is not None and realpath(output) == realpath(resume):
        raise UsageError(
            "output_is_input",
            "The report and the finished cells cannot go to one file.",
            hint="Choose another file for `output`.",
        )


@contextmanager
def _kept_cells(resume: str | None) -> Iterator[None]:
    """Say, when control-C ends the run, that what is finished is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        if resume is None:
            raise
        interrupted = MipauditError(
            "interrupted",
            "Interrupted; the finished cells are kept.",
            hint="Run the same command again to go on.",
        )
        interrupted.exit_code = exit_code.INTERRUPTED
        raise interrupted from None
