"""The area under the ROC curve, with an interval that survives values near 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper

if TYPE_CHECKING:
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
    x, y = ladder.members, ladder.holdout
    member_wins = (np.cumsum(y) - y / 2) / n2
    holdout_loses = (n1 - np.cumsum(x) + x / 2) / n1
    value = float((x * member_wins).sum() / n1)
    bracket = float((x / n1 * (y / n2))[~ladder.single].sum()) / 2
    scatter = (
        float((x * (member_wins - value) ** 2).sum()),
        float((y * (holdout_loses - value) ** 2).sum()),
    )

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


def _pseudo_rows(alpha: float) -> float:
    """Return the rows of one kind that an error of alpha/2 leaves room for, unseen.

    So many are expected, ln(2/alpha), where none is seen with probability alpha/2; in
    units of the normal deviate that multiplies the standard error.
    """
    deviate = NormalDist().inv_cdf(1 - alpha / 2)
    return (math.log(2 / alpha) / deviate) ** 2
