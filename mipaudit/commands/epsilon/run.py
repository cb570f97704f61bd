"""``mipaudit epsilon``: the largest epsilon that the data refute.

The report, and the file with epsilon at many deltas beside it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.epsilon.answer import EpsilonEvidence, epsilon_report
from mipaudit.commands.epsilon.options import EpsilonOptions, EpsilonShown
from mipaudit.commands.epsilon.report import EpsilonDesign, EpsilonReport
from mipaudit.options.public import public
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.one_run.limit import OneRun
    from mipaudit.data.source import ScoreSource
    from mipaudit.model.row import Row
    from mipaudit.summaries.seed import SeedChoice

_FORMS: Final = (".csv", ".json")
_COLUMNS: Final = ("score", "delta", "lower", "estimate")


def answer_epsilon(asked: EpsilonOptions) -> EpsilonReport:
    """Return a lower confidence limit on epsilon at delta, by the design of the audit.

    Scores, or counts in their place: ``tp``, ``fn``, ``fp``, ``tn`` of independent runs, or
    ``canaries``, ``guesses``, ``correct`` of one run.

    Raises:
        UsageError: no design, or a setting is wrong or does nothing.
        InputError: the input cannot be audited as it is.
    """
    curve = asked.named_curve
    read = () if curve is None or curve.source is None else (curve.source,)
    if asked.counted:
        seed, inputs, found = asked.chosen_seed, read, _from_counts(asked)
    else:
        from mipaudit.counting.scores import settle_seed
        from mipaudit.data.opening import open_input
        from mipaudit.data.request import read_request

        request = read_request(asked, seed=asked.chosen_seed, run_column=asked.run_col)
        with open_input(asked.data, asked.members, asked.holdout, request) as source:
            seed = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
            found = _from_scores(source, asked, seed)
            source.opened.check_unchanged()
            inputs = (*source.inputs(hash_all=asked.hash_inputs), *read)
    from mipaudit.statements.provenance import provenance

    return epsilon_report(
        asked,
        found,
        provenance(
            seed=seed,
            inputs=inputs,
            settings=asked.recorded(),
            seeds=found.seeds,
            unused_columns=found.unused_columns,
        ),
    )


def _from_counts(asked: EpsilonOptions) -> EpsilonEvidence:
    design = _design(asked)
    if asked.totals is not None:
        from mipaudit.commands.epsilon.one_run.limit import runs_from_totals

        return _one_run(runs_from_totals(asked.totals, asked), asked, design)
    from mipaudit.commands.epsilon.independent_runs.counted import (
        counts_refute_curve,
        counts_statements,
    )

    table, curve = asked.table, asked.tradeoff
    assert table is not None  # noqa: S101 - the caller chose counts
    return EpsilonEvidence(
        design=replace(design, n_members=table.tp + table.fn, n_holdout=table.fp + table.tn),
        statements=counts_statements(table, asked),
        curve_refuted=curve is not None
        and counts_refute_curve(table, curve, confidence=asked.confidence),
    )


def _from_scores(source: ScoreSource, asked: EpsilonOptions, seed: SeedChoice) -> EpsilonEvidence:
    from mipaudit.commands.epsilon.inputs import input_findings, read_scores

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
    if asked.kind == "one-run":
        from mipaudit.commands.epsilon.one_run.limit import runs_from_scores

        found = _one_run(runs_from_scores(rows, asked), asked, design)
        return replace(
            found, findings=(*found.findings, *findings), seeds=seeds, unused_columns=source.unused
        )
    from mipaudit.commands.epsilon.independent_runs import limit

    statements = limit.runs_statements(rows, asked)
    if asked.kind == "one-model":
        trials = (replace(one, validity="if-exchangeable", decides=False) for one in statements)
        statements = (*limit.advantage_statements(source, asked, seed), *trials)
    return EpsilonEvidence(
        design=design,
        statements=statements,
        columns=len(rows.names),
        curve_refuted=limit.curve_is_refuted(rows, asked),
        profile=limit.runs_profile(rows, asked) if asked.curve else None,
        findings=findings,
        seeds=seeds,
        unused_columns=source.unused,
    )


def _one_run(
    runs: tuple[OneRun, ...], asked: EpsilonOptions, design: EpsilonDesign
) -> EpsilonEvidence:
    from mipaudit.commands.epsilon.one_run import limit
    from mipaudit.commands.epsilon.one_run.guesses import coin_findings

    coin, statements = runs[0].coin, limit.one_run_statements(runs, asked)
    of_coin = coin_findings(coin) if coin else ()
    return EpsilonEvidence(
        design=design,
        statements=statements,
        columns=len(runs),
        p_value=limit.claim_p_value(runs, asked),
        coin=coin,
        findings=(*of_coin, *limit.power_findings(statements[0], asked.delta)),
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


def run_epsilon(asked: EpsilonOptions, shown: EpsilonShown) -> int:
    """Run the audit and write its report; return the exit code."""
    from mipaudit.output.destination import Destination, beside, require_apart
    from mipaudit.output.presentation import write_report

    inputs = list(asked.inputs())
    curve = beside("curve", shown.curve, _FORMS, inputs=inputs)
    if curve is None:
        return write_report(asked, shown, answer_epsilon)
    report_place = Destination.open(shown.output, inputs=inputs)
    require_apart({"output": ("the report", report_place), "curve": ("the curve", curve)})

    def answer(asked: EpsilonOptions) -> EpsilonReport:
        report = answer_epsilon(asked)
        curve.write(encode_profile(report.profile or (), curve.form))
        return replace(report, profile=None)  # it has a file of its own

    return write_report(asked.but(curve=True), shown, answer, ("the curve", curve))


def encode_profile(points: Sequence[Row], form: str) -> bytes:
    """Return the points in a form.

    Args:
        points: by score, of rising delta.
        form: ``csv``: one row per point with the columns score, delta, lower, estimate;
            or ``json``: a list of objects with these keys.
    """
    numbers = ((one.score, one.delta, one.lower, one.value) for one in points)
    rows = [dict(zip(_COLUMNS, one, strict=True)) for one in numbers]
    if form == "json":
        return json.dumps(rows, indent=1, allow_nan=False).encode("ascii") + b"\n"
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")


epsilon = public(EpsilonOptions, answer_epsilon)
