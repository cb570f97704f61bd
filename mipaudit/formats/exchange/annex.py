"""An annex for who signs: each point of a source, with what reports show of it, or that none do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from mipaudit.formats.declared import declared_pairs, declared_section
from mipaudit.formats.document import (
    Bullets,
    Document,
    Grid,
    Heading,
    Paragraph,
    Section,
    bulleted,
    plain,
)
from mipaudit.formats.exchange.annex_points import SOURCES
from mipaudit.formats.exchange.annex_reports import reports_of
from mipaudit.formats.exchange.annex_shown import shown_of, where
from mipaudit.formats.exchange.model_card import judged_grid
from mipaudit.formats.exchange.statement import unread
from mipaudit.formats.report_forms import answer_of, document_of, remarked, table_of
from mipaudit.report.messages.told import is_serious, told
from mipaudit.statements.policy import SHARES_ERROR
from mipaudit.statements.rejudged import rejudged_limitation

if TYPE_CHECKING:
    from mipaudit.formats.exchange.annex_points import AnnexName, Point, Source
    from mipaudit.formats.exchange.annex_reports import Beside
    from mipaudit.formats.exchange.stored import Stored

Layout = Literal["table", "markdown", "html", "json"]
_WIDTH: Final = 100
_LEGAL: Final = (
    "This is no legal advice, and no finding that anything is anonymous, safe or compliant. Points "
    "are told in our words: the source decides. REPORTED says that figures stand below, not that "
    "they are good enough. What is NOT TESTED could have been, and NOT EVALUABLE is what no report "
    "here can tell; neither counts as passed. What was DECLARED nobody checked."
)
Status = Literal[
    "NOT TESTED",
    "NOT EVALUABLE",
    "REPORTED OF OTHER FILES",
    "DECLARED, NOT CHECKED",
    "REPORTED IN PART",
    "REPORTED",
]
_DECLARED: Final = "provenance.declared"
_UNNAMED: Final = "No released file was named: which one it is about is the word of whoever signs."
# As the page has it, in the forms that have no style.
_TO_SIGN: Final = (
    Heading("Read and approved"),
    Bullets(("name, role: ____________________  date, signature: ____________________",) * 2),
)


class Answer(NamedTuple):
    """A point with what is shown of it.

    Attributes:
        point: of the source.
        status: whether anything is.
        shown: sentences, each with the field that it is from.
        lacking: what would have said more.
    """

    point: Point
    status: Status
    shown: tuple[str, ...]
    lacking: tuple[str, ...]


def annex(name: AnnexName, stored: Stored, others: Sequence[Stored], layout: Layout) -> str:
    """Return the annex of a report, and of others on the same release.

    Args:
        name: of the source.
        stored: the report.
        others: reports that fill what it leaves open.
        layout: ``table`` is text.

    Raises:
        UsageError: ``others``: two reports of one kind, one of a kind that no point asks for, or
            of another release than is declared.
    """
    source = next(one for one in SOURCES if one.name == name)
    reports = tuple(reports_of(source, stored, others))
    answers = tuple(_answer(source, point, reports) for point in source.points)
    if layout == "json":
        return _json(source, reports, answers)
    return _drawn(_document(source, reports, answers), layout)


def _answer(source: Source, point: Point, reports: Sequence[Beside]) -> Answer:
    by_command = {one.stored.report.command: one for one in reports}
    shown: list[str] = []
    lacking: list[str] = []
    related = untested = False
    for one in point.shows:
        report = by_command.get(one.command)
        if report is None:
            untested = True
            again = "mipaudit render REPORT --for {} --with {}.json".format
            lacking.append(
                f"NOT TESTED: there is no report of {one.command}. With what mipaudit "
                f"{one.command} writes: {again(source.name, one.command)}"
            )
            continue
        name = report.stored.file.name
        found, numberless = shown_of(one, report)
        shown += found
        lacking += numberless
        related |= bool(found) and not report.other
        if not found and not numberless:
            lacking.append(f"NOT EVALUABLE: {name} has nothing in {where(one)}.")
        elif report.other:
            lacking.append(f"OF {report.other}: {name}: {report.relation}")
    unshown: Status = "NOT TESTED" if untested else "NOT EVALUABLE"
    status = _status(point, lacking, related=related) if shown else unshown
    return Answer(point, status, tuple(shown), tuple(dict.fromkeys(lacking)))


def _status(point: Point, lacking: Sequence[str], *, related: bool) -> Status:
    if not related:
        return "REPORTED OF OTHER FILES"
    if all(one.field.startswith(_DECLARED) for one in point.shows):
        return "DECLARED, NOT CHECKED"
    return "REPORTED IN PART" if lacking or point.partly else "REPORTED"


def _document(source: Source, reports: Sequence[Beside], answers: Sequence[Answer]) -> Document:
    first = reports[0].stored
    made = first.report.provenance
    counts = {status: sum(one.status == status for one in answers) for status in get_args(Status)}
    found = "; ".join(f"{count} {status}" for status, count in counts.items() if count)
    found = f"Of {len(answers)} points: {found}."
    whole = document_of(first.report)
    sections: tuple[Section, ...] = (
        (judged_grid(whole), *map(Paragraph, _beside_verdict(reports))),
        (
            Paragraph(found),
            Paragraph(_LEGAL),
            Paragraph(f"What was read of the source: {source.read}"),
        ),
        bulleted("What can make this untrue", _warnings(reports)),
        _released(first),
        (Heading("The points at a glance"), _glance(answers)),
        (Heading("What this was made of"), _files(reports)),
        declared_section(made.declared),
        table_of(first.report, "people"),
        (Heading("Point by point"),),
        *map(_section, answers),
    )
    return Document(
        title=f"Annex: {source.title}",
        headline=_verdict(first),
        mood=whole.mood,
        summary="",
        sections=tuple(section for section in sections if section),
        cases=(),
        created=made.created,
    )


def _verdict(stored: Stored) -> str:
    """Return the verdict of a report as its page says it, or that there is none."""
    verdict: Any = getattr(stored.report, "verdict", None)
    answer = answer_of(stored.report, warned=False)
    if verdict is None or verdict.status == "no_policy":
        return f"{stored.file.name} has no verdict: no limit was set. {answer}"
    return f"Verdict of {stored.file.name}: {answer}"


def _beside_verdict(reports: Sequence[Beside]) -> list[str]:
    """Return how the verdict differs from the figures, and the verdicts of the other reports."""
    report: Any = reports[0].stored.report
    how = getattr(report, "rejudged", None)
    said = (
        *remarked(report, SHARES_ERROR),
        "" if how is None else told(rejudged_limitation(how)),
        *(
            f"{one.other or 'Beside it'}, mipaudit {one.stored.report.command}. "
            + _verdict(one.stored)
            for one in reports[1:]
            if getattr(one.stored.report, "policy", ())
        ),
    )
    return [text for text in said if text]


def _released(stored: Stored) -> Section:
    named = tuple(
        f"{one.name}, sha256 {one.sha256}: {told(unread(one.name))}" for one in stored.subjects
    )
    return (Heading("What is released"), Bullets(named) if named else Paragraph(_UNNAMED))


def _warnings(reports: Sequence[Beside]) -> list[str]:
    """Return the findings because of which an answer may be untrue: no view leaves them out."""
    return [
        f"{one.stored.file.name}: {plain(told(found))}"
        for one in reports
        for found in getattr(one.stored.report, "findings", ())
        if is_serious(found)
    ]


def _glance(answers: Sequence[Answer]) -> Grid:
    loud = (at for at, one in enumerate(answers) if one.status != "REPORTED")
    return Grid(
        caption="Each point, and whether anything here shows it",
        head=("point", "status", "what it asks"),
        rows=tuple((one.point.place, one.status, one.point.about) for one in answers),
        words=3,
        marked=frozenset(loud),
    )


def _files(reports: Sequence[Beside]) -> Bullets:
    return Bullets(
        tuple(
            f"{one.stored.file.name}, sha256 {one.stored.file.sha256}, of mipaudit "
            f"{one.stored.report.command}: {_related(one)}"
            for one in reports
        )
    )


def _related(one: Beside) -> str:
    return f"{one.other}: {one.relation}" if one.other else one.relation


def _section(one: Answer) -> Section:
    unsaid = (f"Not said: {one.point.unsaid}",) if one.point.unsaid else ()
    return (
        Heading(f"{one.point.place}: {one.status}", level=3),
        Paragraph(one.point.about),
        Bullets((*one.shown, *one.lacking, *unsaid)),
    )


def _drawn(document: Document, layout: Layout) -> str:
    match layout:
        case "markdown":
            from mipaudit.formats.markdown import document_markdown

            return document_markdown(_to_sign(document))
        case "html":
            from mipaudit.formats.html_page import document_html

            return document_html(document, signed=True)
        case _:
            from mipaudit.formats.text import document_text

            return f"{document.title}\n\n" + document_text(
                _to_sign(document), width=_WIDTH, color=False
            )


def _to_sign(document: Document) -> Document:
    return document._replace(sections=(*document.sections, _TO_SIGN))


def _json(source: Source, reports: Sequence[Beside], answers: Sequence[Answer]) -> str:
    first = reports[0].stored
    said = first.report.provenance.declared
    judged = judged_grid(document_of(first.report))
    whole = {
        "schema": "mipaudit.annex/1",
        "source": source.name,
        "title": source.title,
        "read": source.read,
        "verdict": {
            "says": _verdict(first),
            "judged": [dict(zip(judged.head, row, strict=True)) for row in judged.rows],
            "beside": _beside_verdict(reports),
        },
        "released": [{**one._asdict(), "says": told(unread(one.name))} for one in first.subjects],
        "legal": _LEGAL,
        "reports": [
            {**one.stored.file._asdict(), "command": one.stored.report.command, "is": _related(one)}
            for one in reports
        ],
        "warnings": _warnings(reports),
        "declared": dict(declared_pairs(said)),
        "points": [
            {
                **one.point._asdict(),
                "shows": [show._asdict() for show in one.point.shows],
                "status": one.status,
                "shown": one.shown,
                "lacking": one.lacking,
            }
            for one in answers
        ],
    }
    return json.dumps(whole, indent=2) + "\n"
