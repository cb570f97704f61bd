"""Limits on single statistics, judged on the evidence: AUC, TPR at an FPR, metrics."""

from __future__ import annotations

from math import ceil, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from mipaudit.evidence.judgement.records_to_settle import Standing, records_of, records_to_settle
from mipaudit.maths.class_limits.threshold_limits import OperatingPoint, fewest_holdout
from mipaudit.model.check import Check
from mipaudit.statements.policy import UNDECIDED, Limit, check_status

if TYPE_CHECKING:
    from mipaudit.evidence.metrics.evidence import MetricEvidence
    from mipaudit.evidence.scores.evidence import Evidence


def auc_check(evidence: Evidence, limit: Limit, lower_error: float, upper_error: float) -> Check:
    """Judge the AUC of the better side, which the upper limit does not take as known."""
    low, high = evidence.auc(lower_error), evidence.auc(upper_error)
    upper = high.upper
    status = check_status(limit.max, low.lower, upper)
    needed = None
    if status == "inconclusive":
        needed = records_to_settle(
            Standing(
                limit=limit.max,
                value=low.value,
                lower=low.lower,
                upper=upper,
                error=(high.upper - high.lower) / 2 / NormalDist().inv_cdf(1 - upper_error),
                records=records_of(evidence),
            )
        )
    return Check(
        quantity="auc",
        score=evidence.score,
        limit=limit.max,
        against="thresholds",
        lower=low.lower,
        upper=upper,
        status=status,
        reason=UNDECIDED,
        records_to_settle=needed,
    )


def tpr_check(evidence: Evidence, limit: Limit, lower_error: float, upper_error: float) -> Check:
    """Judge the TPR at an FPR, on the better side of the score."""
    tpr, fpr = limit.max, float(limit.fpr or 0)
    point = evidence.tpr(fpr, lower_error)
    upper = evidence.tpr_upper(fpr, upper_error)
    status = check_status(tpr, point.lower, upper)
    needed = None
    if status == "inconclusive":
        needed = _tpr_records(evidence, (tpr, fpr), point, upper, evidence.side_error(lower_error))
    return Check(
        quantity="tpr_at_fpr",
        score=evidence.score,
        limit=tpr,
        against="thresholds",
        lower=point.lower,
        upper=upper,
        status=status,
        reason=UNDECIDED,
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
    records = records_of(evidence)
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


def metric_check(
    limit: Limit, found: MetricEvidence, *, lower_error: float, upper_error: float
) -> Check:
    """Judge the limit on a metric, as those on the advantage are judged."""
    from mipaudit.evidence.metrics.evidence import deciding_upper

    against, upper = deciding_upper(found, limit.against, upper_error)
    lower = found.lower(lower_error)
    status = check_status(limit.max, lower, upper)
    needed = None
    if status == "inconclusive":
        needed = _metric_records(found, limit.max, upper, lower_error)
    return Check(
        quantity="metric",
        metric=limit.metric,
        score=found.evidence.score,
        limit=limit.max,
        against=against,
        lower=lower,
        upper=upper,
        status=status,
        reason=UNDECIDED,
        records_to_settle=needed,
    )


def _metric_records(
    found: MetricEvidence, limit: float, upper: float | None, error: float
) -> int | None:
    """Return the total number of records that would settle an open check of a metric."""
    scale = found.metric.most - found.metric.baseline
    everyone = found.evidence.counts.everyone
    spread = found.standard_error

    def unit(value: float) -> float:
        return (value - found.metric.baseline) / scale  # gaps are pressed together near 1

    return records_to_settle(
        Standing(
            limit=unit(limit),
            value=unit(found.value),
            lower=unit(found.value - NormalDist().inv_cdf(1 - error) * spread),
            upper=None if upper is None else unit(upper),
            error=spread / scale,
            records=everyone.n_members + everyone.n_holdout,
        )
    )
