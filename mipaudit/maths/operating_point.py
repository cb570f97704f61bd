"""TPR at a fixed FPR, for attackers who put a threshold on the score.

All functions take the ladder of one side: high scores are guessed to be members.
For the other side pass `Ladder.reversed`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mipaudit.maths.ladder import Ladder


_REPEATED: Final = 2
_JUMP_SHARE: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """TPR at one FPR: empirical value and one-sided lower limit, None if not estimable."""

    value: float
    lower: float | None


def fewest_holdout(fpr: float, alpha: float) -> int:
    """Return the least number of holdout records at which a lower limit exists.

    With fewer, not even a threshold above every holdout score is shown to have an
    FPR of at most ``fpr`` at error ``alpha``.
    """
    return math.ceil(math.log(alpha) / math.log1p(-fpr))


def strict_rank(n_holdout: int, fpr: float, alpha: float) -> int | None:
    """Return the largest k such that the (k+1)-th largest holdout score is safe.

    Safe: the share of the holdout law above it is at most ``fpr`` with confidence
    1 - ``alpha``. The share is Beta(k+1, n-k), by order statistics, for any law.

    Returns:
        k in [0, n_holdout), or None if there is none.
    """
    from scipy.special import betaincinv

    def safe(k: int) -> bool:
        return float(betaincinv(k + 1, n_holdout - k, 1 - alpha)) <= fpr

    return _last_true(safe, n_holdout)


def generous_rank(n_holdout: int, fpr: float, alpha: float) -> int | None:
    """Return the least k such that the k-th largest holdout score is surely too low.

    The share of the holdout law at or above it is at least ``fpr`` with confidence
    1 - ``alpha``.

    Returns:
        k in [1, n_holdout], or None if there is none.
    """
    from scipy.special import betaincinv

    def short(k: int) -> bool:
        return float(betaincinv(k + 1, n_holdout - k, alpha)) < fpr

    last = _last_true(short, n_holdout)
    if last is None:
        return 1
    return None if last + 2 > n_holdout else last + 2


def _last_true(holds: Callable[[int], bool], count: int) -> int | None:
    """Return the last k in [0, count) where a predicate true on a prefix holds."""
    low, high = -1, count
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low if low >= 0 else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Tail:
    """Counts above each possible threshold, from the highest score down."""

    members: NDArray[np.int64]
    holdout: NDArray[np.int64]

    def members_with_at_most(self, holdout: int) -> int:
        """Return the most members above a threshold with at most so many holdout records."""
        return int(self.members[self.steps_with_at_most(holdout)])

    def steps_with_at_most(self, holdout: int) -> int:
        """Return how many whole steps, from the top, hold at most so many holdout records."""
        return int(np.searchsorted(self.holdout, holdout, side="right")) - 1

    def steps_with_at_least(self, holdout: int) -> int:
        """Return the fewest whole steps, from the top, that hold so many holdout records."""
        return int(np.searchsorted(self.holdout, holdout, side="left"))


def _tail(ladder: Ladder) -> _Tail:
    return _Tail(
        members=np.concatenate([[0], np.cumsum(ladder.members[::-1])]),
        holdout=np.concatenate([[0], np.cumsum(ladder.holdout[::-1])]),
    )


def tpr_lower(ladder: Ladder, fpr: float, *, alpha: float) -> OperatingPoint:
    """Return TPR at an FPR and its one-sided lower limit.

    The empirical value less two errors: that of the TPR at the empirical threshold
    (Clopper-Pearson), and the fall of the TPR from there to the strict threshold, which
    carries the error of the threshold. They add as the root of a sum of squares where
    the score is smooth. A fall at a repeated value is all or nothing, and comes off
    whole. An approximation; its measured coverage is in docs/methods.md.

    Args:
        ladder: counts along the score, both classes present.
        fpr: in (0, 1).
        alpha: one-sided error in (0, 1).
    """
    n1, n2 = ladder.n_members, ladder.n_holdout
    if n1 == 0:
        return OperatingPoint(value=0.0, lower=None)
    tail = _tail(ladder)
    allowed = math.floor(fpr * n2 * (1 + 1e-12))
    hits = tail.members_with_at_most(allowed)
    value = hits / n1
    rank = strict_rank(n2, fpr, alpha)
    if rank is None:
        return OperatingPoint(value=value, lower=None)
    strict = tail.members_with_at_most(rank)
    sampling = value - float(clopper_pearson_lower(hits, n1, alpha))
    jumps = _jumps(ladder, tail, rank, allowed)
    smooth = hits - strict - jumps
    lower = value - jumps / n1 - math.hypot(sampling, smooth / n1)
    return OperatingPoint(value=value, lower=max(0.0, lower))


def _jumps(ladder: Ladder, tail: _Tail, strict: int, allowed: int) -> int:
    """Return the members at repeated values between the strict and the empirical threshold.

    A value counts as repeated when it holds a tenth of the records in between, and
    more than one.
    """
    last = ladder.members.size
    steps = slice(last - tail.steps_with_at_most(allowed), last - tail.steps_with_at_most(strict))
    members, holdout = ladder.members[steps], ladder.holdout[steps]
    large = (members >= max(_REPEATED, _JUMP_SHARE * int(members.sum()))) | (
        holdout >= max(_REPEATED, _JUMP_SHARE * (allowed - strict))
    )
    return int(members[large & ladder.single[steps]].sum())


def tpr_lower_strict(ladder: Ladder, fpr: float, *, alpha: float) -> OperatingPoint:
    """Return TPR at an FPR with a finite-sample lower limit, each part at alpha/2."""
    n1, n2 = ladder.n_members, ladder.n_holdout
    if n1 == 0:
        return OperatingPoint(value=0.0, lower=None)
    tail = _tail(ladder)
    value = tail.members_with_at_most(math.floor(fpr * n2 * (1 + 1e-12))) / n1
    rank = strict_rank(n2, fpr, alpha / 2)
    if rank is None:
        return OperatingPoint(value=value, lower=None)
    lower = clopper_pearson_lower(tail.members_with_at_most(rank), n1, alpha / 2)
    return OperatingPoint(value=value, lower=float(lower))


def tpr_upper(ladder: Ladder, fpr: float, *, alpha: float) -> float:
    """Return a finite-sample one-sided upper limit of TPR at an FPR, in [0, 1].

    Exact for any law: a threshold that depends on the holdout scores only has more than
    the FPR asked for with confidence 1 - alpha/2, so what an attacker may use lies
    strictly above it; Clopper-Pearson for the members there takes the other half. 1
    where the holdout is too small.
    """
    rank = generous_rank(ladder.n_holdout, fpr, alpha / 2)
    if rank is None:
        return 1.0
    tail = _tail(ladder)
    steps = tail.steps_with_at_least(rank)
    if ladder.single[-steps]:
        steps -= 1
    hits = int(tail.members[steps])
    return float(clopper_pearson_upper(hits, ladder.n_members, alpha / 2))
