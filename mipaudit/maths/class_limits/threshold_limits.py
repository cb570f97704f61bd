"""TPR at a fixed FPR, for attackers who put a threshold on the score.

Such an attacker may toss a coin among records of equal score: his rates lie on the line between
those of the sets without and with the tied records. No coin is tossed here. A seed that follows
from the rows tosses the same coins for ever where few files are possible, and then the error is
no mean over coins.

All functions take the ladder of one side: high scores are guessed to be members. For the other
side pass `Ladder.reversed`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mipaudit.maths.arrays import Floats, Ints, Places
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper, least_lower

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.maths.class_limits.roc_counts import Ladder

_Bound = Literal["lower", "upper"]
_DEVIATES: Final = np.arange(0.5, 8.0, 0.0025)
# Ranks get an error of their own up to this many standard deviations from the mean, or
# to where what lies beyond is a small share of alpha; there no limit is claimed.
_REACH: Final = 4.0
_BEYOND_SHARE: Final = 1 / 200
_MARGIN: Final = 8
# Ranks in ties are looked at in so many runs, and the worst of them in parts, so many times.
_RUNS: Final = 8
_PARTS: Final = 8
_ROUNDS: Final = 4
# To what errors two limits may be mixed.
_LARGEST_ERROR: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """TPR at one FPR: empirical value and one-sided lower limit, None if not estimable."""

    value: float
    lower: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Staircase:
    """Thresholds at holdout ranks, each with an error for the members above it.

    Let A be the records above the true threshold, B those and the ones at it, and w the share
    of the latter that an attacker of FPR f takes: A and B are fixed sets, (1 - w) FPR(A) +
    w FPR(B) = f, and the truth is (1 - w) TPR(A) + w TPR(B). Of two nested fixed sets the limits
    of Clopper and Pearson at one error e, mixed as w says, fail with at most e (e at most 1/2;
    where w is 0 or 1, or A and B are one, that is their theorem; in between it is found by
    enumeration, and twice e is a bound). So the least error p at which the limits of the
    holdout, mixed, come to f is at most any x with probability at most x. Let p(k) be the
    chance of as many holdout records above as k, or more outward, without ties, and a(k) the
    error of the first rank: where p lies in (p(k + 1), p(k)] the limit of the members is taken
    at a(k), for all w of such p. Given the holdout it fails with at most a(k), so the sum of
    (p(k) - p(k + 1)) a(k), which is the one of a score without ties, bounds the error.
    The true threshold is one of those of the file, or lies between two, and the worst limit
    over all of them is no better than its own.

    Attributes:
        ranks: how many holdout records lie above the threshold, int64, shape (r,).
        errors: one-sided error at that threshold, in (0, 1), shape (r,).
    """

    ranks: Ints
    errors: Floats


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

    def errors(deviate: float) -> Floats:
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


def tpr_at_fpr(ladder: Ladder, fpr: float, *, alpha: float) -> OperatingPoint:
    """Return TPR at an FPR and its finite-sample lower limit.

    Args:
        ladder: counts along the score; without one of the classes nothing is known.
        fpr: in (0, 1).
        alpha: one-sided error in (0, 1).

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
    return OperatingPoint(value=value, lower=_least(ladder, fpr, steps, "lower"))


def tpr_upper(ladder: Ladder, fpr: float, *, alpha: float) -> float:
    """Return a finite-sample one-sided upper limit of TPR at an FPR, in [0, 1].

    Args as for `tpr_at_fpr`; 1 where the holdout is too small.
    """
    if min(ladder.n_members, ladder.n_holdout) == 0:
        return 1.0
    steps = staircase(ladder.n_holdout, fpr, alpha, "upper")
    if steps is None or not steps.ranks.size:
        return 1.0
    # 1 - (1 - x) loses nothing here: limits are rounded outward at 4 digits.
    return 1.0 - _least(ladder, fpr, steps, "upper")


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


def _least(ladder: Ladder, fpr: float, steps: Staircase, bound: _Bound) -> float:
    """Return the least lower limit over the steps: of hits, or of misses for an upper limit.

    Of a cell of several values, whose order is unknown, the worse end is taken.
    """
    members, holdout = ladder.from_the_top(int(steps.ranks[-1]) + 1)
    step = np.searchsorted(holdout, steps.ranks.astype(holdout.dtype), side="right") - 1
    trials, inside = ladder.n_members, ladder.members[::-1][step]
    without = members[step].astype(np.float64)
    fewest = without if bound == "lower" else trials - without - inside
    tied = ladder.single[::-1][step] & (inside > 0)
    if not tied.any():
        return least_lower(fewest, trials, steps.errors)
    least = 1.0 if tied.all() else least_lower(fewest[~tied], trials, steps.errors[~tied])
    outward = tied.nonzero()[0][:: -1 if bound == "lower" else 1]
    step, ranks, errors = step[outward], steps.ranks[outward], steps.errors[outward]
    fewest, inside = fewest[outward], inside[outward]

    def limits(near: Places, far: Places) -> Floats:
        # The nearest rank of a run has the least error, the farthest the fewest hits.
        share = _share(
            holdout[step[far]].astype(np.float64),
            ladder.holdout[::-1][step[far]],
            ranks[far],
            (ladder.n_holdout, fpr, bound),
        )
        of_more = np.where(step[near] == step[far], share if bound == "lower" else 1 - share, 0)
        one = clopper_pearson_lower(fewest[far], trials, errors[near])
        other = clopper_pearson_lower(fewest[far] + inside[far], trials, errors[near])
        return np.asarray(one + of_more * (other - one))

    return min(least, _least_of_runs(ranks.size, limits))


def _least_of_runs(size: int, limits: Callable[[Places, Places], Floats]) -> float:
    """Return a lower limit, nearly always the value, of the least of so many limits.

    Args:
        size: how many there are, above 0.
        limits: returns one for each run, given its first and last: no limit in it is lower.
    """
    edges = np.linspace(0, size, min(size, _RUNS) + 1).astype(np.intp)
    near, far = edges[:-1], edges[1:] - 1
    found = limits(near, far)
    for _ in range(_ROUNDS):
        worst = int(found.argmin())
        first, last = int(near[worst]), int(far[worst])
        if first == last:
            break
        edges = np.linspace(first, last + 1, min(last + 1 - first, _PARTS) + 1).astype(np.intp)
        parts = limits(edges[:-1], edges[1:] - 1)
        near = np.append(np.delete(near, worst), edges[:-1])
        far = np.append(np.delete(far, worst), edges[1:] - 1)
        found = np.append(np.delete(found, worst), parts)
    return float(found.min())


def _share(above: Floats, inside: Ints, ranks: Ints, known: tuple[int, float, _Bound]) -> Floats:
    """Return how much of each tie an attacker of this FPR may take: least, or most.

    Args:
        above: holdout records above the tie, shape (r,).
        inside: holdout records in it, above 0, shape (r,).
        ranks: of the steps, in [above, above + inside), shape (r,).
        known: number of holdout records, FPR and which limit it is for.
    """
    from scipy.special import bdtr, bdtrc

    trials, fpr, bound = known
    chance, limit = (
        (bdtr, clopper_pearson_upper) if bound == "lower" else (bdtrc, clopper_pearson_lower)
    )
    error = np.clip(chance(ranks, trials, fpr), 1e-300, _LARGEST_ERROR)
    without, together = limit(above, trials, error), limit(above + inside, trials, error)
    return np.asarray(np.clip((fpr - without) / (together - without), 0, 1))
