"""From what was found to the report on epsilon, and the verdict on a claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mipaudit.commands.epsilon.options import EpsilonOptions
from mipaudit.commands.epsilon.report import (
    ClaimStatus,
    ClaimVerdict,
    CoinCheck,
    DetectionPower,
    EpsilonDesign,
    EpsilonReport,
    EpsilonStatement,
    ProfilePoint,
)
from mipaudit.commands.epsilon.words import (
    claim_name,
    claim_reason,
    epsilon_limitations,
    epsilon_summary,
    rests_on,
)
from mipaudit.report.verdict_sentence import led
from mipaudit.statements.estimate import Finding
from mipaudit.statements.origin import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonEvidence:
    """What was found.

    Attributes:
        design: sizes and columns.
        statements: in the order of the columns.
        columns: limits that share the error, at least 1.
        p_value: of the claim, for one run.
        curve_refuted: whether independent runs refute the claimed mu or trade-off curve.
        coin: for one run from scores.
        profile: if asked for.
        findings: about the input.
        seeds: in use, by score.
        unused_columns: of the input, on which nothing depends.
    """

    design: EpsilonDesign
    statements: tuple[EpsilonStatement, ...]
    columns: int = 1
    p_value: float | None = None
    curve_refuted: bool = False
    coin: CoinCheck | None = None
    profile: tuple[ProfilePoint, ...] | None = None
    findings: tuple[Finding, ...] = ()
    seeds: Mapping[str | None, int] = field(default_factory=dict)
    unused_columns: tuple[str, ...] = ()


def epsilon_report(
    asked: EpsilonOptions, found: EpsilonEvidence, provenance: Provenance
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
        rests_on=rests_on(asked, found.design, statements[0].method),
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
            statements, key=lambda s: (not s.decides, methods.index(s.method), -(s.lower or 0.0))
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
    top = statements[0]
    of_top = claimed is not None or top.validity == "if-fair-coins"
    power: tuple[DetectionPower, ...] = ()
    if claimed is not None and status != "not_certifiable":
        from mipaudit.commands.epsilon.claim import detection_power

        power = detection_power(asked, top, columns=found.columns)
    return ClaimVerdict(
        epsilon=claimed,
        mu=mu,
        curve=curve,
        status=status,
        p_value=found.p_value,
        reason=claim_reason(
            status, found.design, name, top.validity if of_top else "finite-sample"
        ),
        power=power,
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
