"""Epsilon from one run with canaries that coins included: what scores or counts show of it."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.commands.epsilon.canaries.coins import FAIR_RATE
from mipaudit.commands.epsilon.canaries.guesses import GuessPlan, can_refute
from mipaudit.commands.epsilon.canaries.limit import (
    NOT_EVEN_RIGHT_ONES,
    OneRun,
    claim_p_value_one_run,
    curve_p_value_one_run,
    gaussian_limit_one_run,
    limit_one_run,
    one_run_from_counts,
    one_run_from_scores,
)
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.given import CanaryTotals
    from mipaudit.commands.epsilon.inputs import ScoredRows
    from mipaudit.commands.epsilon.options import EpsilonOptions
    from mipaudit.commands.epsilon.report import EpsilonStatement


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


def runs_from_totals(totals: CanaryTotals, asked: EpsilonOptions) -> tuple[OneRun, ...]:
    """Return the run of which the counts are known.

    Raises:
        UsageError: counts that cannot be.
    """
    rate = asked.inclusion_rate or FAIR_RATE
    return (one_run_from_counts(**totals._asdict(), inclusion_rate=rate),)


def one_run_statements(
    runs: tuple[OneRun, ...], asked: EpsilonOptions
) -> tuple[EpsilonStatement, ...]:
    """Return a limit for each score, and one under the Gaussian assumption if asked for."""
    limits = [limit_one_run, *[gaussian_limit_one_run] * asked.assume_gdp]
    confidence = asked.confidence_of_one(len(runs))
    return tuple(
        limit(run, delta=asked.delta, confidence=confidence) for limit in limits for run in runs
    )


def claim_p_value(runs: tuple[OneRun, ...], asked: EpsilonOptions) -> float | None:
    """Return the p-value of the claim over all scores (Bonferroni); None without a claim."""
    confidence = asked.confidence_of_one(len(runs))
    if (epsilon := asked.claimed_epsilon) is not None:
        values = [
            claim_p_value_one_run(run, epsilon=epsilon, delta=asked.delta, confidence=confidence)
            for run in runs
        ]
    elif (curve := asked.tradeoff) is not None:
        values = [curve_p_value_one_run(run, curve, confidence=confidence) for run in runs]
    else:
        return None
    return min(1.0, len(runs) * min(values))


def power_findings(found: EpsilonStatement, delta: float) -> tuple[Finding, ...]:
    """Say where no number of right guesses could have refuted anything."""
    guesses = found.guesses
    if found.lower_reason != NOT_EVEN_RIGHT_ONES or guesses is None:
        return ()
    canaries, tried = guesses.canaries, guesses.guesses
    least = needed_guesses(canaries, delta=delta, alpha=1 - found.confidence)
    enough = (
        f"at least {least:,} guesses of one kind, all right, would do"
        if least is not None
        else "no number of guesses does"
    )
    text = (
        f"Delta {number_text(delta)} lets {number_text(canaries * delta)} of "
        f"{canaries:,} canaries be given away, so not even {tried:,} right guesses "
        f"of {tried:,} refute any epsilon at this confidence: {enough}. Take a smaller "
        "`delta`, or another number of `guesses`."
    )
    return (Finding(code="nothing_can_be_refuted", text=text),)


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
