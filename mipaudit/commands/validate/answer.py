"""From the rows of a validation run to its report: what falls short, what was caught, how tight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.model.message import Message
from mipaudit.statements.provenance import provenance
from mipaudit.validation.estimands.methods import ALTERNATIVES, ESTIMANDS
from mipaudit.validation.replications import LEVEL, POWER, detectable_coverage, failures
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

if TYPE_CHECKING:
    from mipaudit.statements.provenance import Setting
    from mipaudit.validation.coverage import Run

LIMITATIONS: Final = (
    Message("validation_laws"),
    Message("validation_unseen"),
    Message("validation_definitions"),
)


def validation_report(
    run: Run,
    rows: Sequence[CoverageRow],
    control_rows: Sequence[CoverageRow],
    exact: tuple[ExactRow, ...],
    settings: Sequence[Setting],
) -> ValidationReport:
    """Judge a run.

    Holm's correction runs over our rows; over those of other valid methods, which show that
    the truths are true, it runs apart, and so it does for each invalid method.

    Args:
        run: what was asked.
        rows: of the grid.
        control_rows: of the control cell, where invalid methods must be caught.
        exact: limits where few files exist; they need no test.
        settings: as recorded.
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
        form=run.form,
        strict=run.panel.strict,
        seed=run.seed,
        replications=run.cells[0].replications,
        cells=len(run.cells),
        scenarios=tuple(dict.fromkeys(cell.scenario for cell in run.cells)),
        sizes=tuple(sorted({cell.records for cell in run.cells})),
        priors=tuple(dict.fromkeys(cell.prior for cell in run.cells)),
        estimands=run.panel.estimands,
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
        provenance=provenance(seed=run.seed, inputs=(), settings=settings),
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
