"""From scores or counts to what one design shows about epsilon."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mipaudit.commands.epsilon.report import EpsilonDesign
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.commands.epsilon.canaries.limit import OneRun
    from mipaudit.commands.epsilon.options import EpsilonOptions
    from mipaudit.commands.epsilon.report import CoinCheck, EpsilonStatement, ProfilePoint
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.statements.estimate import Finding
    from mipaudit.summaries.identity.seed import SeedChoice


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


def evidence_from_counts(asked: EpsilonOptions) -> EpsilonEvidence:
    """Return what counts show.

    Raises:
        UsageError: counts that cannot be.
    """
    design = _design(asked)
    if asked.totals is not None:
        from mipaudit.commands.epsilon.canaries.limit import runs_from_totals

        return _one_run(runs_from_totals(asked.totals, asked), asked, design)
    from mipaudit.commands.epsilon.runs.counted import counts_statements, curve_is_refuted_by_counts

    table = asked.table
    assert table is not None  # noqa: S101 - the caller chose counts
    return EpsilonEvidence(
        design=replace(design, n_members=table.tp + table.fn, n_holdout=table.fp + table.tn),
        statements=counts_statements(table, asked),
        curve_refuted=curve_is_refuted_by_counts(table, asked),
    )


def evidence_from_scores(
    source: ScoreSource,
    asked: EpsilonOptions,
    seed: SeedChoice,
) -> EpsilonEvidence:
    """Return what scores show.

    Args:
        source: the opened input.
        asked: what is asked.
        seed: settled for it.

    Raises:
        InputError: the input cannot be audited as it is.
        UsageError: a setting does not fit the input.
    """
    from mipaudit.commands.epsilon.inputs import input_findings, read_scores
    from mipaudit.commands.epsilon.runs.limit import curve_is_refuted, runs_profile, runs_statements

    one_run = asked.kind == "one-run"
    rows = read_scores(source, asked, seed)
    design = replace(
        _design(asked),
        n_members=rows.members.size,
        n_holdout=rows.holdout.size,
        score_columns=tuple(safe_name(name) for name in rows.names),
        member_column=None if source.member_column is None else safe_name(source.member_column),
        skipped_columns=tuple(safe_name(name) for name in source.passed_over),
        runs=rows.runs if rows.runs != 1 else None,
    )
    findings = input_findings(source, rows, asked.kind)
    seeds: dict[str | None, int] = dict(zip(rows.names, rows.seeds, strict=True))
    if one_run:
        from mipaudit.commands.epsilon.canaries.limit import runs_from_scores

        found = _one_run(runs_from_scores(rows, asked), asked, design)
        return replace(
            found,
            findings=(*found.findings, *findings),
            seeds=seeds,
            unused_columns=source.unused,
        )
    statements = runs_statements(rows, asked)
    if asked.kind == "one-model":
        from mipaudit.commands.epsilon.runs.limit import advantage_statements, hypothetical

        implied = advantage_statements(source, asked, seed)
        statements = (*implied, *hypothetical(statements))
    return EpsilonEvidence(
        design=design,
        statements=statements,
        columns=len(rows.names),
        curve_refuted=curve_is_refuted(rows, asked),
        profile=runs_profile(rows, asked) if asked.curve else None,
        findings=findings,
        seeds=seeds,
        unused_columns=source.unused,
    )


def _one_run(
    runs: tuple[OneRun, ...], asked: EpsilonOptions, design: EpsilonDesign
) -> EpsilonEvidence:
    from mipaudit.commands.epsilon.canaries.guesses import coin_findings
    from mipaudit.commands.epsilon.canaries.limit import (
        claim_p_value,
        one_run_statements,
        power_findings,
    )

    coin, statements = runs[0].coin, one_run_statements(runs, asked)
    return EpsilonEvidence(
        design=design,
        statements=statements,
        columns=len(runs),
        p_value=claim_p_value(runs, asked),
        coin=coin,
        findings=(
            *(coin_findings(coin) if coin else ()),
            *power_findings(statements[0], asked.delta),
        ),
    )


def _design(asked: EpsilonOptions) -> EpsilonDesign:
    return EpsilonDesign(
        kind=asked.kind,
        n_members=None,
        n_holdout=None,
        delta=asked.delta,
        confidence=asked.confidence,
        score_columns=(),
        member_column=None,
        skipped_columns=(),
    )
