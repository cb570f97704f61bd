"""Metrics in an audit: the evidence gathered, the rows and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.evidence.metrics.evidence import metric_evidence
from mipaudit.evidence.metrics.rows import (
    metric_estimates,
    metric_findings,
    published_metric,
    unused_floor,
)
from mipaudit.maths.metrics.names import LEAST_RECALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mipaudit.commands.estimate.options import EstimateOptions
    from mipaudit.evidence.metrics.evidence import MetricEvidence
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.evidence.scores.rows import ErrorShare
    from mipaudit.maths.metrics.metric import Metric
    from mipaudit.statements.estimate import Estimate, Finding


def gather_metrics(
    evidence: Sequence[Evidence], metrics: Sequence[Metric]
) -> dict[tuple[str, str], MetricEvidence]:
    """Return the evidence about every metric of every score, by (score, metric)."""
    return {
        (one.score, metric.name): metric_evidence(one, metric)
        for one in evidence
        for metric in metrics
    }


def metric_rows(
    score: str, gathered: Mapping[tuple[str, str], MetricEvidence], share: ErrorShare
) -> list[Estimate]:
    """Return the rows of all metrics of one score."""
    return [
        row
        for (name, _), found in gathered.items()
        if name == score
        for row in metric_estimates(found, share)
    ]


def published_rows(
    gathered: Mapping[tuple[str, str], MetricEvidence], asked: EstimateOptions
) -> list[Estimate]:
    """Return MACE's Algorithm 2 for every metric of every score, if asked for."""
    if asked.method != "mace":
        return []
    rows = [
        published_metric(found.evidence, found.metric, asked.confidence)
        for found in gathered.values()
    ]
    return [row for row in rows if row is not None]


def findings_of(metrics: Sequence[Metric], least: float = LEAST_RECALL) -> list[Finding]:
    """Return what the reader must know about the metrics themselves.

    Args:
        metrics: all that are asked for or limited.
        least: the least recall that was asked for.
    """
    found = [finding for metric in metrics for finding in metric_findings(metric)]
    if least != LEAST_RECALL and not any(metric.floor for metric in metrics):
        found.append(unused_floor(least))
    return found
