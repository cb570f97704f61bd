"""The tally of a cell: every stated limit against the truth of its law.

It says whether limits cover less than they promise, and how small a shortfall would be found.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Self

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Statement:
    """What was said under one label.

    Attributes:
        first: one of the intervals, for all that they have in common.
        lower: lower limits, shape (n,), NaN where none was stated.
        upper: likewise.
        value: likewise.
        truth: true values, shape (n,).
    """

    first: Interval
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    value: NDArray[np.float64]
    truth: NDArray[np.float64]

    def __add__(self, later: Self) -> Self:
        """Return the statements about these files and later ones."""
        return type(self)(
            first=self.first,
            lower=np.concatenate([self.lower, later.lower]),
            upper=np.concatenate([self.upper, later.upper]),
            value=np.concatenate([self.value, later.value]),
            truth=np.concatenate([self.truth, later.truth]),
        )


Statements = dict[str, Statement]


def gather(law: Law, prior: float, said: Iterable[Sequence[Interval]]) -> Statements:
    """Return the intervals of several files by label, beside the truth.

    Args:
        law: that the files were drawn from.
        prior: p in (0, 1).
        said: the intervals of each file.

    Raises:
        ValueError: one file has two intervals of the same label, or a limit is NaN.
    """
    by_label: dict[str, list[Interval]] = {}
    for intervals in said:
        labels = [interval.row_label for interval in intervals]
        if len(set(labels)) < len(labels):
            raise ValueError("two intervals of one file have the same label")
        for interval in intervals:
            by_label.setdefault(interval.row_label, []).append(interval)
    return {
        label: Statement(
            first=intervals[0],
            lower=np.array([_number(interval.lower) for interval in intervals]),
            upper=np.array([_number(interval.upper) for interval in intervals]),
            value=np.array([_number(interval.value) for interval in intervals]),
            truth=np.array(
                [_truth(law, prior, one.estimand, one.estimand_args) for one in intervals]
            ),
        )
        for label, intervals in by_label.items()
    }


def joined(parts: Iterable[Statements]) -> Statements:
    """Return the statements of several parts of a cell, in order."""
    whole: Statements = {}
    for part in parts:
        for label, statement in part.items():
            whole[label] = whole[label] + statement if label in whole else statement
    return whole


@lru_cache(maxsize=_REMEMBERED)
def _truth(law: Law, prior: float, estimand: str, args: Args) -> float:
    """Return the truth, computed once for all files that ask for the same."""
    return ESTIMANDS[estimand].truth(law, prior, args)


def _number(limit: float | None) -> float:
    if limit is None:
        return math.nan
    if math.isnan(limit):
        raise ValueError("a limit is NaN: a method that states none must say None")
    return limit


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
