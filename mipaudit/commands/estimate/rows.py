"""Rows of a report beside those of a single score: metrics, scores of several numbers, MACE.

What makes them is loaded where there are such: most audits have none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.metrics.names import LEAST_RECALL
from mipaudit.model.row import Row
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.estimate.options import EstimateOptions
    from mipaudit.counting.counts import Counts
    from mipaudit.data.source import AuditedInput
    from mipaudit.evidence.metrics import MetricEvidence
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.evidence.scores.rows import ErrorShare
    from mipaudit.evidence.vectors import VectorEvidence
    from mipaudit.maths.metrics.mace import MaceHistogram
    from mipaudit.maths.metrics.metric import Metric
    from mipaudit.model.message import Finding, Message

_METHOD: Final = "MACE histogram, as published; not a valid interval for the advantage"
_SELECTION: Final = "100 bins of equal width between the extremes of the same rows"
_VECTOR_METHOD: Final = (
    "MACE histogram in several coordinates, as published; not a valid interval for the advantage"
)
_SHUFFLES: Final = 20
_SHUFFLED_BINS: Final = 1 << 22  # bins dealt in all, whatever the number of shuffles
_LARGEST_DEALT: Final = 10**9  # numpy deals without replacement below this
_STREAM: Final = 5


def gather_metrics(
    evidence: Sequence[Evidence], metrics: Sequence[Metric]
) -> dict[tuple[str, str], MetricEvidence]:
    """Return the evidence about every metric of every score, by (score, metric)."""
    if not metrics:
        return {}
    from mipaudit.evidence.metrics import metric_evidence

    return {
        (one.score, metric.name): metric_evidence(one, metric)
        for one in evidence
        for metric in metrics
    }


def metric_rows(
    score: str, gathered: Mapping[tuple[str, str], MetricEvidence], share: ErrorShare
) -> list[Row]:
    """Return the rows of all metrics of one score."""
    if not gathered:
        return []
    from mipaudit.evidence.metric_rows import metric_estimates

    return [
        row
        for (name, _), found in gathered.items()
        if name == score
        for row in metric_estimates(found, share)
    ]


def leaking(
    gathered: Mapping[tuple[str, str], MetricEvidence], share: ErrorShare
) -> Message | None:
    """Say of which score a metric is surely above what blind guessing has; None if of none."""
    if not gathered:
        return None
    from mipaudit.evidence.metric_rows import leaking_metrics

    return leaking_metrics(gathered.values(), share.one_sided)


def published_rows(
    gathered: Mapping[tuple[str, str], MetricEvidence], asked: EstimateOptions
) -> list[Row]:
    """Return MACE's Algorithm 2 for every metric of every score, if asked for."""
    if asked.method != "mace":
        return []
    from mipaudit.evidence.metric_rows import published_metric

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
    if not metrics and least == LEAST_RECALL:
        return []
    from mipaudit.evidence.metric_rows import metric_findings, unused_floor

    found = [finding for metric in metrics for finding in metric_findings(metric)]
    if least != LEAST_RECALL and not any(metric.floor for metric in metrics):
        found.append(unused_floor(least))
    return found


def vector_evidence_of(
    source: AuditedInput, counts: Counts, asked: EstimateOptions
) -> list[VectorEvidence]:
    """Return the evidence of every vector score, in the order of the source."""
    if not source.vectors:
        return []
    from mipaudit.evidence.vectors import vector_evidence

    return [
        vector_evidence(vector.name, counted, prior=asked.prior, strict=asked.strict, seed=seed)
        for vector, counted, seed in zip(
            source.vectors, counts.vectors, counts.vector_seeds, strict=True
        )
    ]


def vector_mace(
    source: AuditedInput, counts: Counts, asked: EstimateOptions
) -> tuple[list[Row], list[Finding]]:
    """Return the published estimator of every vector, and what it reads where nothing leaks."""
    if not counts.mace_vectors:
        return [], []
    from mipaudit.evidence.vectors import shuffled_finding

    rows, findings = [], []
    found = zip(source.vectors, counts.mace_vectors, counts.vector_seeds, strict=True)
    for vector, table, seed in found:
        selection = (
            f"100^{len(vector.coordinates)} bins of equal width between the extremes of the same "
            f"rows, of which {len(table):,} are occupied"
        )
        row, _ = _as_published(vector.name, _VECTOR_METHOD, selection, table, asked)
        rows.append(row)
        shuffled = _shuffled(table, asked, seed)
        if shuffled is not None:
            name, value = safe_name(vector.name), row.value or 0.0
            findings.append(shuffled_finding(name, value, shuffled, asked.prior))
    return rows, findings


def mace_estimates(
    counts: Sequence[NDArray[np.int64]], names: Sequence[str], asked: EstimateOptions
) -> tuple[list[Row], tuple[Row, ...]]:
    """Return the published estimator's rows and cells; they never decide anything."""
    rows: list[Row] = []
    cells: list[Row] = []
    for name, table in zip(names, counts, strict=bool(counts)):
        occupied = table.sum(axis=1).nonzero()[0]
        row, result = _as_published(name, _METHOD, _SELECTION, table[occupied], asked)
        rows.append(row)
        cells.extend(
            replace(
                row,
                quantity="risk",
                cell=int(cell),
                n_members=int(members),
                n_holdout=int(holdout),
                value=float(risk),
                lower=float(low),
                upper=float(high),
                plugin=None,
            )
            for cell, (holdout, members), risk, low, high in zip(
                occupied,
                table[occupied],
                result.risk,
                result.risk_lower,
                result.risk_upper,
                strict=True,
            )
        )
    return rows, tuple(cells)


def _as_published(
    name: str, method: str, selection: str, table: NDArray[np.int64], asked: EstimateOptions
) -> tuple[Row, MaceHistogram]:
    """Return MACE's estimate from the counts of holdout records and members by bin."""
    from mipaudit.maths.metrics.mace import mace_histogram

    holdout, members = table.T
    result = mace_histogram(members, holdout, prior=asked.prior, delta=1 - asked.confidence)
    row = Row(
        quantity="advantage",
        score=name,
        method=method,
        attackers="any",
        value=result.value,
        lower=result.value - result.half_width,
        upper=result.value + result.half_width,
        confidence=asked.confidence,
        plugin=result.value,
        selection=selection,
        validity="not-an-interval",
        n_members=int(members.sum()),
        n_holdout=int(holdout.sum()),
    )
    return row, result


def _shuffled(table: NDArray[np.int64], asked: EstimateOptions, seed: int) -> float | None:
    """Return the mean estimate with membership shuffled; None for too many rows to deal."""
    if int(table.sum()) >= _LARGEST_DEALT:
        return None
    from mipaudit.summaries.grids import shuffled_counts

    rng = np.random.default_rng([seed, _STREAM])
    times = max(1, min(_SHUFFLES, _SHUFFLED_BINS // len(table)))
    found = []
    for _ in range(times):
        dealt = shuffled_counts(table, rng)
        share = dealt / dealt.sum(axis=0)
        found.append(
            float(np.abs(asked.prior * share[:, 1] - (1 - asked.prior) * share[:, 0]).sum())
        )
    return float(np.mean(found))


def kernel_rows_of(
    counts: Counts, names: Sequence[str], share: ErrorShare, asked: EstimateOptions
) -> list[Row]:
    """Return the rows of the kernel densities, if asked for; they never decide anything."""
    if not counts.kernel:
        return []
    from mipaudit.evidence.kernel import kernel_estimates

    return [
        row
        for name, column in zip(names, counts.kernel, strict=True)
        for row in kernel_estimates(name, column, share, prior=asked.prior, strict=asked.strict)
    ]
