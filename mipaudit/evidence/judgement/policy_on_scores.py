"""A policy judged on the evidence: which limit decides, at which share of the error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from mipaudit.evidence.judgement.blind import (
    Allowance,
    Blind,
    Limits,
    beside_records,
    make_allowance,
)
from mipaudit.evidence.judgement.one_limit import Metrics, judge_limit
from mipaudit.maths.advantage import baseline
from mipaudit.maths.class_limits.shared_part import fpr_reached, shared_advantage_lower
from mipaudit.model.message import Message
from mipaudit.statements.claim import Adjacency, Claim, judge_claim

if TYPE_CHECKING:
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.model.check import Check
    from mipaudit.statements.policy import Limit, Policy


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
    metrics: Metrics = MappingProxyType({}),
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
    allowance, left = (None, whole) if blind is None else make_allowance(blind, whole)
    checks, claims = [], []
    for one in evidence:
        for limit in policy.every_limit:
            if limit.score in {None, one.score}:
                check = judge_limit(one, limit, metrics, whole / pairs, whole)
                if allowance is not None:
                    errors = left / pairs, left
                    check = _beside_records(one, limit, metrics, check, allowance, errors)
                checks.append(check)
        if claim is not None:
            claims.append(_claim(one, claim, left / pairs, allowance))
    return Judgement(checks=tuple(checks), claims=tuple(claims))


def _beside_records(
    evidence: Evidence,
    limit: Limit,
    metrics: Metrics,
    plain: Check,
    allowance: Allowance,
    errors: tuple[float, float],
) -> Check:
    """Judge one limit on one score by records as likely in either class.

    Args:
        evidence: of the score.
        limit: on it.
        metrics: as for `judge`.
        plain: the check of all records, at all of the error.
        allowance: what the records alone may explain.
        errors: of a lower and of an upper limit, beside the blind limit's own.
    """
    shared = judge_limit(evidence, limit, metrics, *errors)
    upper = shared.upper
    if limit.quantity == "tpr_at_fpr" and allowance.most:
        reached = fpr_reached(float(limit.fpr or 0), allowance.most)
        upper = None if reached >= 1 else evidence.tpr_upper(reached, errors[1])
    limits = Limits(plain=plain, lower=shared.lower, upper=upper)
    prior = evidence.prior if limit.prior is None else limit.prior
    return beside_records(limits, allowance, prior)


def _claim(
    evidence: Evidence, claim: EpsilonClaim, error: float, allowance: Allowance | None
) -> Claim:
    """Judge a claim, by what goes beyond the records if they may explain anything."""
    most = None if allowance is None else allowance.most
    guessing = baseline(evidence.prior)
    if most is not None:
        lower = shared_advantage_lower(evidence.lower(error), most, guessing)
    else:
        lower = evidence.lower(error) if allowance is None else guessing
    found = judge_claim(
        score=evidence.score,
        epsilon=claim.epsilon,
        delta=claim.delta,
        adjacency=claim.adjacency,
        prior=evidence.prior,
        lower=lower,
    )
    if allowance is None:
        return found
    beside = "claim_beside_unbounded_records" if most is None else "claim_beside_records"
    reason = Message.of(beside, reason=found.reason, most=most)
    return replace(found, reason=reason, blind=1.0 if most is None else most)
