"""The tally of a cell: every stated limit against the truth of its law."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.validation.coverage.shortfall import miss_p_value
from mipaudit.validation.estimands.estimands import ESTIMANDS
from mipaudit.validation.report import CoverageRow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.validation.coverage.cell import Cell
    from mipaudit.validation.coverage.interval import Side
    from mipaudit.validation.coverage.statement import Statement, Statements

# Truths are computed to 1e-8; a limit this close to the truth is not a miss.
TRUTH_TOLERANCE: Final = 1e-7


def tally(cell: Cell, statements: Statements) -> tuple[CoverageRow, ...]:
    """Return one row for each label and each side that was ever stated."""
    rows = []
    for statement in statements.values():
        if not np.isnan(statement.lower).all():
            rows.append(_row(cell, statement, "lower", statement.truth - statement.lower))
        if not np.isnan(statement.upper).all():
            rows.append(_row(cell, statement, "upper", statement.upper - statement.truth))
    return tuple(rows)


def _row(cell: Cell, said: Statement, side: Side, gaps: NDArray[np.float64]) -> CoverageRow:
    first, replications = said.first, cell.replications
    if ESTIMANDS[first.estimand].usual is not None:
        # It may have been tried on some of the files alone.
        replications = max(1, int((~np.isnan(gaps)).sum()))
    misses = int((gaps < -TRUTH_TOLERANCE).sum())
    coverage = (replications - misses) / replications
    alarms = side == "lower" and _nothing_to_show(cell, said)
    mean_gap, median_gap = _middle(gaps)
    mean_width, median_width = _middle(said.upper - said.lower)
    bias, _ = _middle(said.value - said.truth)
    return CoverageRow(
        scenario=cell.scenario,
        n_members=cell.n_members,
        n_holdout=cell.n_holdout,
        prior=cell.prior,
        order=cell.order,
        discrete=cell.discrete,
        estimand=first.estimand,
        label=first.row_label,
        source=first.source,
        side=side,
        nominal=first.nominal,
        replications=replications,
        stated=int((~np.isnan(gaps)).sum()),
        misses=misses,
        coverage=coverage,
        coverage_error=math.sqrt(coverage * (1 - coverage) / replications),
        p_value=miss_p_value(misses, replications, first.nominal),
        false_alarms=misses / replications if alarms else None,
        truth=float(said.truth.mean()),
        mean_gap=mean_gap,
        median_gap=median_gap,
        mean_width=mean_width,
        median_width=median_width,
        bias=bias,
    )


def _nothing_to_show(cell: Cell, said: Statement) -> bool:
    """Tell whether the truth is what it would be without any leak."""
    baseline = ESTIMANDS[said.first.estimand].baseline(cell.prior, said.first.estimand_args)
    return bool(np.abs(said.truth - baseline).max() <= TRUTH_TOLERANCE)


def _middle(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Return mean and median of what was stated; None where that is not finite."""
    stated = values[~np.isnan(values)]
    if not stated.size:
        return None, None
    mean, median = float(stated.mean()), float(np.median(stated))
    return mean if math.isfinite(mean) else None, median if math.isfinite(median) else None
