"""An annex for who signs: each point of a source, with what reports show of it, or that none do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, is_dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from mipaudit.errors import UsageError
from mipaudit.formats.declared import declared_pairs, declared_section, people_section
from mipaudit.formats.document import (
    AT_LEAST,
    AT_MOST,
    BEST_ESTIMATE,
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
from mipaudit.formats.exchange.stored import NONE, figures
from mipaudit.statements.estimate import Design
from mipaudit.statements.origin import plain_value, value_words
from mipaudit.statements.reports.kinds import kind_of
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from mipaudit.formats.exchange.annex_points import AnnexName, Point, Shows, Source
    from mipaudit.formats.exchange.stored import Figure, Stored
    from mipaudit.statements.origin import Provenance

Layout = Literal["table", "markdown", "html", "json"]
_WIDTH: Final = 100
_MOST: Final = 6  # figures of one field; the others are in the report
_LONGEST: Final = 400
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
_MAIN: Final = "the report"
_UNRELATED: Final = (
    "OTHER FILES: it read no file that the report read, and they do not declare the same release"
)


class Beside(NamedTuple):
    """A report that an annex is made of.

    Attributes:
        stored: the report, and the digest of its file.
        relation: to the report that the annex is of, in words.
    """

    stored: Stored
    relation: str

    @property
    def related(self) -> bool:
        """Whether it is known to be of the same release."""
        return self.relation != _UNRELATED


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
    reports = tuple(_related(source, stored, others))
    answers = tuple(_answer(source, point, reports) for point in source.points)
    if layout == "json":
        return _json(source, reports, answers)
    return _drawn(_document(source, reports, answers), layout)


def _related(source: Source, stored: Stored, others: Sequence[Stored]) -> Iterator[Beside]:
    """Yield the reports with what they have to do with the first of them."""
    asked = {one.command for point in source.points for one in point.shows}
    taken: set[str] = set()
    for one in (stored, *others):
        command = one.report.command
        if command not in asked or command in taken:
            what = "No point of it asks for" if command not in asked else "There are two reports of"
            raise UsageError(
                "others",
                f"{what} {command} ({one.file.name}).",
                hint=f"{source.name} takes one report each of {', '.join(sorted(asked))}.",
            )
        taken.add(command)
        yield Beside(one, _MAIN if one is stored else _relation(stored, one))


def _relation(stored: Stored, other: Stored) -> str:
    mine, theirs = stored.report.provenance, other.report.provenance
    releases = [one.declared.release if one.declared else None for one in (mine, theirs)]
    if None not in releases and releases[0] != releases[1]:
        raise UsageError(
            "others",
            f"{other.file.name} is declared to be of another release than {stored.file.name}.",
            hint="Leave it out, or make it of the release that this annex is about.",
        )
    if not theirs.inputs:
        return "computed from what was stated: no file was read"
    if _read(mine) & _read(theirs):
        return "read the same file"
    return _UNRELATED if None in releases else "of the same release, as declared"


def _read(one: Provenance) -> set[str]:
    return {file.sha256 or file.fingerprint or "" for file in one.inputs} - {""}


def _answer(source: Source, point: Point, reports: Sequence[Beside]) -> Answer:
    by_command = {one.stored.report.command: one for one in reports}
    shown, lacking, related = [], [], False
    for one in point.shows:
        report = by_command.get(one.command)
        found = [] if report is None else [*_lines(one, report)]
        shown += found
        related |= bool(found) and report is not None and report.related
        if report is None:
            again = "mipaudit render REPORT --for {} --with {}.json".format
            lacking.append(
                f"NOT TESTED: there is no report of {one.command}. With what mipaudit "
                f"{one.command} writes: {again(source.name, one.command)}"
            )
        elif not found:
            name = report.stored.file.name
            lacking.append(f"NOT EVALUABLE: {name} has nothing in {_where(one)}.")
        elif not report.related:
            lacking.append(f"OF OTHER FILES, perhaps of another release: {report.stored.file.name}")
    status = _status(point, lacking, related=related) if shown else _unshown(lacking)
    return Answer(point, status, tuple(shown), tuple(dict.fromkeys(lacking)))


def _unshown(lacking: Sequence[str]) -> Status:
    untested = any(one.startswith("NOT TESTED") for one in lacking)
    return "NOT TESTED" if untested else "NOT EVALUABLE"


def _status(point: Point, lacking: Sequence[str], *, related: bool) -> Status:
    if not related:
        return "REPORTED OF OTHER FILES"
    if all(one.field.startswith(_DECLARED) for one in point.shows):
        return "DECLARED, NOT CHECKED"
    return "REPORTED IN PART" if lacking or point.partly else "REPORTED"


def _where(one: Shows) -> str:
    return one.field + (f" of {one.quantity}" if one.quantity else "")


def _lines(one: Shows, report: Beside) -> Iterator[str]:
    """Yield what a field of a report says, each with its place; the strongest first."""
    place = f"{report.stored.file.name}, {one.field}"
    if not report.related:
        place += "; OTHER FILES"
    if one.field in {part.field for part in kind_of(one.command).figures} and one.quantity:
        found = [part for part in figures(report.stored.report, one.field) if _is(part, one)]
        leading = _leading(found)
        texts = [_figure(part) for part in leading[:_MOST]]
        if more := len(leading) - len(texts):
            texts.append(f"and {count_text(more)} more")
    else:
        texts = [*_values(report.stored.report, one.field)]
    yield from (f"{text} [{place}]" for text in texts)


def _is(figure: Figure, one: Shows) -> bool:
    numbers = (figure.lower, figure.value, figure.upper)
    return figure.of == one.quantity and any(text not in {None, NONE} for text in numbers)


def _leading(found: list[Figure]) -> list[Figure]:
    """Return the figures of the score that leaks most for sure, then those of the others."""
    best: dict[str, float] = {}
    for one in found:
        score = dict(one.labels).get("score", "")
        lower = float(one.lower) if one.lower not in {None, NONE} else -1.0
        best[score] = max(best.get(score, -1.0), lower)
    return sorted(found, key=lambda one: -best[dict(one.labels).get("score", "")])


def _figure(one: Figure) -> str:
    about = f" ({one.about})" if one.about else ""
    if one.lower is None:
        return f"{one.of}{about}: {one.value}"
    numbers = ((AT_LEAST, one.lower), (BEST_ESTIMATE, one.value), (AT_MOST, one.upper))
    return f"{one.of}{about}: " + ", ".join(f"{word} {text or '-'}" for word, text in numbers)


def _values(report: Any, field: str) -> Iterator[str]:  # noqa: ANN401 - of any kind
    """Yield what a field holds that is no figure; nothing where it is empty."""
    found = reduce(lambda one, name: getattr(one, name, None), field.split("."), report)
    several = found if isinstance(found, tuple) else (found,)
    for one in several[:_MOST]:
        if one is not None:
            value = plain_value(asdict(one) if is_dataclass(one) else one)  # type: ignore[arg-type]
            yield f"{field}: {plain(value_words(value))[:_LONGEST]}"
    if len(several) > _MOST:
        yield f"{field}: and {count_text(len(several) - _MOST)} more"


def _document(source: Source, reports: Sequence[Beside], answers: Sequence[Answer]) -> Document:
    first = reports[0].stored
    said = first.report.provenance.declared
    design, rows = getattr(first.report, "design", None), getattr(first.report, "estimates", ())
    people = people_section(rows, design, said) if isinstance(design, Design) else ()
    counts = {status: sum(one.status == status for one in answers) for status in get_args(Status)}
    found = "; ".join(f"{count} {status}" for status, count in counts.items() if count)
    sections = (
        (Paragraph(_LEGAL), Paragraph(f"What was read of the source: {source.read}")),
        bulleted("What can make this untrue", _warnings(reports)),
        (Heading("The points at a glance"), _glance(answers)),
        (Heading("What this was made of"), _files(reports)),
        declared_section(said),
        people,
        (Heading("Point by point"),),
        *map(_section, answers),
    )
    return Document(
        title=f"Annex: {source.title}",
        headline=f"Of {len(answers)} points: {found}.",
        mood="open",
        summary="",
        sections=tuple(section for section in sections if section),
        cases=(),
        created=first.report.provenance.created,
    )


def _warnings(reports: Sequence[Beside]) -> list[str]:
    """Return the findings because of which an answer may be untrue: no view leaves them out."""
    return [
        f"{one.stored.file.name}: {plain(found.text)}"
        for one in reports
        for found in getattr(one.stored.report, "findings", ())
        if found.serious
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
            f"{one.stored.report.command}: {one.relation}"
            for one in reports
        )
    )


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

            return document_markdown(document)
        case "html":
            from mipaudit.formats.page import document_html

            return document_html(document)
        case _:
            from mipaudit.formats.text import document_text

            return f"{document.title}\n\n" + document_text(document, width=_WIDTH, color=False)


def _json(source: Source, reports: Sequence[Beside], answers: Sequence[Answer]) -> str:
    said = reports[0].stored.report.provenance.declared
    whole = {
        "schema": "mipaudit.annex/1",
        "source": source.name,
        "title": source.title,
        "read": source.read,
        "legal": _LEGAL,
        "reports": [
            {**one.stored.file._asdict(), "command": one.stored.report.command, "is": one.relation}
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
