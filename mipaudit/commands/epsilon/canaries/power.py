"""The power of one run with randomly included canaries, without drawing anything.

Each canary's score comes from one of two laws, by its coin, whose trade-off curve is the
given one. A share s of all scores is beyond the threshold at one end, and T / (2 s) of
those are guessed rightly, where (T + F) / 2 = s and T is the curve at F. The share beyond
the k-th score varies a little, which moves that precision; given it, right guesses are
binomial.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from mipaudit.commands.epsilon.canaries.guesses import GuessPlan, plan_guesses, settled_shares
from mipaudit.commands.epsilon.power import USUAL_POWER, Mechanism, curve_with_epsilon, size_needed
from mipaudit.maths.bisection import crossing
from mipaudit.maths.one_run.p_value import critical_correct
from mipaudit.maths.privacy.tradeoff import TradeOff

_NODES: Final = 9
_STEP: Final = 1e-3
_HALVINGS: Final = 12
_FEWEST_GUESSES: Final = 4
_LARGEST_RUN: Final = 10**7


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRunSize:
    """A run that is large enough.

    Attributes:
        canaries: m, to two digits.
        guesses: how many of them to guess, half of them at each end.
    """

    canaries: int
    guesses: int


def one_run_detector(
    *,
    canaries: int,
    guesses: int | tuple[int, int] | None,
    claimed: float,
    delta: float,
    confidence: float,
    directions: int = 1,
) -> Callable[[TradeOff], float]:
    """Return the probability of refuting the claim, as a function of the true curve.

    With the default grid of guesses it is that of the best of them alone, so it is a
    little low.

    Args:
        canaries: m, at least 1.
        guesses: as for `plan_guesses`.
        claimed: the claimed epsilon, at least 0.
        delta: in [0, 1].
        confidence: in (0, 1).
        directions: 2 if the direction of the scores is not known beforehand, else 1.
    """
    plans = plan_guesses(canaries, guesses)
    alpha = (1 - confidence) / directions
    shares = settled_shares(plans, canaries=canaries, delta=delta, alpha=alpha)
    needed = [
        (
            plan,
            critical_correct(
                canaries=canaries if plan.guessed_in and plan.guessed_out else canaries / 2,
                guesses=plan.guesses,
                epsilon=claimed,
                delta=delta,
                alpha=alpha * share,
            ),
        )
        for plan, share in zip(plans, shares, strict=True)
        if share > 0
    ]
    useful = [(plan, critical) for plan, critical in needed if critical is not None]

    def detector(curve: TradeOff) -> float:
        powers = (_probability(curve, canaries, plan, critical) for plan, critical in useful)
        return max(powers, default=0.0)

    return detector


def canaries_needed(
    mechanism: Mechanism,
    *,
    claimed: float,
    true: float,
    delta: float,
    confidence: float,
    power: float = USUAL_POWER,
) -> OneRunSize | None:
    """Return the smallest run that refutes the claim, with the best number of guesses.

    Args:
        mechanism: its kind.
        claimed: the claimed epsilon, at least 0.
        true: the mechanism's epsilon at ``delta``.
        delta: in [0, 1).
        confidence: in (0, 1).
        power: with what probability.

    Returns:
        Canaries and guesses; None where 10^7 canaries do not do, as it must be where the
        true epsilon is not above the claim, and may be where one run cannot reach it.
    """
    curve = curve_with_epsilon(mechanism, epsilon=true, delta=delta)
    if curve is None or true <= claimed:
        return None

    def best(canaries: int) -> tuple[float, int]:
        tried = []
        for halving in range(_HALVINGS):
            guesses = canaries >> halving
            if guesses >= _FEWEST_GUESSES:
                detector = one_run_detector(
                    canaries=canaries,
                    guesses=guesses,
                    claimed=claimed,
                    delta=delta,
                    confidence=confidence,
                )
                tried.append((detector(curve), guesses))
        return max(tried)

    canaries = size_needed(
        lambda size: best(size)[0], start=_FEWEST_GUESSES, most=_LARGEST_RUN, power=power
    )
    return None if canaries is None else OneRunSize(canaries=canaries, guesses=best(canaries)[1])


def _probability(curve: TradeOff, canaries: int, plan: GuessPlan, critical: int) -> float:
    """Return the probability that at least ``critical`` guesses are right."""
    from scipy.special import betainc

    guesses = plan.guesses
    right, spread = _precision(curve, canaries, plan)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    rates = np.clip(right + spread * nodes, 0.5, 1.0)
    tails = betainc(critical, guesses - critical + 1, rates)
    return float(weights @ tails / weights.sum())


def _precision(curve: TradeOff, canaries: int, plan: GuessPlan) -> tuple[float, float]:
    """Return the mean share of right guesses and the spread that the thresholds give it."""
    top, bottom = plan.guessed_in / canaries, plan.guessed_out / canaries
    in_share = plan.guessed_in / (plan.guesses)
    top_rate, top_slope = _rate(curve, top)
    bottom_rate, bottom_slope = (top_rate, top_slope) if bottom == top else _rate(curve, bottom)
    first, second = in_share * top_slope, (1 - in_share) * bottom_slope
    # Shares beyond order statistics; the more is beyond one end, the less at the other.
    variance = (
        first**2 * top * (1 - top)
        + second**2 * bottom * (1 - bottom)
        - 2 * first * second * top * bottom
    ) / canaries
    return in_share * top_rate + (1 - in_share) * bottom_rate, math.sqrt(max(0.0, variance))


def _rate(curve: TradeOff, share: float) -> tuple[float, float]:
    """Return how often guesses about a share of the scores at one end are right, and its slope."""
    if share == 0:
        return 1.0, 0.0  # of no weight
    here, before = _right(curve, share), _right(curve, share * (1 - _STEP))
    return here, (here - before) / (_STEP * share)


def _right(curve: TradeOff, share: float) -> float:
    """Return T / (T + F) where (T + F) / 2 = ``share``."""
    fpr = crossing(
        lambda rate: curve.tpr(rate) + rate >= 2 * share, start=min(share, 0.5), limit=1.0
    )
    return min(1.0, 1 - fpr / (2 * share))
