"""From a stored report and new limits to the report with their verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mipaudit.commands.estimate.blind_words import asserted_words, blind_words
from mipaudit.commands.estimate.words import summary
from mipaudit.errors import InputError
from mipaudit.evidence.judgement.blind import Allowance, make_allowance
from mipaudit.evidence.judgement.stored_judgement import Stored, judge_stored, verdict_confidence
from mipaudit.maths.metrics.names import LEAST_RECALL
from mipaudit.options.plain_values import require
from mipaudit.options.policy.limits import limits_elsewhere
from mipaudit.options.recorded import recorded_value
from mipaudit.reading.bytes.bad_parts import SKIPPED
from mipaudit.statements.copies import copy_checks
from mipaudit.statements.origin import Rejudged, is_rejudged_words, rejudged_words
from mipaudit.statements.provenance import TIME_FORM, moment, waiver_day
from mipaudit.statements.verdict import led, reach_verdict, settled, waive

if TYPE_CHECKING:
    from mipaudit.commands.estimate.report import Report
    from mipaudit.commands.render.options import RejudgeOptions


def rejudged(report: Report, asked: RejudgeOptions) -> Report:
    """Return the report with the verdict of other limits.

    Args:
        report: of ``estimate``.
        asked: the limits; what is left out is not limited.

    Raises:
        UsageError: a limit is out of its range, or about what the report does not hold.
        InputError: the report's scores are not those of its figures.
    """
    design = report.design
    least = _recorded(report, "min_recall")
    judged = asked.policy_at(design.prior, LEAST_RECALL if least is None else least)
    limits = judged.policy
    require(
        limits.size > 0 or limits.max_copies is not None,
        "no_limit",
        "There is no limit to judge by.",
        "Give `max_advantage`, `max_eta`, `max_tpr_at_fpr`, `max_metric`, `max_copies` or "
        "`policy`.",
    )
    _require_scores(report)
    now = moment()
    allowance = _allowance(report)
    estimated = allowance is not None and not allowance.asserted
    count = limits.size + bool(report.claims) + estimated
    how = Rejudged(
        limits=count,
        confidence=verdict_confidence(design.confidence, count),
        settings=asked.recorded(),
        created=now.strftime(TIME_FORM),
    )
    stored = Stored(
        estimates=report.estimates,
        scores=design.score_columns,
        prior=design.prior,
        side_given=_recorded(report, "member_side") in {"high", "low"},
        allowance=allowance,
    )
    waived = waive(
        judge_stored(stored, limits),
        limits.waivers,
        waiver_day(),
    )
    checks = (*copy_checks(limits.max_copies, report.copies), *waived.checks)
    incomplete = any(found.code == SKIPPED for found in report.findings)
    verdict = settled(
        reach_verdict(
            checks,
            report.claims,
            limits.on_inconclusive,
            incomplete=incomplete,
            assuming=asserted_words(report.blind),
        ),
        report.findings,
    )
    said = led(
        report.findings,
        summary(
            design,
            _valid(report),
            report.claims,
            checks,
            verdict,
            blind=blind_words(report.blind, design.prior) if report.blind else "",
            incomplete=incomplete,
        ),
    )
    kept = (text for text in report.limitations if not is_rejudged_words(text))
    return replace(
        report,
        policy=checks,
        verdict=verdict,
        summary=f"{said} {rejudged_words(how)}",
        findings=(
            *(found for found in report.findings if not _of_policy(found.code)),
            *waived.findings,
            *limits_elsewhere("records", judged.elsewhere),
        ),
        limitations=(*kept, rejudged_words(how)),
        rejudged=how,
    )


def _allowance(report: Report) -> Allowance | None:
    """Return what the records alone may explain, at the error of one stored limit."""
    if report.blind is None:
        return None
    # Its limit is one limit more than those of the policy: it has an error of its own.
    error = (1 - report.design.confidence) / 2
    found, _ = make_allowance(report.blind, error)
    return found if found.asserted else replace(found, most=report.blind.limit(error))


def _require_scores(report: Report) -> None:
    """Refuse a report that names no score, or leaves out one that it has figures of."""
    named = report.design.score_columns
    if not named or {row.score for row in report.estimates} - set(named):
        raise InputError(
            "bad_report",
            "The report contradicts itself: its score columns are not those of its figures.",
            hint="Use the file as the command wrote it.",
        )


def _recorded(report: Report, name: str) -> Any:  # noqa: ANN401 - whatever the setting takes
    return recorded_value(report.provenance.settings, "estimate", name)


def _valid(report: Report) -> list[Any]:
    """Return the rows that the paragraph speaks of."""
    return [
        row
        for row in report.estimates
        if row.validity != "not-an-interval" and row.attackers != "noised-query"
    ]


def _of_policy(code: str) -> bool:
    """Tell whether a finding is about the policy that is replaced."""
    return code.startswith("waiver_") or code == "limits_elsewhere"
