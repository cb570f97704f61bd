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
from mipaudit.statements.verdict import led

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.epsilon.design_evidence import EpsilonEvidence
    from mipaudit.commands.epsilon.options import EpsilonOptions
    from mipaudit.commands.epsilon.report import ClaimStatus, DetectionPower, EpsilonStatement
    from mipaudit.statements.origin import Provenance


def epsilon_report(
    asked: EpsilonOptions,
    found: EpsilonEvidence,
    provenance: Provenance,
) -> EpsilonReport:
    """Return the report, the strongest score first."""
    statements = _ordered(found.statements)
    claim = _verdict(asked, found, statements)
    return EpsilonReport(
        command="epsilon",
        design=found.design,
        summary=led(found.findings, epsilon_summary(found.design, statements, claim=claim)),
        statements=statements,
        claim=claim,
        coin=found.coin,
        profile=found.profile,
        rests_on=rests_on(
            found.design, statements, counts=asked.counted, rate=asked.inclusion_rate
        ),
        findings=found.findings,
        limitations=epsilon_limitations(
            found.design,
            statements,
            profile=found.profile is not None,
            power=claim is not None and bool(claim.power),
        ),
        provenance=provenance,
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
    asked: EpsilonOptions, found: EpsilonEvidence, statements: tuple[EpsilonStatement, ...]
) -> ClaimVerdict | None:
    claimed, mu = asked.claimed_epsilon, asked.claimed_mu
    curve = None if asked.named_curve is None else asked.named_curve.name
    if claimed is None and mu is None and curve is None:
        return None
    status = _status(asked, found, statements[0])
    name = claim_name(claimed, mu, curve, asked.delta)
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
        else _power(asked, found, statements[0]),
    )


def _status(asked: EpsilonOptions, found: EpsilonEvidence, top: EpsilonStatement) -> ClaimStatus:
    if asked.kind == "one-model" or (found.coin is not None and found.coin.ruled_out):
        return "not_certifiable"
    if asked.claimed_epsilon is not None:
        refuted = (top.lower or 0.0) > asked.claimed_epsilon
    elif asked.kind == "one-run":
        refuted = found.p_value is not None and found.p_value <= 1 - asked.confidence
    else:
        refuted = found.curve_refuted
    return "refuted" if refuted else "not_refuted"


def _power(
    asked: EpsilonOptions, found: EpsilonEvidence, top: EpsilonStatement
) -> tuple[DetectionPower, ...]:
    from mipaudit.commands.epsilon.claim import one_run_power, runs_power

    if top.guesses is not None:
        return one_run_power(
            asked,
            canaries=top.guesses.canaries,
            guesses=None if asked.totals is None else asked.totals.guesses,
            columns=found.columns,
        )
    return runs_power(
        asked,
        top,
        n_members=found.design.n_members or 0,
        n_holdout=found.design.n_holdout or 0,
        columns=found.columns,
    )
