"""Epsilon from the scores of independent runs, or of the rows of one model as if they were runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.epsilon.report import EpsilonStatement, ProfilePoint
from mipaudit.commands.epsilon.runs.limit import epsilon_runs, estimate_of_band, runs_refute_curve
from mipaudit.counting.scores import count_columns
from mipaudit.engine.workers import Engine, Workers
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.maths.epsilon.bands import roc_band
from mipaudit.maths.privacy.tradeoff import refuted_epsilon
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.epsilon.inputs import ScoredRows
    from mipaudit.commands.epsilon.options import EpsilonOptions, MethodName
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.summaries.identity.seed import SeedChoice

_DELTAS: Final = (0.0, *np.geomspace(1e-10, 0.9, 100).tolist())


def runs_statements(rows: ScoredRows, asked: EpsilonOptions) -> tuple[EpsilonStatement, ...]:
    """Return a limit for each score, and one under the Gaussian assumption if asked for."""
    beside: list[MethodName] = ["gdp"] if asked.assume_gdp and asked.method != "gdp" else []
    deciding = _limits(rows, asked, asked.method)
    others = (one for method in beside for one in _limits(rows, asked, method))
    return (*deciding, *(replace(one, decides=False) for one in others))


def _limits(
    rows: ScoredRows, asked: EpsilonOptions, method: MethodName
) -> Iterator[EpsilonStatement]:
    for (name, members, holdout), seed in zip(rows.columns(), rows.seeds, strict=True):
        yield epsilon_runs(
            members,
            holdout,
            delta=asked.delta,
            confidence=asked.confidence_of_one(len(rows.names)),
            method=method,
            rng=np.random.default_rng(seed),
            splits=asked.splits,
            score=safe_name(name),
        )


def curve_is_refuted(rows: ScoredRows, asked: EpsilonOptions) -> bool:
    """Tell whether the runs refute a claimed mu or trade-off curve, if there is one."""
    curve = asked.tradeoff
    return curve is not None and any(
        runs_refute_curve(
            members,
            holdout,
            curve,
            confidence=asked.confidence_of_one(len(rows.names)),
            rng=np.random.default_rng(seed),
            splits=asked.splits,
        )
        for (_, members, holdout), seed in zip(rows.columns(), rows.seeds, strict=True)
    )


def runs_profile(rows: ScoredRows, asked: EpsilonOptions) -> tuple[ProfilePoint, ...]:
    """Return epsilon at many deltas, the named one among them."""
    deltas = sorted({*_DELTAS, asked.delta})
    points: list[ProfilePoint] = []
    for name, members, holdout in rows.columns():
        confidence = asked.confidence_of_one(len(rows.names))
        band = roc_band(members, holdout, alpha=1 - confidence)
        points.extend(
            ProfilePoint(
                score=safe_name(name),
                delta=delta,
                lower=float(band.epsilon(delta)),
                estimate=estimate_of_band(band, delta, members.size, holdout.size),
            )
            for delta in deltas
        )
    return tuple(points)


def advantage_statements(
    source: ScoreSource, asked: EpsilonOptions, seed: SeedChoice
) -> tuple[EpsilonStatement, ...]:
    """Return the epsilon that the lower limit of each score's advantage implies."""
    counts = count_columns(source, seed=seed, workers=Workers(Engine(jobs=asked.jobs)))
    confidence = asked.confidence_of_one(len(source.columns))
    return tuple(
        _advantage(Evidence(score=column.name, counts=one, prior=0.5, seed=used), asked, confidence)
        for column, one, used in zip(source.columns, counts.columns, counts.seeds, strict=True)
    )


def hypothetical(statements: tuple[EpsilonStatement, ...]) -> tuple[EpsilonStatement, ...]:
    """Return limits for independent runs as what they are for the records of one model."""
    return tuple(
        replace(statement, validity="if-exchangeable", decides=False) for statement in statements
    )


def _advantage(evidence: Evidence, asked: EpsilonOptions, confidence: float) -> EpsilonStatement:
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
