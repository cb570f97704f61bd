"""From what was found to the report on epsilon, and the verdict on a claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mipaudit.commands.epsilon.options import EpsilonOptions
from mipaudit.commands.epsilon.report import (
    ClaimStatus,
    ClaimVerdict,
    CoinCheck,
    DetectionPower,
    EpsilonDesign,
    EpsilonReport,
    EpsilonStatement,
    worth,
)
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Row
from mipaudit.statements.provenance import Provenance

# Why a claim is as it is, where that depends on no more.
_REASONS: Final = {"refuted": "not_as_claimed", "not_refuted": "nothing_against_claim"}
_UNTESTED: Final = {"one-run": "coins_test_nothing", "one-model": "one_model_tests_nothing"}


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
    profile: tuple[Row, ...] | None = None
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
        statements=statements,
        claim=claim,
        coin=found.coin,
        profile=found.profile,
        rests_on=_rests_on(asked, found.design, statements[0].method),
        findings=found.findings,
        limitations=_limitations(
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
        reason=Message.of(
            _REASONS.get(status) or _UNTESTED[asked.kind],
            claimed=_claimed(asked),
            worth=worth(top) if of_top and status == "refuted" else None,
            confidence=asked.confidence,
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


def _claimed(asked: EpsilonOptions) -> Message:
    if asked.named_curve is not None:
        return Message.of("claimed_curve", curve=asked.named_curve.name)
    if asked.claimed_epsilon is not None:
        return Message.of("claimed_epsilon", epsilon=asked.claimed_epsilon, delta=asked.delta)
    return Message.of("claimed_mu", mu=asked.claimed_mu)


def _rests_on(asked: EpsilonOptions, design: EpsilonDesign, method: str) -> tuple[Message, ...]:
    """Return the assumptions of the deciding limit, which is by a method."""
    match design.kind:
        case "independent-runs" if asked.counted:
            every = "taken_for_gaussian" if method == "gdp" else "every_size"
            codes = ["runs_alike", "attack_was_fixed", every, "neighbours_of_runs"]
        case "independent-runs":
            every = "taken_for_gaussian" if method == "gdp" else "all_rows_judged"
            codes = ["runs_alike", every, "neighbours_of_runs"]
        case "one-run":
            coins = _coins(asked, design.runs)
            return (coins, Message("guesses_blind"), Message("neighbours_of_canaries"))
        case _:
            codes = ["one_model_certifies_nothing", "as_if_trials"]
    return tuple(map(Message, codes))


def _coins(asked: EpsilonOptions, runs: int | None) -> Message:
    rate = asked.inclusion_rate
    if rate is not None:
        return Message.of("coins_stated", runs=runs, rate=rate)
    return Message.of("coins_fair" if asked.counted else "coins_unstated", runs=runs)


def _limitations(
    design: EpsilonDesign, statements: Sequence[EpsilonStatement], *, profile: bool, power: bool
) -> tuple[Message, ...]:
    """Return what the figures do not say."""
    found = ["epsilon_lower"] if design.kind != "one-model" else []
    if design.kind == "one-run":
        found.append("epsilon_one_run")
    if any(s.estimate is not None for s in statements):
        found.append("epsilon_estimate")
    if len({s.method for s in statements}) > 1 and design.kind != "one-model":
        found.append("epsilon_not_joint")
    if design.score_columns:
        found.append("epsilon_keep_best")
    found += ["epsilon_profile"] * profile + ["epsilon_power"] * power
    return tuple(map(Message, found))
