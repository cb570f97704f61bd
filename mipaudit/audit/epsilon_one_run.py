"""The largest epsilon that one run with randomly included canaries refutes.

Valid if each canary was included by its own fair coin, the scores depend on the output
alone and the guesses were settled before the coins were seen. One run cannot reach every
mechanism's epsilon (Keinan et al. 2025): it is a lower limit, and may stay far below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.audit.canary_guesses import Direction, GuessCount, count_guesses, plan_guesses
from mipaudit.audit.fair_coin import FairCoin, check_fair_coin
from mipaudit.errors import UsageError
from mipaudit.maths.mechanism import GaussianDP
from mipaudit.maths.one_run import Bound, epsilon_one_run, one_run_p_value, pure_epsilon_one_run
from mipaudit.maths.one_run_tradeoff import mu_one_run, one_run_curve_p_value, refutes_curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.maths.tradeoff import TradeOff


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun:
    """What one run showed: the counts, each with its share of the error.

    Attributes:
        canaries: m.
        counts: of everything that was tried; their shares add up to at most 1.
        coin: the check of the coins, or None where only counts are known.
    """

    canaries: int
    counts: tuple[GuessCount, ...]
    coin: FairCoin | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRunLimit:
    """A lower confidence limit on epsilon from one run.

    Attributes:
        epsilon: the limit at ``delta``, at least 0, finite.
        delta: in [0, 1].
        confidence: that the true epsilon is at least the limit, over all that was tried.
        bound: the p-value that was inverted.
        count: the guesses that gave the limit; the first ones tried where it is 0.
        tried: over how many numbers of guesses and directions the error was shared.
    """

    epsilon: float
    delta: float
    confidence: float
    bound: Bound
    count: GuessCount
    tried: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRunGaussianLimit:
    """A lower confidence limit that holds only if the mechanism is Gaussian.

    Attributes:
        mu: lower limit of mu. Valid only if the mechanism's own trade-off curve is that
            of mu-GDP for some mu: on randomized response, say, it exceeds the truth.
        epsilon: what that mu costs at ``delta``; infinite at delta = 0 unless mu is 0.
        delta: in [0, 1].
        confidence: under that assumption.
        count: the guesses that gave the limit.
        tried: over how many numbers of guesses and directions the error was shared.
    """

    mu: float
    epsilon: float
    delta: float
    confidence: float
    count: GuessCount
    tried: int


def one_run_from_scores(
    included: NDArray[np.bool_],
    scores: NDArray[np.floating],
    *,
    guesses: int | tuple[int, int] | None = None,
    direction: Direction | None = None,
    seed: int = 0,
    ids: NDArray[np.uint64] | None = None,
) -> OneRun:
    """Guess canaries by their scores and count the right guesses.

    Args:
        included: what the coins said, shape (m,), m at least 1.
        scores: one for each canary, shape (m,), no NaN.
        guesses: how many, fixed before the coins were seen; see `plan_guesses`.
        direction: of scores that speak for inclusion, known beforehand; None tries both.
        seed: of the pseudo-random order of equal scores.
        ids: distinct numbers of the canaries, shape (m,), or None for positions.

    Raises:
        UsageError: ``guesses`` does not fit the number of canaries.
    """
    canaries = int(included.size)
    plans = plan_guesses(canaries, guesses)
    counts = count_guesses(included, scores, plans, direction=direction, seed=seed, ids=ids)
    coin = check_fair_coin(canaries=canaries, included=int(np.count_nonzero(included)))
    return OneRun(canaries=canaries, counts=counts, coin=coin)


def one_run_from_counts(*, canaries: int, guesses: int, correct: int) -> OneRun:
    """Return a run of which only the counts are known, the number of guesses fixed beforehand.

    Raises:
        UsageError: not 1 <= guesses <= canaries, or not 0 <= correct <= guesses.
    """
    if not 1 <= guesses <= canaries:
        raise UsageError(
            "bad_guesses", "The number of guesses must be from 1 to the number of canaries."
        )
    if not 0 <= correct <= guesses:
        raise UsageError(
            "bad_correct", "The number of right guesses must be from 0 to the number of guesses."
        )
    count = GuessCount(guesses=guesses, correct=correct)
    return OneRun(canaries=canaries, counts=(count,), coin=None)


def limit_one_run(
    run: OneRun, *, delta: float, confidence: float, bound: Bound = "sharp"
) -> OneRunLimit:
    """Return the largest epsilon at ``delta`` that the run refutes.

    Args:
        run: from `one_run_from_scores` or `one_run_from_counts`.
        delta: in [0, 1].
        confidence: in (0, 1).
        bound: see `one_run_p_value`.
    """
    best, found = 0.0, run.counts[0]
    for count in run.counts:
        alpha = (1 - confidence) * count.share
        # Nothing is found above the limit at delta = 0, which costs next to nothing.
        if pure_epsilon_one_run(guesses=count.guesses, correct=count.correct, alpha=alpha) <= best:
            continue
        epsilon = epsilon_one_run(
            canaries=run.canaries,
            guesses=count.guesses,
            correct=count.correct,
            delta=delta,
            alpha=alpha,
            bound=bound,
        )
        if epsilon > best:
            best, found = epsilon, count
    return OneRunLimit(
        epsilon=best,
        delta=delta,
        confidence=confidence,
        bound=bound,
        count=found,
        tried=len(run.counts),
    )


def claim_p_value_one_run(
    run: OneRun, *, epsilon: float, delta: float, bound: Bound = "sharp"
) -> float:
    """Return a p-value of the claim that the mechanism is (epsilon, delta)-private.

    It is at most 1 - confidence exactly where `limit_one_run` exceeds or meets the claim.

    Args:
        run: one run.
        epsilon: at least 0.
        delta: in [0, 1].
        bound: see `one_run_p_value`.
    """

    def adjusted(count: GuessCount) -> float:
        p_value = one_run_p_value(
            canaries=run.canaries,
            guesses=count.guesses,
            correct=count.correct,
            epsilon=epsilon,
            delta=delta,
            bound=bound,
        )
        return float(p_value) / count.share

    return min(1.0, *map(adjusted, run.counts))


def curve_p_value_one_run(run: OneRun, curve: TradeOff) -> float:
    """Return a p-value of the claim that ``curve`` bounds the ROC of every attacker.

    It assumes nothing of the mechanism, so it can refute any accounted guarantee. The
    curve is that of adding or removing one canary.
    """

    def adjusted(count: GuessCount) -> float:
        p_value = one_run_curve_p_value(
            curve, canaries=run.canaries, guesses=count.guesses, correct=count.correct
        )
        return p_value / count.share

    return min(1.0, *map(adjusted, run.counts))


def gaussian_limit_one_run(run: OneRun, *, delta: float, confidence: float) -> OneRunGaussianLimit:
    """Return the largest mu that the run refutes, for a mechanism assumed to be Gaussian.

    Args:
        run: one run.
        delta: in [0, 1], at which mu is translated.
        confidence: in (0, 1).
    """
    best, found = 0.0, run.counts[0]
    for count in run.counts:
        numbers = {
            "canaries": run.canaries,
            "guesses": count.guesses,
            "correct": count.correct,
        }
        alpha = (1 - confidence) * count.share
        if not refutes_curve(GaussianDP(mu=best), **numbers, alpha=alpha):
            continue
        best, found = mu_one_run(**numbers, alpha=alpha), count
    return OneRunGaussianLimit(
        mu=best,
        epsilon=GaussianDP(mu=best).epsilon_at(delta),
        delta=delta,
        confidence=confidence,
        count=found,
        tried=len(run.counts),
    )
