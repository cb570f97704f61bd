"""TPR at a fixed FPR, for attackers who put a threshold on the score.

Such an attacker may toss a coin among records of equal score, so ties are broken at
random: what is true of a score without ties is then true of any. All functions take
the ladder of one side: high scores are guessed to be members. For the other side pass
`Ladder.reversed`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.binomial import least_lower

if TYPE_CHECKING:
    from mipaudit.maths.class_limits.roc_counts import Ladder
    from mipaudit.maths.draws import Draws

_Bound = Literal["lower", "upper"]
_DEVIATES: Final = np.arange(0.5, 8.0, 0.0025)
# Ranks get an error of their own up to this many standard deviations from the mean, or
# to where what lies beyond is a small share of alpha; there no limit is claimed.
_REACH: Final = 4.0
_BEYOND_SHARE: Final = 1 / 200
_MARGIN: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """TPR at one FPR: empirical value and one-sided lower limit, None if not estimable."""

    value: float
    lower: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Staircase:
    """Thresholds at holdout ranks, each with an error for the members above it.

    Attributes:
        ranks: how many holdout records lie above the threshold, int64, shape (r,).
        errors: one-sided error at that threshold, in (0, 1), shape (r,).
    """

    ranks: NDArray[np.int64]
    errors: NDArray[np.float64]


def fewest_holdout(fpr: float, alpha: float) -> int:
    """Return the least number of holdout records at which a lower limit exists.

    With fewer, not even a threshold above every holdout score is shown to have an
    FPR of at most ``fpr`` at error ``alpha``.
    """
    return math.ceil(math.log(alpha) / math.log1p(-fpr))


@lru_cache(maxsize=1024)
def staircase(n_holdout: int, fpr: float, alpha: float, bound: _Bound) -> Staircase | None:
    """Return thresholds and errors whose worst limit is valid at one-sided alpha.

    The number k of holdout records above the true threshold is binomial. The set above
    the next holdout record, inward for a lower limit and outward for an upper one,
    depends on the holdout alone and is nested with the true one; so, given k, its
    Clopper-Pearson limit fails with at most its own error, and the sum of binomial
    probability times error is a bound for any law. The errors fall off with the
    distance d of a rank from its mean as the tail beyond sqrt(z^2 - d^2) does: a
    circle in standard units, with z the least that keeps the sum within alpha.

    Args:
        n_holdout: number of holdout records, above 0.
        fpr: in (0, 1).
        alpha: one-sided error in (0, 1).
        bound: which limit it is for.

    Returns:
        The staircase, or None where no z will do.
    """
    from scipy.special import bdtr, bdtrc, gammaln, ndtr, ndtri

    spread = math.sqrt(n_holdout * fpr * (1 - fpr))
    expected = math.floor(fpr * n_holdout * (1 + 1e-12))
    reach = max(_REACH, -float(ndtri(alpha * _BEYOND_SHARE)))
    low = max(0, math.floor(expected - reach * spread) - _MARGIN)
    high = min(n_holdout, math.ceil(expected + reach * spread) + _MARGIN)
    above = np.arange(low, high + 1)
    probability = np.exp(
        gammaln(n_holdout + 1)
        - gammaln(above + 1)
        - gammaln(n_holdout - above + 1)
        + above * math.log(fpr)
        + (n_holdout - above) * math.log1p(-fpr)
    )
    below = float(bdtr(low - 1, n_holdout, fpr)) if low else 0.0
    beyond = float(bdtrc(high, n_holdout, fpr)) if high < n_holdout else 0.0
    outer, inner = (below, beyond) if bound == "lower" else (beyond, below)
    ranks = above - 1 if bound == "lower" else above
    outward = expected - ranks if bound == "lower" else ranks - expected
    squared = (np.maximum(outward, 0) / spread) ** 2
    squared[(ranks < 0) | (ranks >= n_holdout)] = math.inf

    def errors(deviate: float) -> NDArray[np.float64]:
        left = deviate**2 - squared
        error = ndtr(-np.sqrt(np.maximum(left, 0)))
        error[left < 0] = 1.0
        return np.asarray(error)

    def enough(index: int) -> bool:
        deviate = float(_DEVIATES[index])
        within = float((probability * errors(deviate)).sum())
        return within + outer + inner * float(ndtr(-deviate)) <= alpha

    if not enough(_DEVIATES.size - 1):
        return None
    deviate = bisect_left(range(_DEVIATES.size - 1), x=True, key=enough)
    error = errors(float(_DEVIATES[deviate]))
    used = (error < 1) & (outward >= 0)
    return Staircase(ranks=ranks[used], errors=error[used])


def tpr_at_fpr(ladder: Ladder, fpr: float, *, alpha: float, rng: Draws) -> OperatingPoint:
    """Return TPR at an FPR and its finite-sample lower limit.

    Args:
        ladder: counts along the score; without one of the classes nothing is known.
        fpr: in (0, 1).
        alpha: one-sided error in (0, 1).
        rng: breaks ties.

    Returns:
        The empirical TPR, interpolated within ties, and the limit, or None where the
        holdout is too small for one.
    """
    if min(ladder.n_members, ladder.n_holdout) == 0:
        return OperatingPoint(value=0.0, lower=None)
    value = _empirical(ladder, fpr)
    steps = staircase(ladder.n_holdout, fpr, alpha, "lower")
    if steps is None:
        return OperatingPoint(value=value, lower=None)
    hits = members_above(ladder, steps.ranks, rng, divided="without")
    limit = least_lower(hits.astype(np.float64), ladder.n_members, steps.errors)
    return OperatingPoint(value=value, lower=limit)


def tpr_upper(ladder: Ladder, fpr: float, *, alpha: float, rng: Draws) -> float:
    """Return a finite-sample one-sided upper limit of TPR at an FPR, in [0, 1].

    Args as for `tpr_at_fpr`; 1 where the holdout is too small.
    """
    if min(ladder.n_members, ladder.n_holdout) == 0:
        return 1.0
    steps = staircase(ladder.n_holdout, fpr, alpha, "upper")
    if steps is None or not steps.ranks.size:
        return 1.0
    hits = members_above(ladder, steps.ranks, rng, divided="with")
    misses = (ladder.n_members - hits).astype(np.float64)
    # 1 - (1 - x) loses nothing here: limits are rounded outward at 4 digits.
    return 1.0 - least_lower(misses, ladder.n_members, steps.errors)


def _empirical(ladder: Ladder, fpr: float) -> float:
    """Return the TPR at the FPR on the data, straight between the steps."""
    wanted = math.ceil(fpr * ladder.n_holdout)
    members, holdout = ladder.from_the_top(wanted + 1)
    # All steps before have fewer; of a long ladder only the last few are divided.
    before = max(0, int(np.searchsorted(holdout, holdout.dtype.type(wanted - 2))) - 1)
    members, false = members[before:], holdout[before:] / ladder.n_holdout
    whole = int(np.searchsorted(false, fpr * (1 + 1e-12), side="right")) - 1
    if before + whole == ladder.members.size:
        return 1.0
    tpr = members[whole : whole + 2] / ladder.n_members
    share = max(0.0, fpr - float(false[whole])) / float(false[whole + 1] - false[whole])
    return float(tpr[0] + min(1.0, share) * (tpr[1] - tpr[0]))


def members_above(
    ladder: Ladder,
    ranks: NDArray[np.int64],
    rng: Draws,
    *,
    divided: Literal["with", "without"],
) -> NDArray[np.int64]:
    """Return how many members lie above the next holdout record after each rank.

    Args:
        ladder: counts along the score.
        ranks: numbers of holdout records above, increasing, below their total.
        rng: puts the rows of a single step in a random order.
        divided: whether the members of a cell of several values, whose order is
            unknown, are counted when the threshold lies in it.
    """
    members, holdout = ladder.from_the_top(int(ranks[-1]) + 1 if ranks.size else 0)
    step = np.searchsorted(holdout, ranks.astype(holdout.dtype), side="right") - 1
    hits = members[step].astype(np.int64)
    inside = ladder.members[::-1][step]
    if not inside.any():
        return hits
    several = ~ladder.single[::-1][step]
    if divided == "with":
        hits = hits + np.where(several, inside, 0)
    tied = ~several & (inside > 0)
    places, sizes = ranks + 1 - holdout[step], ladder.holdout[::-1][step]
    ends = np.append((step[1:] != step[:-1]).nonzero()[0] + 1, step.size).tolist()
    for start, end in zip([0, *ends], ends, strict=False):
        if tied[start]:
            same = slice(start, end)
            hits[same] += _before(places[same], int(sizes[start]), int(inside[start]), rng)
    return hits


def _before(places: NDArray[np.int64], size: int, members: int, rng: Draws) -> NDArray[np.int64]:
    """Return how many of ``members`` come before given places among ``size`` others.

    All are in one random order. The others' positions are order statistics of uniform
    draws, made of gamma spacings.
    """
    shapes = np.empty(places.size + 1)
    shapes[:-1], shapes[-1] = places, size + 1
    shapes[1:] -= shapes[:-1].copy()
    spacings = rng.standard_gamma(shapes)
    spacings /= spacings.sum()
    return rng.multinomial(members, spacings)[:-1].cumsum()
