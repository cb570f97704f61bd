"""Limits on metrics judged on the evidence."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

from mipaudit.evidence.metrics.evidence import deciding_upper
from mipaudit.maths.class_limits.planning import Standing, records_to_settle
from mipaudit.statements.policy import PolicyCheck, check_status

if TYPE_CHECKING:
    from mipaudit.evidence.metrics.evidence import MetricEvidence
    from mipaudit.statements.policy import Limit


def metric_check(
    limit: Limit, found: MetricEvidence, *, lower_error: float, upper_error: float
) -> PolicyCheck:
    """Judge the limit on a metric, as those on the advantage are judged."""
    against, upper = deciding_upper(found, limit.against, upper_error)
    lower = found.lower(lower_error)
    status = check_status(limit.max, lower, upper)
    needed = None
    if status == "inconclusive":
        needed = _metric_records(found, limit.max, upper, lower_error)
    return PolicyCheck(
        quantity="metric",
        metric=limit.metric,
        score=found.evidence.score,
        limit=limit.max,
        against=against,
        lower=lower,
        upper=upper,
        status=status,
        reason="",
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
