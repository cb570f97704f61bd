"""From counts to the report: estimate every score, judge, and say it in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.api.counting import require_information
from mipaudit.audit.estimate import Estimate
from mipaudit.audit.evidence import Evidence
from mipaudit.audit.findings import crossing_findings, score_findings, size_findings
from mipaudit.audit.judgement import judge
from mipaudit.audit.table import ErrorShare, score_estimates
from mipaudit.audit.verdict import reach_verdict
from mipaudit.errors import UsageError
from mipaudit.maths.histogram import mace_histogram
from mipaudit.report.model import Design, MaceCell, Report
from mipaudit.report.names import safe_name
from mipaudit.report.narrative import limitations, summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.api.counting import Counts
    from mipaudit.api.terms import Terms
    from mipaudit.report.origin import Provenance
    from mipaudit.tables.source import ScoreSource

_MACE_METHOD = "MACE histogram, as published; not a valid interval for the advantage"


def audit(source: ScoreSource, counts: Counts, terms: Terms, provenance: Provenance) -> Report:
    """Return the report on counted scores, the strongest score first.

    Raises:
        InputError: every score is constant, or both classes hold the same scores.
    """
    require_information(counts)
    _require_order(source, terms)
    names = [column.name for column in source.columns]
    share = ErrorShare(confidence=terms.confidence, columns=len(names))
    evidence = [
        Evidence(
            score=name,
            counts=one,
            prior=terms.prior,
            strict=terms.strict,
            member_side=terms.member_side,
            seed=terms.seed,
            ordered=column.kind != "string",
        )
        for name, one, column in zip(names, counts.columns, source.columns, strict=True)
    ]
    evidence.sort(
        key=lambda e: (e.lower(share.one_sided), e.held_out.value, e.plugin), reverse=True
    )
    estimates = [row for one in evidence for row in score_estimates(one, share)]
    judgement = judge(evidence, terms.policy, terms.claim, terms.confidence)
    verdict = reach_verdict(judgement.checks, judgement.claims)
    design = _design(source, counts, terms, [one.score for one in evidence])
    findings = [
        *source.findings(),
        *size_findings(counts.n_members, counts.n_holdout),
        *(
            finding
            for one in evidence
            for finding in (
                *score_findings(safe_name(one.score), one.counts),
                *crossing_findings(safe_name(one.score), one.score, estimates),
            )
        ),
    ]
    mace_rows, mace_cells = _mace(counts.mace, names, terms)
    return Report(
        command="estimate",
        design=design,
        summary=summary(design, estimates, judgement.claims, verdict),
        estimates=(*estimates, *mace_rows),
        claims=judgement.claims,
        policy=judgement.checks,
        verdict=verdict,
        findings=tuple(findings),
        limitations=limitations(estimates, columns=len(names), published=counts.mace is not None),
        provenance=provenance,
        mace_cells=mace_cells,
    )


def _require_order(source: ScoreSource, terms: Terms) -> None:
    """Labels have no order, so no threshold or interval makes sense on them."""
    policy = terms.policy
    asks = policy.max_tpr_at_fpr is not None or policy.against not in {None, "any"}
    for column in source.columns:
        if asks and column.kind == "string":
            raise UsageError(
                "no_order",
                f"Column '{safe_name(column.name)}' holds labels, which have no order: a limit on "
                "TPR at an FPR, or on attackers with thresholds, cannot be judged on it.",
                hint="Use --max-advantage with --against any, or name another --score-col.",
            )


def _design(
    source: ScoreSource, counts: Counts, terms: Terms, strongest_first: list[str]
) -> Design:
    return Design(
        n_members=counts.n_members,
        n_holdout=counts.n_holdout,
        prior=terms.prior,
        baseline=abs(2 * terms.prior - 1),
        confidence=terms.confidence,
        score_columns=tuple(strongest_first),
        member_column=source.member_column,
        skipped_columns=tuple(name for name, _ in source.skipped),
    )


def _mace(
    counts: NDArray[np.int64] | None, names: list[str], terms: Terms
) -> tuple[list[Estimate], tuple[MaceCell, ...]]:
    """Return the published estimator's rows and cells; they never decide anything."""
    rows: list[Estimate] = []
    cells: list[MaceCell] = []
    if counts is None:
        return rows, ()
    for name, table in zip(names, counts, strict=True):
        occupied = table.sum(axis=1).nonzero()[0]
        members, holdout = table[occupied, 1], table[occupied, 0]
        result = mace_histogram(members, holdout, prior=terms.prior, delta=1 - terms.confidence)
        rows.append(
            Estimate(
                quantity="advantage",
                score=name,
                method=_MACE_METHOD,
                attackers="any",
                value=result.value,
                lower=result.value - result.half_width,
                upper=result.value + result.half_width,
                confidence=terms.confidence,
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
