"""From the counts of vector scores to their evidence, and to MACE's estimate of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.evidence.vectors.evidence import VectorEvidence, vector_evidence
from mipaudit.evidence.vectors.rows import shuffled_finding
from mipaudit.maths.metrics.mace import mace_histogram
from mipaudit.statements.estimate import Estimate
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.summaries.grids.mace_bins import shuffled_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.commands.estimate.options import EstimateOptions
    from mipaudit.counting.columns import Counts
    from mipaudit.reading.source.audited import AuditedInput
    from mipaudit.statements.estimate import Finding

_METHOD: Final = (
    "MACE histogram in several coordinates, as published; not a valid interval for the advantage"
)
_SHUFFLES: Final = 20
_SHUFFLED_BINS: Final = 1 << 22  # bins dealt in all, whatever the number of shuffles
_LARGEST_DEALT: Final = 10**9  # numpy deals without replacement below this
_STREAM: Final = 5


def vector_evidence_of(
    source: AuditedInput, counts: Counts, asked: EstimateOptions
) -> list[VectorEvidence]:
    """Return the evidence of every vector score, in the order of the source."""
    return [
        vector_evidence(vector.name, counted, prior=asked.prior, strict=asked.strict, seed=seed)
        for vector, counted, seed in zip(
            source.vectors, counts.vectors, counts.vector_seeds, strict=True
        )
    ]


def vector_mace(
    source: AuditedInput, counts: Counts, asked: EstimateOptions
) -> tuple[list[Estimate], list[Finding]]:
    """Return the published estimator of every vector, and what it reads where nothing leaks."""
    rows, findings = [], []
    found = zip(
        source.vectors, counts.mace_vectors, counts.vector_seeds, strict=bool(counts.mace_vectors)
    )
    for vector, table, seed in found:
        row = _mace_row(vector.name, len(vector.coordinates), table, asked)
        rows.append(row)
        shuffled = _shuffled(table, asked, seed)
        if shuffled is not None:
            name, value = safe_name(vector.name), row.value or 0.0
            findings.append(shuffled_finding(name, value, shuffled, asked.prior))
    return rows, findings


def _mace_row(name: str, width: int, table: NDArray[np.int64], asked: EstimateOptions) -> Estimate:
    members, holdout = table[:, 1], table[:, 0]
    result = mace_histogram(members, holdout, prior=asked.prior, delta=1 - asked.confidence)
    return Estimate(
        quantity="advantage",
        score=name,
        method=_METHOD,
        attackers="any",
        value=result.value,
        lower=result.value - result.half_width,
        upper=result.value + result.half_width,
        confidence=asked.confidence,
        plugin=result.value,
        selection=(
            f"100^{width} bins of equal width between the extremes of the same rows, of which "
            f"{len(table):,} are occupied"
        ),
        validity="not-an-interval",
        n_members=int(members.sum()),
        n_holdout=int(holdout.sum()),
    )


def _shuffled(table: NDArray[np.int64], asked: EstimateOptions, seed: int) -> float | None:
    """Return the mean estimate with membership shuffled; None for too many rows to deal."""
    if int(table.sum()) >= _LARGEST_DEALT:
        return None
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
