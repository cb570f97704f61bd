"""The area under the ROC curve, with an interval that survives values near 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.maths.ladder import Ladder


@dataclass(frozen=True, slots=True, kw_only=True)
class Auc:
    """P(member scores higher) + P(tie)/2, with limits; all in [0, 1].

    ``method`` names the effective size that the limits rest on.
    """

    value: float
    lower: float
    upper: float
    method: str


def auc(ladder: Ladder, *, alpha: float) -> Auc:
    """Return the AUC of 'high scores are members' with a two-sided interval.

    Clopper-Pearson at an effective number of trials, for each limit its own. The
    variance of an AUC is at most A(1-A) / min(n1, n2) (Birnbaum and Klose 1957), so
    min(n1, n2) trials are always enough; DeLong's estimate (DeLong et al. 1988) gives
    more. The rows that matter most may not have been seen, so both classes get a few
    pseudo-rows that lose everything, for the lower limit, or win it. Within cells of
    several values the order is unknown, and both limits are widened by the ties that
    could be won or lost.

    Args:
        ladder: counts along the score; without one of the classes nothing is known.
        alpha: two-sided error in (0, 1). The interval is approximate: docs/methods.md
            has its measured coverage.
    """
    n1, n2 = ladder.n_members, ladder.n_holdout
    if min(n1, n2) == 0:
        return Auc(value=0.5, lower=0.0, upper=1.0, method="no rows")
    # As floats at once: every count is exact, and no product has to convert it again.
    x, y = ladder.members.astype(np.float64), ladder.holdout.astype(np.float64)
    member_wins = y.cumsum()
    member_wins -= y / 2
    member_wins /= n2
    holdout_loses = n1 - x.cumsum()
    holdout_loses += x / 2
    holdout_loses /= n1
    value = float((x * member_wins).sum() / n1)
    bracket = 0.0
    if not ladder.exact:
        bracket = float((x / n1 * (y / n2))[~ladder.single].sum()) / 2
    scatter = _scatter(x, member_wins, value), _scatter(y, holdout_loses, value)

    def trials(deviation: float) -> float:
        unseen = _pseudo_rows(alpha) * deviation**2
        variance = sum(
            (seen + unseen) / (max(n - 1, 1) * n) for seen, n in zip(scatter, (n1, n2), strict=True)
        )
        least = float(min(n1, n2))
        return max(least, value * (1 - value) / variance) if variance > 0 else least

    below, above = trials(value), trials(1 - value)
    lower = float(clopper_pearson_lower(value * below, below, alpha / 2))
    upper = float(clopper_pearson_upper(value * above, above, alpha / 2))
    return Auc(
        value=value,
        lower=max(0.0, lower - bracket),
        upper=min(1.0, upper + bracket),
        method="Clopper-Pearson, DeLong effective size",
    )


def _scatter(counts: NDArray[np.float64], shares: NDArray[np.float64], value: float) -> float:
    """Return the sum of squares of the shares about the value; overwrites the shares."""
    shares -= value
    shares *= shares
    shares *= counts
    return float(shares.sum())


def _pseudo_rows(alpha: float) -> float:
    """Return the rows of one kind that an error of alpha/2 leaves room for, unseen.

    So many are expected, ln(2/alpha), where none is seen with probability alpha/2; in
    units of the normal deviate that multiplies the standard error.
    """
    deviate = NormalDist().inv_cdf(1 - alpha / 2)
    return (math.log(2 / alpha) / deviate) ** 2
