"""The area under the ROC curve, with an interval that survives values near 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper

if TYPE_CHECKING:
    from mipaudit.maths.ladder import Ladder

# With fewer expected discordant pairs per record of the smaller class, its variance
# cannot be estimated: the errors that matter may not have been seen yet.
_ENOUGH_DISCORDANCE: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Auc:
    """P(member scores higher) + P(tie)/2, with limits; all in [0, 1].

    ``method`` names the effective size that the limits rest on.
    """

    value: float
    lower: float
    upper: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranks:
    value: float
    bracket: float
    standard_error: float


def auc(ladder: Ladder, *, alpha: float) -> Auc:
    """Return the AUC of 'high scores are members' with a two-sided interval.

    Clopper-Pearson at an effective number of trials. The variance of an AUC is at most
    A(1-A) / min(n1, n2) (Birnbaum and Klose 1957), so min(n1, n2) trials are always
    enough; where there is discordance to learn from, DeLong's estimate (DeLong et al.
    1988) gives more. It errs by about 1/sqrt(discordance), which is taken off. Within
    cells of several values the order is unknown, and both limits are widened by the
    ties that could be won or lost.

    Args:
        ladder: counts along the score; without one of the classes nothing is known.
        alpha: two-sided error in (0, 1). The interval is approximate: docs/methods.md
            has its measured coverage.
    """
    if min(ladder.n_members, ladder.n_holdout) == 0:
        return Auc(value=0.5, lower=0.0, upper=1.0, method="no rows")
    ranks = _ranks(ladder)
    smaller = float(min(ladder.n_members, ladder.n_holdout))
    spread = ranks.value * (1 - ranks.value)
    discordance = min(ranks.value, 1 - ranks.value) * smaller
    trials, method = smaller, "Clopper-Pearson, smaller class"
    if discordance >= _ENOUGH_DISCORDANCE and ranks.standard_error > 0:
        estimated = spread / ranks.standard_error**2 * (1 - 1 / math.sqrt(discordance))
        if estimated > smaller:
            trials, method = estimated, "Clopper-Pearson, DeLong effective size"
    wins = ranks.value * trials
    return Auc(
        value=ranks.value,
        lower=max(0.0, float(clopper_pearson_lower(wins, trials, alpha / 2)) - ranks.bracket),
        upper=min(1.0, float(clopper_pearson_upper(wins, trials, alpha / 2)) + ranks.bracket),
        method=method,
    )


def _ranks(ladder: Ladder) -> _Ranks:
    """Return the AUC by midranks, half the width of its bracket and DeLong's error."""
    n1, n2 = ladder.n_members, ladder.n_holdout
    x, y = ladder.members, ladder.holdout
    member_wins = (np.cumsum(y) - y / 2) / n2
    holdout_loses = (n1 - np.cumsum(x) + x / 2) / n1
    value = float((x * member_wins).sum() / n1)
    unknown = float((x / n1 * (y / n2))[~ladder.single].sum())
    between_members = float((x * (member_wins - value) ** 2).sum()) / max(n1 - 1, 1)
    between_holdout = float((y * (holdout_loses - value) ** 2).sum()) / max(n2 - 1, 1)
    return _Ranks(
        value=value,
        bracket=unknown / 2,
        standard_error=math.sqrt(between_members / n1 + between_holdout / n2),
    )
