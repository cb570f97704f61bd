"""What a report of ``history`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.brief import Brief, short_names
from mipaudit.formats.document import (
    AT_LEAST,
    AT_MOST,
    STATUS,
    Document,
    Grid,
    Heading,
    best,
    framed,
    quoted,
)
from mipaudit.formats.drawing import Interval, intervals, marks_of
from mipaudit.statements.text.named import against_phrase
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import count_text, lower_text, number_text, upper_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.history.report import HistoryReport, PastReport
    from mipaudit.formats.document import Picture

_VERDICTS: Final = {**STATUS, "no_policy": "no limit"}
_WHAT: Final = {
    "limits": "the limits",
    "against": "the class of attackers",
    "prior": "the prior",
    "confidence": "the confidence",
    "scores": "the scores",
    "mipaudit": "the version of mipaudit",
}


def history_document(report: HistoryReport) -> Document:
    """Return the report as a document."""
    return framed(
        report,
        (
            (Heading(text="Reports"), _reports(report)),
            *(((Heading(text="Advantage"), *_advantages(report)),) if report.advantages else ()),
            *(
                ((Heading(text="What was asked otherwise"), _steps(report)),)
                if report.steps
                else ()
            ),
        ),
        cases=(),
        headline=_headline(report),
    )


def history_brief(report: HistoryReport) -> Brief:
    """Return the verdicts, the newest first, and the advantage of each score."""
    return Brief(
        answer=_headline(report),
        mood="plain",
        about=report.summary,
        tables=(_reports(report), *_advantages(report)),
        notes=tuple(_notes(report)),
    )


def history_pictures(report: HistoryReport) -> Iterator[Picture]:
    """Yield the limits of each score over time, the newest first."""
    if report.advantages:
        days = _days(report)
        limits = {one.limit for one in report.advantages if one.limit is not None}
        yield intervals(
            [
                Interval(
                    f"{days[one.report]} {quoted(one.score)} in {quoted(one.report)}",
                    *(one.lower, one.value, one.upper),
                    one.limit if len(limits) > 1 else None,
                )
                for one in report.advantages
            ],
            name="history",
            what="advantage",
            caption="The newest report first.",
            marks=marks_of(limits) if len(limits) == 1 else (),
        )


def _headline(report: HistoryReport) -> str:
    newest, *older = report.reports
    said = f"The newest report, {quoted(newest.name)}: {_verdict(newest)}."
    before = next((one for one in older if one.of == newest.of), None)
    return f"{said} The one before, {quoted(before.name)}: {_verdict(before)}." if before else said


def _verdict(one: PastReport) -> str:
    words = _VERDICTS.get(one.verdict or "", "no verdict")
    return f"{words}, {one.note}" if one.note else words


def _reports(report: HistoryReport) -> Grid:
    names = short_names(one.name for one in report.reports)
    return Grid.of(
        report.reports,
        ("report", lambda one: safe_name(one.release) if one.release else names[one.name]),
        ("day", lambda one: one.created[:10]),
        ("of", lambda one: one.of),
        ("verdict", _verdict),
        *[("waived", _waived)] * any(one.waived for one in report.reports),
        ("members", lambda one: _count(one.n_members)),
        ("holdout", lambda one: _count(one.n_holdout)),
        caption="The reports, the newest first, by the time that each states.",
        words=4 + any(one.waived for one in report.reports),
        marked=lambda one: one.verdict in {"not_met", "waived"},
    )


def _waived(one: PastReport) -> str:
    """Return how many limits somebody accepts that are not kept, and until when."""
    return f"{count_text(one.waived)} until {safe_name(one.until or '')}" if one.waived else "-"


def _count(number: int | None) -> str:
    return "-" if number is None else count_text(number)


def _advantages(report: HistoryReport) -> Iterator[Grid]:
    """Yield a table for each class of attackers and prior, which are never put in one column."""
    names = short_names(one.name for one in report.reports)
    scores = short_names(one.score for one in report.advantages)
    days = _days(report)
    for against, prior in dict.fromkeys((one.against, one.prior) for one in report.advantages):
        rows = [one for one in report.advantages if (one.against, one.prior) == (against, prior)]
        yield Grid.of(
            rows,
            ("report", lambda one: names[one.report]),
            ("day", lambda one: days[one.report]),
            ("score", lambda one: scores[one.score]),
            (AT_LEAST, lambda one: "none" if one.lower is None else lower_text(one.lower)),
            ("best", lambda one: best(one.value)),
            (AT_MOST, lambda one: "none" if one.upper is None else upper_text(one.upper)),
            ("limit", lambda one: "-" if one.limit is None else number_text(one.limit)),
            caption=f"Membership advantage at prior {number_text(prior)}. At most: "
            f"{against_phrase(against)}.",
            words=3,
        )


def _days(report: HistoryReport) -> dict[str, str]:
    return {one.name: one.created[:10] for one in report.reports}


def _steps(report: HistoryReport) -> Grid:
    return Grid.of(
        report.steps,
        ("report", lambda one: safe_name(one.report)),
        ("after", lambda one: safe_name(one.versus)),
        ("what", lambda one: _WHAT[one.what]),
        ("before", lambda one: one.before),
        ("now", lambda one: one.after),
        caption="What was asked otherwise than in the report before.",
        words=5,
    )


def _notes(report: HistoryReport) -> Iterator[str]:
    for one in report.steps:
        yield (
            f"{quoted(one.report)}: {_WHAT[one.what]}, {one.before} in {quoted(one.versus)}, "
            f"{'is' if one.what in {'prior', 'confidence', 'against'} else 'now'} {one.after}."
        )
    if len(report.reports) > 1:
        yield "Whether one surely leaks more than another: mipaudit compare OLD NEW."
