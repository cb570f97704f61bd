"""The tally of a cell: every stated limit against the truth of its law.

It says whether limits cover less than they promise, and how small a shortfall would be found.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.estimands.estimands import ESTIMANDS
from mipaudit.validation.report import CoverageRow

if TYPE_CHECKING:
    from mipaudit.validation.coverage.grid import Cell
    from mipaudit.validation.estimands.estimand import Args, Interval, Side
    from mipaudit.validation.laws.law import Law

# More than the files of a piece of work ask for: the next piece asks for most of them again.
_REMEMBERED: Final = 1 << 12
LEVEL: Final = 0.01
POWER: Final = 0.8
# Truths are computed to 1e-8; a limit this close to the truth is not a miss.
TRUTH_TOLERANCE: Final = 1e-7


# What was said under each label: one of the intervals, for all that they have in common, and the
# lower limits, the upper ones, the best estimates and the truths, shape (n, 4); NaN where nothing
# was stated.
Statements = dict[str, tuple["Interval", NDArray[np.float64]]]


def gather(law: Law, prior: float, said: Iterable[Sequence[Interval]]) -> Statements:
    """Return the intervals of several files by label, beside the truth.

    Args:
        law: that the files were drawn from.
        prior: p in (0, 1).
        said: the intervals of each file.

    Raises:
        ValueError: one file has two intervals of the same label, or a limit is NaN.
    """
    found: dict[str, tuple[Interval, list[tuple[float | None, ...]]]] = {}
    for intervals in said:
        if len({one.label for one in intervals}) < len(intervals):
            raise ValueError("two intervals of one file have the same label")
        for one in intervals:
            stated = one.lower, one.upper, one.value
            if any(number is not None and math.isnan(number) for number in stated):
                raise ValueError("a limit is NaN: a method that states none must say None")
            truth = _truth(law, prior, one.estimand, one.args)
            found.setdefault(one.label, (one, []))[1].append((*stated, truth))
    return {label: (one, np.array(rows, np.float64)) for label, (one, rows) in found.items()}


def joined(parts: Iterable[Statements]) -> Statements:
    """Return the statements of several parts of a cell, in order."""
    whole: Statements = {}
    for part in parts:
        for label, (one, rows) in part.items():
            first, before = whole.get(label, (one, rows[:0]))
            whole[label] = first, np.concatenate([before, rows])
    return whole


@lru_cache(maxsize=_REMEMBERED)
def _truth(law: Law, prior: float, estimand: str, args: Args) -> float:
    """Return the truth, computed once for all files that ask for the same."""
    return ESTIMANDS[estimand].truth(law, prior, *args)


def miss_p_value(misses: int, replications: int, nominal: float) -> float:
    """Return P(at least so many misses) if the coverage is exactly nominal."""
    if misses == 0:
        return 1.0
    from scipy.special import betainc

    return float(betainc(misses, replications - misses + 1, 1 - nominal))


def failures(rows: Sequence[CoverageRow], level: float = LEVEL) -> tuple[CoverageRow, ...]:
    """Return the rows whose coverage is below nominal, by Holm's step-down test.

    Each row is tested exactly (binomial); the chance that a table of valid limits
    has any failure is at most ``level``.

    Args:
        rows: all that were run; leaving some out makes the level untrue.
        level: familywise error in (0, 1).

    Returns:
        The least likely first.
    """
    ordered = sorted(rows, key=lambda row: row.p_value)
    for rank, row in enumerate(ordered):
        if row.p_value > level / (len(ordered) - rank):
            return tuple(ordered[:rank])
    return tuple(ordered)


def detectable_coverage(replications: int, nominal: float, level: float) -> float:
    """Return the greatest true coverage that a test finds too low with probability `POWER`.

    Args:
        replications: files drawn.
        nominal: promised coverage in (0, 1).
        level: of the test of one row; Holm's strictest is the table's over its rows.

    Returns:
        Below nominal; 0 where no number of misses would be enough.
    """
    from scipy.special import betaincinv

    def significance(misses: int) -> float:
        return -miss_p_value(misses, replications, nominal)

    fewest = bisect_left(range(replications + 1), -level, key=significance)
    if fewest > replications:
        return 0.0
    return 1 - float(betaincinv(fewest, replications - fewest + 1, POWER))


def tally(cell: Cell, statements: Statements) -> tuple[CoverageRow, ...]:
    """Return one row for each label and each side that was ever stated."""
    sides: tuple[Side, ...] = ("lower", "upper")
    return tuple(
        _row(cell, first, rows, side)
        for first, rows in statements.values()
        for at, side in enumerate(sides)
        if not np.isnan(rows[:, at]).all()
    )


def _row(cell: Cell, of: Interval, rows: NDArray[np.float64], side: Side) -> CoverageRow:
    lower, upper, value, truth = np.ascontiguousarray(rows.T)
    gaps = truth - lower if side == "lower" else upper - truth
    stated = int((~np.isnan(gaps)).sum())
    estimand = ESTIMANDS[of.estimand]
    # Dear limits may have been tried on some of the files alone.
    replications = max(1, stated) if estimand.dear else cell.replications
    misses = int((gaps < -TRUTH_TOLERANCE).sum())
    coverage = (replications - misses) / replications
    baseline = estimand.baseline(cell.prior, *of.args) if estimand.baseline else 0.0
    # Whether the truth is what it would be without any leak.
    nothing = side == "lower" and bool(np.abs(truth - baseline).max() <= TRUTH_TOLERANCE)
    mean_gap, median_gap = _middle(gaps)
    mean_width, median_width = _middle(upper - lower)
    bias, _ = _middle(value - truth)
    return CoverageRow(
        scenario=cell.scenario,
        n_members=cell.n_members,
        n_holdout=cell.n_holdout,
        prior=cell.prior,
        order=cell.order,
        discrete=cell.discrete,
        estimand=of.estimand,
        label=of.label,
        source=of.source,
        side=side,
        nominal=of.nominal,
        replications=replications,
        stated=stated,
        misses=misses,
        coverage=coverage,
        coverage_error=math.sqrt(coverage * (1 - coverage) / replications),
        p_value=miss_p_value(misses, replications, of.nominal),
        false_alarms=misses / replications if nothing else None,
        truth=float(truth.mean()),
        mean_gap=mean_gap,
        median_gap=median_gap,
        mean_width=mean_width,
        median_width=median_width,
        bias=bias,
    )


def _middle(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Return mean and median of what was stated; None where that is not finite."""
    stated = values[~np.isnan(values)]
    if not stated.size:
        return None, None
    mean, median = float(stated.mean()), float(np.median(stated))
    return mean if math.isfinite(mean) else None, median if math.isfinite(median) else None
