"""The largest epsilon that one run with randomly included canaries refutes.

Valid if each canary was included by its own coin, all of one share, the scores depend on
the output alone and the guesses were settled before the coins were seen. Where the share was
not stated, the limit holds for every share in an interval that costs a fiftieth of the error.
One run cannot reach every mechanism's epsilon (Keinan et al. 2025): it is a lower limit, and
may stay far below.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.epsilon.canaries.coins import FAIR_RATE, check_fair_coin
from mipaudit.commands.epsilon.canaries.guesses import (
    Direction,
    GuessCount,
    GuessPlan,
    can_refute,
    count_guesses,
    plan_guesses,
    settled_shares,
)
from mipaudit.commands.epsilon.report import CoinCheck
from mipaudit.errors import UsageError
from mipaudit.maths.one_run.coins import coin_claim_p_value, coin_epsilon, largest_gain
from mipaudit.maths.one_run.p_value import (
    CanaryCount,
    CoinShares,
    coin_shares,
    pure_epsilon_one_run,
)
from mipaudit.maths.one_run.tradeoff import mu_one_run, one_run_curve_p_value, refutes_curve
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import TradeOff

# Of the error, for the interval of an unknown share of the coins. Its ends matter little: most of
# the price is the error, and from a twentieth to a hundredth of it the limits are alike.
_FOR_THE_SHARE: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun:
    """What one run showed.

    Attributes:
        canaries: m.
        counts: of everything that was tried.
        coin: the check of the coins, or None where only counts are known.
        rate: the share of the coins, if it is known; it is for counts.
    """

    canaries: int
    counts: tuple[GuessCount, ...]
    coin: CoinCheck | None
    rate: float | None

    def shares(self, error: float) -> tuple[CoinShares, float]:
        """Return the shares that the coins may have, and what is left of the error."""
        if self.rate is not None or self.coin is None:
            rate = FAIR_RATE if self.rate is None else self.rate
            return CoinShares(low=rate, high=rate), error
        spent = _FOR_THE_SHARE * error
        found = coin_shares(canaries=self.canaries, included=self.coin.included, error=spent)
        return found, error - spent

    def settled(self, *, delta: float, alpha: float) -> tuple[GuessCount, ...]:
        """Return the counts that can refute anything, the error shared out among them."""
        plans = [_plan(count) for count in self.counts]
        shares = settled_shares(plans, canaries=self.canaries, delta=delta, alpha=alpha)
        return tuple(
            replace(count, share=share)
            for count, share in zip(self.counts, shares, strict=True)
            if share > 0
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRunLimit:
    """A lower confidence limit on epsilon from one run.

    Attributes:
        epsilon: the limit at ``delta``, at least 0, finite.
        delta: in [0, 1].
        confidence: that the true epsilon is at least the limit, over all that was tried.
        count: the guesses that gave the limit; the first ones tried where it is 0.
        tried: over how many numbers of guesses and directions the error was shared.
        could_refute: whether more right guesses could have refuted any epsilon.
        pure: the limit at delta = 0, at least ``epsilon``: what delta took is between them.
    """

    epsilon: float
    delta: float
    confidence: float
    count: GuessCount
    tried: int
    could_refute: bool
    pure: float


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
    inclusion_rate: float | None = None,
) -> OneRun:
    """Guess canaries by their scores and count the right guesses.

    Args:
        included: what the coins said, shape (m,), m at least 1.
        scores: one for each canary, shape (m,), no NaN.
        guesses: how many, fixed before the coins were seen; see `plan_guesses`.
        direction: of scores that speak for inclusion, known beforehand; None tries both.
        seed: of the pseudo-random order of equal scores.
        ids: distinct numbers of the canaries, shape (m,), or None for positions.
        inclusion_rate: the share of the coins, in (0, 1), if it is known.

    Raises:
        UsageError: ``guesses`` does not fit the number of canaries.
    """
    canaries = int(included.size)
    plans = plan_guesses(canaries, guesses)
    counts = count_guesses(included, scores, plans, direction=direction, seed=seed, ids=ids)
    inside = int(np.count_nonzero(included))
    coin = check_fair_coin(canaries=canaries, included=inside, rate=inclusion_rate)
    return OneRun(canaries=canaries, counts=counts, coin=coin, rate=inclusion_rate)


def one_run_from_counts(
    *, canaries: int, guesses: int, correct: int, inclusion_rate: float = FAIR_RATE
) -> OneRun:
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
    return OneRun(canaries=canaries, counts=(count,), coin=None, rate=inclusion_rate)


def limit_one_run(run: OneRun, *, delta: float, confidence: float) -> OneRunLimit:
    """Return the largest epsilon at ``delta`` that the run refutes.

    Args:
        run: from `one_run_from_scores` or `one_run_from_counts`.
        delta: in [0, 1].
        confidence: in (0, 1).
    """
    shares, alpha = run.shares(1 - confidence)
    counts = run.settled(delta=delta, alpha=alpha)
    best, pure, found = 0.0, 0.0, counts[0]
    for count in counts:
        part = alpha * count.share
        # Nothing is found above the limit at delta = 0 and the best share.
        if _most(count, part, shares) <= best:
            continue
        counted = _counted(count, run)
        pure = max(pure, coin_epsilon(counted, delta=0.0, alpha=part, shares=shares))
        epsilon = coin_epsilon(counted, delta=delta, alpha=part, shares=shares) if delta else pure
        if epsilon > best:
            best, found = epsilon, count
    return OneRunLimit(
        epsilon=best,
        delta=delta,
        confidence=confidence,
        count=found,
        tried=len(counts),
        could_refute=any(
            can_refute(_plan(c), canaries=run.canaries, delta=delta, alpha=alpha * c.share)
            for c in counts
        ),
        pure=pure,
    )


def claim_p_value_one_run(
    run: OneRun, *, epsilon: float, delta: float, confidence: float = 0.95
) -> float:
    """Return a p-value of the claim that the mechanism is (epsilon, delta)-private.

    It is at most 1 - confidence exactly where `limit_one_run` exceeds or meets the claim.

    Args:
        run: one run.
        epsilon: at least 0.
        delta: in [0, 1].
        confidence: in (0, 1): it settles how the error is shared, so it is named beforehand.
    """
    shares, alpha = run.shares(1 - confidence)

    def adjusted(count: GuessCount) -> float:
        counted = _counted(count, run)
        found = coin_claim_p_value(counted, epsilon=epsilon, delta=delta, shares=shares)
        return found / count.share

    least = min(map(adjusted, run.settled(delta=delta, alpha=alpha)))
    return min(1.0, least + (1 - confidence) - alpha)


def curve_p_value_one_run(run: OneRun, curve: TradeOff, *, confidence: float = 0.95) -> float:
    """Return a p-value of the claim that ``curve`` bounds the ROC of every attacker.

    It assumes nothing of the mechanism, so it can refute any accounted guarantee. The
    curve is that of adding or removing one canary.
    """
    shares, alpha = run.shares(1 - confidence)

    def adjusted(count: GuessCount) -> float:
        return one_run_curve_p_value(curve, _counted(count, run), shares) / count.share

    least = min(map(adjusted, run.settled(delta=0.0, alpha=alpha)))
    return min(1.0, least + (1 - confidence) - alpha)


def gaussian_limit_one_run(run: OneRun, *, delta: float, confidence: float) -> OneRunGaussianLimit:
    """Return the largest mu that the run refutes, for a mechanism assumed to be Gaussian.

    Args:
        run: one run.
        delta: in [0, 1], at which mu is translated.
        confidence: in (0, 1).
    """
    shares, alpha = run.shares(1 - confidence)
    counts = run.settled(delta=0.0, alpha=alpha)
    best, found = 0.0, counts[0]
    for count in counts:
        counted, part = _counted(count, run), alpha * count.share
        if not refutes_curve(GaussianDP(mu=best), counted, alpha=part, shares=shares):
            continue
        best, found = mu_one_run(counted, alpha=part, shares=shares), count
    return OneRunGaussianLimit(
        mu=best,
        epsilon=GaussianDP(mu=best).epsilon_at(delta),
        delta=delta,
        confidence=confidence,
        count=found,
        tried=len(counts),
    )


def needed_guesses(canaries: int, *, delta: float, alpha: float) -> int | None:
    """Return the fewest guesses of one kind that refute epsilon 0 if all are right.

    Args:
        canaries: m, at least 1.
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).

    Returns:
        A number up to half of the canaries, which is all that coins let be right; None if
        even that is too few.
    """

    def enough(guesses: int) -> bool:
        plan = GuessPlan(guessed_in=guesses, guessed_out=0, share=1.0)
        return can_refute(plan, canaries=canaries, delta=delta, alpha=alpha)

    low, high = 0, max(1, canaries // 2)
    if not enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _counted(count: GuessCount, run: OneRun) -> CanaryCount:
    return CanaryCount(
        canaries=run.canaries,
        guesses=count.guesses,
        correct=count.correct,
        guessed_in=count.guessed_in,
    )


def _plan(count: GuessCount) -> GuessPlan:
    """Return the plan of a count; guesses of unknown kinds are of both, the worse case."""
    guessed_in = (
        count.guesses - count.guesses // 2 if count.guessed_in is None else count.guessed_in
    )
    return GuessPlan(
        guessed_in=guessed_in, guessed_out=count.guesses - guessed_in, share=count.share
    )


def _most(count: GuessCount, alpha: float, shares: CoinShares) -> float:
    """Return what no limit from these guesses exceeds, at next to no cost."""
    most = pure_epsilon_one_run(guesses=count.guesses, correct=count.correct, alpha=alpha)
    return most + largest_gain(count.guessed_in, count.guesses, shares)
