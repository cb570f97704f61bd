"""The area under the ROC curve, with limits that survive few deciding rows and values near 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.maths.class_limits.roc_counts import Ladder

# Errors above are taken as this one: with one or two rows that decide, the limit would miss
# up to 1.12 times as often as it says.
_LARGEST_ERROR: Final = 0.1
# What a normal deviate lacks for a count with few events, by enumeration.
_RARE: Final = 1.06


@dataclass(frozen=True, slots=True, kw_only=True)
class Auc:
    """P(member scores higher) + P(tie)/2, with limits; all in [0, 1].

    ``method`` says what the limits rest on.
    """

    value: float
    lower: float
    upper: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """What the AUC of 'high scores are members' and its limits are computed from.

    Attributes:
        value: by midranks, in [0, 1].
        variance: of DeLong et al. (1988), seen; with the order within cells of several
            values unknown, as large as it could be.
        fewest: rows of the smaller class.
        bracket: what the order within cells of several values may add or take away.
    """

    value: float
    variance: float
    fewest: int
    bracket: float

    def turned(self) -> Area:
        """Return the area of 'low scores are members'."""
        return Area(
            value=1 - self.value,
            variance=self.variance,
            fewest=self.fewest,
            bracket=self.bracket,
        )

    def limits(self, *, lower_alpha: float, upper_alpha: float) -> Auc:
        """Return the AUC with a lower and an upper limit, each with its own error.

        A score limit. Let a share e of rows that nobody has seen lose everything. The area
        falls by d = A e, and its variance is at most (1 - e)(V + A d / n), n the smaller
        class: the limit is the area at which d is z standard errors. Half of e is used in
        the first factor, and A / n is raised where the count of such rows is no normal one
        (docs/methods.md has the enumeration). The upper limit is the lower one of the score
        turned round.

        Args:
            lower_alpha: one-sided error of the lower limit, in (0, 1).
            upper_alpha: one-sided error of the upper limit, in (0, 1).
        """
        if self.fewest == 0:
            return Auc(value=0.5, lower=0.0, upper=1.0, method="no rows")
        below = _drop(self.value, self.variance, self.fewest, lower_alpha)
        above = _drop(1 - self.value, self.variance, self.fewest, upper_alpha)
        return Auc(
            value=self.value,
            lower=max(0.0, self.value - below - self.bracket),
            upper=min(1.0, self.value + above + self.bracket),
            method="score limits, DeLong variance with unseen rows",
        )


def area_of(ladder: Ladder) -> Area:
    """Return the area under the ROC curve of 'high scores are members'.

    Args:
        ladder: counts along the score; without one of the classes nothing is known.
    """
    n1, n2 = ladder.n_members, ladder.n_holdout
    if min(n1, n2) == 0:
        return Area(value=0.5, variance=0.25, fewest=0, bracket=0.5)
    # As floats at once: every count is exact, and no product has to convert it again.
    x, y = ladder.members.astype(np.float64), ladder.holdout.astype(np.float64)
    member_wins = y.cumsum()
    member_wins -= y / 2
    member_wins /= n2
    holdout_loses = n1 - x.cumsum()
    holdout_loses += x / 2
    holdout_loses /= n1
    value = float((x * member_wins).sum() / n1)
    scatters = _scatter(x, member_wins, value) / n1, _scatter(y, holdout_loses, value) / n2
    bracket, unordered = 0.0, (0.0, 0.0)
    if not ladder.exact:
        p, q = x[~ladder.single] / n1, y[~ladder.single] / n2
        bracket = float((p * q).sum()) / 2
        unordered = float((p * q**2).sum()) / 4, float((q * p**2).sum()) / 4
    # Seen shares and what the order within cells adds to them: the triangle inequality.
    variance = sum(
        (math.sqrt(scatter) + math.sqrt(moved)) ** 2 / max(n - 1, 1)
        for scatter, moved, n in zip(scatters, unordered, (n1, n2), strict=True)
    )
    return Area(value=value, variance=variance, fewest=min(n1, n2), bracket=bracket)


def _drop(value: float, variance: float, fewest: int, alpha: float) -> float:
    """Solve d^2 = z^2 (1 - d/2) (variance + raised value d / fewest) for d >= 0."""
    error = min(alpha, _LARGEST_ERROR)
    squared = NormalDist().inv_cdf(1 - error) ** 2
    # Where no such row is seen, the limit leaves room for a share of 1 - error^(1/n) of them.
    unseen = fewest * math.expm1(-math.log(error) / fewest)
    growth = value / fewest * max(squared, _RARE * unseen)
    slope = growth - squared * variance / 2
    return (slope + math.sqrt(slope**2 + 4 * (1 + growth / 2) * squared * variance)) / (2 + growth)


def _scatter(counts: NDArray[np.float64], shares: NDArray[np.float64], value: float) -> float:
    """Return the sum of squares of the shares about the value; overwrites the shares."""
    shares -= value
    shares *= shares
    shares *= counts
    return float(shares.sum())
