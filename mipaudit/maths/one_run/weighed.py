"""Guesses of one kind about few canaries, weighed with what the others say of the coins' share.

The worst share of an interval alone is dear: it is as if the interval's end were seen. Let all
r guesses say *included* (*left out* is the same with the share of being left out), let C be
right, and let k of the canaries that are not guessed be included. Given k and the output, the
coins of the guessed canaries are right at odds of at most e^epsilon s / (1 - s) each, one
given the others, so

    U = P(Bin(r, q) >= C)     is, given k, at most u with probability at most u,
    V = P(Bin(m, s) <= k + r)  is at most v with probability at most v,

as k + r is at least the number K of all that are included, which is Bin(m, s). V is a function
of k, so any rising function of U and V is at most t with no more probability than for two
independent uniform variables. The one used is the weighted sum of normal quantiles (Stouffer),
with the weights fixed by r and m: T <= t has probability at most t. That is at delta = 0. At
any delta the sums of `mipaudit.maths.one_run.coins` hold for sets of (C, k) as well, and add at
most m s delta times the largest (1 - B) B / (v b) over the critical counts v(k). Where s is in
the interval, V is at least half of its error, which bounds U and so v(k) from below. What is
added here is B / (v b) at the least of them: it is no smaller, it falls in v (the hazard of a
binomial rises), and it rises in epsilon and in s.

The bound itself need not rise in epsilon, as the least critical count may. So it is given for
a piece, of epsilons as of shares, and is no smaller than at any point in it: U, B / b and
m s delta are taken at the greatest odds, V at the least share, and the critical count is the
least that has a tail at the least odds as small as the largest U of the region at the greatest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from mipaudit.maths.one_run.p_value import tail_over_term, upper_tail

if TYPE_CHECKING:
    from mipaudit.maths.one_run.shares import CanaryCount, CoinShares

# The variance of a right guess that matters: near nine in ten.
_VARIANCE: Final = 0.1
_SURE: Final = 1e-300
# Of the tail at the critical count: from there on delta allows anything.
_FAR: Final = 0.5


def weighed_bound(
    count: CanaryCount, log_odds: tuple[float, float], budget: float, shares: CoinShares
) -> float:
    """Return a p-value for guesses of one kind, valid for every odds and share of the piece.

    Args:
        count: the guesses, at most half of the canaries.
        log_odds: of a right guess, the least and the greatest of the piece.
        budget: what delta allows beyond the odds, the most of the piece.
        shares: of being what the guesses say, with their origin.
    """
    from scipy.special import bdtr, ndtr, ndtri

    most = (shares.included or 0) + count.guesses - count.correct
    seen = float(bdtr(most, count.canaries, shares.low)) if most < count.canaries else 1.0
    first, second = 1 / math.sqrt(_VARIANCE * count.guesses), 2 / math.sqrt(count.canaries)
    whole = math.hypot(first, second)
    right = max(upper_tail(count.correct, count.guesses, log_odds[1]), _SURE)
    if right >= 1 or seen >= 1:
        return 1.0
    score = -(first * float(ndtri(right)) + second * float(ndtri(max(seen, _SURE)))) / whole
    joint = float(ndtr(-score))
    if budget == 0:
        return joint
    # The largest U with so small a sum, as V is at least half of the interval's error.
    largest = float(ndtr((-whole * score - second * float(ndtri(shares.error / 2))) / first))
    critical = _critical(count, log_odds[0], largest)
    if upper_tail(critical, count.guesses, log_odds[1]) > _FAR:
        return 1.0
    spent = tail_over_term(critical, count.guesses, log_odds[1]) / critical
    return min(1.0, joint + budget * spent)


def _critical(count: CanaryCount, log_odds: float, largest: float) -> int:
    """Return the fewest right guesses with a tail of at most ``largest``, or those there are."""
    low, high = 0, count.correct
    while high - low > 1:
        middle = (low + high) // 2
        small = upper_tail(middle, count.guesses, log_odds) <= largest
        low, high = (low, middle) if small else (middle, high)
    return high
