"""The area under the ROC curve, with an interval that survives values near 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from mipaudit.maths.ladder import Ladder

# Below this many expected discordant ranks DeLong's variance collapses.
_ENOUGH_DISCORDANCE: Final = 5.0
_STEP: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Auc:
    """P(member scores higher) + P(tie)/2, with limits; all in [0, 1].

    ``method`` is ``"logit-delong"`` or ``"newcombe-5"``.
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

    Logit-transformed DeLong (DeLong et al. 1988) where there is enough
    discordance, otherwise Newcombe's (2006) fifth method, a score interval. Within
    cells of several values the order is unknown, and both limits are widened by
    the ties that could be won or lost.

    Args:
        ladder: counts along the score, both classes present.
        alpha: two-sided error in (0, 1). The interval is approximate.
    """
    n1, n2 = ladder.n_members, ladder.n_holdout
    ranks = _ranks(ladder)
    z = NormalDist().inv_cdf(1 - alpha / 2)
    rare = min(ranks.value, 1 - ranks.value) * min(n1, n2)
    if rare >= _ENOUGH_DISCORDANCE:
        lower, upper = _logit_limits(ranks, z)
        method = "logit-delong"
    else:
        lower, upper = _newcombe_limits(ranks.value, n1, n2, z)
        method = "newcombe-5"
    return Auc(
        value=ranks.value,
        lower=max(0.0, lower - ranks.bracket),
        upper=min(1.0, upper + ranks.bracket),
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


def _logit_limits(ranks: _Ranks, z: float) -> tuple[float, float]:
    """Return DeLong's limits on the logit scale, mapped back."""
    centre = math.log(ranks.value / (1 - ranks.value))
    half = z * ranks.standard_error / (ranks.value * (1 - ranks.value))
    return _expit(centre - half), _expit(centre + half)


def _expit(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))


def _newcombe_limits(value: float, n1: int, n2: int, z: float) -> tuple[float, float]:
    """Return the roots of |value - t| = z sqrt(V(t)) either side of the value."""
    from scipy.optimize import brentq

    half_sum = (n1 + n2) / 2 - 1

    def distance(t: float) -> float:
        spread = 1 + half_sum * ((1 - t) / (2 - t) + t / (1 + t))
        return (value - t) ** 2 - z**2 * t * (1 - t) * spread / (n1 * n2)

    # The distance is below 0 at the value and above 0 at 0 and 1, unless the value is
    # one of them: there it has a second root, which a step inwards avoids.
    inside = min(max(value, _STEP), 1 - _STEP)
    lower = 0.0 if value <= 0 else float(brentq(distance, 0.0, inside, xtol=1e-12))
    upper = 1.0 if value >= 1 else float(brentq(distance, inside, 1.0, xtol=1e-12))
    return lower, upper
