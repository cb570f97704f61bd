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
any delta the sums of `mipaudit.maths.one_run_coins` hold for sets of (C, k) as well, and add at
most m s delta times the largest (1 - B) B / (v b) over the critical counts v(k). Where s is in
the interval, V is at least half of its error, which bounds U and so v(k) from below; the terms
fall in v above the mean.
For a piece of the interval U, B, b and m s delta are taken at its upper and V at its lower end.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from mipaudit.maths.one_run import delta_term

if TYPE_CHECKING:
    from mipaudit.maths.one_run_shares import CanaryCount, CoinShares

# The variance of a right guess that matters: near nine in ten.
_VARIANCE: Final = 0.1
_FAR: Final = 0.3
_SURE: Final = 1e-300


def weighed_bound(count: CanaryCount, log_odds: float, budget: float, shares: CoinShares) -> float:
    """Return a p-value for guesses of one kind, valid for every share of the interval.

    Args:
        count: the guesses, at most half of the canaries.
        log_odds: of a right guess at the upper end of the interval.
        budget: what delta allows beyond the odds, at that end.
        shares: of being what the guesses say, with their origin.
    """
    from scipy.special import bdtr, betainc, ndtr, ndtri

    if count.correct == 0:
        return 1.0
    rate, guesses = 1 / (1 + math.exp(-log_odds)), count.guesses

    def tail(correct: int) -> float:
        return float(betainc(correct, guesses - correct + 1, rate)) if correct > 0 else 1.0

    most = (shares.included or 0) + guesses - count.correct
    seen = float(bdtr(most, count.canaries, shares.low)) if most < count.canaries else 1.0
    first, second = 1 / math.sqrt(_VARIANCE * guesses), 2 / math.sqrt(count.canaries)
    whole = math.hypot(first, second)
    right = max(tail(count.correct), _SURE)
    if right >= 1 or seen >= 1:
        return 1.0
    score = -(first * float(ndtri(right)) + second * float(ndtri(max(seen, _SURE)))) / whole
    joint = float(ndtr(-score))
    if budget == 0:
        return joint
    # The largest U with so small a sum, as V is at least half of the interval's error.
    largest = float(ndtr((-whole * score - second * float(ndtri(shares.error / 2))) / first))
    if largest > _FAR:
        return 1.0
    critical = count.correct
    while critical > 1 and tail(critical - 1) <= largest:
        critical -= 1
    while critical < guesses and tail(critical) > largest:
        critical += 1
    if tail(critical) > largest:
        return joint  # nothing that so many guesses can do is in the region
    term = delta_term(guesses, critical, log_odds)
    if critical > 1:
        # In between, so that the bound does not fall where the critical count takes a step.
        fewer = delta_term(guesses, critical - 1, log_odds)
        here, below = tail(critical), tail(critical - 1)
        term += (largest - here) / (below - here) * max(0.0, fewer - term)
    return min(1.0, joint + budget * term)
