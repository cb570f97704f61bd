"""What changed from one report to another: in a screenful, first on a page, and in pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mipaudit.commands.compare.queries.brief import increase_verdict
from mipaudit.commands.compare.queries.page import signed
from mipaudit.commands.compare.reports.page import CHANGED, change_of, listed
from mipaudit.formats.brief import NO_VERDICT, Brief, short_name, short_names
from mipaudit.formats.document import AT_LEAST, AT_MOST, Grid, quoted
from mipaudit.formats.drawing import Interval, intervals, marks_of
from mipaudit.formats.html_page import NEITHER, Front, guess_terms
from mipaudit.formats.policy.judged import SETTLES, deciding, judged_brief
from mipaudit.statements.text.guesses import (
    guessers,
    more_right_at_least,
    more_right_exactly,
    of_cleverer,
)
from mipaudit.statements.text.named import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text, lower_text, number_text, percent_text

if TYPE_CHECKING:
    from mipaudit.commands.compare.reports.report import Change, ReportComparison
    from mipaudit.formats.document import Picture

_LITTLE: Final = "To tell no more than before is not to tell little."
_FEW: Final = 3


def compare_reports_brief(report: ReportComparison) -> Brief:
    """Return whether it surely leaks more than before, and the change of each score."""
    brief = Brief(
        answer=f"{_found(report)} {NO_VERDICT}",
        mood="plain",
        warnings=tuple(_not_compared(report)),
        about=_about(report),
        tables=tuple(_changes(report)),
        notes=tuple(_notes(report)),
    )
    return judged_brief(report, brief, settles=("the score files themselves", SETTLES[1]))


def surely_changed(report: ReportComparison) -> list[Change]:
    """Return the changes that are surely there, what matters most first: increases, as asked."""
    against = report.design.against

    def importance(one: Change) -> tuple[bool, bool]:
        asked = one.quantity == "advantage" and one.attackers == against
        return one.shown != "increase", not asked

    return sorted((one for one in report.changes if one.shown != "open"), key=importance)


def _found(report: ReportComparison) -> str:
    """Return the change that is surely there and matters most."""
    shown = surely_changed(report)
    if not shown:
        return f"No figure is shown to have changed since '{safe_name(report.design.baseline)}'."
    first, rest = shown[0], len(shown) - 1
    others = f" ({count_text(rest)} more figures surely changed)" if rest else ""
    return f"{_change(report, first)}{others}."


def _change(report: ReportComparison, one: Change) -> str:
    """Return a change that is certain, in a clause."""
    where = f" in '{safe_name(one.report)}'" if report.several else ""
    least, word = one.lower, "larger"
    if one.shown == "decrease":
        least, word = -(one.upper or 0.0), "smaller"
    what = change_of(one)
    named = f"advantage ({what})" if one.quantity == "advantage" else what
    return (
        f"'{safe_name(one.score)}'{where}: {named} is at least {lower_text(least or 0.0)} {word} "
        "than before"
    )


def _not_compared(report: ReportComparison) -> Iterator[str]:
    for status, whose in (("new", "the old report lacks"), ("missing", "a new report lacks")):
        names = list(dict.fromkeys(one.score for one in report.scores if one.status == status))
        if names:
            yield f"Not compared, since {whose} them: {listed(names)}."


def _about(report: ReportComparison) -> str:
    design = report.design
    rows = [
        f"'{safe_name(one.name)}' ({count_text(one.n_members)} members, "
        f"{count_text(one.n_holdout)} holdout records)"
        for one in design.reports
    ]
    more = len(rows) - 3
    named = ", ".join(rows[:3]) + (f" and {more} more" if more > 0 else "")
    return f"{named}; {percent_text(design.confidence)} confidence."


def decisive(report: ReportComparison) -> list[Change]:
    """Return the changes of the advantage in the class that the policy is about."""
    return [
        one
        for one in report.changes
        if (one.quantity, one.attackers, one.metric) == ("advantage", report.design.against, None)
    ]


def _changes(report: ReportComparison) -> Iterator[Grid]:
    against = report.design.against
    rows = decisive(report)
    several = report.several
    names = short_names(one.score for one in rows)
    reports = short_names(one.name for one in report.design.reports)
    rows.sort(key=lambda one: ("increase", "decrease", "open").index(one.shown))
    if rows:
        yield Grid(
            caption=f"Change of the advantage since '{short_name(report.design.baseline)}', "
            f"{against_phrase(against)}.",
            head=("score", *["report"] * several, "change", AT_LEAST, "best", AT_MOST),
            rows=tuple(
                (
                    names[one.score],
                    *[reports[one.report]] * several,
                    CHANGED[one.shown],
                    *signed(one),
                )
                for one in rows
            ),
            words=2 + several,
        )


def _notes(report: ReportComparison) -> Iterator[str]:
    limit = {one.limit for one in report.policy}
    if len(limit) == 1:
        yield f"The limit: at most {number_text(*limit)} more than before."
    nothing = all(one.shown == "open" for one in report.changes)
    if nothing or report.verdict.status == "inconclusive":
        yield "To compare the score files themselves is more precise (mipaudit compare FILE FILE)."


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
        answer=_verdict(report) if report.policy else f"{_found_in_guesses(report)} {NEITHER}",
        mood=brief.mood,
        also=(_found_in_guesses(report),)
        if report.verdict.status in {"met", "inconclusive"}
        else (),
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


def _verdict(report: ReportComparison) -> str:
    check = deciding(report)
    score = ""
    if check is not None:
        score = f"the score '{safe_name(check.score)}' of '{safe_name(check.report)}'"
    none = "no score that both reports have"
    return increase_verdict(report, check, score, none=none, of="that of ")


def _sizes(report: ReportComparison) -> Iterator[str]:
    for one in report.design.reports:
        yield (
            f"'{safe_name(one.name)}': {count_text(one.n_members)} members, "
            f"{count_text(one.n_holdout)} holdout records"
        )


def _found_in_guesses(report: ReportComparison) -> str:
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
        return _in_guesses(advantages[0])
    what = "more" if increases else "less"
    return (
        f"Some figures of '{safe_name(shown[0].report)}' are surely "
        f"{'larger' if increases else 'smaller'} than those of {baseline}, which speaks for {what} "
        "being told of whose records were used; right guesses are not shown to have changed."
    )


def _in_guesses(one: Change) -> str:
    """Return a change of the advantage that is certain, in guesses."""
    grown = one.shown == "increase"
    least = (one.lower if grown else -(one.upper or 0.0)) or 0.0
    return (
        f"With '{safe_name(one.score)}' of '{safe_name(one.report)}' {guessers(one.attackers)} are "
        f"right at least {more_right_at_least(least)} {'more' if grown else 'fewer'} times in 100 "
        f"about whose records were used than with that of '{safe_name(one.versus)}'"
        f"{of_cleverer(one.attackers)}."
    )


def compare_reports_pictures(report: ReportComparison) -> Iterator[Picture]:
    """Yield the changes in the class that the policy is about, and the limits they follow from."""
    against = report.design.against
    changes = decisive(report)
    if not changes:
        return
    limits = {(one.score, one.report): one.limit for one in report.policy}
    yield intervals(
        [
            Interval(
                _drawn(report, one),
                one.lower,
                one.value,
                one.upper,
                limits.get((one.score, one.report)),
            )
            for one in changes
        ],
        name="changes",
        what="change of the advantage",
        caption=f"Right of 0 the new report leaks more, {against_phrase(against)}.",
        ends=(-1.0, 1.0),
    )
    yield intervals(
        [
            Interval(
                f"{quoted(one.score)} in {quoted(name)}", figure.lower, figure.value, figure.upper
            )
            for one in changes
            for name, figure in ((one.versus, one.old), (one.report, one.new))
        ],
        name="stored",
        what="advantage",
        caption=f"The limits that the changes follow from, {against_phrase(against)}.",
        ends=(report.design.trivial, 1.0),
        marks=marks_of((), report.design.trivial),
    )


def _drawn(report: ReportComparison, one: Change) -> str:
    return f"{quoted(one.score)} in {quoted(one.report)}" if report.several else quoted(one.score)
