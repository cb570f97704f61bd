"""How surprising right guesses about canaries are under (epsilon, delta), from one run.

Each of m canaries was included by an independent fair coin; from the one output r of
them are guessed, the others left alone, and v guesses are right. The bound of the
probability of v or more right guesses is sharp, and never above that of Theorem 5.2 of
Steinke, Nasr and Jagielski (2023) where p-values are small.

Let C be the number of right guesses and p_j = P(C = j). Fix a canary, the
other coins and a set T of counts. "It is guessed right and C is in T" turns, when its
coin is turned over, into "it is guessed wrong and C is in T - 1". So (epsilon, delta)
bounds the one by e^epsilon times the other, plus delta, and the sum over canaries is

    sum over j in T of  j p_j - e^epsilon (r - j + 1) p_(j-1)  <=  m delta,   for every T.

The binomial law Bin(r, q), q = e^epsilon / (1 + e^epsilon), makes every term 0. Any other
law is a share of it plus, for each positive term, a piece of it cut off below a j. Of all
those, the piece cut off at v itself buys the most P(C >= v) for its share of m delta
(hazards of a binomial are monotone), which gives, for B = P(Bin >= v) and b = P(Bin = v),

    P(C >= v)  <=  B + (m delta / v) (1 - B) B / b,  or 1 where that exceeds 1.

A mechanism reaches it: it draws C from that law, then at random which r canaries to guess
and which C of those rightly. So no smaller p-value is valid, and since fewer mechanisms
are private at a smaller epsilon, delta or m, this one rises in all three; it falls in v.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

# A ratio of binomial terms beyond the mean falls at least as exp(-2 j^2 / r).
_SPREADS: Final = 9
_FEWEST_TERMS: Final = 64
# Below it the p-values of one run keep too few digits.
SMALLEST_P_VALUE: Final = 1e-9
_SMALLEST: Final = 1e-12


def pure_epsilon_one_run(*, guesses: int, correct: int, alpha: float) -> float:
    """Return the limit at delta = 0: the log odds of a Clopper-Pearson limit, at least 0."""
    from scipy.special import betainccinv, betaincinv

    if correct <= 0:
        return 0.0
    right = float(betaincinv(correct, guesses - correct + 1, alpha))
    wrong = float(betainccinv(guesses - correct + 1, correct, alpha))
    return max(0.0, math.log(right / wrong)) if right > 0 else 0.0


def critical_correct(
    *, canaries: float, guesses: int, epsilon: float, delta: float, alpha: float
) -> int | None:
    """Return the fewest right guesses that refute (epsilon, delta), or None if r do not.

    ``canaries`` is m, or m/2 where all guesses are of one kind (`mipaudit.maths.one_run.coins`).
    """

    def refuted(correct: int) -> bool:
        return sharp_bound(canaries * delta, guesses, correct, epsilon) <= alpha

    if not refuted(guesses):
        return None
    return 1 + bisect_left(range(1, guesses), x=True, key=refuted)


def sharp_bound(budget: float, guesses: float, correct: float, log_odds: float) -> float:
    """Return B + (budget / v) (1 - B) B / b, at most 1.

    Args:
        budget: what delta allows beyond the odds, at least 0: m delta for fair coins.
        guesses: r, at least 1.
        correct: v in [0, r].
        log_odds: of a right guess, at most: epsilon for fair coins; may be infinite.
    """
    if correct == 0:
        return 1.0
    tail = upper_tail(correct, guesses, log_odds)
    if budget == 0 or tail == 1:
        return tail
    if correct >= guesses * _share_right(log_odds):
        spent = (1 - tail) * tail_over_term(correct, guesses, log_odds)
    else:
        spent = tail * _head_over_term(correct, guesses, log_odds)
    return min(1.0, tail + budget * (spent / correct))


def _share_right(epsilon: float) -> float:
    """Return q = e^epsilon / (1 + e^epsilon)."""
    return 1 / (1 + math.exp(-epsilon))


def upper_tail(correct: float, guesses: float, epsilon: float) -> float:
    """Return P(Bin(r, q) >= v)."""
    from scipy.special import betainc

    if correct <= 0:
        return 1.0
    return float(betainc(correct, guesses - correct + 1, _share_right(epsilon)))


def tail_over_term(correct: float, guesses: float, epsilon: float) -> float:
    """Return P(Bin >= v) / P(Bin = v) for v at least the mean, where both may underflow."""
    if guesses == correct:
        return 1.0  # also where e^epsilon overflows: the mean is below r otherwise
    return 1 + _beyond(guesses - correct, correct, math.exp(epsilon))


def _head_over_term(correct: float, guesses: float, epsilon: float) -> float:
    """Return P(Bin < v) / P(Bin = v) for v below the mean."""
    return _beyond(correct, guesses - correct, math.exp(-epsilon))


def _beyond(ahead: float, behind: float, odds: float) -> float:
    """Return the sum of the terms of a binomial that are ahead, over the one between.

    So many as can be told from 0.
    """
    import numpy as np

    spread = _FEWEST_TERMS + math.ceil(_SPREADS * math.sqrt(ahead + behind))
    steps = np.arange(min(int(ahead), spread))
    return float(np.cumprod((ahead - steps) / (behind + 1 + steps) * odds).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryCount:
    """Guesses about canaries, and how many of them are right.

    Attributes:
        canaries: m, at least 1.
        guesses: r in [1, m], fixed before the coins were known.
        correct: v in [0, r].
        guessed_in: how many of the guesses say *included*; None if that is not known.
    """

    canaries: int
    guesses: int
    correct: int
    guessed_in: int | None

    @property
    def one_sided(self) -> bool:
        """Tell whether all guesses are known to be of one kind."""
        return self.guessed_in is not None and self.guessed_in in {0, self.guesses}


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinShares:
    """An interval that holds the share of the coins: how often each includes its canary.

    Attributes:
        low: in (0, 1).
        high: in [low, 1); equal to ``low`` where the share is known.
        included: how many canaries were, where the interval comes from that.
        error: of the interval, half of it at either end; 0 where the share is known.
    """

    low: float
    high: float
    included: int | None = None
    error: float = 0.0


FAIR: Final = CoinShares(low=0.5, high=0.5)


def coin_shares(*, canaries: int, included: int, error: float) -> CoinShares:
    """Return the shares that so many included canaries do not speak against.

    Args:
        canaries: m, at least 1.
        included: in [0, m].
        error: of the interval, half of it at either end (Clopper and Pearson 1934).
    """
    from scipy.special import betaincinv

    left_out = canaries - included
    low = float(betaincinv(included, left_out + 1, error / 2)) if included else 0.0
    high = 1 - float(betaincinv(left_out, included + 1, error / 2)) if left_out else 1.0
    return CoinShares(
        low=max(low, _SMALLEST), high=min(high, 1 - _SMALLEST), included=included, error=error
    )
