"""The tally of a coverage run: every stated limit against the truth of its law."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.scenarios.coverage_table import CoverageRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.scenarios.coverage import Cell, Interval
    from mipaudit.scenarios.law import Law

# Truths are computed to 1e-8; a limit this close to the truth is not a miss.
TRUTH_TOLERANCE: Final = 1e-7


def tally(cell: Cell, said: Sequence[Sequence[Interval]]) -> tuple[CoverageRow, ...]:
    """Compare all intervals of a cell with the truth; one row per label and stated side.

    Raises:
        ValueError: one replication has two intervals of the same label, or a limit is NaN.
    """
    by_label: dict[str, list[Interval]] = {}
    for intervals in said:
        labels = [interval.row_label for interval in intervals]
        if len(set(labels)) < len(labels):
            raise ValueError("two intervals of one replication have the same label")
        for interval in intervals:
            by_label.setdefault(interval.row_label, []).append(interval)
    known: dict[tuple[object, ...], float] = {}
    rows = []
    for intervals in by_label.values():
        truths = np.array([_remembered(known, cell, interval) for interval in intervals])
        lower = np.array([_number(interval.lower) for interval in intervals])
        upper = np.array([_number(interval.upper) for interval in intervals])
        width = _mean(upper - lower)
        rows += _side(cell, intervals[0], "lower", truths, truths - lower, width)
        rows += _side(cell, intervals[0], "upper", truths, upper - truths, width)
    return tuple(rows)


def truth_of(law: Law, interval: Interval, prior: float) -> float:
    """Return the true value of what an interval is about."""
    match interval.estimand, interval.estimand_args:
        case "advantage", ():
            return law.advantage(prior)
        case "advantage_thresholds", ():
            return law.advantage_thresholds(prior)
        case "advantage_intervals", (int(k),):
            return law.advantage_intervals(prior, k)
        case "advantage_bins", edges:
            return law.advantage_bins(prior, [float(edge) for edge in edges])
        case "auc", ():
            return law.auc()
        case "tpr_at_fpr", (float(fpr), "high" | "low" as side):
            return law.tpr_at_fpr(fpr, side)
        case _:
            raise ValueError(f"{interval.estimand} does not take these arguments")


def _remembered(known: dict[tuple[object, ...], float], cell: Cell, interval: Interval) -> float:
    """Return the truth, computed once for all replications that ask for the same."""
    asked = (interval.estimand, *interval.estimand_args)
    if asked not in known:
        known[asked] = truth_of(cell.law, interval, cell.prior)
    return known[asked]


def _side(
    cell: Cell,
    interval: Interval,
    side: Literal["lower", "upper"],
    truths: NDArray[np.float64],
    gaps: NDArray[np.float64],
    width: float | None,
) -> list[CoverageRow]:
    stated = int((~np.isnan(gaps)).sum())
    if stated == 0:
        return []
    row = CoverageRow(
        law=cell.law.name,
        n_members=cell.n_members,
        n_holdout=cell.n_holdout,
        prior=cell.prior,
        order=cell.order,
        label=interval.row_label,
        side=side,
        nominal=interval.nominal,
        replications=cell.replications,
        stated=stated,
        misses=int((gaps < -TRUTH_TOLERANCE).sum()),
        truth=float(truths.mean()),
        mean_gap=_mean(gaps),
        mean_width=width,
    )
    return [row]


def _number(limit: float | None) -> float:
    if limit is None:
        return math.nan
    if math.isnan(limit):
        raise ValueError("a limit is NaN: a method that states none must say None")
    return limit


def _mean(values: NDArray[np.float64]) -> float | None:
    stated = values[~np.isnan(values)]
    mean = float(stated.mean()) if stated.size else math.inf
    return mean if math.isfinite(mean) else None
