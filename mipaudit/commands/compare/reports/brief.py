"""What changed from one report to another, in a screenful."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mipaudit.commands.compare.reports.page import CHANGED, change_of, listed
from mipaudit.formats.brief import NO_VERDICT, Brief, short_name, short_names
from mipaudit.formats.document import AT_LEAST, AT_MOST, Grid, best
from mipaudit.formats.policy.judged import SETTLES, judged_brief
from mipaudit.statements.policy import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
)

if TYPE_CHECKING:
    from mipaudit.commands.compare.reports.report import Change, ReportComparison

_PAIR: Final = 2  # an old report and a new one


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
    where = f" in '{safe_name(one.report)}'" if len(report.design.reports) > _PAIR else ""
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


def _changes(report: ReportComparison) -> Iterator[Grid]:
    against = report.design.against
    rows = [
        one
        for one in report.changes
        if one.quantity == "advantage" and one.attackers == against and one.metric is None
    ]
    several = len(report.design.reports) > _PAIR
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
                    "none" if one.lower is None else lower_text(one.lower),
                    best(one.value),
                    "none" if one.upper is None else upper_text(one.upper),
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
