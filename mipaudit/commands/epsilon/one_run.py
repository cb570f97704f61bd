"""The largest epsilon that one run with randomly included canaries refutes.

Valid if each canary was included by its own coin, all of one share, the scores depend on
the output alone and the guesses were settled before the coins were seen. Where the share was
not stated, the limit holds for every share in an interval that costs a fiftieth of the error.
One run cannot reach every mechanism's epsilon (Keinan et al. 2025): it is a lower limit, and
may stay far below.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.epsilon.guesses import (
    FAIR_RATE,
    Direction,
    GuessPlan,
    Tried,
    can_refute,
    check_fair_coin,
    coin_findings,
    count_guesses,
    plan_guesses,
    settled_shares,
)
from mipaudit.commands.epsilon.report import CoinCheck, EpsilonRow
from mipaudit.errors import UsageError
from mipaudit.maths.one_run.coins import coin_claim_p_value, coin_epsilon, most_epsilon
from mipaudit.maths.one_run.curve_p_value import mu_one_run, one_run_curve_p_value, refutes_curve
from mipaudit.maths.one_run.p_value import CanaryCount, CoinShares, coin_shares
from mipaudit.maths.privacy.mechanism import GaussianDP
from mipaudit.maths.privacy.tradeoff import TradeOff
from mipaudit.model.message import Finding, Message
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.commands.epsilon.inputs import ScoredRows
    from mipaudit.commands.epsilon.options import EpsilonOptions
    from mipaudit.maths.arrays import Bools

# Of the error, for the interval of an unknown share of the coins. Its ends matter little: most of
# the price is the error, and from a twentieth to a hundredth of it the limits are alike.
_FOR_THE_SHARE: Final = 0.02
_WITHIN_CHANCE: Final = Message("guesses_within_chance")
_NOT_EVEN_RIGHT_ONES: Final = Message("not_even_right_guesses")


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun:
    """What one run showed.

    Attributes:
        score: its column; empty for counts.
        canaries: m.
        tried: everything that was tried, with how the error is shared out.
        coin: the check of the coins, or None where only counts are known.
        rate: the share of the coins, if it is known; it is for counts.
    """

    score: str = ""
    canaries: int
    tried: tuple[Tried, ...]
    coin: CoinCheck | None = None
    rate: float | None

    def shares(self, error: float) -> tuple[CoinShares, float]:
        """Return the shares that the coins may have, and what is left of the error."""
        if self.rate is not None or self.coin is None:
            rate = FAIR_RATE if self.rate is None else self.rate
            return CoinShares(low=rate, high=rate), error
        spent = _FOR_THE_SHARE * error
        found = coin_shares(canaries=self.canaries, included=self.coin.included, error=spent)
        return found, error - spent

    def settled(self, *, delta: float, alpha: float) -> list[tuple[Tried, float]]:
        """Return the guesses that can refute anything, each with its share of the error."""
        plans = [plan for plan, *_ in self.tried]
        shares = settled_shares(plans, canaries=self.canaries, delta=delta, alpha=alpha)
        return [(one, share) for one, share in zip(self.tried, shares, strict=True) if share > 0]

    def row(
        self, found: Tried, method: str, limit: tuple[float | None, Message | None], sure: float
    ) -> EpsilonRow:
        """Return a limit, or why there is none above 0, with a confidence and its guesses."""
        (_, made, side), (lower, reason) = found, limit
        counts = {"canaries": self.canaries, "guesses": made.guesses, "correct": made.correct}
        if made.guessed_in is not None:
            counts |= {"guessed_in": made.guessed_in, "guessed_out": made.guesses - made.guessed_in}
        return EpsilonRow(
            quantity="epsilon",
            score=self.score,
            method=method,
            side=side,
            lower=lower,
            lower_reason=reason,
            confidence=sure,
            counts=counts | {"tried": len(self.tried)},
        )


def one_run_from_scores(
    included: Bools,
    scores: NDArray[np.floating],
    *,
    score: str = "",
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
        score: what they are called.
        guesses: how many, fixed before the coins were seen; see `plan_guesses`.
        direction: of scores that point to inclusion, known beforehand; None tries both.
        seed: of the pseudo-random order of equal scores.
        ids: distinct numbers of the canaries, shape (m,), or None for positions.
        inclusion_rate: the share of the coins, in (0, 1), if it is known.

    Raises:
        UsageError: ``guesses`` does not fit the number of canaries.
    """
    canaries, inside = int(included.size), int(np.count_nonzero(included))
    plans = plan_guesses(canaries, guesses)
    return OneRun(
        score=score,
        canaries=canaries,
        tried=count_guesses(included, scores, plans, direction=direction, seed=seed, ids=ids),
        coin=check_fair_coin(canaries=canaries, included=inside, rate=inclusion_rate),
        rate=inclusion_rate,
    )


def one_run_from_counts(
    *, canaries: int, guesses: int, correct: int, inclusion_rate: float | None = None
) -> OneRun:
    """Return a run of which only the counts are known, the number of guesses fixed beforehand.

    Raises:
        UsageError: not 1 <= guesses <= canaries, or not 0 <= correct <= guesses.
    """
    # Guesses of unknown kinds are planned as of both, the worse case.
    plans = plan_guesses(canaries, guesses)
    if not 0 <= correct <= guesses:
        raise UsageError(
            "bad_correct", "The number of right guesses must be from 0 to the number of guesses."
        )
    made = CanaryCount(canaries=canaries, guesses=guesses, correct=correct, guessed_in=None)
    tried = ((plans[0], made, None),)
    return OneRun(canaries=canaries, tried=tried, rate=inclusion_rate or FAIR_RATE)


def limit_one_run(run: OneRun, *, delta: float, confidence: float) -> EpsilonRow:
    """Return the largest epsilon at ``delta`` that the run refutes, at least 0, finite.

    Its guesses are those that gave the limit, the first ones tried where it is 0.

    Args:
        run: from `one_run_from_scores` or `one_run_from_counts`.
        delta: in [0, 1].
        confidence: in (0, 1), over all that was tried.
    """
    shares, alpha = run.shares(1 - confidence)
    settled = run.settled(delta=delta, alpha=alpha)
    best, pure, found = 0.0, 0.0, settled[0][0]
    for one, share in settled:
        (_, guesses, _), part = one, alpha * share
        # Nothing is found above the limit at delta = 0 and the best share.
        if most_epsilon(guesses, alpha=part, shares=shares) <= best:
            continue
        pure = max(pure, coin_epsilon(guesses, delta=0.0, alpha=part, shares=shares))
        epsilon = coin_epsilon(guesses, delta=delta, alpha=part, shares=shares) if delta else pure
        if epsilon > best:
            best, found = epsilon, one
    reason = Message.of("delta_allows", pure=pure) if pure > 0 else _WITHIN_CHANCE
    if not any(
        can_refute(plan, canaries=run.canaries, delta=delta, alpha=alpha * share)
        for (plan, *_), share in settled
    ):
        reason = _NOT_EVEN_RIGHT_ONES
    _, made, _ = found
    wrong = made.guesses - made.correct
    return replace(
        run.row(found, "one-run", (best, None if best > 0 else reason), confidence),
        validity="if-fair-coins" if run.coin and coin_findings(run.coin) else "finite-sample",
        # The log-odds of a right guess, half a guess added on either side.
        value=max(0.0, math.log((made.correct + 0.5) / (wrong + 0.5))),
    )


def gaussian_limit_one_run(run: OneRun, *, delta: float, confidence: float) -> EpsilonRow:
    """Return the largest mu that the run refutes, for a mechanism assumed to be Gaussian.

    It is valid only if the mechanism's own trade-off curve is that of mu-GDP for some mu: on
    randomized response, say, it exceeds the truth. There is no epsilon at delta 0 unless mu is 0.

    Args:
        run: one run.
        delta: in [0, 1], at which mu is translated.
        confidence: in (0, 1), under that assumption.
    """
    shares, alpha = run.shares(1 - confidence)
    settled = run.settled(delta=0.0, alpha=alpha)
    mu, found = 0.0, settled[0][0]
    for one, share in settled:
        (_, guesses, _), part = one, alpha * share
        if refutes_curve(GaussianDP(mu=mu), guesses, alpha=part, shares=shares):
            mu, found = mu_one_run(guesses, alpha=part, shares=shares), one
    epsilon = GaussianDP(mu=mu).epsilon_at(delta)
    reason = None if mu > 0 else _WITHIN_CHANCE
    finite = (epsilon, reason) if math.isfinite(epsilon) else None
    limit = finite or (None, Message("gaussian_without_epsilon"))
    row = run.row(found, "one-run gdp", limit, confidence)
    return replace(row, validity="assumes-gdp", mu_lower=mu)


def p_value_one_run(
    run: OneRun, claimed: float | TradeOff, *, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """Return a p-value of a claim: the least of all tried, each over its share of the error.

    That the mechanism is (epsilon, delta)-private has one of at most 1 - confidence exactly where
    `limit_one_run` exceeds or meets the claim. That a curve bounds the ROC of every attacker who
    tells whether one canary is there assumes nothing of the mechanism, so it can refute any
    accounted guarantee.

    Args:
        run: one run.
        claimed: an epsilon, at least 0, or such a curve.
        delta: in [0, 1], of an epsilon.
        confidence: in (0, 1): it settles how the error is shared, so it is named beforehand.
    """
    shares, alpha = run.shares(1 - confidence)

    def p_value(guesses: CanaryCount) -> float:
        if isinstance(claimed, TradeOff):
            return one_run_curve_p_value(claimed, guesses, shares)
        return coin_claim_p_value(guesses, epsilon=claimed, delta=delta, shares=shares)

    settled = run.settled(delta=delta, alpha=alpha)
    least = min(p_value(made) / share for (_, made, _), share in settled)
    return min(1.0, least + (1 - confidence) - alpha)


def runs_from_scores(rows: ScoredRows, asked: EpsilonOptions) -> tuple[OneRun, ...]:
    """Return the run, once for each score column.

    Raises:
        UsageError: more guesses than canaries.
    """
    included = np.repeat([True, False], [rows.members.size, rows.holdout.size])
    ids = None
    if rows.members.ids is not None and rows.holdout.ids is not None:
        ids = np.concatenate([rows.members.ids, rows.holdout.ids])
    return tuple(
        one_run_from_scores(
            included,
            np.concatenate([members, holdout]),
            score=safe_name(name),
            guesses=asked.guesses,
            direction=asked.direction,
            seed=seed,
            ids=ids,
            inclusion_rate=asked.inclusion_rate,
        )
        for (name, members, holdout), seed in zip(rows.columns(), rows.seeds, strict=True)
    )


def one_run_statements(runs: tuple[OneRun, ...], asked: EpsilonOptions) -> tuple[EpsilonRow, ...]:
    """Return a limit for each score, and one under the Gaussian assumption if asked for."""
    limits = [limit_one_run, *[gaussian_limit_one_run] * asked.assume_gdp]
    confidence = asked.confidence_of_one(len(runs))
    return tuple(
        limit(run, delta=asked.delta, confidence=confidence) for limit in limits for run in runs
    )


def claim_p_value(runs: tuple[OneRun, ...], asked: EpsilonOptions) -> float | None:
    """Return the p-value of the claim over all scores (Bonferroni); None without a claim."""
    curve, confidence = asked.tradeoff, asked.confidence_of_one(len(runs))
    claimed = asked.claimed_epsilon if curve is None else curve
    if claimed is None:
        return None
    delta = asked.delta if curve is None else 0.0
    values = (p_value_one_run(run, claimed, delta=delta, confidence=confidence) for run in runs)
    return min(1.0, len(runs) * min(values))


def power_findings(found: EpsilonRow, delta: float) -> tuple[Finding, ...]:
    """Say where no number of right guesses could have refuted anything."""
    if found.lower_reason != _NOT_EVEN_RIGHT_ONES:
        return ()
    canaries = found.counts["canaries"]
    least = needed_guesses(canaries, delta=delta, alpha=1 - found.confidence)
    return (
        Finding.of(
            "nothing_can_be_refuted",
            case="by_any" if least is None else "by_few",
            delta=delta,
            given_away=canaries * delta,
            canaries=canaries,
            guesses=found.counts["guesses"],
            least=least,
        ),
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

    most = max(1, canaries // 2)
    return 1 + bisect_left(range(1, most), x=True, key=enough) if enough(most) else None
