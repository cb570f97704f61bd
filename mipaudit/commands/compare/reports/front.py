"""What a page of a comparison of reports says first, to who never heard of an advantage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.commands.compare.reports.brief import surely_changed
from mipaudit.formats.page import NEITHER, Front, guess_terms
from mipaudit.formats.policy.judged import UNDECIDED, deciding, verdict_head
from mipaudit.statements.text.guesses import (
    guessers,
    more_right_at_least,
    more_right_at_most,
    more_right_exactly,
    of_cleverer,
)
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.compare.reports.report import Change, ReportComparison
    from mipaudit.formats.brief import Brief

_LITTLE: Final = "To tell no more than before is not to tell little."
_FEW: Final = 3


def compare_reports_front(report: ReportComparison, brief: Brief) -> Front:
    """Return whether a new release lets others guess right more often than the old one.

    Args:
        report: as answered.
        brief: its answer for a terminal.
    """
    design = report.design
    names = [f"'{safe_name(one.name)}'" for one in design.reports]
    limit = "none was set"
    if report.policy:
        more = more_right_exactly(report.policy[0].limit)
        limit = f"right at most {more} more times in 100 than before"
    return Front(
        answer=_verdict(report) if report.policy else f"{_found(report)} {NEITHER}",
        mood=brief.mood,
        also=(_found(report),) if report.verdict.status in {"met", "inconclusive"} else (),
        figures=brief.answer,
        subject=f"What changed since '{safe_name(design.baseline)}'",
        facts=(
            ("compared", ", ".join(names)),
            ("with", "; ".join(_sizes(report))),
            ("limit", limit),
        ),
        terms=guess_terms(design.prior, design.confidence),
        unsaid=(_LITTLE, *report.limitations[:_FEW]),
    )


def _sizes(report: ReportComparison) -> Iterator[str]:
    for one in report.design.reports:
        yield (
            f"'{safe_name(one.name)}': {count_text(one.n_members)} members, "
            f"{count_text(one.n_holdout)} holdout records"
        )


def _found(report: ReportComparison) -> str:
    """Return the change that is surely there and matters most, in guesses where it is of them."""
    shown = surely_changed(report)
    baseline = f"'{safe_name(report.design.baseline)}'"
    if not shown:
        return (
            f"It is not shown that more can be told of whose records were used than from "
            f"{baseline}, nor that less can."
        )
    advantages = [one for one in shown if one.quantity == "advantage"]
    increases = [one for one in shown if one.shown == "increase"]
    if advantages and (not increases or advantages[0].shown == "increase"):
        return _change(advantages[0])
    what = "more" if increases else "less"
    return (
        f"Some figures of '{safe_name(shown[0].report)}' are surely "
        f"{'larger' if increases else 'smaller'} than those of {baseline}, which speaks for {what} "
        "being told of whose records were used; right guesses are not shown to have changed."
    )


def _change(one: Change) -> str:
    """Return a change of the advantage that is certain, in guesses."""
    grown = one.shown == "increase"
    least = (one.lower if grown else -(one.upper or 0.0)) or 0.0
    return (
        f"With '{safe_name(one.score)}' of '{safe_name(one.report)}' {guessers(one.attackers)} are "
        f"right at least {more_right_at_least(least)} {'more' if grown else 'fewer'} times in 100 "
        f"about whose records were used than with that of '{safe_name(one.versus)}'"
        f"{of_cleverer(one.attackers)}."
    )


def _verdict(report: ReportComparison) -> str:
    """Return the verdict in guesses."""
    head, check = verdict_head(report), deciding(report)
    if check is None or report.verdict.status == "inconclusive":
        return f"{head}: {UNDECIDED}"
    who, versus = guessers(check.against), safe_name(check.versus)
    limit = more_right_exactly(check.limit)
    if report.verdict.status == "not_met":
        least = more_right_at_least(check.lower or 0.0, (check.limit,))
        return (
            f"{head}: with the score '{safe_name(check.score)}' of '{safe_name(check.report)}' "
            f"{who} are right at least {least} more times in 100 than with that of '{versus}' (the "
            f"limit: {limit})."
        )
    most = more_right_at_most(max(0.0, check.upper or 0.0), (check.limit,))
    return (
        f"{head}: with no score that both reports have {who} are right more than {most} more times "
        f"in 100 than with that of '{versus}' (the limit: {limit}){of_cleverer(check.against)}."
    )
