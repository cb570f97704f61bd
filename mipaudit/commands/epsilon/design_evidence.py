"""From scores or counts to what one design shows about epsilon."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mipaudit.commands.epsilon.report import EpsilonDesign
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mipaudit.commands.epsilon.canaries.scores import Runs
    from mipaudit.commands.epsilon.question import EpsilonQuestion
    from mipaudit.commands.epsilon.report import CoinCheck, EpsilonStatement, ProfilePoint
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.statements.estimate import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class EpsilonEvidence:
    """What was found.

    Attributes:
        design: sizes and columns.
        statements: in the order of the columns.
        columns: limits that share the error, at least 1.
        p_value: of the claim, for one run.
        curve_refuted: whether independent runs refute the claimed mu or trade-off curve.
        coin: for one run from scores.
        profile: if asked for.
        findings: about the input.
        seeds: in use, by score.
        unused_columns: of the input, on which nothing depends.
    """

    design: EpsilonDesign
    statements: tuple[EpsilonStatement, ...]
    columns: int = 1
    p_value: float | None = None
    curve_refuted: bool = False
    coin: CoinCheck | None = None
    profile: tuple[ProfilePoint, ...] | None = None
    findings: tuple[Finding, ...] = ()
    seeds: Mapping[str | None, int] = field(default_factory=dict)
    unused_columns: tuple[str, ...] = ()


def evidence_from_counts(question: EpsilonQuestion) -> EpsilonEvidence:
    """Return what counts show.

    Raises:
        UsageError: counts that cannot be.
    """
    design = _design(question)
    if question.totals is not None:
        from mipaudit.commands.epsilon.canaries.scores import runs_from_totals

        return _one_run(runs_from_totals(question.totals, question), question, design)
    from mipaudit.commands.epsilon.counts.counts import (
        counts_statements,
        curve_is_refuted_by_counts,
    )

    table = question.table
    assert table is not None  # noqa: S101 - the caller chose counts
    return EpsilonEvidence(
        design=replace(design, n_members=table.tp + table.fn, n_holdout=table.fp + table.tn),
        statements=counts_statements(table, question),
        curve_refuted=curve_is_refuted_by_counts(table, question),
    )


def evidence_from_scores(
    source: ScoreSource,
    question: EpsilonQuestion,
    *,
    jobs: int | None,
    progress: Callable[[int, int | None], None] | None,
) -> EpsilonEvidence:
    """Return what scores show.

    Args:
        source: the opened input.
        question: what is asked.
        jobs: number of threads; None for the processors at hand.
        progress: called with (rows done, rows in all or None).

    Raises:
        InputError: the input cannot be audited as it is.
        UsageError: a setting does not fit the input.
    """
    from mipaudit.commands.epsilon.inputs import input_findings, read_scores
    from mipaudit.commands.epsilon.runs.scores import (
        curve_is_refuted,
        runs_profile,
        runs_statements,
    )

    one_run = question.design == "one-run"
    rows = read_scores(
        source,
        question.seed,
        ids=one_run,
        by_runs=question.by_runs,
        jobs=jobs,
        progress=progress,
    )
    design = replace(
        _design(question),
        n_members=rows.members.size,
        n_holdout=rows.holdout.size,
        score_columns=tuple(safe_name(name) for name in rows.names),
        member_column=None if source.member_column is None else safe_name(source.member_column),
        skipped_columns=tuple(safe_name(name) for name in source.passed_over),
        runs=rows.runs if rows.runs != 1 else None,
    )
    findings = input_findings(source, rows, question.design)
    seeds: dict[str | None, int] = dict(zip(rows.names, rows.seeds, strict=True))
    if one_run:
        from mipaudit.commands.epsilon.canaries.scores import runs_from_scores

        found = _one_run(runs_from_scores(rows, question), question, design)
        return replace(
            found,
            findings=(*found.findings, *findings),
            seeds=seeds,
            unused_columns=source.unused,
        )
    statements = runs_statements(rows, question)
    if question.design == "one-model":
        from mipaudit.commands.epsilon.counts.one_model import advantage_statements, hypothetical

        implied = advantage_statements(source, question, jobs=jobs)
        statements = (*implied, *hypothetical(statements))
    return EpsilonEvidence(
        design=design,
        statements=statements,
        columns=len(rows.names),
        curve_refuted=curve_is_refuted(rows, question),
        profile=runs_profile(rows, question) if question.profile else None,
        findings=findings,
        seeds=seeds,
        unused_columns=source.unused,
    )


def _one_run(runs: Runs, question: EpsilonQuestion, design: EpsilonDesign) -> EpsilonEvidence:
    from mipaudit.commands.epsilon.canaries.scores import (
        claim_p_value,
        coin_of,
        one_run_statements,
        power_findings,
    )

    coin = runs[0][1].coin
    return EpsilonEvidence(
        design=design,
        statements=one_run_statements(runs, question),
        columns=len(runs),
        p_value=claim_p_value(runs, question),
        coin=coin_of(runs),
        findings=(*(() if coin is None else coin.findings), *power_findings(runs, question)),
    )


def _design(question: EpsilonQuestion) -> EpsilonDesign:
    return EpsilonDesign(
        kind=question.design,
        n_members=None,
        n_holdout=None,
        delta=question.delta,
        confidence=question.confidence,
        score_columns=(),
        member_column=None,
        skipped_columns=(),
    )
