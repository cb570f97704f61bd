"""Limits on metrics judged on the evidence."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING

from mipaudit.audit.metric_evidence import deciding_upper
from mipaudit.audit.policy import PolicyCheck, check_reason, check_status
from mipaudit.maths.planning import Standing, records_to_settle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.audit.evidence import Evidence
    from mipaudit.audit.metric_evidence import MetricEvidence
    from mipaudit.audit.policy import Policy


def metric_checks(
    evidence: Evidence,
    policy: Policy,
    metrics: Mapping[tuple[str, str], MetricEvidence],
    *,
    lower_error: float,
    upper_error: float,
) -> list[PolicyCheck]:
    """Judge the limits on metrics, as those on the advantage are judged."""
    checks = []
    for name, limit in policy.max_metric:
        found = metrics[evidence.score, name]
        against, upper = deciding_upper(found, policy.against, upper_error)
        lower = found.lower(lower_error)
        status = check_status(limit, lower, upper)
        check = PolicyCheck(
            quantity="metric",
            metric=name,
            score=evidence.score,
            limit=limit,
            against=against,
            lower=lower,
            upper=upper,
            status=status,
            reason="",
            records_to_settle=(
                _metric_records(found, limit, upper, lower_error)
                if status == "inconclusive"
                else None
            ),
        )
        checks.append(replace(check, reason=check_reason(check)))
    return checks


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
