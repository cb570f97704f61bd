"""``mipaudit validate``: every interval on distributions with known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.validate.options import ValidateOptions
from mipaudit.options.public import public

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.statements.origin import Setting
    from mipaudit.validation.coverage.run import Outcome, Run
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
    from mipaudit.engine.workers import default_jobs
    from mipaudit.validation.coverage.run import carry_out, open_ledger

    run = _run(asked)
    ledger = open_ledger(asked.resume, run)
    outcome = carry_out(
        run, jobs=asked.jobs or default_jobs(), ledger=ledger, progress=asked.progress
    )
    return _report(run, outcome, asked.recorded())


def _run(asked: ValidateOptions) -> Run:
    from mipaudit.validation.coverage.grid import Choice
    from mipaudit.validation.coverage.run import make_run

    choice = Choice(
        # What is named twice is run once.
        scenarios=tuple(dict.fromkeys(asked.scenarios)),
        sizes=tuple(dict.fromkeys(asked.sizes)),
        priors=tuple(dict.fromkeys(asked.priors)),
        replications=asked.replications,
    )
    return make_run(
        "full" if asked.full else "quick",
        choice,
        estimands=tuple(asked.estimands),
        strict=asked.strict,
        seed=asked.seed,
    )


def _report(run: Run, outcome: Outcome, settings: Sequence[Setting]) -> ValidationReport:
    from mipaudit.commands.validate.words import LIMITATIONS, validation_summary
    from mipaudit.statements.provenance import provenance
    from mipaudit.validation.coverage.tally import LEVEL
    from mipaudit.validation.report import ValidationDesign, ValidationReport

    cells = run.cells
    design = ValidationDesign(
        form=run.form,
        strict=run.panel.strict,
        seed=run.seed,
        replications=cells[0].replications,
        cells=len(cells),
        scenarios=tuple(dict.fromkeys(cell.scenario for cell in cells)),
        sizes=tuple(sorted({cell.records for cell in cells})),
        priors=tuple(dict.fromkeys(cell.prior for cell in cells)),
        estimands=run.panel.estimands,
        level=LEVEL,
        tests=outcome.tests,
    )
    return ValidationReport(
        command="validate",
        passed=outcome.passed,
        design=design,
        summary=validation_summary(design, outcome.failures, outcome.controls, outcome.detectable),
        limits=outcome.limits,
        failures=outcome.failures,
        controls=outcome.controls,
        detectable=outcome.detectable,
        rows=outcome.rows,
        limitations=LIMITATIONS,
        provenance=provenance(seed=run.seed, inputs=(), settings=settings),
    )


validate = public(ValidateOptions, answer_validate)
