"""``mipaudit validate``: every interval on distributions with known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.validate.answer import validation_report
from mipaudit.commands.validate.options import ValidateOptions
from mipaudit.engine.workers import default_jobs
from mipaudit.options.public import public
from mipaudit.validation.coverage.grid import Choice
from mipaudit.validation.coverage.run import Ledger, Run, carry_out, make_run

if TYPE_CHECKING:
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
    ledger = Ledger() if asked.resume is None else Ledger.open(asked.resume, run.identity())
    rows, control_rows = carry_out(
        run, jobs=asked.jobs or default_jobs(), ledger=ledger, progress=asked.progress
    )
    return validation_report(run, rows, control_rows, asked.recorded())


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


validate = public(ValidateOptions, answer_validate)
