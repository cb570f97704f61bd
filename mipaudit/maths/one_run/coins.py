"""Right guesses about canaries that coins of any share included, fair or not.

Let each of m canaries be included by its own coin of share s, and let C be the number of
right guesses among k1 that say *included* and k0 that say *left out*. Fix a canary, the
other coins and a set of counts. Turning its coin over turns a right guess into a wrong
one, and (epsilon, delta) bounds s P1(A) by e^epsilon s / (1 - s) times (1 - s) P0(A),
plus s delta: guesses *included* are right at odds of at most x1 = e^epsilon s / (1 - s),
and m s delta is all that is left over for them. For guesses *left out* the odds are
x0 = e^epsilon (1 - s) / s and the rest is m (1 - s) delta.

Let B and b be the upper tail and the term at v of Bin(k1, q1) + Bin(k0, q0), q = x / (1 + x).

**Theorem.** P(C >= v) <= B + (D / v) (1 - B) B / b, where D is m s delta if all guesses say
*included*, m (1 - s) delta if all say *left out*, and m delta s / (1 - s) for both, with s
the larger of the two shares. It rises in epsilon and delta.

*Guesses of one kind.* The proof of `mipaudit.maths.one_run.p_value` with the odds x for e^epsilon
and D for m delta; at fair coins half of the delta term is gone.

*Guesses of both kinds.* Let w be the law of the independent right guesses (j of k1, k of
k0), p = w g that of the mechanism, x1 >= x0 and u = x1 / x0. The sums over j + k = c of w and p are
b_c and b_c g_c, and as in `mipaudit.maths.one_run.p_value`

    P(C >= v)  <=  B + sum over c of (g_c - g_(c-1))+ (B_max(c,v) - B_v B_c).

J given c - 1 and J given c can be drawn together so that one of the two counts grows by
1: the flow along J is F_(c-1)(j) - F_c(j), along K the rest. So g_c - g_(c-1) is at most
a sum over these steps of flow times the growth of g, and a step along J costs j w(j, k)
of the budget for each unit of growth. If from a draw at c one right guess is dropped at
random, the flow along J is j/c of w/b_c, and the law below is w(., c-1) tilted by
x1 (k1 - j) + x0 (k0 - k), which falls in j: it is too low, so the true flow along J is at
most that much. If guesses *left out* are dropped u times as readily, the tilt is
(k1 - j) / (j + 1 + u k) + (k0 - k) / (j + u (k + 1)), which rises in j: the law below is
too high, so the true flow along K is at most u k / (j + u k) of w/b_c, no more than u times
k/c. A unit of budget thus buys at most 1 / (c b_c) along J and u / (c b_c) along K. The
budgets are m s delta and m (1 - s) delta, and s + (1 - s) u is s / (1 - s) as u is the
square of that. Newton's inequalities (c b_c / b_(c-1) falls in c, for any sum of independent
trials) make c = v the best place.

*It rises.* With S and H the sums of the terms from v on and below v, each over b, the bound is
S (1 + D H / v) / (S + H). S rises and H falls in epsilon; where D S <= v that raises the
bound, and where not it exceeds 1 and stays there.

*Guesses of one kind about few canaries* are weighed with what the others say of the coins' share.

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
from bisect import bisect_left
from dataclasses import replace
from typing import Final

import numpy as np

from mipaudit.maths.arrays import Floats
from mipaudit.maths.bisection import crossing, reach
from mipaudit.maths.one_run.p_value import (
    FAIR,
    CanaryCount,
    CoinShares,
    pure_epsilon_one_run,
    sharp_bound,
    tail_over_term,
    upper_tail,
)

# The variance of a right guess that matters: near nine in ten.
_VARIANCE: Final = 0.1
_SURE: Final = 1e-300
# Of the tail at the critical count: from there on delta allows anything.
_FAR: Final = 0.5
# Pieces of an interval of shares are about this wide in their log odds.
_FINEST: Final = 0.006
# Terms further from the mean than so many standard deviations are below 1e-14.
_SPREADS: Final = 8
_SPARE_TERMS: Final = 40
_LARGEST_EXPONENT: Final = 700.0
# Guesses of one kind that are at most one in so many canaries leave enough for their share.
_FEW: Final = 8
# Of a limit over an interval of shares, beside its size.
_TOLERANCE: Final = 1e-4


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

    def small(right: int) -> bool:
        return upper_tail(right, count.guesses, log_odds) <= largest

    return min(count.correct, 1 + bisect_left(range(1, count.correct), x=True, key=small))


def coin_p_value(
    count: CanaryCount,
    *,
    epsilon: float,
    delta: float,
    shares: CoinShares = FAIR,
    least: float | None = None,
) -> float:
    """Return a bound of P(at least ``correct`` right) under (epsilon, delta).

    The bound holds for every share in the interval at once: with both kinds of guesses it
    takes for each kind the end that favours it, so it is sharp for narrow ones.

    Args:
        count: the guesses.
        epsilon: at least 0; may be infinite.
        delta: in [0, 1].
        shares: that the coins may have.
        least: an epsilon from which on the bound holds for every one up to ``epsilon``.
    """
    low, high = _log_odds(shares.low), _log_odds(shares.high)
    m, first = count.canaries, epsilon if least is None else least
    if count.guessed_in is None:
        return _alike(count, epsilon + max(high, -low), m * delta)
    if count.one_sided:
        # Guesses *left out* are guesses *included* with the share of being left out.
        said = shares if count.guessed_in else _mirrored(shares, m)
        gains, budget = (low, high) if count.guessed_in else (-high, -low), m * delta * said.high
        if _weighs(count, shares):
            odds = first + gains[0], epsilon + gains[1]
            return weighed_bound(count, odds, budget, said)
        return _alike(count, epsilon + gains[1], budget)
    ratio = math.exp(min(abs(high + low), _LARGEST_EXPONENT))
    weights = (1.0, ratio) if high + low >= 0 else (ratio, 1.0)
    budget = m * delta * (shares.high * weights[0] + (1 - shares.low) * weights[1])
    if high + low == 0:
        return _alike(count, epsilon + high, budget)
    return _unlike(count, (epsilon + high, epsilon - low), budget)


def coin_refutes(
    count: CanaryCount,
    *,
    epsilon: float,
    delta: float,
    alpha: float,
    shares: CoinShares = FAIR,
    least: float | None = None,
) -> bool:
    """Return whether the guesses refute (epsilon, delta), whichever share the coins have.

    Args:
        count: the guesses.
        epsilon: at least 0.
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).
        shares: that the coins may have.
        least: an epsilon from which on every one up to ``epsilon`` must be refuted.
    """

    def p_value(piece: CoinShares) -> float:
        return coin_p_value(count, epsilon=epsilon, delta=delta, shares=piece, least=least)

    def every(low: float, high: float, halvings: int) -> bool:
        """Tell it for the shares between, cut finer where the whole does not settle it."""
        if p_value(replace(shares, low=low, high=high)) <= alpha:
            return True
        middle = (low + high) / 2
        if halvings == 0 or p_value(replace(shares, low=middle, high=middle)) > alpha:
            return False
        return every(low, middle, halvings - 1) and every(middle, high, halvings - 1)

    return every(shares.low, shares.high, _halvings(count, shares))


def coin_epsilon(
    count: CanaryCount, *, delta: float, alpha: float, shares: CoinShares = FAIR
) -> float:
    """Return the least epsilon at ``delta`` that the guesses do not refute, at least 0.

    A mechanism that is (epsilon, delta)-private has a limit above its epsilon with
    probability at most ``alpha``, if the coins' share is in the interval.

    Args:
        count: the guesses.
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).
        shares: that the coins may have.

    Returns:
        A finite limit; with an interval of shares and guesses of both kinds correct to 1e-4 of
        its size, and never above.
    """
    most = most_epsilon(count, alpha=alpha, shares=shares)
    if most <= 0:
        return 0.0

    def refuted(least: float, epsilon: float) -> bool:
        given = {"delta": delta, "alpha": alpha, "least": least}
        return coin_refutes(count, epsilon=epsilon, shares=shares, **given)

    if _weighs(count, shares):  # the bound need not rise in epsilon
        return reach(refuted, limit=most, tolerance=_TOLERANCE * most)
    if _halvings(count, shares) == 0:
        return min(crossing(lambda e: not refuted(e, e), start=most / 2, limit=most), most)
    if not refuted(0.0, 0.0):
        return 0.0
    low, high = 0.0, most
    while high - low > _TOLERANCE * most:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle, middle) else (low, middle)
    return low


def most_epsilon(count: CanaryCount, *, alpha: float, shares: CoinShares = FAIR) -> float:
    """Return what no limit from these guesses exceeds, at next to no cost; may be below 0.

    Args:
        count: the guesses.
        alpha: one-sided error in (0, 1).
        shares: that the coins may have.
    """
    pure = pure_epsilon_one_run(guesses=count.guesses, correct=count.correct, alpha=alpha)
    return pure + _largest_gain(count, shares)


def _largest_gain(count: CanaryCount, shares: CoinShares) -> float:
    """Return by how much such shares may raise the limit of fair coins at most."""
    inside, outside = _log_odds(shares.high), -_log_odds(shares.low)
    if count.guessed_in is None:
        return -max(inside, outside)
    if shares.included is not None:
        return max(abs(inside), abs(outside))
    if count.guessed_in == count.guesses:
        return -inside
    # Greater odds can only be refuted by more; guesses of both kinds cannot both profit.
    return -outside if count.guessed_in == 0 else max(inside, outside)


def coin_claim_p_value(
    count: CanaryCount, *, epsilon: float, delta: float, shares: CoinShares = FAIR
) -> float:
    """Return the least error at which the guesses refute (epsilon, delta), at most 1.

    Args:
        count: the guesses.
        epsilon: at least 0.
        delta: in [0, 1].
        shares: that the coins may have.
    """
    pieces = 2 ** _halvings(count, shares)
    edges = [shares.low + at / pieces * (shares.high - shares.low) for at in range(pieces + 1)]
    return max(
        coin_p_value(
            count,
            epsilon=epsilon,
            delta=delta,
            shares=replace(shares, low=edges[at], high=edges[at + 1]),
        )
        for at in range(pieces)
    )


def _log_odds(share: float) -> float:
    return math.log(share / (1 - share))


def _halvings(count: CanaryCount, shares: CoinShares) -> int:
    """Return how often the interval is halved; never where one end is the worst for all guesses."""
    width = _log_odds(shares.high) - _log_odds(shares.low)
    settled = count.one_sided and not _weighs(count, shares)
    if settled or count.guessed_in is None or width <= _FINEST:
        return 0
    return math.ceil(math.log2(width / _FINEST))


def _weighs(count: CanaryCount, shares: CoinShares) -> bool:
    """Tell whether what the canaries not guessed say of the share is weighed with the guesses."""
    return shares.included is not None and count.guesses * _FEW <= count.canaries


def _mirrored(shares: CoinShares, canaries: int) -> CoinShares:
    """Return the shares of being left out."""
    included = canaries - (shares.included or 0)
    return replace(shares, low=1 - shares.high, high=1 - shares.low, included=included)


def _alike(count: CanaryCount, log_odds: float, budget: float) -> float:
    """Return the bound where the odds of every guess are the same."""
    return sharp_bound(budget, count.guesses, count.correct, log_odds)


def _unlike(count: CanaryCount, log_odds: tuple[float, float], budget: float) -> float:
    """Return the bound for guesses of two kinds, each at its own odds."""
    guessed_in = count.guessed_in or 0
    right = count.correct
    if right == 0:
        return 1.0
    first, law = _terms(guessed_in, log_odds[0])
    others = count.guesses - guessed_in
    points = _points(right - first, others, log_odds[1])
    tail = min(1.0, float(law @ _tails(points, right - first[0], others, log_odds[1])))
    term = float(law @ points)
    if budget == 0 or tail >= 1:
        return tail
    if term <= 0:  # so far out that the greater odds for all cost nothing that is seen
        return _alike(count, max(log_odds), budget)
    return min(1.0, tail + budget / right * (1 - tail) * tail / term)


def _terms(trials: int, log_odds: float) -> tuple[Floats, Floats]:
    """Return the counts that a binomial may have, and their probabilities."""
    rate = 1 / (1 + math.exp(-log_odds))
    reach = _SPREADS * math.sqrt(trials * rate * (1 - rate)) + _SPARE_TERMS
    counts = np.arange(
        max(0, math.floor(trials * rate - reach)), min(trials, math.ceil(trials * rate + reach)) + 1
    ).astype(np.float64)
    return counts, _points(counts, trials, log_odds)


def _points(counts: Floats, trials: int, log_odds: float) -> Floats:
    """Return P(Bin = count), 0 outside of [0, trials]."""
    from scipy.special import gammaln

    inside = np.clip(counts, 0, trials)
    log_choose = gammaln(trials + 1) - gammaln(inside + 1) - gammaln(trials - inside + 1)
    log_rest = -np.logaddexp(0.0, log_odds)  # ln(1 - q)
    terms = np.exp(log_choose + inside * log_odds + trials * log_rest)
    return np.where(counts == inside, terms, 0.0)


def _tails(points: Floats, largest: float, trials: int, log_odds: float) -> Floats:
    """Return P(Bin >= count) at falling counts in steps of 1, from P(Bin = count)."""
    from scipy.special import betainc

    if largest > trials:
        first = 0.0
    elif largest <= 0:
        first = 1.0
    else:
        first = float(betainc(largest, trials - largest + 1, 1 / (1 + math.exp(-log_odds))))
    tails: Floats = first + np.cumsum(points) - points[0]
    return tails
