"""``mipaudit validate``: every interval on distributions with known truth, control-C on the way."""

from __future__ import annotations

from contextlib import contextmanager
from os.path import realpath
from typing import TYPE_CHECKING

from mipaudit.commands.validate.answer import validation_report
from mipaudit.commands.validate.options import ValidateOptions
from mipaudit.engine.workers import default_jobs
from mipaudit.errors import MipauditError, UsageError
from mipaudit.options.public import public
from mipaudit.output import exit_code
from mipaudit.output.destination import Destination
from mipaudit.output.presentation import present
from mipaudit.output.terminal import note_written, progress_bar
from mipaudit.validation.coverage import Ledger, Run, carry_out, make_run
from mipaudit.validation.exact import enumerated
from mipaudit.validation.replications import Choice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.options.shown import Shown
    from mipaudit.validation.report import ValidationReport


def answer_validate(asked: ValidateOptions) -> ValidationReport:
    """Return how often every interval that mipaudit prints covers the truth.

    Files are drawn from laws with known truth and audited as ``estimate`` would; methods
    by others are run beside ours, and those known to be invalid must be caught. Once
    scenarios, sizes or priors are chosen, all their combinations are run. With more than
    one job, call it under ``if __name__ == "__main__":``, because each process starts
    afresh.

    Raises:
        UsageError: an argument is wrong, or nothing is left to validate.
        InputError: the file to resume from is of another run.
        OutputError: the file to resume from cannot be written.
    """
    run = _run(asked)
    ledger = Ledger() if asked.resume is None else Ledger(asked.resume, run.identity())
    jobs = asked.jobs or default_jobs()
    # What narrows the run asks about its own files.
    whole = not (run.choice.narrows or run.panel.named)
    exact = enumerated(run.form, strict=asked.strict, jobs=jobs) if whole else ()
    rows, control_rows = carry_out(run, jobs=jobs, ledger=ledger, progress=asked.progress)
    return validation_report(run, rows, control_rows, exact, asked.recorded())


def _run(asked: ValidateOptions) -> Run:
    choice = Choice(
        # What is named twice is run once.
        scenarios=tuple(dict.fromkeys(asked.scenario)),
        sizes=tuple(dict.fromkeys(asked.sizes)),
        priors=tuple(dict.fromkeys(asked.priors)),
        replications=asked.replications,
    )
    return make_run(
        "full" if asked.long else "quick",
        choice,
        estimands=tuple(asked.estimand),
        strict=asked.strict,
        seed=asked.seed,
    )


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
    note_written(report, destination, quiet=shown.quiet)
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


validate = public(ValidateOptions, answer_validate)
