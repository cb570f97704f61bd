"""The area under the ROC curve, with limits that survive few deciding rows and values near 1.

An upper limit is the lower one of the score turned round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from mipaudit.maths.arrays import Floats
    from mipaudit.maths.class_limits.roc_counts import Ladder

_CHANCE: Final = 0.5
# Errors above are taken as this one: with one or two rows that decide, the limit would miss
# up to 1.12 times as often as it says.
_LARGEST_ERROR: Final = 0.1
# What a normal deviate lacks for a count with few events, by enumeration.
_RARE: Final = 1.06
# So many rows that lose everything are put beside the seen ones when their skewness is
# looked at, that much of a skewness in favour is believed, and none at larger errors, where
# the limit of a lattice would miss up to 1.01 times as often as it says. By enumeration.
_PUT_BESIDE: Final = 8
_BELIEVED: Final = 0.5
_SKEW_ERROR: Final = 0.05
_ROUNDS: Final = 6
_SEARCHES: Final = 20
_NEGLIGIBLE: Final = 1e-6


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
        skew: third cumulant of the value, seen; None where the order within cells of
            several values is unknown.
        fewest: rows of the smaller class.
        bracket: what the order within cells of several values may add or take away.
    """

    value: float
    variance: float
    skew: float | None
    fewest: int
    bracket: float

    def turned(self) -> Area:
        """Return the area of 'low scores are members'."""
        skew = None if self.skew is None else -self.skew
        return replace(self, value=1 - self.value, skew=skew)

    def limits(self, alpha: float) -> Auc:
        """Return the AUC of this side with a lower and an upper limit.

        A score limit. Let a share e of rows that nobody has seen lose everything. The area
        falls by d = A e, and its variance is at most (1 - e)(V + A d / n), n the smaller
        class: the limit is the area at which d is z standard errors. Half of e is used in
        the first factor, and A / n is raised where the count of such rows is no normal one
        (mipaudit help methods has the enumeration). Where the skewness seen says that the
        variance grows less on the way down, it grows so, and the limit is a whole row
        lower, for scores of few values; it is never wider than without the skewness.

        Args:
            alpha: one-sided error of each, in (0, 1).
        """
        if self.fewest == 0:
            return Auc(value=0.5, lower=0.0, upper=1.0, method="no rows")
        return Auc(
            value=self.value,
            lower=max(0.0, self.value - self.drop(alpha) - self.bracket),
            upper=min(1.0, self.value + self.turned().drop(alpha) + self.bracket),
            method="score limits, DeLong variance with unseen rows",
        )

    def drop(self, alpha: float) -> float:
        """Return how far the truth may lie below the value at one-sided alpha; at most 2."""
        error = min(alpha, _LARGEST_ERROR)
        room = self.value / self.fewest
        squared = NormalDist().inv_cdf(error) ** 2
        # Where no such row is seen, the limit leaves room for 1 - error^(1/n) of them.
        unseen = self.fewest * math.expm1(-math.log(error) / self.fewest)
        rare = max(squared, _RARE * unseen)
        seen = squared * self.variance
        most = _root(seen, room * rare, left=1.0)
        if error > _SKEW_ERROR or self.skew is None or room == 0:
            return most
        slope = self._slope(self.skew, room)
        growth = slope * (rare if slope > 0 else _BELIEVED * squared)
        return min(most, _root(seen, growth, left=0.0) + room)

    def _slope(self, skew: float, room: float) -> float:
        """Return how fast the variance grows as the area falls, in [-room, room].

        In the exponential family through the rows it is the third cumulant over the
        variance, turned; with a few rows that lose everything put beside them.
        """
        slope = (_PUT_BESIDE * room**3 - skew) / (self.variance + _PUT_BESIDE * room**2)
        return min(max(slope, -room), room)


def better_side(area: Area, alpha: float) -> Auc:
    """Return the AUC of the side whose area is larger, which was looked for on the same rows.

    The lower limit is that of the side shown, or 1/2. It is folded: let the truth be L on one
    side. A limit above it is stated of that side, or one above 1/2 of the other. Without a
    difference each has half of alpha; the farther L is from 1/2, the less does the other side
    need, and L is where both together come to alpha. The upper limit is the larger of both
    sides at all of alpha, since the better side is one of them.

    Args:
        area: of the side with the larger area.
        alpha: one-sided error of each limit, in (0, 1).
    """
    shown, other = area.limits(alpha), area.turned().limits(alpha)
    return replace(
        shown,
        lower=max(_CHANCE, _folded(area, alpha) - area.bracket) if area.fewest else _CHANCE,
        upper=max(shown.upper, other.upper),
    )


def _folded(area: Area, alpha: float) -> float:
    halved = area.drop(alpha / 2)
    lower = area.value - halved
    # Each round starts from a limit that is too low, so it leaves the other side too much.
    for _ in range(_ROUNDS if lower > _CHANCE else 0):
        other = _other_side(area, lower, shown=_CHANCE + halved, most=alpha / 2)
        before, lower = lower, area.value - area.drop(alpha - other)
        if lower == before:
            break
    return lower


def _other_side(area: Area, truth: float, *, shown: float, most: float) -> float:
    """Return the error at which the other side could show so large an area.

    Args:
        area: of the side that is better.
        truth: its true area, at least 1/2.
        shown: the area of the other side at which a limit above 1/2 is stated of it.
        most: the error where the truth is 1/2.
    """
    distance = shown - 1 + truth
    wide = replace(area, value=shown, skew=None)
    low, high = math.log(most * _NEGLIGIBLE), math.log(most)
    if wide.drop(math.exp(low)) <= distance:  # far from chance
        return math.exp(low + (high - low) / 2**_SEARCHES)
    for _ in range(_SEARCHES):
        middle = (low + high) / 2
        low, high = (middle, high) if wide.drop(math.exp(middle)) > distance else (low, middle)
    return math.exp(high)


def area_of(ladder: Ladder) -> Area:
    """Return the area under the ROC curve of 'high scores are members'.

    Args:
        ladder: counts along the score; without one of the classes nothing is known.
    """
    n1, n2 = ladder.n_members, ladder.n_holdout
    if min(n1, n2) == 0:
        return Area(value=0.5, variance=0.25, skew=None, fewest=0, bracket=0.5)
    # As floats at once: every count is exact, and no product has to convert it again.
    x, y = ladder.members.astype(np.float64), ladder.holdout.astype(np.float64)
    wins = y.cumsum()
    wins -= y / 2
    wins /= n2
    loses = n1 - x.cumsum()
    loses += x / 2
    loses /= n1
    value = float((x * wins).sum() / n1)
    wins -= value
    loses -= value
    p, q = x / n1, y / n2
    scatters = float((p * wins * wins).sum()), float((q * loses * loses).sum())
    skew, bracket, unordered = None, 0.0, (0.0, 0.0)
    if ladder.exact:
        skew = _skew(p, q, wins, loses, (n1, n2))
    else:
        p, q = p[~ladder.single], q[~ladder.single]
        bracket = float((p * q).sum()) / 2
        unordered = float((p * q**2).sum()) / 4, float((q * p**2).sum()) / 4
    # Seen shares and what the order within cells adds to them: the triangle inequality.
    variance = sum(
        (math.sqrt(scatter) + math.sqrt(moved)) ** 2 / max(n - 1, 1)
        for scatter, moved, n in zip(scatters, unordered, (n1, n2), strict=True)
    )
    return Area(value=value, variance=variance, skew=skew, fewest=min(n1, n2), bracket=bracket)


def _skew(p: Floats, q: Floats, wins: Floats, loses: Floats, sizes: tuple[int, int]) -> float:
    """Return the third cumulant of the area, from shares of rows and what they win or lose.

    Beside those of the two means there is one of the pairs: a member that wins much and a
    holdout record that loses much win against each other.
    """
    n1, n2 = sizes
    below = q * loses
    together = below.cumsum()
    together -= below / 2
    each = (p * wins * wins * wins).sum() / n1**2 + (q * loses * loses * loses).sum() / n2**2
    return float(each + 6 * (p * wins * together).sum() / (n1 * n2))


def _root(seen: float, growth: float, *, left: float) -> float:
    """Solve d^2 = (1 - left d/2)(seen + growth d) for d >= 0, left being 0 or 1.

    Half of the rows that lost everything have lost what they varied by: left is 1 where the
    growth does not say so.
    """
    slope = growth - left * seen / 2
    wide = 2 + left * growth
    return (slope + math.sqrt(slope**2 + 2 * wide * seen)) / wide
