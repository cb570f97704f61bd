"""Epsilon from the scores of independent runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.epsilon.counts.counted_attack import estimate_from_counts
from mipaudit.commands.epsilon.report import EpsilonStatement, JudgedAttack, ProfilePoint
from mipaudit.commands.epsilon.runs.curve_refutation import runs_refute_curve
from mipaudit.commands.epsilon.runs.limit import EpsilonLimit, epsilon_curve, epsilon_runs
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.inputs import ScoredRows
    from mipaudit.commands.epsilon.options import EpsilonOptions, MethodName
    from mipaudit.commands.epsilon.runs.limit import ChosenAttack
    from mipaudit.maths.epsilon.bands import RocBand

_DELTAS: Final = (0.0, *np.geomspace(1e-10, 0.9, 100).tolist())


def runs_statements(rows: ScoredRows, asked: EpsilonOptions) -> tuple[EpsilonStatement, ...]:
    """Return a limit for each score, and one under the Gaussian assumption if asked for."""
    methods: list[MethodName] = [asked.method]
    if asked.assume_gdp and asked.method != "gdp":
        methods.append("gdp")
    return tuple(
        _statement(name, limit, decides=method == asked.method)
        for method in methods
        for name, limit in _limits(rows, asked, method)
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
        curve = epsilon_curve(members, holdout, deltas, confidence=confidence)
        points.extend(
            ProfilePoint(
                score=safe_name(name),
                delta=delta,
                lower=float(lower),
                estimate=_estimate(curve.roc, delta, members.size, holdout.size),
            )
            for delta, lower in zip(deltas, curve.lower, strict=True)
        )
    return tuple(points)


def _estimate(band: RocBand, delta: float, n_members: int, n_holdout: int) -> float:
    """Return the plug-in epsilon at the point of the ROC that gave the limit."""
    best = int(band.refuted(delta).argmax())
    tp, fp = int(band.tp[best]), int(band.fp[best])
    return estimate_from_counts(tp, n_members - tp, fp, n_holdout - fp, delta=delta)


def _limits(
    rows: ScoredRows, asked: EpsilonOptions, method: MethodName
) -> list[tuple[str, EpsilonLimit]]:
    confidence = asked.confidence_of_one(len(rows.names))
    return [
        (
            name,
            epsilon_runs(
                members,
                holdout,
                delta=asked.delta,
                confidence=confidence,
                method=method,
                rng=np.random.default_rng(seed),
                splits=asked.splits,
            ),
        )
        for (name, members, holdout), seed in zip(rows.columns(), rows.seeds, strict=True)
    ]


def _statement(name: str, limit: EpsilonLimit, *, decides: bool) -> EpsilonStatement:
    return EpsilonStatement(
        score=safe_name(name),
        method=limit.method,
        validity=limit.validity,
        decides=decides,
        lower=limit.lower,
        lower_reason=limit.reason,
        estimate=None if limit.attack is None else limit.estimate,
        mu_lower=limit.mu,
        confidence=limit.confidence,
        attack=None if limit.attack is None else _attack(limit.attack),
        guesses=None,
    )


def _attack(attack: ChosenAttack) -> JudgedAttack:
    counts = attack.counts
    return JudgedAttack(
        direction=attack.direction,
        numerator=attack.numerator,
        tp=counts.tp,
        fp=counts.fp,
        tn=counts.tn,
        fn=counts.fn,
        n_members=counts.n_members,
        n_holdout=counts.n_holdout,
    )
