"""``mipaudit validate``: every interval on distributions with known truth, and what a run found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.validate.options import ValidateOptions
from mipaudit.engine.workers import default_jobs
from mipaudit.options.public import public
from mipaudit.statements.provenance import provenance
from mipaudit.statements.text.rounding import count_text, percent_text
from mipaudit.validation.coverage.grid import Choice
from mipaudit.validation.coverage.run import carry_out, make_run, open_ledger
from mipaudit.validation.coverage.tally import LEVEL
from mipaudit.validation.report import ValidationDesign, ValidationReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.statements.origin import Setting
    from mipaudit.validation.coverage.run import Outcome, Run
    from mipaudit.validation.report import ControlOutcome, CoverageRow, Detectable

_LAWS: Final = (
    "Coverage was measured on these laws, sizes and priors. On others it may differ, and no "
    "records that depend on each other were drawn."
)
_UNSEEN: Final = (
    "A smaller shortfall than the one named above may have gone unseen; more files find it."
)
_DEFINITIONS: Final = (
    "AUC and TPR are of the side of the score that a report would choose, the bins are those that "
    "the burn-in of each file cut, and the attack whose epsilon and mu are limited says 'member' "
    "where the score is above 0.5."
)
LIMITATIONS: Final = (_LAWS, _UNSEEN, _DEFINITIONS)


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
    ledger = open_ledger(asked.resume, run)
    outcome = carry_out(
        run, jobs=asked.jobs or default_jobs(), ledger=ledger, progress=asked.progress
    )
    return _report(run, outcome, asked.recorded())


def _run(asked: ValidateOptions) -> Run:
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


def validation_summary(
    design: ValidationDesign,
    failures: Sequence[CoverageRow],
    controls: Sequence[ControlOutcome],
    detectable: Sequence[Detectable],
) -> str:
    """Return one plain paragraph."""
    parts = [
        _drawn(design),
        _short(failures),
        *_found(detectable),
        _caught(controls),
    ]
    return " ".join(part for part in parts if part)


def _drawn(design: ValidationDesign) -> str:
    return (
        f"{_counted(design.cells, 'cell')} of {_counted(design.replications, 'file')} "
        f"{_was(design.cells)} drawn from laws "
        f"with known truth, and {_counted(design.tests, 'limit')} that mipaudit prints "
        f"{_was(design.tests)} compared with it."
    )


def _counted(count: int, noun: str) -> str:
    return f"{count_text(count)} {noun}{'' if count == 1 else 's'}"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _short(failures: Sequence[CoverageRow]) -> str:
    ours = sum(row.source == "mipaudit" for row in failures)
    theirs = len(failures) - ours
    if not failures:
        return "None covers the truth less often than it promises."
    covers = "covers" if ours == 1 else "cover"
    told = f"{_counted(ours, 'limit')} {covers} the truth less often than promised."
    if theirs:
        told += (
            f" So do {_counted(theirs, 'limit')} by methods that are known to be valid: the "
            "truths, or the run, are wrong."
        )
    return told


def _found(detectable: Sequence[Detectable]) -> list[str]:
    first = next((one for one in detectable if one.coverage > 0), None)
    if first is None:
        return []
    fewest = min(
        (one for one in detectable if one.nominal == first.nominal),
        key=lambda one: one.replications,
    )
    told = (
        f"A limit that promises {percent_text(round(first.nominal, 6))} and covers "
        f"{percent_text(round(first.coverage, 3))} or less would have been found with a "
        f"probability of {percent_text(first.power)}."
    )
    if fewest.replications == first.replications:
        return [told]
    dear = (
        f"Dear limits were tried on fewer files, {count_text(fewest.replications)} or more of a "
        f"cell: of those, one that covers {percent_text(round(fewest.coverage, 3))} or less."
    )
    return [told, dear]


def _caught(controls: Sequence[ControlOutcome]) -> str:
    missed = [control.label for control in controls if not control.caught]
    if not missed:
        return f"All {len(controls)} methods that are known to be invalid were caught."
    return (
        f"{len(missed)} of {len(controls)} methods that are known to be invalid were not caught "
        f"({'; '.join(missed)}), so the run shows nothing."
    )


validate = public(ValidateOptions, answer_validate)
