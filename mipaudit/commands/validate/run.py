"""``mipaudit validate``: every interval on distributions with known truth, control-C on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os.path import realpath
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.commands.validate.options import ValidateOptions
from mipaudit.engine.workers import default_jobs
from mipaudit.errors import MipauditError, UsageError
from mipaudit.model.message import Message
from mipaudit.options.public import public
from mipaudit.output import exit_code
from mipaudit.output.destination import Destination
from mipaudit.output.presentation import deliver
from mipaudit.output.terminal import progress_bar
from mipaudit.statements.provenance import provenance
from mipaudit.validation.coverage import Ledger, carry_out, code_fingerprint, enumerated
from mipaudit.validation.estimands.methods import (
    ALTERNATIVES,
    ESTIMANDS,
    default_estimands,
    estimand,
)
from mipaudit.validation.laws import VECTOR_LAWS, law
from mipaudit.validation.replications import (
    LEVEL,
    POWER,
    Cell,
    Form,
    Panel,
    cells_of,
    detectable_coverage,
    failures,
)
from mipaudit.validation.report import (
    ControlOutcome,
    CoverageRow,
    Detectable,
    ExactRow,
    LimitSummary,
    Source,
    ValidationDesign,
    ValidationReport,
)
from mipaudit.version import __version__

if TYPE_CHECKING:
    from mipaudit.options.shown import Shown

# What a run is narrowed to: names of laws, records per file, and priors; empty for all.
Choice = dict[Literal["scenarios", "sizes", "priors"], tuple[Any, ...]]


def answer_validate(asked: ValidateOptions) -> ValidationReport:
    """Return how often every interval that mipaudit prints covers the truth.

    Files are drawn from distributions with known truth and audited as ``estimate`` would. Other
    methods are run too, and those known to be invalid must be detected. If scenarios, sizes or
    priors are given, all their combinations are run. With more than one job, call it under ``if
    __name__ == "__main__":``, because each process starts anew.

    Raises:
        UsageError: an argument is wrong, or nothing is left to validate.
        InputError: the file to resume from is of another run.
        OutputError: the file to resume from cannot be written.
    """
    choice, panel, cells = cells_asked(asked)
    ledger = Ledger()
    if asked.resume is not None:
        ledger = Ledger(asked.resume, _identity(asked, choice, panel))
    jobs, form = asked.jobs or default_jobs(), _form(asked)
    # What narrows the run asks about its own files.
    whole = not (_narrows(choice) or panel.named)
    exact = enumerated(form, strict=asked.strict, jobs=jobs) if whole else ()
    rows, control_rows = carry_out(
        panel, cells, seed=asked.seed, jobs=jobs, ledger=ledger, progress=asked.progress
    )
    return validation_report(asked, panel, cells, rows, control_rows, exact)


def cells_asked(asked: ValidateOptions) -> tuple[Choice, Panel, tuple[Cell, ...]]:
    """Return what a run is narrowed to, what is run on every file, and the grid.

    Raises:
        UsageError: there is no scenario or no estimand of a name.
    """
    # What is named twice is run once.
    choice: Choice = {
        "scenarios": tuple(dict.fromkeys(asked.scenario)),
        "sizes": tuple(dict.fromkeys(asked.sizes)),
        "priors": tuple(dict.fromkeys(asked.priors)),
    }
    for name in asked.scenario:
        law(name)
    named = tuple(estimand(name).name for name in dict.fromkeys(asked.estimand))
    chosen = named or default_estimands()
    panel = Panel(
        estimands=chosen,
        alternatives=tuple(n for n, one in ALTERNATIVES.items() if one.estimand in chosen),
        strict=asked.strict,
        named=bool(named),
    )
    of_them = [ESTIMANDS[name] for name in chosen]
    vectorial = all(one.vectorial for one in of_them)
    usual = set(chosen) <= set(default_estimands()) and not _narrows(choice)
    if not asked.scenario and vectorial and not usual:
        choice["scenarios"] = tuple(VECTOR_LAWS)

    def concerned(cell: Cell) -> bool:
        return any(one.concerns(law(cell.scenario)) for one in of_them)

    cells = tuple(
        cell
        for cell in cells_of(
            _form(asked), **choice, replications=asked.replications, strict=asked.strict
        )
        # Records of several columns cost more than scores: not for nothing.
        if _narrows(choice) or concerned(cell) or (law(cell.scenario).width == 1 and not vectorial)
    )
    if not any(map(concerned, cells)):
        raise UsageError(
            "nothing_to_validate",
            "None of the estimands is defined for these scenarios.",
            "Leave `estimand` or `scenario` out.",
        )
    return choice, panel, cells


def _narrows(choice: Choice) -> bool:
    """Tell whether it is said which cells: then all combinations are run."""
    return any(choice.values())


def _form(asked: ValidateOptions) -> Form:
    return "full" if asked.long else "quick"


def _identity(asked: ValidateOptions, choice: Choice, panel: Panel) -> dict[str, object]:
    """Return all that a cell's rows depend on, for the ledger."""
    import numpy as np
    import scipy

    return {
        "version": {"mipaudit": __version__, "numpy": np.__version__, "scipy": scipy.__version__},
        "code": code_fingerprint(),
        "seed": asked.seed,
        "form": _form(asked),
        "choice": (choice, asked.replications),
        "methods": panel,
    }


def run_validate(asked: ValidateOptions, shown: Shown) -> int:
    """Run it and write the report; return the exit code."""
    _require_apart(shown.output, asked.resume)
    destination = Destination.open(shown.output, inputs=(asked.resume,), sha256=shown.sha256)
    with (
        _kept_cells(asked.resume),
        progress_bar(quiet=shown.quiet, doing="validating", estimate=True) as progress,
    ):
        report = answer_validate(asked.but(progress=progress))
    return deliver(report, shown, destination)


def _require_apart(output: str | None, resume: str | None) -> None:
    """Refuse a report that would take the place of the finished cells."""
    if output is not None and resume is not None and realpath(output) == realpath(resume):
        raise UsageError(
            "output_is_input",
            "The report and the finished cells cannot go to one file.",
            "Choose another file for `output`.",
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


LIMITATIONS: Final = (
    Message("validation_laws"),
    Message("validation_unseen"),
    Message("validation_definitions"),
)


def validation_report(
    asked: ValidateOptions,
    panel: Panel,
    cells: Sequence[Cell],
    rows: Sequence[CoverageRow],
    control_rows: Sequence[CoverageRow],
    exact: tuple[ExactRow, ...],
) -> ValidationReport:
    """Judge a run.

    Holm's correction runs over our rows; over those of other valid methods, which show that
    the truths are true, it runs apart, and so it does for each invalid method.

    Args:
        asked: what was asked.
        panel: what was run on every file.
        cells: the grid.
        rows: of the grid.
        control_rows: of the control cell, where invalid methods must be caught.
        exact: limits where few files exist; they need no test.
    """
    ours, theirs = _of("mipaudit", rows), _of("valid", rows)
    short = (*failures(ours), *failures(theirs))
    short_ids = {id(row) for row in short}
    # Invalid methods are marked one by one, at the level of the table's first step.
    level = LEVEL / max(1, len(ours))
    judged = tuple(
        replace(row, falls_short=True)
        if id(row) in short_ids or (row.source == "invalid" and row.p_value <= level)
        else row
        for row in rows
    )
    design = ValidationDesign(
        form=_form(asked),
        strict=asked.strict,
        seed=asked.seed,
        replications=cells[0].replications,
        cells=len(cells),
        scenarios=tuple(dict.fromkeys(cell.scenario for cell in cells)),
        sizes=tuple(sorted({cell.records for cell in cells})),
        priors=tuple(dict.fromkeys(cell.prior for cell in cells)),
        estimands=panel.estimands,
        level=LEVEL,
        tests=len(ours),
    )
    controls = tuple(
        _control_outcome(name, control_rows)
        for name in ALTERNATIVES
        if any(row.label == name for row in control_rows)
    )
    return ValidationReport(
        command="validate",
        passed=not short
        and all(control.caught for control in controls)
        and not any(row.falls_short for row in exact),
        design=design,
        limits=_summaries(judged),
        failures=tuple(replace(row, falls_short=True) for row in short),
        controls=controls,
        detectable=_detectable(ours),
        rows=judged,
        exact=exact,
        limitations=LIMITATIONS,
        provenance=provenance(seed=asked.seed, inputs=(), settings=asked.recorded()),
    )


def _of(source: Source, rows: Iterable[CoverageRow]) -> list[CoverageRow]:
    return [row for row in rows if row.source == source]


def _control_outcome(name: str, rows: Iterable[CoverageRow]) -> ControlOutcome:
    """Judge one invalid method by the worse side of what it said."""
    worst = min((row for row in rows if row.label == name), key=lambda row: row.p_value)
    return ControlOutcome(
        label=name,
        description=ALTERNATIVES[name].description,
        replications=worst.replications,
        misses=worst.misses,
        nominal=worst.nominal,
        p_value=worst.p_value,
        caught=worst.p_value <= LEVEL,
    )


def _detectable(rows: Sequence[CoverageRow]) -> tuple[Detectable, ...]:
    kinds = sorted({(row.nominal, row.replications) for row in rows}, reverse=True)
    return tuple(
        Detectable(
            nominal=nominal,
            replications=replications,
            power=POWER,
            coverage=detectable_coverage(replications, nominal, LEVEL / len(rows)),
        )
        for nominal, replications in kinds
    )


def _summaries(rows: Sequence[CoverageRow]) -> tuple[LimitSummary, ...]:
    """Return one summary for each limit, side and size: ours first, as in the registry."""
    groups: dict[tuple[int, int, str, str, int], list[CoverageRow]] = {}
    for row in rows:
        records = row.n_members + row.n_holdout
        groups.setdefault((*_rank(row), row.label, row.side, records), []).append(row)
    return tuple(_summary(key[-1], groups[key]) for key in sorted(groups))


def _rank(row: CoverageRow) -> tuple[int, int]:
    """Return where the methods and the estimand of a row stand."""
    theirs = 0 if row.source == "mipaudit" else 1 + list(ALTERNATIVES).index(row.label)
    return theirs, list(ESTIMANDS).index(row.estimand)


def _summary(records: int, rows: Sequence[CoverageRow]) -> LimitSummary:
    first = rows[0]
    alarms = [row.false_alarms for row in rows if row.false_alarms is not None]
    return LimitSummary(
        estimand=first.estimand,
        label=first.label,
        source=first.source,
        side=first.side,
        records=records,
        cells=len(rows),
        nominal=first.nominal,
        least_coverage=min(row.coverage for row in rows),
        false_alarms=max(alarms) if alarms else None,
        mean_gap=_mean(rows, lambda row: row.mean_gap),
        median_gap=_mean(rows, lambda row: row.median_gap),
        median_width=_mean(rows, lambda row: row.median_width),
        bias=_mean(rows, lambda row: row.bias),
        falls_short=sum(row.falls_short for row in rows),
    )


def _mean(rows: Iterable[CoverageRow], read: Callable[[CoverageRow], float | None]) -> float | None:
    known = [value for row in rows if (value := read(row)) is not None]
    return sum(known) / len(known) if known else None
