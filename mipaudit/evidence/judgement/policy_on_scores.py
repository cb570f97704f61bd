"""A policy judged on the evidence: which limit decides, at which share of the error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mipaudit.evidence.judgement.blind import (
    Allowance,
    Blind,
    Limits,
    beside_records,
    make_allowance,
)
from mipaudit.evidence.judgement.records_to_settle import (
    Standing,
    planned_by,
    records_of,
    records_to_settle,
)
from mipaudit.evidence.judgement.statistic_judgement import auc_check, metric_check, tpr_check
from mipaudit.evidence.scores.rows import any_difference, difference_shown
from mipaudit.maths.class_limits.shared_part import fpr_reached, shared_advantage_lower
from mipaudit.model.check import Check
from mipaudit.model.message import Message
from mipaudit.statements.claim import Adjacency, Claim, judge_claim
from mipaudit.statements.policy import (
    UNDECIDED,
    Limit,
    Policy,
    check_reason,
    check_status,
    restatement,
)

if TYPE_CHECKING:
    from mipaudit.evidence.metrics.evidence import MetricEvidence
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.model.row import Attackers

_NO_METRICS: Final[Mapping[tuple[str, str], MetricEvidence]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonClaim:
    """A claim of (epsilon, delta)-differential privacy for some adjacency."""

    epsilon: float
    delta: float
    adjacency: Adjacency


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Every check and claim, score by score."""

    checks: tuple[Check, ...]
    claims: tuple[Claim, ...]


def judge(
    evidence: Sequence[Evidence],
    policy: Policy,
    claim: EpsilonClaim | None,
    confidence: float,
    metrics: Mapping[tuple[str, str], MetricEvidence] = _NO_METRICS,
    blind: Blind | None = None,
) -> Judgement:
    """Compare every score with every limit of the policy and with the claim.

    'Not met' needs one lower limit above, so the error is shared over all
    (limit, score) pairs; 'met' needs every upper limit below, an intersection-union
    test, so each may use the whole of it.

    Args:
        evidence: one per score.
        policy: the limits; may be empty.
        claim: the claim, or None.
        confidence: of the verdict, in (0, 1).
        metrics: by score and metric, for every metric that the policy limits.
        blind: what the records alone tell; records as likely in either class are then
            judged. Its own limit has spent its error, unless the user asserts it.
    """
    pairs = len(evidence) * (claim is not None) + sum(
        limit.score in {None, one.score} for limit in policy.every_limit for one in evidence
    )
    if not pairs:
        return Judgement(checks=(), claims=())
    whole = (1 - confidence) / 2
    shared = whole / pairs
    allowance, left = None, whole
    if blind is not None:
        allowance, left = make_allowance(blind, whole)
    checks = [
        check
        for one in evidence
        for limit in policy.every_limit
        if limit.score in {None, one.score}
        for check in (
            _checks(one, limit, metrics, lower_error=shared, upper_error=whole)
            if allowance is None
            else _excess_checks(
                one, limit, metrics, allowance, errors=((shared, whole), (left / pairs, left))
            )
        )
    ]
    claims = [
        judge_claim(
            score=one.score,
            epsilon=claim.epsilon,
            delta=claim.delta,
            adjacency=claim.adjacency,
            prior=one.prior,
            lower=one.lower(shared),
        )
        for one in evidence
        if claim is not None and allowance is None
    ]
    claims += [
        _excess_claim(one, claim, allowance, left / pairs)
        for one in evidence
        if claim is not None and allowance is not None
    ]
    return Judgement(checks=tuple(checks), claims=tuple(claims))


def _excess_checks(
    evidence: Evidence,
    limit: Limit,
    metrics: Mapping[tuple[str, str], MetricEvidence],
    allowance: Allowance,
    *,
    errors: tuple[tuple[float, float], tuple[float, float]],
) -> list[Check]:
    """Judge one limit on one score by records as likely in either class.

    ``errors`` are those of a lower and an upper limit alone, and of both beside the blind
    limit.
    """
    alone, beside = errors
    prior = evidence.prior if limit.prior is None else limit.prior
    (plain,) = _checks(evidence, limit, metrics, lower_error=alone[0], upper_error=alone[1])
    (shared,) = _checks(evidence, limit, metrics, lower_error=beside[0], upper_error=beside[1])
    upper = shared.upper
    if limit.quantity == "tpr_at_fpr" and allowance.most:
        reached = fpr_reached(float(limit.fpr or 0), allowance.most)
        upper = None if reached >= 1 else evidence.tpr_upper(reached, beside[1])
    limits = Limits(plain=plain, lower=shared.lower, upper=upper)
    return [beside_records(limits, allowance, prior)]


def _excess_claim(
    evidence: Evidence, claim: EpsilonClaim, allowance: Allowance, error: float
) -> Claim:
    """Judge a claim by what goes beyond the records."""
    baseline = abs(2 * evidence.prior - 1)
    most = allowance.most
    lower = baseline
    if most is not None:
        lower = shared_advantage_lower(evidence.lower(error), most, baseline)
    found = judge_claim(
        score=evidence.score,
        epsilon=claim.epsilon,
        delta=claim.delta,
        adjacency=claim.adjacency,
        prior=evidence.prior,
        lower=lower,
    )
    beside = "claim_beside_unbounded_records" if most is None else "claim_beside_records"
    reason = Message.of(beside, reason=found.reason, most=most)
    return replace(found, reason=reason, blind=1.0 if most is None else most)


def _checks(
    evidence: Evidence,
    limit: Limit,
    metrics: Mapping[tuple[str, str], MetricEvidence],
    *,
    lower_error: float,
    upper_error: float,
) -> list[Check]:
    """Judge one limit on one score."""
    at = evidence if limit.prior is None else evidence.at_prior(limit.prior)
    match limit.quantity:
        case "tpr_at_fpr":
            check = tpr_check(at, limit, lower_error, upper_error)
        case "auc":
            check = auc_check(at, limit, lower_error, upper_error)
        case "metric":
            check = metric_check(
                limit,
                metrics[evidence.score, str(limit.metric)],
                lower_error=lower_error,
                upper_error=upper_error,
            )
        case "any_difference":
            check = _difference_check(evidence, lower_error)
        case _:
            check = _advantage_check(at, limit, lower_error, upper_error)
    check = replace(check, prior=None if at.prior == evidence.prior else at.prior)
    return [replace(check, reason=check_reason(check))]


def _difference_check(evidence: Evidence, error: float) -> Check:
    """Judge whether anything shows at all: 1 if it does; that nothing does is never shown."""
    p_value = any_difference(evidence, 1 - 2 * error).value
    lower = difference_shown(p_value, error)
    return Check(
        quantity="any_difference",
        score=evidence.score,
        limit=0.0,
        against="any",
        lower=lower,
        upper=None,
        status=check_status(0.0, lower, None),
        reason=UNDECIDED,
    )


def _advantage_check(
    evidence: Evidence, limit: Limit, lower_error: float, upper_error: float
) -> Check:
    """Judge the advantage, or what says the same in other units."""
    scale, shift = restatement(limit.quantity, evidence.prior)
    against, upper = deciding_upper(evidence, limit.against, upper_error)
    lower = evidence.lower(lower_error)
    bound = (limit.max - shift) / scale
    status = check_status(bound, lower, upper)
    needed = None
    if status == "inconclusive":
        needed = _records(evidence, bound, upper, lower_error)
    return Check(
        quantity=limit.quantity,
        score=evidence.score,
        limit=limit.max,
        against=against,
        lower=scale * lower + shift,
        upper=None if upper is None else scale * upper + shift,
        status=status,
        reason=UNDECIDED,
        records_to_settle=needed,
    )


def deciding_upper(
    evidence: Evidence, against: Attackers | None, error: float
) -> tuple[Attackers, float | None]:
    """Return the class whose upper limit decides: the one asked for, else the widest."""
    if against is not None:
        return against, evidence.upper(against, error)
    if evidence.discrete:
        return "any", evidence.upper("any", error)
    limits = [(evidence.upper(one, error), one) for one in evidence.classes]
    upper, attackers = max((upper, one) for upper, one in limits if upper is not None)
    return attackers, upper


def _records(
    evidence: Evidence,
    limit: float,
    upper: float | None,
    error: float,
) -> int | None:
    """Return the total number of records that would settle an open advantage check."""
    held = planned_by(evidence)
    return records_to_settle(
        Standing(
            limit=limit,
            value=held.value,
            lower=held.value - NormalDist().inv_cdf(1 - error) * held.standard_error,
            upper=upper,
            error=held.standard_error,
            records=records_of(evidence),
        )
    )
