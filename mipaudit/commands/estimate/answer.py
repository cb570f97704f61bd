"""From counts to the report: estimate every score, judge, and say it in words."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.estimate.blind_words import asserted_words, blind_findings, blind_words
from mipaudit.commands.estimate.metric_rows import (
    findings_of,
    gather_metrics,
    metric_rows,
    published_rows,
)
from mipaudit.commands.estimate.policy_fit import require_fit
from mipaudit.commands.estimate.report import MaceCell, Report
from mipaudit.commands.estimate.words import limitations, summary
from mipaudit.counting.columns import require_information
from mipaudit.evidence.judgement.policy_on_scores import judge
from mipaudit.evidence.metrics.rows import prior_findings
from mipaudit.evidence.scores.curves import score_curves
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.findings import crossing_findings, score_findings, size_findings
from mipaudit.evidence.scores.rows import (
    ErrorShare,
    any_difference,
    pairs_of_limits,
    score_estimates,
)
from mipaudit.maths.metrics.mace import mace_histogram
from mipaudit.options.policy.limits import limits_elsewhere
from mipaudit.statements.copies import copy_checks
from mipaudit.statements.estimate import Design, Estimate
from mipaudit.statements.provenance import waiver_day
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.verdict import led, reach_verdict, settled, waive

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.commands.estimate.options import EstimateOptions
    from mipaudit.counting.columns import Counts
    from mipaudit.evidence.judgement.blind import Blind, ScoreExcess
    from mipaudit.reading.source.audited import AuditedInput
    from mipaudit.statements.estimate import Finding
    from mipaudit.statements.origin import Provenance

_MOST_CURVES: Final = 5
_MACE_METHOD = "MACE histogram, as published; not a valid interval for the advantage"


def audit(
    source: AuditedInput,
    counts: Counts,
    asked: EstimateOptions,
    provenance: Provenance,
    blind: Blind | None = None,
) -> Report:
    """Return the report on counted scores, the strongest score first.

    Args:
        source: what was read.
        counts: of it.
        asked: what is judged, and how.
        provenance: of the report.
        blind: what the records alone tell, of the same records; only what goes beyond it
            is held against the model.

    Raises:
        InputError: every score is constant, or both classes hold the same scores.
    """
    require_information(counts)
    require_fit(source, asked.judged.policy)
    scalars = [source.columns[at] for at in source.scalars]
    names = [column.name for column in scalars]
    columns = len(names) + len(source.vectors)
    evidence = [
        Evidence(
            score=name,
            counts=one,
            prior=asked.prior,
            strict=asked.strict,
            member_side=asked.side,
            seed=seed,
            ordered=column.kind != "string",
        )
        for name, one, column, seed in zip(
            names, counts.columns, scalars, counts.seeds, strict=True
        )
    ]
    evidence += _vectors(source, counts, asked)
    share = ErrorShare(
        confidence=asked.confidence, columns=_shares(evidence, asked) if asked.joint else columns
    )
    # Equal ones stand in the order of their names, not in that of the file.
    evidence.sort(key=lambda e: e.score)
    evidence.sort(
        key=lambda e: (e.lower(share.one_sided), e.held_out.value, e.plugin), reverse=True
    )
    metrics = gather_metrics(evidence, asked.judged.metrics)
    estimates = [
        row
        for one in evidence
        for row in (
            *_rows(one, share),
            *metric_rows(one.score, metrics, share),
            any_difference(one, asked.confidence),
        )
    ]
    judgement = judge(evidence, asked.judged.policy, asked.claim, asked.confidence, metrics, blind)
    if blind is not None:
        blind = replace(blind, excess=_excess(evidence, blind, share))
    judged = waive(judgement.checks, asked.judged.policy.waivers, waiver_day())
    checks = (*copy_checks(asked.judged.policy.max_copies, source.copies), *judged.checks)
    incomplete = bool(source.left_out)
    verdict = settled(
        reach_verdict(
            checks,
            judgement.claims,
            asked.judged.policy.on_inconclusive,
            incomplete=incomplete,
            assuming=asserted_words(blind),
        ),
        source.findings(),
    )
    design = _design(source, counts, asked, [one.score for one in evidence])
    advantages = defaultdict(list)
    for row in estimates:
        advantages[row.score].append(row)
    findings = [
        *source.told,
        *source.findings(),
        *size_findings(counts.n_members, counts.n_holdout),
        *findings_of(asked.judged.metrics, asked.min_recall),
        *judged.findings,
        *blind_findings(blind, 1 - asked.confidence),
        *limits_elsewhere("records", asked.judged.elsewhere),
        *prior_findings(
            asked.prior, [one.lower(share.one_sided) for one in evidence], judgement.claims
        ),
        *(
            finding
            for one in evidence
            for finding in (
                *_remarks(one, source),
                *crossing_findings(safe_name(one.score), one.score, advantages[one.score]),
            )
        ),
    ]
    mace_rows, mace_cells = _mace(counts.mace, names, asked)
    vector_mace_rows, mace_findings = _vector_mace(source, counts, asked)
    kernel_rows = _kernel(counts, names, share, asked)
    return Report(
        command="estimate",
        design=design,
        summary=led(
            findings,
            summary(
                design,
                estimates,
                judgement.claims,
                checks,
                verdict,
                blind="" if blind is None else blind_words(blind, asked.prior),
                incomplete=incomplete,
            ),
        ),
        estimates=(
            *estimates,
            *kernel_rows,
            *mace_rows,
            *published_rows(metrics, asked),
            *vector_mace_rows,
        ),
        claims=judgement.claims,
        policy=checks,
        verdict=verdict,
        findings=(*findings, *mace_findings),
        limitations=limitations(
            [*estimates, *kernel_rows],
            columns=columns,
            published=bool(mace_rows or vector_mace_rows) or counts.kernel is not None,
            blind=blind,
            strict_seed=asked.chosen_seed.origin if asked.strict else None,
            joint=asked.joint,
        ),
        provenance=provenance,
        mace_cells=mace_cells,
        curves=tuple(score_curves(one, share.one_sided) for one in evidence[:_MOST_CURVES]),
        blind=blind,
        copies=source.copies,
    )


def _shares(evidence: Sequence[Evidence], asked: EstimateOptions) -> int:
    """Return over how many pairs of limits `joint` shares the error."""
    metrics = len(asked.judged.metrics)
    return sum(pairs_of_limits(one) + metrics * (1 + len(one.classes)) for one in evidence)


def _excess(
    evidence: Sequence[Evidence], blind: Blind, share: ErrorShare
) -> tuple[ScoreExcess, ...]:
    """Return what of every score the records do not explain, the strongest score first."""
    from mipaudit.evidence.judgement.blind import score_excess

    return tuple(score_excess(one, blind, share.one_sided) for one in evidence)


def _vectors(source: AuditedInput, counts: Counts, asked: EstimateOptions) -> list[Evidence]:
    """Return the evidence of the scores of several numbers."""
    if not source.vectors:
        return []
    from mipaudit.commands.estimate.vector_evidence import vector_evidence_of

    return [*vector_evidence_of(source, counts, asked)]


def _rows(evidence: Evidence, share: ErrorShare) -> list[Estimate]:
    """Return every row of one score."""
    if not evidence.vectorial:
        return score_estimates(evidence, share)
    from mipaudit.evidence.vectors.rows import vector_estimates

    return vector_estimates(evidence, share)


def _remarks(evidence: Evidence, source: AuditedInput) -> list[Finding]:
    """Return what is unusual about one score."""
    name = safe_name(evidence.score)
    if not evidence.vectorial:
        infinite = source.infinite([evidence.score])
        return score_findings(name, evidence.counts, infinite, source.sentinels(evidence.score))
    from mipaudit.evidence.vectors.rows import vector_findings

    (vector,) = (one for one in source.vectors if one.name == evidence.score)
    coordinates = [source.columns[at].name for at in vector.coordinates]
    return vector_findings(name, evidence, source.infinite(coordinates))


def _vector_mace(
    source: AuditedInput, counts: Counts, asked: EstimateOptions
) -> tuple[list[Estimate], list[Finding]]:
    """Return the published estimator of every vector with its bias, if asked for."""
    if not counts.mace_vectors:
        return [], []
    from mipaudit.commands.estimate.vector_evidence import vector_mace

    return vector_mace(source, counts, asked)


def _design(
    source: AuditedInput, counts: Counts, asked: EstimateOptions, strongest_first: list[str]
) -> Design:
    return Design(
        n_members=counts.n_members,
        n_holdout=counts.n_holdout,
        prior=asked.prior,
        baseline=abs(2 * asked.prior - 1),
        confidence=asked.confidence,
        score_columns=tuple(strongest_first),
        member_column=source.member_column,
        skipped_columns=source.passed_over,
        joint=asked.joint,
    )


def _kernel(
    counts: Counts, names: list[str], share: ErrorShare, asked: EstimateOptions
) -> list[Estimate]:
    """Return the rows of the kernel densities, if asked for; they never decide anything."""
    if counts.kernel is None:
        return []
    from mipaudit.evidence.kernel import kernel_estimates

    return [
        row
        for name, column in zip(names, counts.kernel, strict=True)
        for row in kernel_estimates(name, column, share, prior=asked.prior, strict=asked.strict)
    ]


def _mace(
    counts: NDArray[np.int64] | None, names: list[str], asked: EstimateOptions
) -> tuple[list[Estimate], tuple[MaceCell, ...]]:
    """Return the published estimator's rows and cells; they never decide anything."""
    rows: list[Estimate] = []
    cells: list[MaceCell] = []
    if counts is None:
        return rows, ()
    for name, table in zip(names, counts, strict=True):
        occupied = table.sum(axis=1).nonzero()[0]
        members, holdout = table[occupied, 1], table[occupied, 0]
        result = mace_histogram(members, holdout, prior=asked.prior, delta=1 - asked.confidence)
        rows.append(
            Estimate(
                quantity="advantage",
                score=name,
                method=_MACE_METHOD,
                attackers="any",
                value=result.value,
                lower=result.value - result.half_width,
                upper=result.value + result.half_width,
                confidence=asked.confidence,
                plugin=result.value,
                selection="100 bins of equal width between the extremes of the same rows",
                validity="not-an-interval",
                n_members=int(members.sum()),
                n_holdout=int(holdout.sum()),
            )
        )
        cells.extend(
            MaceCell(
                score=name,
                cell=int(cell),
                members=int(x),
                holdout=int(y),
                risk=float(risk),
                lower=float(low),
                upper=float(high),
            )
            for cell, x, y, risk, low, high in zip(
                occupied,
                members,
                holdout,
                result.risk,
                result.risk_lower,
                result.risk_upper,
                strict=True,
            )
        )
    return rows, tuple(cells)
