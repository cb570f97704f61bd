"""``mipaudit render``: a report in another form, or judged by other limits, without the data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from mipaudit.cli.policy_file import read_config
from mipaudit.cli.settings import of_file
from mipaudit.commands.estimate.report import Report
from mipaudit.commands.render.forms import (
    ExchangeForm,
    ExchangeName,
    exchange_form,
    exchanged,
    stored_report,
)
from mipaudit.commands.render.options import RejudgeOptions, RenderShown
from mipaudit.errors import UsageError, bad_report
from mipaudit.evidence.judgement import policy_on_scores
from mipaudit.evidence.judgement.blind import make_allowance
from mipaudit.maths.metrics.names import LEAST_RECALL
from mipaudit.options.checked_limits import limits_elsewhere
from mipaudit.options.declare import declared
from mipaudit.options.game import several
from mipaudit.options.public import public, recorded_value
from mipaudit.options.scores import listed
from mipaudit.options.shown import form_of
from mipaudit.options.values import one_of, require
from mipaudit.output.destination import Destination
from mipaudit.output.presentation import deliver
from mipaudit.output.stored_report import foreign, read_report
from mipaudit.report.forms import Form, report_as
from mipaudit.statements.provenance import TIME_FORM, Setting, moment, plain_value
from mipaudit.statements.verdict import PARTS_SKIPPED, REJUDGED, UNMATCHED, Rejudged, decide

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.report.exchange.stored import Stored
    from mipaudit.statements.any_report import AnyReport
    from mipaudit.statements.design import Design

# Findings about the policy that is replaced.
_POLICY_CODES: Final = frozenset({UNMATCHED, "waiver_not_needed", "limits_elsewhere"})


def render_report(
    report: Any,  # noqa: ANN401 - a path, bytes, or a report
    *,
    format: Literal["json"] | Form | ExchangeName = "html",  # noqa: A002
    subject: Any = (),  # noqa: ANN401 - a path or several
) -> str:
    """Return a report of any command in another form: what ``mipaudit render`` writes.

    Args:
        report: a path, ``"-"`` for standard input, the bytes of a JSON report, or what a
            command returned.
        format: the form. (The table of the command line is for terminals, and not available here.)
        subject: the released files that a statement (``in-toto``) names: a path, or several.

    Raises:
        UsageError: there is no such form, or not for this report.
        InputError: a file cannot be read, or holds no report.
    """
    one_of("format", format, ("json", *get_args(Form), *get_args(ExchangeName)))
    if format == "json":
        from mipaudit.report.codec import to_json

        return to_json(read_report(report)).decode()
    form = exchange_form(format)
    with foreign(report):
        if form is None:
            return report_as(read_report(report), cast("Form", format))
        found = stored_report(report, several(subject))
        return exchanged(form, found, (), found.report)


def answer_rejudge(asked: RejudgeOptions) -> Report:
    """Return a report of ``estimate`` with the verdict of other limits, without the data.

    Only the figures in the report are used: a limit on a quantity that it lacks is refused. The new
    limits replace the old ones. A claim stays as it was judged. With q limits, the verdict holds
    with confidence 1 - q (1 - confidence), and the report says so.

    Raises:
        UsageError: a limit is out of its range or on a quantity that the report lacks, no limit is
            given, or the report is not of ``estimate``.
        InputError: the file cannot be read, or holds no report.
    """
    with foreign(asked.report):
        report = read_report(asked.report)
        if not isinstance(report, Report):
            raise UsageError(
                "not_an_estimate",
                f"A report of {report.command} cannot be judged again: only reports of estimate "
                "have the limits of a policy.",
                "Leave the limits out to write it in another form.",
            )
        _require_meant(report.design, asked)
        return _rejudged(report, asked)


def _require_meant(design: Design, asked: RejudgeOptions) -> None:
    """Refuse a report at another prior than the limits are meant for, or of less confidence."""
    require(
        asked.prior in {None, design.prior},
        "not_in_report",
        f"The report is for prior {design.prior:g}, so limits for another prior cannot be judged.",
        "Audit the scores at that prior: mipaudit estimate SCORES --prior P.",
    )
    require(
        asked.confidence is None or asked.confidence <= design.confidence,
        "not_in_report",
        f"The report's limits hold with confidence {design.confidence:g}, and you ask for more.",
        "Audit the scores at that confidence: mipaudit estimate SCORES --confidence C.",
    )


def _rejudged(report: Report, asked: RejudgeOptions) -> Report:
    """Return the report with the verdict of other limits; what is left out is not limited."""
    design = report.design
    least = _recorded(report, "min_recall")
    judged = asked.policy_at(design.prior, LEAST_RECALL if least is None else least)
    limits = judged.policy
    count = len(limits.every_limit)
    require(
        count > 0 or limits.max_copies is not None,
        "no_limit",
        "There is no limit to judge by.",
        "Give `max_advantage`, `max_eta`, `max_tpr_at_fpr`, `max_metric`, `max_copies` or "
        "`policy`.",
    )
    named = design.score_columns
    if not named or {row.score for row in report.estimates} - set(named):
        raise bad_report(
            "The report contradicts itself: its score columns and its figures do not match."
        )
    allowance = None
    if report.blind is not None:
        # Its limit is one limit more than those of the policy: it has an error of its own.
        allowance, _ = make_allowance(report.blind, (1 - design.confidence) / 2)
    estimated = allowance is not None and not allowance.asserted
    count += bool(report.claims) + estimated
    how = Rejudged(
        limits=count,
        confidence=policy_on_scores.verdict_confidence(design.confidence, count),
        settings=asked.recorded(),
        created=moment().strftime(TIME_FORM),
    )
    stored = policy_on_scores.Stored(
        estimates=report.estimates,
        scores=named,
        prior=design.prior,
        side_given=_recorded(report, "member_side") in {"high", "low"},
        allowance=allowance,
    )
    found = decide(
        limits,
        policy_on_scores.judge_stored(stored, limits),
        report.findings,
        report.copies,
        claims=report.claims,
        incomplete=any(one.code == PARTS_SKIPPED for one in report.findings),
        assuming=None if report.blind is None else report.blind.asserted,
    )
    kept = (one for one in report.limitations if one.code != REJUDGED)
    return replace(
        report,
        policy=found.checks,
        verdict=found.verdict,
        findings=(
            *(one for one in found.told if one.code not in _POLICY_CODES),
            *found.remarks,
            *limits_elsewhere("records", judged.elsewhere),
        ),
        limitations=(*kept, how.limitation),
        rejudged=how,
    )


def _recorded(report: AnyReport, name: str) -> Any:  # noqa: ANN401 - whatever the setting takes
    return recorded_value(report.provenance.settings, "estimate", name)


rejudge = public(RejudgeOptions, answer_rejudge)


# What would have made an audit of other records or scores, with other limits or another verdict.
_AUDIT: Final = (
    *("score_col", "member_col", "member_value", "where", "unit_col", "unit_rows"),
    *("rows_are", "nan", "method", "min_recall", "discrete", "member_side"),
    *("claimed_epsilon", "delta", "adjacency", "strict"),
)


def run_render(asked: RejudgeOptions, shown: RenderShown) -> int:
    """Read the report, perhaps judge it again, and write it; return its exit code."""
    limits, audit = _limits(asked, shown.policy)
    destination = Destination.open(
        shown.output, inputs=(*asked.inputs(), shown.policy, *shown.inputs()), sha256=shown.sha256
    )
    form, make = shown.exchange, None
    with foreign(asked.report, *shown.others):
        if form is None:
            found = _judged(limits, audit)
        else:
            given, layout = _stored(form, limits, shown), form_of(shown.output or "") or "table"
            others = tuple(map(stored_report, shown.others))
            of_annex = () if shown.annex is None else (shown.annex, others, layout)
            found, make = given.report, partial(exchanged, form, given, of_annex)
        return deliver(found, shown, destination, make=make)


def _limits(asked: RejudgeOptions, policy: str | None) -> tuple[RejudgeOptions, dict[str, object]]:
    """Return what was typed, and for the rest what a policy file says.

    It gives a report that is there already what ``estimate`` would take from it.

    Args:
        asked: as it was typed.
        policy: the file, or None.

    Returns:
        The limits, recorded with where each came from, of which there are none where nothing
        was; and what the file says of the audit itself, which the report must have been made
        with.

    Raises:
        UsageError: ``config``: the file cannot be read, or says what it may not.
    """
    settings = [one for one in asked.recorded() if one.source != "default"]
    if policy is None:
        return asked.but(settings=tuple(settings)), {}
    config = read_config(policy)
    # The scores of a report are its own.
    found = {name: one.value for name, one in of_file(config, "estimate").items() if name != "data"}
    tables = {name: listed(name, getattr(config, name)) for name in ("limits", "waivers")}
    found |= {name: rows for name, rows in tables.items() if rows}
    taken = {one.name for one in declared(RejudgeOptions)} - {one.name for one in settings}
    filed = {name: value for name, value in found.items() if name in taken}
    settings += [
        Setting(name=name, value=plain_value(value), source="file", where=config.name)
        for name, value in filed.items()
    ]
    settings.append(
        Setting(name="config", value=config.name, source="file", where=f"sha256 {config.sha256}")
    )
    audit = {name: value for name, value in found.items() if name in _AUDIT}
    return asked.but(**filed, settings=tuple(settings)), audit


def _judged(limits: RejudgeOptions, audit: Mapping[str, object]) -> AnyReport:
    """Return the report, judged again where there are limits.

    Raises:
        UsageError: ``not_in_report``: the policy file is about other records or scores, or
            another audit of them, than the report.
    """
    found = read_report(limits.report)
    if not limits.settings:
        return found
    for name, value in audit.items() if found.command == "estimate" else ():
        given = tuple(value) if isinstance(value, list) else value
        require(
            _recorded(found, name) == given,
            "not_in_report",
            f"The policy file sets {name}, but the report was made with another value.",
            "Run mipaudit estimate with --config FILE, or name the limits as options.",
        )
    return answer_rejudge(limits.but(report=found))


def _stored(form: ExchangeForm, limits: RejudgeOptions, shown: RenderShown) -> Stored:
    """Return the report for a form that others define, which names its file."""
    require(
        not limits.settings,
        "format",
        f"{form.name} names the report's file, which has another verdict.",
        "First write the newly judged report as .json, then render that file in this form.",
    )
    given = stored_report(limits.report, shown.subject)
    said = given.report.provenance.declared
    release = None if said is None else said.release
    require(
        None in {release, shown.release_name} or release == shown.release_name,
        "release_name",
        "The report names another release than `release_name`.",
        "Leave it out: this form names the report's file, which names the release.",
    )
    return given
