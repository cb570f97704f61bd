"""Upper limits of a class's best advantage where guesses are shares between 0 and 1.

An attacker who sees a score through noise guesses 'member' with some probability, so
what the best of a fixed class gets right on the data is a mean of independent values
in [0, 1], and the best observed over the class is at least that. Any upper limit for
one fixed attacker that increases with what is observed of him then stays valid.
"""

from __future__ import annotations

import math
from typing import Final

from mipaudit.maths.advantage import baseline

_STEPS: Final = 200
_TOLERANCE: Final = 1e-11
# The dual is flat at its maximum: this changes the exponent by far less.
_TILT_TOLERANCE: Final = 1e-5
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


def bounded_upper(
    observed: float, n_members: int, n_holdout: int, *, prior: float, alpha: float
) -> float:
    """Return the finite-sample upper limit of a class's best advantage.

    By Chernoff's bound for two means of independent values in [0, 1] (Hoeffding 1963,
    Theorem 1, in each class), a correct share of p t + (1-p) r or less, of a true share
    a, has probability at most exp(-D(a)), D(a) the least n1 kl(t, T) + n2 kl(r, R) over
    p t + (1-p) r as observed and p T + (1-p) R = a. The limit is where D is ln(1/alpha).
    In proportion to the prior D is N kl(observed, a); by Pinsker's inequality it is
    never above the bounded-differences limit (McDiarmid 1989), for any class sizes.

    Args:
        observed: best advantage over the class on the data, in [-1, 1].
        n_members: members behind it; with none nothing is known.
        n_holdout: holdout records behind it.
        prior: p in (0, 1).
        alpha: one-sided error in (0, 1).

    Returns:
        A limit in [|2p-1|, 1].
    """
    share = (1 + observed) / 2
    if share >= 1 or min(n_members, n_holdout) <= 0:
        return 1.0
    allowed = math.log(1 / alpha)
    low, high = max(share, 0.0), 1.0
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        if _least_exponent(share, middle, n_members, n_holdout, prior) < allowed:
            low = middle
        else:
            high = middle
    return min(1.0, max(baseline(prior), 2 * high - 1))


def _least_exponent(
    observed: float, true: float, n_members: int, n_holdout: int, prior: float
) -> float:
    """Return D(true), from below: the dual in one variable, by golden-section search.

    Any point of a concave dual is a valid exponent, so a search that stops early only
    makes the limit wider.
    """

    def dual(tilt: float) -> float:
        return _dual(tilt, observed, true, n_members, n_holdout, prior)

    low, high = 0.0, float(n_members + n_holdout)
    while dual(2 * high) > dual(high) and high < 1e4 * (n_members + n_holdout):
        high *= 2
    high *= 2
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = dual(left), dual(right)
    for _ in range(_STEPS):
        if high - low <= _TILT_TOLERANCE * high:
            break
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = dual(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = dual(left)
    return max(at_left, at_right, 0.0)


def _dual(
    tilt: float, observed: float, true: float, n_members: int, n_holdout: int, prior: float
) -> float:
    """Return the exponent of Chernoff's bound at a tilt, of the most variable attacker.

    Of all (T, R) with p T + (1-p) R = true, the one with the least exponent; the sum of
    two logarithms is convex along that line and its stationary point solves a linear
    equation.
    """
    p, q = prior, 1 - prior
    members = -math.expm1(-tilt * p / n_members)
    holdout = -math.expm1(-tilt * q / n_holdout)
    low, high = max(0.0, (true - q) / p), min(1.0, true / p)
    if members <= 0 or holdout <= 0:
        return 0.0
    # n1 u (1 - v R) = n2 v (p/q) (1 - u T), with R = (true - p T)/q.
    ratio = n_holdout * p / q
    slope = n_members * members * holdout * p / q + ratio * members * holdout
    constant = ratio * holdout - n_members * members * (1 - holdout * true / q)
    tpr = min(max(constant / slope, low), high)
    tnr = min(max((true - p * tpr) / q, 0.0), 1.0)
    return -tilt * observed - n_members * _log1m(members * tpr) - n_holdout * _log1m(holdout * tnr)


def _log1m(share: float) -> float:
    """Return ln(1 - share), finite where rounding makes it 1."""
    return math.log1p(-min(share, 1 - 1e-300))
