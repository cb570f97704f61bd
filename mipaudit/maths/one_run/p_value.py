"""How surprising right guesses about canaries are under (epsilon, delta), from one run.

Each of m canaries was included by an independent fair coin; from the one output r of
them are guessed, the others left alone, and v guesses are right. Two bounds of the
probability of v or more right guesses are given, a published one and a sharp one.

The sharp one. Let C be the number of right guesses and p_j = P(C = j). Fix a canary, the
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

Guesses about the canaries of one run, and the share of the coins that included them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, assert_never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mipaudit.maths.bisection import crossing

Bound = Literal["sharp", "published"]
# A ratio of binomial terms beyond the mean falls at least as exp(-2 j^2 / r).
_SPREADS: Final = 9
_FEWEST_TERMS: Final = 64
# Below it the p-values of one run keep too few digits.
SMALLEST_P_VALUE: Final = 1e-9
_SMALLEST: Final = 1e-12


def one_run_p_value(
    *,
    canaries: ArrayLike,
    guesses: ArrayLike,
    correct: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    bound: Bound = "sharp",
) -> float | NDArray[np.float64]:
    """Return a bound of P(at least ``correct`` right guesses) under (epsilon, delta).

    The privacy is that of adding or removing one canary.

    Args:
        canaries: m, at least 1, each included by an independent fair coin.
        guesses: r in [1, m], fixed before the coins were known.
        correct: v in [0, r].
        epsilon: at least 0; may be infinite.
        delta: in [0, 1].
        bound: "published" is Theorem 5.2 of Steinke, Nasr and Jagielski (2023), never
            smaller where p-values are small; "sharp" is the one of this module.

    Returns:
        A p-value, or an array of the broadcast shape of all five.
    """
    scalar = _bound(bound)
    numbers = (canaries, guesses, correct, epsilon, delta)
    if all(isinstance(number, (int, float)) for number in numbers):
        return scalar(*numbers)  # type: ignore[arg-type]
    return np.asarray(np.vectorize(scalar, otypes=[np.float64])(*numbers))


def epsilon_one_run(
    *,
    canaries: int,
    guesses: int,
    correct: int,
    delta: float,
    alpha: float,
    bound: Bound = "sharp",
) -> float:
    """Return the least epsilon at ``delta`` that v right guesses do not refute.

    A mechanism that is (epsilon, delta)-private has a limit above its epsilon with
    probability at most ``alpha``: its own epsilon must have been refuted.

    Args:
        canaries: m, at least 1.
        guesses: r in [1, m].
        correct: v in [0, r].
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).
        bound: as for `one_run_p_value`.

    Returns:
        A finite limit, at least 0.
    """
    p_value = _bound(bound)
    # A p-value is never below its value at delta = 0, whose limit is in closed form.
    most = pure_epsilon_one_run(guesses=guesses, correct=correct, alpha=alpha)
    if most == 0:
        return 0.0
    found = crossing(
        lambda epsilon: p_value(canaries, guesses, correct, epsilon, delta) > alpha,
        start=most / 2,
        limit=most,
    )
    return min(found, most)


def pure_epsilon_one_run(*, guesses: int, correct: int, alpha: float) -> float:
    """Return the limit at delta = 0: the log odds of a Clopper-Pearson limit, at least 0."""
    from scipy.special import betainccinv, betaincinv

    if correct <= 0:
        return 0.0
    right = float(betaincinv(correct, guesses - correct + 1, alpha))
    wrong = float(betainccinv(guesses - correct + 1, correct, alpha))
    return max(0.0, math.log(right / wrong)) if right > 0 else 0.0


def critical_correct(
    *,
    canaries: float,
    guesses: int,
    epsilon: float,
    delta: float,
    alpha: float,
    bound: Bound = "sharp",
) -> int | None:
    """Return the fewest right guesses that refute (epsilon, delta), or None if r do not.

    ``canaries`` is m, or m/2 where all guesses are of one kind (`mipaudit.maths.one_run.coins`).
    """
    p_value = _bound(bound)
    if p_value(canaries, guesses, guesses, epsilon, delta) > alpha:
        return None

    def refuted(correct: int) -> bool:
        return p_value(canaries, guesses, correct, epsilon, delta) <= alpha

    return 1 + bisect_left(range(1, guesses), x=True, key=refuted)


def _bound(bound: Bound) -> Callable[[float, float, float, float, float], float]:
    match bound:
        case "sharp":
            return _sharp
        case "published":
            return _published
        case _:
            assert_never(bound)


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
    return min(1.0, tail + budget * delta_term(guesses, correct, log_odds))


def delta_term(guesses: float, correct: float, log_odds: float) -> float:
    """Return (1 - B) B / (v b); arguments as for `sharp_bound`, v at least 1."""
    tail = upper_tail(correct, guesses, log_odds)
    if correct >= guesses * _share_right(log_odds):
        spent = (1 - tail) * tail_over_term(correct, guesses, log_odds)
    else:
        spent = tail * _head_over_term(correct, guesses, log_odds)
    return spent / correct


def _sharp(canaries: float, guesses: float, correct: float, epsilon: float, delta: float) -> float:
    return sharp_bound(canaries * delta, guesses, correct, epsilon)


def _published(
    canaries: float, guesses: float, correct: float, epsilon: float, delta: float
) -> float:
    """Return B + 2 m delta max over i of P(v - i <= Bin < v) / i, at most 1."""
    if correct == 0:
        return 1.0
    tail = upper_tail(correct, guesses, epsilon)
    if delta == 0:
        return tail

    def mass(width: int) -> float:
        return upper_tail(correct - width, guesses, epsilon) - tail

    # The mean of the terms below v rises up to the first that is not above it, as they
    # rise to a single peak and fall: so the widest useful window is found by halves.
    def falls(width: int) -> bool:
        here = mass(width)
        return mass(width + 1) - here <= here / width

    widest = 1 + bisect_left(range(1, int(correct)), x=True, key=falls)
    return min(1.0, tail + 2 * canaries * delta * mass(widest) / widest)


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
    steps = np.arange(_terms(guesses - correct, guesses))
    ratios = (guesses - correct - steps) / (correct + 1 + steps) * math.exp(epsilon)
    return 1 + float(np.cumprod(ratios).sum())


def _head_over_term(correct: float, guesses: float, epsilon: float) -> float:
    """Return P(Bin < v) / P(Bin = v) for v below the mean."""
    steps = np.arange(_terms(correct, guesses))
    ratios = (correct - steps) / (guesses - correct + 1 + steps) * math.exp(-epsilon)
    return float(np.cumprod(ratios).sum())


def _terms(available: float, guesses: float) -> int:
    """Return how many terms of a binomial beside its mean can be told from 0."""
    return min(int(available), _FEWEST_TERMS + math.ceil(_SPREADS * math.sqrt(guesses)))


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
