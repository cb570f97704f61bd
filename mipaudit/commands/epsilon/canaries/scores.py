"""Epsilon from one run with canaries that fair coins included."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.commands.epsilon.canaries.coins import FAIR_RATE, coin_findings
from mipaudit.commands.epsilon.canaries.limit import (
    OneRun,
    claim_p_value_one_run,
    curve_p_value_one_run,
    gaussian_limit_one_run,
    limit_one_run,
    needed_guesses,
    one_run_from_counts,
    one_run_from_scores,
)
from mipaudit.commands.epsilon.report import CanaryGuesses, EpsilonStatement
from mipaudit.statements.estimate import Finding
from mipaudit.statements.policy import delta_reason
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.canaries.guesses import GuessCount
    from mipaudit.commands.epsilon.canaries.limit import OneRunLimit
    from mipaudit.commands.epsilon.given import CanaryTotals
    from mipaudit.commands.epsilon.inputs import ScoredRows
    from mipaudit.commands.epsilon.options import EpsilonOptions

Runs = tuple[tuple[str | None, OneRun], ...]


def runs_from_scores(rows: ScoredRows, asked: EpsilonOptions) -> Runs:
    """Return the run, once for each score column.

    Raises:
        UsageError: more guesses than canaries.
    """
    sizes = rows.members.size, rows.holdout.size
    included = np.repeat([True, False], sizes)
    ids = None
    if rows.members.ids is not None and rows.holdout.ids is not None:
        ids = np.concatenate([rows.members.ids, rows.holdout.ids])
    return tuple(
        (
            safe_name(name),
            one_run_from_scores(
                included,
                np.concatenate([members, holdout]),
                guesses=asked.guesses,
                direction=asked.direction,
                seed=seed,
                ids=ids,
                inclusion_rate=asked.inclusion_rate,
            ),
        )
        for (name, members, holdout), seed in zip(rows.columns(), rows.seeds, strict=True)
    )


def runs_from_totals(totals: CanaryTotals, asked: EpsilonOptions) -> Runs:
    """Return the run of which the counts are known.

    Raises:
        UsageError: counts that cannot be.
    """
    run = one_run_from_counts(
        canaries=totals.canaries,
        guesses=totals.guesses,
        correct=totals.correct,
        inclusion_rate=asked.inclusion_rate or FAIR_RATE,
    )
    return ((None, run),)


def one_run_statements(runs: Runs, asked: EpsilonOptions) -> tuple[EpsilonStatement, ...]:
    """Return a limit for each score, and one under the Gaussian assumption if asked for."""
    found = [_statement(name, run, asked, len(runs)) for name, run in runs]
    if asked.assume_gdp:
        found += [_gaussian(name, run, asked, len(runs)) for name, run in runs]
    return tuple(found)


def claim_p_value(runs: Runs, asked: EpsilonOptions) -> float | None:
    """Return the p-value of the claim over all scores (Bonferroni); None without a claim."""
    confidence = asked.confidence_of_one(len(runs))
    if asked.claimed_epsilon is not None:
        epsilon = asked.claimed_epsilon
        values = [
            claim_p_value_one_run(run, epsilon=epsilon, delta=asked.delta, confidence=confidence)
            for _, run in runs
        ]
    elif (curve := asked.tradeoff) is not None:
        values = [curve_p_value_one_run(run, curve, confidence=confidence) for _, run in runs]
    else:
        return None
    return min(1.0, len(runs) * min(values))


def _statement(
    name: str | None, run: OneRun, asked: EpsilonOptions, columns: int
) -> EpsilonStatement:
    confidence = asked.confidence_of_one(columns)
    limit = limit_one_run(run, delta=asked.delta, confidence=confidence)
    return EpsilonStatement(
        score=name,
        method="one-run",
        validity="if-fair-coins" if run.coin and coin_findings(run.coin) else "finite-sample",
        decides=True,
        lower=limit.epsilon,
        lower_reason=_why_none(limit),
        estimate=_estimate(limit.count),
        mu_lower=None,
        confidence=confidence,
        attack=None,
        guesses=_guesses(run, limit.count),
    )


def _gaussian(
    name: str | None, run: OneRun, asked: EpsilonOptions, columns: int
) -> EpsilonStatement:
    confidence = asked.confidence_of_one(columns)
    limit = gaussian_limit_one_run(run, delta=asked.delta, confidence=confidence)
    finite = math.isfinite(limit.epsilon)
    reason = None if limit.mu > 0 else "the right guesses are within chance"
    return EpsilonStatement(
        score=name,
        method="one-run gdp",
        validity="assumes-gdp",
        decides=False,
        lower=limit.epsilon if finite else None,
        lower_reason=reason if finite else "a Gaussian mechanism has no epsilon at delta 0",
        estimate=None,
        mu_lower=limit.mu,
        confidence=confidence,
        attack=None,
        guesses=_guesses(run, limit.count),
    )


def _why_none(limit: OneRunLimit) -> str | None:
    """Return why nothing is refuted, None where something is."""
    if limit.epsilon > 0:
        return None
    if not limit.could_refute:
        return "at this delta not even right guesses alone would refute anything"
    if limit.pure > 0:
        return delta_reason(limit.pure)
    return "the right guesses are within chance"


def power_findings(runs: Runs, asked: EpsilonOptions) -> tuple[Finding, ...]:
    """Say where no number of right guesses could have refuted anything."""
    run = runs[0][1]
    confidence = asked.confidence_of_one(len(runs))
    limit = limit_one_run(run, delta=asked.delta, confidence=confidence)
    if limit.could_refute:
        return ()
    count = limit.count
    least = needed_guesses(run.canaries, delta=asked.delta, alpha=1 - confidence)
    enough = (
        f"at least {least:,} guesses of one kind, all right, would do"
        if least is not None
        else "no number of guesses does"
    )
    text = (
        f"Delta {number_text(asked.delta)} lets {number_text(run.canaries * asked.delta)} of "
        f"{run.canaries:,} canaries be given away, so not even {count.guesses:,} right guesses "
        f"of {count.guesses:,} refute any epsilon at this confidence: {enough}. Take a smaller "
        "`delta`, or another number of `guesses`."
    )
    return (Finding(code="nothing_can_be_refuted", text=text),)


def _estimate(count: GuessCount) -> float:
    """Return the log-odds of a right guess, half a guess added on either side."""
    wrong = count.guesses - count.correct
    return max(0.0, math.log((count.correct + 0.5) / (wrong + 0.5)))


def _guesses(run: OneRun, count: GuessCount) -> CanaryGuesses:
    return CanaryGuesses(
        canaries=run.canaries,
        guesses=count.guesses,
        correct=count.correct,
        guessed_in=count.guessed_in,
        guessed_out=count.guessed_out,
        direction=count.direction,
        tried=len(run.counts),
    )
