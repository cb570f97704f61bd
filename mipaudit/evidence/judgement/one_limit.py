"""One limit of a policy judged on the evidence of one score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from mipaudit.evidence.judgement.records_to_settle import (
    Standing,
    planned_by,
    records_of,
    records_to_settle,
)
from mipaudit.evidence.scores.rows import any_difference, difference_shown
from mipaudit.maths.class_limits.threshold_limits import OperatingPoint, fewest_holdout
from mipaudit.model.check import Check
from mipaudit.statements.policy import UNDECIDED, Limit, check_reason, check_status, restatement

if TYPE_CHECKING:
    from mipaudit.evidence.metrics import MetricEvidence
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.model.row import Attackers

Metrics = Mapping[tuple[str, str], "MetricEvidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What decides a limit.

    Attributes:
        against: the class whose upper limit decides.
        lower: lower limit of the quantity.
        upper: upper limit.
        standing: says where an open limit stands; None where that is not known.
    """

    against: Attackers
    lower: float | None
    upper: float | None
    standing: Callable[[], Standing | None]


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
    scale, shift, bound = 1.0, 0.0, limit.max
    match limit.quantity:
        case "tpr_at_fpr":
            found = _tpr(at, limit, lower_error, upper_error)
        case "auc":
            found = _auc(at, limit, lower_error, upper_error)
        case "metric":
            metric = metrics[evidence.score, str(limit.metric)]
            found = _metric(metric, limit, lower_error, upper_error)
        case "any_difference":
            found = _difference(evidence, lower_error)
        case quantity:
            # The advantage, or what says the same in other units: judged as the advantage.
            scale, shift = restatement(quantity, at.prior)
            bound = (limit.max - shift) / scale
            found = _advantage(at, bound, limit.against, lower_error, upper_error)
    status = check_status(bound, found.lower, found.upper)
    standing = found.standing() if status == "inconclusive" else None
    check = Check(
        quantity=limit.quantity,
        metric=limit.metric,
        fpr=limit.fpr,
        score=evidence.score,
        limit=limit.max,
        against=found.against,
        lower=None if found.lower is None else scale * found.lower + shift,
        upper=None if found.upper is None else scale * found.upper + shift,
        status=status,
        reason=UNDECIDED,
        records_to_settle=None if standing is None else records_to_settle(standing),
        prior=None if at.prior == evidence.prior else at.prior,
    )
    return replace(check, reason=check_reason(check))


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
) -> Found:
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

    return Found(against=against, lower=evidence.lower(lower_error), upper=upper, standing=standing)


def _auc(evidence: Evidence, limit: Limit, lower_error: float, upper_error: float) -> Found:
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
    return Found(against="thresholds", lower=low.lower, upper=high.upper, standing=lambda: standing)


def _tpr(evidence: Evidence, limit: Limit, lower_error: float, upper_error: float) -> Found:
    """Return the TPR at an FPR, on the better side of the score."""
    fpr = float(limit.fpr or 0)
    point = evidence.tpr(fpr, lower_error)
    upper = evidence.tpr_upper(fpr, upper_error)
    error = evidence.side_error(lower_error)
    return Found(
        against="thresholds",
        lower=point.lower,
        upper=upper,
        standing=partial(_tpr_standing, evidence, (limit.max, fpr), point, upper, error),
    )


def _tpr_standing(
    evidence: Evidence,
    limit: tuple[float, float],
    point: OperatingPoint,
    upper: float,
    error: float,
) -> Standing | None:
    """Return where an open limit on the TPR stands.

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
    records = records_of(evidence)
    holdout_share = ladder.n_holdout / records
    return Standing(
        limit=tpr,
        value=point.value,
        lower=point.value - _deviate(error) * sqrt(spread),
        upper=upper,
        error=sqrt(spread),
        records=records,
        least=ceil(fewest_holdout(fpr, error) / holdout_share),
    )


def _metric(found: MetricEvidence, limit: Limit, lower_error: float, upper_error: float) -> Found:
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

    return Found(against=against, lower=found.lower(lower_error), upper=upper, standing=standing)


def _difference(evidence: Evidence, error: float) -> Found:
    """Return whether anything shows at all: 1 if it does; that nothing does is never shown."""
    p_value = any_difference(evidence, 1 - 2 * error).value
    lower = difference_shown(p_value, error)
    return Found(against="any", lower=lower, upper=None, standing=lambda: None)


def _deviate(error: float) -> float:
    return NormalDist().inv_cdf(1 - error)
