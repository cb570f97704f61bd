"""Statements: the limits of one label over many files, beside the truth of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mipaudit.validation.estimands.estimands import ESTIMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mipaudit.validation.coverage.interval import Args, Interval
    from mipaudit.validation.laws.law import Law

# More than the files of a piece of work ask for: the next piece asks for most of them again.
_REMEMBERED: Final = 1 << 12


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
