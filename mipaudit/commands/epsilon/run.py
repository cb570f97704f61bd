"""``mipaudit epsilon``: the largest epsilon that the data refute.

The report, and the file with epsilon at many deltas beside it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.epsilon.options import EpsilonOptions, EpsilonShown
from mipaudit.commands.epsilon.report import (
    ClaimStatus,
    ClaimVerdict,
    CoinCheck,
    DetectionPower,
    EpsilonDesign,
    EpsilonReport,
    EpsilonRow,
)
from mipaudit.model.message import Finding, Message
from mipaudit.options.public import public
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from mipaudit.commands.epsilon.one_run import OneRun
    from mipaudit.data.source import ScoreSource
    from mipaudit.model.row import Row
    from mipaudit.summaries.seed import SeedChoice

_FORMS: Final = (".csv", ".json")
_COLUMNS: Final = ("score", "delta", "lower", "estimate")
# Why a claim is as it is, where that depends on no more.
_REASONS: Final = {"refuted": "not_as_claimed", "not_refuted": "nothing_against_claim"}
_UNTESTED: Final = {"one-run": "coins_test_nothing", "one-model": "one_model_tests_nothing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What was found.

    Attributes:
        design: sizes and columns.
        statements: in the order of the columns.
        p_value: of the claim, for one run.
        curve_refuted: whether independent runs refute the claimed mu or trade-off curve.
        coin: for one run from scores.
        profile: if asked for.
        findings: about the input.
        seeds: in use, by score.
        unused_columns: of the input, on which nothing depends.
    """

    design: EpsilonDesign
    statements: tuple[EpsilonRow, ...]
    p_value: float | None = None
    curve_refuted: bool = False
    coin: CoinCheck | None = None
    profile: tuple[Row, ...] | None = None
    findings: tuple[Finding, ...] = ()
    seeds: Mapping[str | None, int] = field(default_factory=dict)
    unused_columns: tuple[str, ...] = ()


def answer_epsilon(asked: EpsilonOptions) -> EpsilonReport:
    """Return a lower confidence limit on epsilon at delta, by the design of the audit.

    Give scores, or counts instead: ``tp``, ``fn``, ``fp``, ``tn`` of independent runs, or
    ``canaries``, ``guesses``, ``correct`` of one run.

    Raises:
        UsageError: no design, or a setting is wrong or does nothing.
        InputError: the input cannot be audited as it is.
    """
    file = None if asked.curve_read is None else asked.curve_read[2]
    read = () if file is None else (file,)
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

    statements = _ordered(found.statements, certifies=asked.kind != "one-model")
    claim = _verdict(asked, found, statements[0])
    return EpsilonReport(
        command="epsilon",
        design=found.design,
        statements=statements,
        claim=claim,
        coin=found.coin,
        profile=found.profile,
        rests_on=_rests_on(asked, found.design, statements[0].method),
        findings=found.findings,
        limitations=_limitations(found, claim),
        provenance=provenance(
            seed=seed,
            inputs=inputs,
            settings=asked.recorded(),
            seeds=found.seeds,
            unused_columns=found.unused_columns,
        ),
    )


def _from_counts(asked: EpsilonOptions) -> _Found:
    design = EpsilonDesign(
        kind=asked.kind,
        n_members=None,
        n_holdout=None,
        delta=asked.delta,
        confidence=asked.confidence,
        score_columns=(),
        member_column=None,
        skipped_columns=(),
    )
    counts, curve = asked.table, asked.tradeoff
    if counts is None:
        from mipaudit.commands.epsilon.one_run import one_run_from_counts

        assert asked.totals is not None  # noqa: S101 - there are counts, and no others
        canaries, guesses, correct = asked.totals
        run = one_run_from_counts(
            canaries=canaries, guesses=guesses, correct=correct, inclusion_rate=asked.inclusion_rate
        )
        return _one_run((run,), asked, design)
    from mipaudit.commands.epsilon.independent_runs import counts_refute_curve, counts_statements

    return _Found(
        design=replace(design, n_members=counts.n_members, n_holdout=counts.n_holdout),
        statements=counts_statements(counts, asked),
        curve_refuted=curve is not None
        and counts_refute_curve(counts, curve, confidence=asked.confidence),
    )


def _from_scores(source: ScoreSource, asked: EpsilonOptions, seed: SeedChoice) -> _Found:
    from mipaudit.commands.epsilon.inputs import input_findings, read_scores

    rows = read_scores(source, asked, seed)
    design = EpsilonDesign(
        kind=asked.kind,
        n_members=rows.members.size,
        n_holdout=rows.holdout.size,
        delta=asked.delta,
        confidence=asked.confidence,
        score_columns=tuple(safe_name(name) for name in rows.names),
        member_column=None if source.member_column is None else safe_name(source.member_column),
        skipped_columns=tuple(safe_name(name) for name in source.passed_over),
        runs=rows.runs if rows.runs != 1 else None,
    )
    if asked.kind == "one-run":
        from mipaudit.commands.epsilon.one_run import runs_from_scores

        found = _one_run(runs_from_scores(rows, asked), asked, design)
    else:
        from mipaudit.commands.epsilon import independent_runs as runs

        statements = runs.runs_statements(rows, asked)
        if asked.kind == "one-model":
            trials = (replace(one, validity="if-exchangeable") for one in statements)
            statements = (*runs.advantage_statements(source, asked, seed), *trials)
        found = _Found(
            design=design,
            statements=statements,
            curve_refuted=runs.curve_is_refuted(rows, asked),
            profile=runs.runs_profile(rows, asked) if asked.curve else None,
        )
    return replace(
        found,
        findings=(*found.findings, *input_findings(source, rows, asked.kind)),
        seeds=dict(zip(rows.names, rows.seeds, strict=True)),
        unused_columns=source.unused,
    )


def _one_run(runs: tuple[OneRun, ...], asked: EpsilonOptions, design: EpsilonDesign) -> _Found:
    from mipaudit.commands.epsilon import one_run
    from mipaudit.commands.epsilon.guesses import coin_findings

    coin, statements = runs[0].coin, one_run.one_run_statements(runs, asked)
    of_coin = coin_findings(coin) if coin else ()
    return _Found(
        design=design,
        statements=statements,
        p_value=one_run.claim_p_value(runs, asked),
        coin=coin,
        findings=(*of_coin, *one_run.power_findings(statements[0], asked.delta)),
    )


def _ordered(statements: Sequence[EpsilonRow], *, certifies: bool) -> tuple[EpsilonRow, ...]:
    """Put the limits of each method from the greatest down; the first decides if any does."""
    methods = list(dict.fromkeys(one.method for one in statements))
    ordered = sorted(statements, key=lambda one: (methods.index(one.method), -(one.lower or 0.0)))
    first = methods[0] if certifies else None
    standing = [
        one.worth or Message("decides" if one.method == first else "beside_it") for one in ordered
    ]
    if len(set(standing)) == 1:
        return tuple(ordered)
    return tuple(replace(one, standing=of) for one, of in zip(ordered, standing, strict=True))


def _verdict(asked: EpsilonOptions, found: _Found, top: EpsilonRow) -> ClaimVerdict | None:
    claimed, mu = asked.claimed_epsilon, asked.claimed_mu
    curve = None if asked.curve_read is None else asked.curve_read[0]
    if curve is not None:
        what = Message.of("claimed_curve", curve=curve)
    elif claimed is not None:
        what = Message.of("claimed_epsilon", epsilon=claimed, delta=asked.delta)
    elif mu is not None:
        what = Message.of("claimed_mu", mu=mu)
    else:
        return None
    status = _status(asked, found, top)
    # Whole curves are tested without the assumption that a limit of epsilon may rest on.
    of_top = claimed is not None or top.validity == "if-fair-coins"
    power: tuple[DetectionPower, ...] = ()
    if claimed is not None and status != "not_certifiable":
        from mipaudit.commands.epsilon.power import detection_power

        power = detection_power(asked, top, columns=max(1, len(found.design.score_columns)))
    return ClaimVerdict(
        epsilon=claimed,
        mu=mu,
        curve=curve,
        status=status,
        p_value=found.p_value,
        reason=Message.of(
            _REASONS.get(status) or _UNTESTED[asked.kind],
            claimed=what,
            worth=top.worth if of_top and status == "refuted" else None,
            confidence=asked.confidence,
        ),
        power=power,
    )


def _status(asked: EpsilonOptions, found: _Found, top: EpsilonRow) -> ClaimStatus:
    if asked.kind == "one-model" or (found.coin is not None and found.coin.ruled_out):
        return "not_certifiable"
    if asked.claimed_epsilon is not None:
        refuted = (top.lower or 0.0) > asked.claimed_epsilon
    elif asked.kind == "one-run":
        refuted = found.p_value is not None and found.p_value <= 1 - asked.confidence
    else:
        refuted = found.curve_refuted
    return "refuted" if refuted else "not_refuted"


def _rests_on(asked: EpsilonOptions, design: EpsilonDesign, method: str) -> tuple[Message, ...]:
    """Return the assumptions of the deciding limit, which is by a method."""
    rate, of_counts = asked.inclusion_rate, asked.counted
    if design.kind == "one-run":
        coins = "coins_fair" if of_counts else "coins_unstated"
        code = coins if rate is None else "coins_stated"
        coin = Message.of(code, runs=design.runs, rate=rate)
        return coin, Message("guesses_blind"), Message("neighbours_of_canaries")
    if design.kind == "one-model":
        return Message("one_model_certifies_nothing"), Message("as_if_trials")
    every = "every_size" if of_counts else "all_rows_judged"
    codes = ["runs_alike", *["attack_was_fixed"] * of_counts]
    codes += ["taken_for_gaussian" if method == "gdp" else every, "neighbours_of_runs"]
    return tuple(map(Message, codes))


def _limitations(found: _Found, claim: ClaimVerdict | None) -> tuple[Message, ...]:
    """Return what the figures do not say."""
    kind = found.design.kind
    methods = {s.method for s in found.statements}
    said = {
        "epsilon_lower": kind != "one-model",
        "epsilon_one_run": kind == "one-run",
        "epsilon_estimate": any(s.value is not None for s in found.statements),
        "epsilon_not_joint": len(methods) > 1 and kind != "one-model",
        "epsilon_keep_best": bool(found.design.score_columns),
        "epsilon_profile": found.profile is not None,
        "epsilon_power": claim is not None and bool(claim.power),
    }
    return tuple(Message(code) for code, holds in said.items() if holds)


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
    numbers = [(one.score, one.delta, one.lower, one.value) for one in points]
    if form == "json":
        rows = [dict(zip(_COLUMNS, one, strict=True)) for one in numbers]
        return json.dumps(rows, indent=1, allow_nan=False).encode("ascii") + b"\n"
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_COLUMNS, *numbers])
    return text.getvalue().encode("utf-8")


epsilon = public(EpsilonOptions, answer_epsilon)
