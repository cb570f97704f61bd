"""A policy judged on evidence, or on the limits that a report holds: what decides, what settles.

Each stored limit has the error (1 - confidence) / 2 over the score columns. `judge` divides that of
'not met' further, over the limits of the policy; `judge_stored` takes it as it is, so that the
verdict is less sure instead. Over q limits it holds with confidence 1 - q (1 - confidence).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from statistics import NormalDist
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import UsageError
from mipaudit.evidence.judgement.blind import Allowance, Blind, beside_records, make_allowance
from mipaudit.evidence.scores.averaged_lower import Averaged, averaged
from mipaudit.evidence.scores.rows import any_difference, difference_shown
from mipaudit.maths.advantage import baseline
from mipaudit.maths.class_limits.shared_part import fpr_reached, shared_advantage_lower
from mipaudit.maths.class_limits.threshold_limits import fewest_holdout
from mipaudit.model.message import Message
from mipaudit.statements.claim import Claim, EpsilonClaim, judge_claim
from mipaudit.statements.policy import (
    RESTATED,
    Limit,
    Policy,
    Units,
    applied,
    check_status,
    limit_check,
    restatement,
)
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.rounding import number_text, two_digits_up
from mipaudit.summaries.rows import MICRO_BLOCKS

if TYPE_CHECKING:
    from mipaudit.evidence.metrics import MetricEvidence
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.model.row import Attackers, Check, Row

# The class whose upper limit decides, both limits, and what says where an open one stands.
_Found = tuple["Attackers", float | None, float | None, "Callable[[], Standing | None]"]
Metrics = Mapping[tuple[str, str], "MetricEvidence"]


def judge(
    evidence: Sequence[Evidence],
    policy: Policy,
    claim: EpsilonClaim | None,
    confidence: float,
    metrics: Metrics = MappingProxyType({}),
    blind: Blind | None = None,
) -> tuple[tuple[Check, ...], tuple[Claim, ...]]:
    """Return a check for every limit of the policy, and the claim judged, score by score.

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
    limits = [
        (one, limit)
        for one in evidence
        for limit in policy.every_limit
        if limit.score in {None, one.score}
    ]
    pairs = len(limits) + len(evidence) * (claim is not None)
    if not pairs:
        return (), ()
    whole = (1 - confidence) / 2
    allowance, left = (None, whole) if blind is None else make_allowance(blind, whole)
    checks = []
    for one, limit in limits:
        check = judge_limit(one, limit, metrics, whole / pairs, whole)
        if allowance is not None:
            check = _beside_records(one, limit, metrics, check, allowance, (left / pairs, left))
        checks.append(check)
    if claim is None:
        return tuple(checks), ()
    return tuple(checks), tuple(_claim(one, claim, left / pairs, allowance) for one in evidence)


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
    prior = evidence.prior if limit.prior is None else limit.prior
    return beside_records(plain, (shared.lower, upper), allowance, prior)


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
    found = judge_claim(score=evidence.score, claim=claim, prior=evidence.prior, lower=lower)
    if allowance is None:
        return found
    beside = "claim_beside_unbounded_records" if most is None else "claim_beside_records"
    reason = Message.of(beside, reason=found.reason, most=most)
    return replace(found, reason=reason, blind=1.0 if most is None else most)


# The number promised must settle 80% of fresh runs. The sampling error of the estimate
# that it is computed from is spent in two places: it shortens the distance to the
# limit, and it is what a fresh run may fall short by.
_CAUTION: Final = 0.65
# Nearer to the limit than this, in standard errors, a fresh run's estimate may as well lie on
# the other side, and the number would be without bound.
_NEAREST: Final = 1.0
_PLAN_SEED: Final = 18
_POWER_DEVIATE: Final = 1.0
_LARGEST_GAP: Final = 0.9
_MOST_TIMES: Final = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where an open comparison stands.

    Attributes:
        limit: what the quantity is compared with.
        value: best estimate.
        lower: lower confidence limit, or None.
        upper: upper confidence limit, or None.
        error: standard error of the estimates.
        records: number of records behind them.
        least: records that are needed in any case.
    """

    limit: float
    value: float
    lower: float | None
    upper: float | None
    error: float
    records: int
    least: int = 0


def records_to_settle(standing: Standing) -> int | None:
    """Return the number of records at which a limit is expected to pass the comparison.

    Both limits close in on the estimate as the root of the number of records.

    Returns:
        The smaller number of the two directions, or None where the estimate is within a
        standard error of the limit or the number is beyond reason.
    """
    ways = []
    if standing.lower is not None:
        ways.append((standing.value - standing.limit, standing.value - standing.lower))
    if standing.upper is not None:
        # No limit passes 1, so near 1 gaps are pressed together and shrink more slowly.
        gap = math.atanh(min(standing.upper - standing.value, _LARGEST_GAP))
        ways.append((standing.limit - standing.value, gap))
    times = [
        ((gap + _POWER_DEVIATE * standing.error) / (distance - _CAUTION * standing.error)) ** 2
        for distance, gap in ways
        if distance > _NEAREST * standing.error
    ]
    reachable = [max(1.0, t) for t in times if t <= _MOST_TIMES]
    if not reachable:
        return None
    return max(standing.least, two_digits_up(standing.records * min(reachable)))


def planned_by(evidence: Evidence) -> Averaged:
    """Return the held-out guesses that a plan rests on, which no seed moves.

    A plan divides by how far the estimate is from the limit, so what the draws of the blocks
    move the estimate by would move the number manyfold. It decides nothing: it may rest on
    draws that are the same for the same scores. Where only counts are kept there are no others.
    """
    rows = None if evidence.vectorial or evidence.strict else evidence.counts.ranked
    if rows is None:
        return evidence.held_out
    order = np.lexsort((rows.member, rows.rank))
    draws = np.random.default_rng(_PLAN_SEED).integers(
        MICRO_BLOCKS, size=rows.micro_blocks.shape, dtype=np.uint8
    )
    steady = replace(rows, rank=rows.rank[order], member=rows.member[order], micro_blocks=draws)
    return averaged(steady, evidence.prior)


def records_of(evidence: Evidence) -> int:
    """Return the number of records of both classes."""
    everyone = evidence.counts.everyone
    return everyone.n_members + everyone.n_holdout


def judge_limit(
    evidence: Evidence, limit: Limit, metrics: Metrics, lower_error: float, upper_error: float
) -> Check:
    """Judge one limit on one score.

    Args:
        evidence: of the score.
        limit: on it.
        metrics: by score and metric, for every metric that is limited.
        lower_error: of the lower limit, one-sided.
        upper_error: of the upper limit.
    """
    at = evidence if limit.prior is None else evidence.at_prior(limit.prior)
    errors, units = (lower_error, upper_error), Units(1.0, 0.0)
    match limit.quantity:
        case "tpr_at_fpr":
            found = _tpr(at, limit, *errors)
        case "auc":
            found = _auc(at, limit, *errors)
        case "metric":
            found = _metric(metrics[evidence.score, str(limit.metric)], limit, *errors)
        case "any_difference":
            found = _difference(evidence, lower_error)
        case quantity:
            # The advantage, or what says the same in other units: judged as the advantage.
            units = restatement(quantity, at.prior)
            found = _advantage(at, units.advantage(limit.max), limit.against, *errors)
    against, lower, upper, standing = found
    # Compared as an advantage: in other units a limit may round to the other side.
    status = check_status(units.advantage(limit.max), lower, upper)
    stands = standing() if status == "inconclusive" else None
    return limit_check(
        limit,
        evidence.score,
        against,
        applied(units.of, lower),
        applied(units.of, upper),
        status=status,
        prior=None if at.prior == evidence.prior else at.prior,
        records_to_settle=None if stands is None else records_to_settle(stands),
    )


def deciding_upper(
    evidence: Evidence,
    upper: Callable[[Attackers, float], float | None],
    against: Attackers | None,
    error: float,
) -> tuple[Attackers, float | None]:
    """Return the class whose upper limit decides: the one asked for, else the widest.

    Args:
        evidence: of the score.
        upper: gives the limit of a class at an error: of the advantage, or of a metric.
        against: the class that is asked for.
        error: one-sided.
    """
    if against is not None:
        return against, upper(against, error)
    if evidence.discrete:
        return "any", upper("any", error)
    limits = [(upper(one, error), one) for one in evidence.classes]
    widest, attackers = max((limit, one) for limit, one in limits if limit is not None)
    return attackers, widest


def _advantage(
    evidence: Evidence,
    bound: float,
    against: Attackers | None,
    lower_error: float,
    upper_error: float,
) -> _Found:
    against, upper = deciding_upper(evidence, evidence.upper, against, upper_error)

    def standing() -> Standing:
        held = planned_by(evidence)
        return Standing(
            limit=bound,
            value=held.value,
            lower=held.value - _deviate(lower_error) * held.standard_error,
            upper=upper,
            error=held.standard_error,
            records=records_of(evidence),
        )

    return against, evidence.lower(lower_error), upper, standing


def _auc(evidence: Evidence, limit: Limit, lower_error: float, upper_error: float) -> _Found:
    """Return the AUC of the better side, which the upper limit does not take as known."""
    low, high = evidence.auc(lower_error), evidence.auc(upper_error)
    standing = Standing(
        limit=limit.max,
        value=low.value,
        lower=low.lower,
        upper=high.upper,
        error=(high.upper - high.lower) / 2 / _deviate(upper_error),
        records=records_of(evidence),
    )
    return "thresholds", low.lower, high.upper, lambda: standing


def _tpr(evidence: Evidence, limit: Limit, lower_error: float, upper_error: float) -> _Found:
    """Return the TPR at an FPR, on the better side of the score."""
    fpr = float(limit.fpr or 0)
    point = evidence.tpr(fpr, lower_error)
    upper = evidence.tpr_upper(fpr, upper_error)
    error = evidence.side_error(lower_error)
    ladder = evidence.one_sided

    def standing() -> Standing | None:
        # The error adds that of the members above the threshold and that of the threshold, which
        # moves the TPR about as much as the FPR, but for its slope.
        if min(ladder.n_members, ladder.n_holdout) == 0:
            return None
        share = (point.value * ladder.n_members + 0.5) / (ladder.n_members + 1)
        slope = max(1.0, share / fpr)
        spread = share * (1 - share) / ladder.n_members
        spread += slope**2 * fpr * (1 - fpr) / ladder.n_holdout
        records = records_of(evidence)
        holdout_share = ladder.n_holdout / records
        return Standing(
            limit=limit.max,
            value=point.value,
            lower=point.value - _deviate(error) * sqrt(spread),
            upper=upper,
            error=sqrt(spread),
            records=records,
            least=ceil(fewest_holdout(fpr, error) / holdout_share),
        )

    return "thresholds", point.lower, upper, standing


def _metric(found: MetricEvidence, limit: Limit, lower_error: float, upper_error: float) -> _Found:
    against, upper = deciding_upper(found.evidence, found.upper, limit.against, upper_error)

    def standing() -> Standing:
        least, scale = found.metric.baseline, found.metric.most - found.metric.baseline
        spread = found.standard_error

        def unit(value: float) -> float:
            return (value - least) / scale  # gaps are pressed together near 1

        return Standing(
            limit=unit(limit.max),
            value=unit(found.value),
            lower=unit(found.value - _deviate(lower_error) * spread),
            upper=None if upper is None else unit(upper),
            error=spread / scale,
            records=records_of(found.evidence),
        )

    return against, found.lower(lower_error), upper, standing


def _difference(evidence: Evidence, error: float) -> _Found:
    """Return whether anything shows at all: 1 if it does; that nothing does is never shown."""
    p_value = any_difference(evidence, 1 - 2 * error).value
    return "any", difference_shown(p_value, error), None, lambda: None


def _deviate(error: float) -> float:
    return NormalDist().inv_cdf(1 - error)


_ONE_CLASS: Final = ("auc", "tpr_at_fpr", "any_difference")
_LEAST: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What a report says of its scores.

    Attributes:
        estimates: its rows.
        scores: its score columns.
        prior: p in (0, 1), of all rows.
        side_given: whether the user knew on which side members score; else the AUC is that
            of the better side.
        allowance: what the records alone may explain.
    """

    estimates: Sequence[Row]
    scores: Sequence[str]
    prior: float
    side_given: bool
    allowance: Allowance | None = None

    def rows(self, score: str, limit: Limit) -> list[Row]:
        """Return the rows of one score that a limit is about; there is at least one.

        Raises:
            UsageError: ``not_in_report``.
        """
        quantity = "advantage" if limit.quantity in RESTATED else limit.quantity
        kin = [e for e in self.estimates if _counts(e, score) and e.quantity == quantity]
        found = [e for e in kin if (e.fpr, e.metric) == (limit.fpr, limit.metric)]
        if not found:
            raise UsageError(
                "not_in_report",
                f"The report has no {_called(limit)} of score {quoted_name(score)}.",
                _alternatives(kin),
            )
        return found


def judge_stored(stored: Stored, policy: Policy) -> tuple[Check, ...]:
    """Compare the stored limits with every limit of the policy.

    Raises:
        UsageError: ``not_in_report``: a limit is about what the report does not hold.
    """
    limits = policy.every_limit
    for limit in limits:
        _require_stored(stored, limit)
    return tuple(
        _check(stored, score, limit)
        for score in stored.scores
        for limit in limits
        if limit.score in {None, score}
    )


def verdict_confidence(confidence: float, limits: int) -> float:
    """Return the confidence of a verdict over stored limits, each at ``confidence``.

    Raises:
        UsageError: ``too_many_limits``: it is under one half, and says nothing.
    """
    # Ten digits: the arithmetic's last ones would show.
    found = round(1 - limits * (1 - confidence), 10)
    if found < _LEAST:
        raise UsageError(
            "too_many_limits",
            f"A verdict over {limits} limits, each at confidence {number_text(confidence)}, "
            "could be wrong more often than right.",
            "Judge the scores again: mipaudit estimate shares the error over the limits.",
        )
    return found


def _require_stored(stored: Stored, limit: Limit) -> None:
    """Refuse a limit at another prior, of a group, or of a score that is not there."""
    if limit.prior not in {None, stored.prior}:
        raise UsageError(
            "not_in_report",
            f"The report is for prior {number_text(stored.prior)}, so a limit for another prior "
            "cannot be judged.",
            "Audit the scores at that prior: mipaudit estimate SCORES --prior P.",
        )
    if limit.group is not None:
        raise UsageError(
            "not_in_report",
            "The report has no limits by group, so a limit on groups cannot be judged.",
            "Audit the scores with that policy instead.",
        )
    if limit.score is not None and limit.score not in stored.scores:
        raise UsageError("not_in_report", f"The report has no score {quoted_name(limit.score)}.")


def _check(stored: Stored, score: str, limit: Limit) -> Check:
    rows = stored.rows(score, limit)
    against, upper = _deciding_upper(stored, rows, score, limit)
    lower = next((e.lower for e in rows if e.lower is not None), None)
    if limit.quantity in RESTATED:
        units = restatement(limit.quantity, stored.prior)
        lower, upper = applied(units.of, lower), applied(units.of, upper)
    elif limit.quantity == "auc" and not stored.side_given and None not in {lower, upper}:
        upper = max(float(upper or 0), 1 - float(lower or 0))
    elif limit.quantity == "any_difference":
        # At the error of a stored limit.
        error = (1 - rows[0].confidence) / 2 / len(stored.scores)
        against, lower = "any", difference_shown(rows[0].value, error)
    check = limit_check(limit, score, against, lower, upper)
    if stored.allowance is not None:
        # A report holds no limit of the TPR at the larger FPR that a difference may lead to.
        elsewhere = limit.quantity == "tpr_at_fpr" and bool(stored.allowance.most)
        shared = lower, None if elsewhere else upper
        return beside_records(check, shared, stored.allowance, stored.prior)
    if check.status == "inconclusive" and upper is not None:
        # The report cannot tell how many records would settle it.
        return replace(check, reason=replace(check.reason, code="open_in_report"))
    return check


def _deciding_upper(
    stored: Stored, rows: Iterable[Row], score: str, limit: Limit
) -> tuple[Attackers, float | None]:
    """Return the class whose upper limit decides, as :func:`judge` chooses it."""
    uppers = {e.attackers: e.upper for e in rows}
    if limit.quantity in _ONE_CLASS:
        return next(iter(uppers.items()))
    if limit.against is not None:
        if limit.against not in uppers:
            raise UsageError(
                "not_in_report",
                f"The report has no limit for attackers '{limit.against}' on score "
                f"{quoted_name(score)}.",
                f"It has: {', '.join(uppers)}.",
            )
        return limit.against, uppers[limit.against]
    # Of few values the advantage of all attackers has an upper limit.
    discrete = any(
        e.quantity == "advantage" and e.attackers == "any" and e.upper is not None
        for e in stored.estimates
        if _counts(e, score)
    )
    named = [(upper, one) for one, upper in uppers.items() if upper is not None and one != "any"]
    if discrete or not named:
        return "any", uppers.get("any")
    upper, attackers = max(named)
    return attackers, upper


def _counts(estimate: Row, score: str) -> bool:
    """Tell whether a row is about the score, all records, and a limit that may decide."""
    return (
        estimate.score == score
        and estimate.validity != "not-an-interval"
        and estimate.attackers != "noised-query"
        and estimate.group is None
        and estimate.versus is None
    )


def _called(limit: Limit) -> str:
    if limit.metric is not None:
        return f"metric {limit.metric}"
    return limit.quantity if limit.fpr is None else f"TPR at FPR {number_text(limit.fpr)}"


def _alternatives(kin: Sequence[Row]) -> str:
    """Say what of the same kind is there."""
    names = [one.metric if one.fpr is None else f"FPR {number_text(one.fpr)}" for one in kin]
    known = ", ".join(dict.fromkeys(filter(None, names)))
    if not known:
        return "Audit the scores with that limit: mipaudit estimate."
    return f"It holds {known}. Audit the scores again for another."
