"""What members and holdout of one model would imply, if rows were independent trials."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from mipaudit.commands.epsilon.report import EpsilonStatement
from mipaudit.counting.scores import count_columns
from mipaudit.engine.workers import Engine, Workers
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.maths.privacy.tradeoff import refuted_epsilon
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.options import EpsilonOptions
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.summaries.identity.seed import SeedChoice


def advantage_statements(
    source: ScoreSource, asked: EpsilonOptions, seed: SeedChoice
) -> tuple[EpsilonStatement, ...]:
    """Return the epsilon that the lower limit of each score's advantage implies."""
    counts = count_columns(source, seed=seed, workers=Workers(Engine(jobs=asked.jobs)))
    confidence = asked.confidence_of_one(len(source.columns))
    return tuple(
        _statement(
            Evidence(score=column.name, counts=one, prior=0.5, seed=used),
            asked,
            confidence,
        )
        for column, one, used in zip(source.columns, counts.columns, counts.seeds, strict=True)
    )


def hypothetical(statements: tuple[EpsilonStatement, ...]) -> tuple[EpsilonStatement, ...]:
    """Return limits for independent runs as what they are for the records of one model."""
    return tuple(
        replace(statement, validity="if-exchangeable", decides=False) for statement in statements
    )


def _statement(evidence: Evidence, asked: EpsilonOptions, confidence: float) -> EpsilonStatement:
    lower = _implied(evidence.lower(1 - confidence), asked.delta)
    return EpsilonStatement(
        score=safe_name(evidence.score),
        method="advantage",
        validity="if-exchangeable",
        decides=False,
        lower=lower,
        lower_reason=None if lower else "the advantage that was found is within chance",
        estimate=_implied(evidence.held_out.value, asked.delta),
        mu_lower=None,
        confidence=confidence,
        attack=None,
        guesses=None,
    )


def _implied(advantage: float, delta: float) -> float | None:
    """Return log((1 + A - 2 delta) / (1 - A)), at least 0; None at an advantage of 1."""
    epsilon = refuted_epsilon((1 + advantage) / 2, (1 - advantage) / 2, delta)
    return epsilon if math.isfinite(epsilon) else None
