"""An annex for who signs: each point of a source, with what reports show of it, or that none do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, is_dataclass
from functools import reduce
from typing import Any, Final, Literal, NamedTuple, get_args

from mipaudit.errors import UsageError
from mipaudit.model.message import Message
from mipaudit.report.blocks import Bullets, Grid, Section, Text, listed
from mipaudit.report.exchange.annex_points import SOURCES, AnnexName, Point, Shows, Source
from mipaudit.report.exchange.others import judged_grid, unread
from mipaudit.report.exchange.stored import Figure, Stored, figures, is_number, printable
from mipaudit.report.forms import answer_of
from mipaudit.report.messages.told import is_serious, told
from mipaudit.report.origin import declared_pairs, declared_section
from mipaudit.statements.kinds import kind_of
from mipaudit.statements.policy import SHARES_ERROR
from mipaudit.statements.printable_names import plain
from mipaudit.statements.provenance import changed_file, plain_value, value_words
from mipaudit.statements.rounding import count_text

Layout = Literal["table", "markdown", "html", "json"]
_WIDTH: Final = 100
_LEGAL: Final = (
    "This is not legal advice, and not a finding that anything is anonymous, safe or compliant. "
    "The points are in our words; the source decides. REPORTED means that there are figures below, "
    "not that they are good enough. NOT TESTED means that it could have been tested; NOT EVALUABLE "
    "means that no report here can answer it; neither counts as passed. Nobody checked what was "
    "DECLARED."
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
_UNNAMED: Final = "No released file was named: only the person who signs states which release this "
"is about."
_UNRELATED: Final = "it read no file that the report read, and they do not declare the same release"
# Others may be of a part of the records, such as those whose attribute is known.
_OF_ALL_RECORDS: Final = {"estimate", "shift"}
# Of epsilon: what would hold if the records of one model were trials of their own.
_HYPOTHETICAL: Final = ("validity", "if-exchangeable")
_NOT_EVALUABLE: Final = "NOT EVALUABLE"
_UNTESTED: Final = (
    "NOT TESTED: there is no report of {1}. With what mipaudit {1} writes: mipaudit render REPORT "
    "--for {0} --with {1}.json"
)
# As the page has it, in the forms that have no style.
_TO_SIGN: Final = (
    Text("Read by", "h2"),
    Bullets(("name, role: ____________________  date, signature: ____________________",) * 2),
)


class Beside(NamedTuple):
    """A report that an annex is made of.

    Attributes:
        stored: the report, and the digest of its file.
        relation: to the report that the annex is of, in words.
        other: what it is of, where it is not known to be of the same release, in two words.
    """

    stored: Stored
    relation: str
    other: str = ""

    @property
    def related(self) -> str:
        """Return what the report is to the one that the annex is of."""
        return f"{self.other}: {self.relation}" if self.other else self.relation


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


def annex(stored: Stored, name: AnnexName, others: Sequence[Stored], layout: Layout) -> str:
    """Return the annex of a report, and of others on the same release.

    Args:
        stored: the report.
        name: of the source.
        others: reports that fill what it leaves open.
        layout: ``table`` is text.

    Raises:
        UsageError: ``others``: two reports of one kind, one of a kind that no point asks for, or
            of another release than is declared.
    """
    source = next(one for one in SOURCES if one.name == name)
    reports = tuple(_reports_of(source, stored, others))
    answers = tuple(_answer(source, point, reports) for point in source.points)
    if layout == "json":
        return _json(source, reports, answers)
    sections = [*filter(None, _sections(source, reports, answers))]
    title, verdict = f"Annex: {source.title}", _verdict(stored)
    if layout == "html":
        from mipaudit.report.markup import plain_page

        return plain_page(title, verdict, stored.walk.mood, sections)
    if layout == "markdown":
        from mipaudit.report.markup import whole_markdown

        return whole_markdown(title, verdict, "", (*sections, _TO_SIGN))
    from mipaudit.report.text import whole_text

    return f"{title}\n\n" + whole_text(verdict, "", (*sections, _TO_SIGN), width=_WIDTH)


def _reports_of(source: Source, stored: Stored, others: Sequence[Stored]) -> Iterator[Beside]:
    """Yield the reports with what they have to do with the first of them."""
    asked = {one.command for point in source.points for one in point.shows}
    taken: set[str] = set()
    for one in (stored, *others):
        command = one.report.command
        if command not in asked or command in taken:
            what = "No point asks about" if command not in asked else "There are two reports of"
            raise UsageError(
                "others",
                f"{what} {command} ({one.file.name}).",
                f"{source.name} takes one report each of {', '.join(sorted(asked))}.",
            )
        taken.add(command)
        yield Beside(one, "the report") if one is stored else _beside(stored, one)


def _beside(stored: Stored, other: Stored) -> Beside:
    mine, theirs = stored.report.provenance, other.report.provenance
    releases = [one.declared.release if one.declared else None for one in (mine, theirs)]
    if None not in releases and releases[0] != releases[1]:
        raise UsageError(
            "others",
            f"{other.file.name} is declared to be of another release than {stored.file.name}.",
            "Leave it out, or make it of the release that this annex is about.",
        )
    if not theirs.inputs:
        return Beside(other, "computed from what was stated: no file was read")
    # Before what is declared: nobody checked that.
    if differing := _differing(stored, other):
        return Beside(other, differing, "OTHER RECORDS")
    if {one for _, one in mine.contents if one} & {one for _, one in theirs.contents if one}:
        return Beside(other, "read the same file")
    if None in releases:
        return Beside(other, _UNRELATED, "OTHER FILES")
    return Beside(other, "of the same release, as declared")


def _differing(stored: Stored, other: Stored) -> str:
    """Return why two reports cannot be of the same records; empty where they can be.

    As ``estimate`` looks at a report of ``shift`` before it takes it.
    """
    both = (stored.report, other.report)
    if {one.command for one in both} != _OF_ALL_RECORDS:
        return ""
    mine, theirs = map(_sizes, both)
    if mine != theirs:
        return f"it is about {theirs}, and {stored.file.name} about {mine}"
    changed = changed_file(*(one.provenance.contents for one in both))
    if changed is None:
        return ""
    return f"it read another {printable(changed)} than {stored.file.name} did"


def _sizes(report: Any) -> str:  # noqa: ANN401 - of any kind
    members, holdout = report.design.n_members, report.design.n_holdout
    return f"{count_text(members)} members and {count_text(holdout)} holdout records"


def _answer(source: Source, point: Point, reports: Sequence[Beside]) -> Answer:
    by_command = {one.stored.report.command: one for one in reports}
    shown: list[str] = []
    lacking: list[str] = []
    related = False
    status: Status = "NOT EVALUABLE"
    for one in point.shows:
        report = by_command.get(one.command)
        if report is None:
            status = "NOT TESTED"
            lacking.append(_UNTESTED.format(source.name, one.command))
            continue
        name = report.stored.file.name
        found, numberless = _shown(one, report)
        shown += found
        lacking += numberless
        related |= bool(found) and not report.other
        if not found and not numberless:
            of = f" of {one.quantity}" if one.quantity else ""
            lacking.append(f"{_NOT_EVALUABLE}: {name} has nothing in {one.field}{of}.")
        elif report.other:
            lacking.append(f"OF {report.other}: {name}: {report.relation}")
    if shown and not related:
        status = "REPORTED OF OTHER FILES"
    elif shown and all(one.field.startswith(_DECLARED) for one in point.shows):
        status = "DECLARED, NOT CHECKED"
    elif shown:
        status = "REPORTED IN PART" if lacking or point.partly else "REPORTED"
    return Answer(point, status, tuple(shown), tuple(dict.fromkeys(lacking)))


def _shown(one: Shows, report: Beside) -> tuple[list[str], list[str]]:
    """Return what a field of a report says, each with its place, and figures without a number.

    No figure is left out. The score that leaks most for sure comes first.
    """
    place = f"[{report.stored.file.name}, {one.field}"
    place += f"; {report.other}]" if report.other else "]"
    found = report.stored.report
    if not (one.quantity and one.field in kind_of(one.command).figures):
        return [f"{text} {place}" for text in _values(found, one.field)], []
    shown, numberless = [], []
    for figure in _leading([part for part in figures(found, one.field) if part.of == one.quantity]):
        text = f"{_figure(figure)} {place}"
        if _HYPOTHETICAL in figure.labels:
            numberless.append(f"{_NOT_EVALUABLE}, since it proves nothing: {text}")
        elif not figure.numbers:
            numberless.append(f"{_NOT_EVALUABLE}: {text}")
        else:
            shown.append(text)
    return shown, numberless


def _leading(found: Sequence[Figure]) -> list[Figure]:
    """Return the figures of the score that leaks most for sure, then those of the others."""
    best: dict[str, float] = {}
    for one in found:
        score = dict(one.labels).get("score", "")
        lower = float(one.lower) if one.lower and is_number(one.lower) else -1.0
        best[score] = max(best.get(score, -1.0), lower)
    return sorted(found, key=lambda one: -best[dict(one.labels).get("score", "")])


def _figure(one: Figure) -> str:
    name = f"{one.of} ({one.about})" if one.about else one.of
    if one.lower is None:
        return f"{name}: {one.value}"
    parts = [f"{word} {text}" for word, text in one.columns if is_number(text)]
    missing: dict[str | None, list[str]] = {}
    words = ("no lower limit", "no best estimate", "no upper limit")
    for (_, text), word, reason in zip(one.columns, words, one.reasons, strict=True):
        if not is_number(text):
            missing.setdefault(reason, []).append(word)
    for reason, absent in missing.items():
        parts.append(", ".join(absent) + (f" ({plain(reason)})" if reason else ""))
    return f"{name}: {', '.join(parts)}"


def _values(report: Any, field: str) -> Iterator[str]:  # noqa: ANN401 - of any kind
    """Yield what a field holds that is no figure; nothing where it is empty."""
    found = reduce(lambda one, name: getattr(one, name, None), field.split("."), report)
    for one in found if isinstance(found, tuple) else (found,):
        if isinstance(one, Message):
            yield f"{field}: {plain(told(one))}"
        elif one is not None:
            value = plain_value(asdict(one) if is_dataclass(one) else one)  # type: ignore[arg-type]
            yield f"{field}: {plain(value_words(value))}"


def _sections(
    source: Source, reports: Sequence[Beside], answers: Sequence[Answer]
) -> tuple[Section, ...]:
    first = reports[0].stored
    made = first.report.provenance
    counts = {status: sum(one.status == status for one in answers) for status in get_args(Status)}
    found = "; ".join(f"{count} {status}" for status, count in counts.items() if count)
    named = tuple(
        f"{one.name}, sha256 {one.sha256}: {told(unread(one.name))}" for one in first.subjects
    )
    files = tuple(
        f"{one.stored.file.name}, sha256 {one.stored.file.sha256}, of mipaudit "
        f"{one.stored.report.command}: {one.related}"
        for one in reports
    )
    glance = Grid(
        caption="Each point, and whether anything here shows it",
        head=("point", "status", "what it asks"),
        rows=tuple((one.point.place, one.status, one.point.about) for one in answers),
        words=3,
        marked=frozenset(at for at, one in enumerate(answers) if one.status != "REPORTED"),
    )
    return (
        (judged_grid(first.walk.cases), *map(Text, _beside_verdict(reports))),
        (
            Text(f"Of {len(answers)} points: {found}."),
            Text(_LEGAL),
            Text(f"What was read of the source: {source.read}"),
        ),
        listed("What can make this untrue", _warnings(reports)),
        (Text("What is released", "h2"), Bullets(named) if named else Text(_UNNAMED)),
        (Text("The points at a glance", "h2"), glance),
        (Text("What this was made of", "h2"), Bullets(files)),
        declared_section(made.declared),
        first.walk.of_rows("people"),
        (Text("Point by point", "h2"),),
        *map(_section, answers),
    )


def _section(one: Answer) -> Section:
    unsaid = (f"Not said: {one.point.unsaid}",) if one.point.unsaid else ()
    return (
        Text(f"{one.point.place}: {one.status}", "h3"),
        Text(one.point.about),
        Bullets((*one.shown, *one.lacking, *unsaid)),
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
    said = [*reports[0].stored.walk.remarked(SHARES_ERROR)]
    if how is not None:
        said.append(told(how.limitation))
    for one in reports[1:]:
        other = one.stored
        if getattr(other.report, "policy", ()):
            which = f"{one.other or 'Beside it'}, mipaudit {other.report.command}."
            said.append(f"{which} {_verdict(other)}")
    return said


def _warnings(reports: Sequence[Beside]) -> list[str]:
    """Return the findings because of which an answer may be untrue: no view leaves them out."""
    return [
        f"{one.stored.file.name}: {plain(told(found))}"
        for one in reports
        for found in one.stored.report.findings
        if is_serious(found)
    ]


def _json(source: Source, reports: Sequence[Beside], answers: Sequence[Answer]) -> str:
    first = reports[0].stored
    judged = judged_grid(first.walk.cases)
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
            {**one.stored.file._asdict(), "command": one.stored.report.command, "is": one.related}
            for one in reports
        ],
        "warnings": _warnings(reports),
        "declared": dict(declared_pairs(first.report.provenance.declared)),
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
