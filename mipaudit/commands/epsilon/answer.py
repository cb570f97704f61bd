"""From what was found to the report on epsilon: the verdict, the power and the words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.epsilon.report import ClaimVerdict, EpsilonReport
from mipaudit.commands.epsilon.words import (
    claim_name,
    claim_reason,
    epsilon_limitations,
    epsilon_summary,
    rests_on,
)
from mipaudit.statements.provenance import provenance
from mipaudit.statements.verdict import led

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.epsilon.design_evidence import EpsilonEvidence
    from mipaudit.commands.epsilon.question import EpsilonQuestion
    from mipaudit.commands.epsilon.report import ClaimStatus, DetectionPower, EpsilonStatement
    from mipaudit.statements.origin import InputFile, Setting


def epsilon_report(
    question: EpsilonQuestion,
    found: EpsilonEvidence,
    *,
    inputs: Sequence[InputFile],
    settings: Sequence[Setting],
) -> EpsilonReport:
    """Return the report, the strongest score first."""
    statements = _ordered(found.statements)
    claim = _verdict(question, found, statements)
    counts = question.table is not None or question.totals is not None
    return EpsilonReport(
        command="epsilon",
        design=found.design,
        summary=led(found.findings, epsilon_summary(found.design, statements, claim=claim)),
        statements=statements,
        claim=claim,
        coin=found.coin,
        profile=found.profile,
        rests_on=rests_on(found.design, statements, counts=counts, rate=question.inclusion_rate),
        findings=found.findings,
        limitations=epsilon_limitations(
            found.design,
            statements,
            profile=found.profile is not None,
            power=claim is not None and bool(claim.power),
        ),
        provenance=provenance(
            seed=question.seed,
            inputs=inputs,
            settings=settings,
            seeds=found.seeds,
            unused_columns=found.unused_columns,
        ),
    )


def _ordered(statements: Sequence[EpsilonStatement]) -> tuple[EpsilonStatement, ...]:
    """Put the deciding limits first, each kind from the greatest down."""
    methods = list(dict.fromkeys(s.method for s in statements))
    return tuple(
        sorted(
            statements,
            key=lambda s: (not s.decides, methods.index(s.method), -(s.lower or 0.0)),
        )
    )


def _verdict(
    question: EpsilonQuestion, found: EpsilonEvidence, statements: tuple[EpsilonStatement, ...]
) -> ClaimVerdict | None:
    claimed, mu = question.claimed_epsilon, question.claimed_mu
    curve = None if question.claimed_curve is None else question.claimed_curve.name
    if claimed is None and mu is None and curve is None:
        return None
    status = _status(question, found, statements[0])
    name = claim_name(claimed, mu, curve, question.delta)
    # Whole curves are tested without the assumption that a limit of epsilon may rest on.
    doubted = statements[0].validity == "if-fair-coins"
    validity = statements[0].validity if claimed is not None or doubted else "finite-sample"
    return ClaimVerdict(
        epsilon=claimed,
        mu=mu,
        curve=curve,
        status=status,
        p_value=found.p_value,
        reason=claim_reason(status, found.design, name, validity),
        power=()
        if claimed is None or status == "not_certifiable"
        else _power(question, found, statements[0]),
    )


def _status(
    question: EpsilonQuestion, found: EpsilonEvidence, top: EpsilonStatement
) -> ClaimStatus:
    if question.design == "one-model" or (found.coin is not None and found.coin.ruled_out):
        return "not_certifiable"
    if question.claimed_epsilon is not None:
        refuted = (top.lower or 0.0) > question.claimed_epsilon
    elif question.design == "one-run":
        refuted = found.p_value is not None and found.p_value <= 1 - question.confidence
    else:
        refuted = found.curve_refuted
    return "refuted" if refuted else "not_refuted"


def _power(
    question: EpsilonQuestion, found: EpsilonEvidence, top: EpsilonStatement
) -> tuple[DetectionPower, ...]:
    from mipaudit.commands.epsilon.claim import one_run_power, runs_power

    if top.guesses is not None:
        return one_run_power(
            question,
            canaries=top.guesses.canaries,
            guesses=None if question.totals is None else question.totals.guesses,
            columns=found.columns,
        )
    return runs_power(
        question,
        top,
        n_members=found.design.n_members or 0,
        n_holdout=found.design.n_holdout or 0,
        columns=found.columns,
    )
