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
from mipaudit.options.declare import declared
from mipaudit.options.groups.judging import ScorePolicy
from mipaudit.options.plain_values import require
from mipaudit.options.policy.limits import limits_elsewhere
from mipaudit.options.recorded import recorded_value
from mipaudit.reading.bytes.bad_parts import SKIPPED
from mipaudit.statements.copies import copy_checks
from mipaudit.statements.origin import Rejudged, is_rejudged_words, rejudged_words
from mipaudit.statements.provenance import TIME_FORM, moment, settings_from, waiver_day
from mipaudit.statements.verdict import led, reach_verdict, settled, waive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.commands.estimate.report import Report
    from mipaudit.options.groups.judging import AskedPolicy
    from mipaudit.statements.origin import Setting


def rejudged(
    report: Report,
    given: Mapping[str, Any],
    *,
    settings: tuple[Setting, ...] | None,
) -> Report:
    """Return the report with the verdict of other limits.

    Args:
        report: of ``estimate``.
        given: ``max_advantage``, ``max_eta``, ``max_tpr_at_fpr``, ``max_metric``, ``against``,
            ``limits``, ``waivers`` and ``on_inconclusive``, as ``estimate`` takes them; what
            is left out is not limited, and what is more is ignored.
        settings: recorded in the report; None records what is given.

    Raises:
        UsageError: a limit is out of its range, or about what the report does not hold.
        InputError: the report's scores are not those of its figures.
    """
    design = report.design
    asked = _asked(report, given)
    limits = asked.policy
    require(
        limits.size > 0 or limits.max_copies is not None,
        "no_limit",
        "There is no limit to judge by.",
        "Give --max-advantage, --max-eta, --max-tpr-at-fpr, --max-metric, --max-copies or "
        "--policy.",
    )
    _require_scores(report)
    now = moment()
    allowance = _allowance(report)
    estimated = allowance is not None and not allowance.asserted
    count = limits.size + bool(report.claims) + estimated
    how = Rejudged(
        limits=count,
        confidence=verdict_confidence(design.confidence, count),
        settings=settings_from(given, source="api") if settings is None else settings,
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
            *limits_elsewhere("records", asked.elsewhere),
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


def _asked(report: Report, given: Mapping[str, Any]) -> AskedPolicy:
    """Return the limits, checked as ``estimate`` checks them at the report's prior."""
    names = {one.name for one in declared(ScorePolicy)}
    policy = ScorePolicy(**{name: value for name, value in given.items() if name in names})
    least = _recorded(report, "min_recall")
    return policy.policy_at(report.design.prior, LEAST_RECALL if least is None else least)


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
