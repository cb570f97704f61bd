"""A policy judged on the evidence: which limit decides, at which share of the error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, sqrt
from statistics import NormalDist
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mipaudit.audit.claims import judge_claim
from mipaudit.audit.metric_judgement import metric_checks
from mipaudit.audit.policy import PolicyCheck, check_reason, check_status
from mipaudit.maths.operating_point import fewest_holdout
from mipaudit.maths.planning import Standing, records_to_settle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mipaudit.audit.claims import Adjacency, Claim
    from mipaudit.audit.estimate import Attackers, Quantity
    from mipaudit.audit.evidence import Evidence
    from mipaudit.audit.metric_evidence import MetricEvidence
    from mipaudit.audit.policy import Policy
    from mipaudit.maths.operating_point import OperatingPoint

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

    checks: tuple[PolicyCheck, ...]
    claims: tuple[Claim, ...]


def judge(
    evidence: Sequence[Evidence],
    policy: Policy,
    claim: EpsilonClaim | None,
    confidence: float,
    metrics: Mapping[tuple[str, str], MetricEvidence] = _NO_METRICS,
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
    """
    pairs = len(evidence) * (policy.size + (claim is not None))
    if not pairs:
        return Judgement(checks=(), claims=())
    whole = (1 - confidence) / 2
    shared = whole / pairs
    checks = [
        check
        for one in evidence
        for check in (
            *_checks(one, policy, lower_error=shared, upper_error=whole),
            *metric_checks(one, policy, metrics, lower_error=shared, upper_error=whole),
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
        if claim is not None
    ]
    return Judgement(checks=tuple(checks), claims=tuple(claims))


def _checks(
    evidence: Evidence, policy: Policy, *, lower_error: float, upper_error: float
) -> list[PolicyCheck]:
    checks = []
    if policy.max_advantage is not None:
        checks.append(
            _advantage_check(
                evidence, policy, "advantage", policy.max_advantage, lower_error, upper_error
            )
        )
    if policy.max_eta is not None:
        checks.append(
            _advantage_check(evidence, policy, "eta", policy.max_eta, lower_error, upper_error)
        )
    if policy.max_tpr_at_fpr is not None:
        checks.append(_tpr_check(evidence, policy.max_tpr_at_fpr, lower_error, upper_error))
    return [replace(check, reason=check_reason(check)) for check in checks]


def _advantage_check(
    evidence: Evidence,
    policy: Policy,
    quantity: Quantity,
    limit: float,
    lower_error: float,
    upper_error: float,
) -> PolicyCheck:
    """Judge the advantage, or eta, which is half of its excess over the baseline."""
    baseline = abs(2 * evidence.prior - 1)
    against, upper = _deciding_upper(evidence, policy.against, upper_error)
    lower = evidence.lower(lower_error)
    bound = limit if quantity == "advantage" else baseline + 2 * limit
    status = check_status(bound, lower, upper)
    needed = None
    if status == "inconclusive":
        needed = _records(evidence, bound, upper, lower_error)

    def restate(advantage: float | None) -> float | None:
        if advantage is None or quantity == "advantage":
            return advantage
        return (advantage - baseline) / 2

    return PolicyCheck(
        quantity=quantity,
        score=evidence.score,
        limit=limit,
        against=against,
        lower=restate(lower),
        upper=restate(upper),
        status=status,
        reason="",
        records_to_settle=needed,
    )


def _deciding_upper(
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
    held = evidence.held_out
    counts = evidence.counts
    return records_to_settle(
        Standing(
            limit=limit,
            value=held.value,
            lower=held.value - NormalDist().inv_cdf(1 - error) * held.standard_error,
            upper=upper,
            error=held.standard_error,
            records=counts.everyone.n_members + counts.everyone.n_holdout,
        )
    )


def _tpr_check(
    evidence: Evidence, limit: tuple[float, float], lower_error: float, upper_error: float
) -> PolicyCheck:
    tpr, fpr = limit
    point = evidence.tpr(fpr, lower_error)
    upper = evidence.tpr_upper(fpr, upper_error)
    status = check_status(tpr, point.lower, upper)
    needed = None
    if status == "inconclusive":
        needed = _tpr_records(evidence, limit, point, upper, lower_error)
    return PolicyCheck(
        quantity="tpr_at_fpr",
        score=evidence.score,
        limit=tpr,
        against="thresholds",
        lower=point.lower,
        upper=upper,
        status=status,
        reason="",
        fpr=fpr,
        records_to_settle=needed,
    )


def _tpr_records(
    evidence: Evidence,
    limit: tuple[float, float],
    point: OperatingPoint,
    upper: float,
    error: float,
) -> int | None:
    """Return the total number of records that would settle an open TPR check.

    The error adds that of the members above the threshold and that of the threshold,
    which moves the TPR about as much as the FPR, but for its slope.
    """
    tpr, fpr = limit
    ladder = evidence.one_sided
    if min(ladder.n_members, ladder.n_holdout) == 0:
        return None
    share = (point.value * ladder.n_members + 0.5) / (ladder.n_members + 1)
    slope = max(1.0, share / fpr)
    spread = share * (1 - share) / ladder.n_members
    spread += slope**2 * fpr * (1 - fpr) / ladder.n_holdout
    records = evidence.counts.everyone.n_members + evidence.counts.everyone.n_holdout
    needed = records_to_settle(
        Standing(
            limit=tpr,
            value=point.value,
            lower=point.value - NormalDist().inv_cdf(1 - error) * sqrt(spread),
            upper=upper,
            error=sqrt(spread),
            records=records,
        )
    )
    if needed is None:
        return None
    holdout_share = ladder.n_holdout / records
    return max(needed, ceil(fewest_holdout(fpr, error) / holdout_share))
