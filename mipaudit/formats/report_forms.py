"""From any report to its document and its forms; what draws the other kinds is not loaded."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, assert_never

from mipaudit.errors import UsageError, as_typed
from mipaudit.formats.document import Grid, Heading, Picture, plain, told_all
from mipaudit.formats.origin_sections import origin_section, policy_words, seed_section, short_seed
from mipaudit.statements.reports.kinds import kind_of, named

if TYPE_CHECKING:
    from mipaudit.formats.brief import Brief
    from mipaudit.formats.document import Document, Section, View
    from mipaudit.formats.html_page import Front
    from mipaudit.formats.walk import Walk
    from mipaudit.options.declare import Options
    from mipaudit.statements.reports.any_report import AnyReport


Form = Literal["csv", "markdown", "html", "junit"]
# Of its own: the page's style would be the notebook's, too.
_NOTEBOOK: Final = (
    "<style>.mipaudit .verdict { font-weight: bold; font-size: 1.15em } "
    ".mipaudit h2 { font-size: 1.1em } .mipaudit summary h2 { display: inline } "
    ".mipaudit img { background: white; max-width: 100% }</style>"
)
_EVEN: Final = 0.5  # as likely a member as not, where a report has no prior
_MORE: Final = 'More: .show(), .show(full=True), .to_pandas(), .save("report.html").'


def report_as(report: AnyReport, form: Form) -> str:
    """Return the report in a form that people or servers read; programs read its JSON."""
    if form == "csv":
        from mipaudit.formats.csv import report_csv

        return report_csv(report)
    document = document_of(report, "page" if form == "html" else "summary")
    match form:
        case "markdown":
            from mipaudit.formats.markdown import document_markdown

            return document_markdown(document)
        case "html":
            return _page(report, document)
        case "junit":
            from mipaudit.formats.junit import document_junit

            return document_junit(document)
        case _:
            assert_never(form)


def _page(report: AnyReport, document: Document) -> str:
    """Return the page of a report, which also holds the report as programs read it."""
    from mipaudit.formats.html_page import document_html, head_of
    from mipaudit.report.codec import carried, to_json

    front = _front(report)
    head = head_of(
        front,
        report.provenance,
        question=kind_of(report.command).question,
        warnings=_brief(report).warnings,
    )
    return document_html(document, head._replace(report=carried(to_json(report))))


def _front(report: AnyReport) -> Front:
    """Return what a page of a report says first."""
    from mipaudit.formats.html_page import front_of, said_terms

    brief = _brief(report)
    report = _standing(report)
    prior = getattr(getattr(report, "design", None), "prior", _EVEN)
    walk = _walk(report)
    front = front_of(brief, told_all(getattr(report, "limitations", ())), prior)
    same = walk.plainly == brief.answer
    figures = brief.about if same else f"{brief.answer} {brief.about}"
    front = front._replace(
        answer=walk.plainly,
        figures=figures,
        terms=said_terms(walk.terms, f"{walk.plainly} {figures}"),
        unsaid=(*walk.unsaid, *front.unsaid),
        facts=walk.facts(),
    )
    typed: Front = _typed(front)
    return typed


def document_of(report: AnyReport, view: View = "summary") -> Document:
    """Return all that a report shows, and where it comes from."""
    document = _document(report, view)
    drawings = tuple(_walk(report).pictures()) if view == "page" else ()
    pictures = ((Heading(text="In pictures"), *drawings),) if drawings else ()
    whole = (*document.sections, *pictures, _said(report), origin_section(report.provenance))
    return document._replace(sections=tuple(section for section in whole if section))


def _said(report: AnyReport) -> Section:
    """Return what was declared of a report, if anything."""
    if report.provenance.declared is None:
        return ()
    from mipaudit.formats.declared import declared_section

    return declared_section(report.provenance.declared)


def table_of(report: AnyReport, rows: str) -> Section:
    """Return the table of a field of a report; empty where it has none."""
    return _walk(report).of_rows(rows)


def remarked(report: AnyReport, code: str) -> tuple[str, ...]:
    """Return the remarks of a code, as sentences."""
    return _walk(report).remarked(code)


def answer_of(report: AnyReport, *, warned: bool = True) -> str:
    """Return the answer in a line, with what can make it untrue unless that is said elsewhere."""
    brief = _brief(report)
    return plain(" ".join([brief.answer, *(brief.warnings if warned else ())]))


def brief_report(
    report: AnyReport, *, width: int, color: bool = False, python: bool = False
) -> str:
    """Return the answer of a report in a screenful, for a terminal.

    Args:
        report: of any command.
        width: characters in a line, where tables allow; prose is up to 80 wide.
        color: whether to use terminal colours.
        python: whether what else there is is said as Python's callers write it.
    """
    from mipaudit.formats.brief import brief_text

    return brief_text(_brief(report, python=python), width=width, color=color)


def report_repr(report: AnyReport) -> str:
    """Return what Python's prompt shows: the answer in five lines."""
    from mipaudit.formats.brief import brief_lines

    return "\n".join(brief_lines(f"mipaudit {report.command}", _brief(report, python=True)))


def _brief(report: AnyReport, *, python: bool = False) -> Brief:
    """Return the few lines of a report, with its findings and its seed.

    Args:
        report: of any command.
        python: whether what else there is is said as Python's callers write it.
    """
    from mipaudit.formats.brief import first_sentence
    from mipaudit.report.messages.told import is_serious, told

    first, report = _first(report), _standing(report)
    brief = _walk(report).brief()
    findings = getattr(report, "findings", ())
    notes = [*brief.notes, *(first_sentence(told(one)) for one in findings if not is_serious(one))]
    seed = short_seed(report.provenance)
    # Of several seeds only that they follow from the scores: worth a line with what they move.
    told_seed = seed is not None and (len(report.provenance.seeds) <= 1 or bool(brief.closing))
    notes.append(" ".join([f"Seed {seed}."] * told_seed + [*brief.closing]))
    warnings = (told(one) for one in findings if is_serious(one))
    whole = brief._replace(warnings=(*first, *brief.warnings, *warnings), notes=tuple(notes))
    if python:
        whole = whole._replace(more=_MORE)
    typed: Brief = _typed(whole)
    return typed


def report_text(report: AnyReport, *, width: int, color: bool = False) -> str:
    """Return all of the report as text for a terminal.

    Args:
        report: of any command.
        width: characters in a line, where tables allow; prose is up to 100 wide.
        color: whether to use terminal colours.
    """
    from mipaudit.formats.text import document_text

    document = _document(report, "text")
    if said := _said(report):
        document = document._replace(sections=(*document.sections, said))
    if report.provenance.seeds or report.provenance.seed is not None:
        document = document._replace(sections=(*document.sections, seed_section(report.provenance)))
    return document_text(document, width=width, color=color)


def notebook_html(report: AnyReport) -> str:
    """Return what a notebook shows: the answer, its picture, and the rest folded."""
    from mipaudit.formats.html_page import Head, document_html, front_of

    document = _document(report, "page")
    key = next(_walk(report).pictures(), None)
    shown = ((key.inert(),),) if key is not None else ()
    sections = (*shown, *document.sections)
    brief = _brief(report, python=True)
    head = Head(title="", front=front_of(brief, ()), warnings=brief.warnings)
    page = document_html(document._replace(sections=sections), head)
    body = page.partition("</header>")[2].partition("</main>")[0]
    return f'<div class="mipaudit">{_NOTEBOOK}{body}</div>'


def key_picture(report: AnyReport) -> Picture:
    """Return the picture that shows the answer of a report.

    Raises:
        UsageError: there is none of that kind of report, or of what was found.
    """
    found = next(_walk(report).pictures(), None)
    if found is None:
        raise UsageError(
            "no_picture",
            f"This report of {report.command} has no picture.",
            hint="Its figures are in .to_pandas().",
        )
    return found


def _document(report: AnyReport, view: View) -> Document:
    first, report = _first(report), _standing(report)
    document = _walk(report).document(warned=view != "page")
    if view != "page":  # whose head says it
        document = document._replace(summary=" ".join((*first, document.summary)))
    typed: Document = _typed(document)
    return typed


def _walk(report: AnyReport) -> Walk:
    """Return a report along its layout."""
    kind = kind_of(report.command)
    from mipaudit.formats.walk import Walk

    return Walk(report, named(kind.layout), import_module(kind.conclusion))


def _first(report: AnyReport) -> tuple[str, ...]:
    """Return what stands before all else: a waiver that is gone, and what a policy file chose."""
    return (*_stale(report), *chosen_words(report))


def chosen_words(report: AnyReport) -> tuple[str, ...]:
    """Return what a policy file chose, and which one it was where readers may not expect it."""
    return policy_words(report.provenance, *_asked(report.command))


def _stale(report: AnyReport) -> tuple[str, ...]:
    """Return that a waiver which a verdict rests on has expired since, if one has."""
    if not getattr(report, "policy", ()):
        return ()
    from mipaudit.report.messages.told import told
    from mipaudit.statements.provenance import waiver_day
    from mipaudit.statements.verdict import stale_waiver

    found = stale_waiver(report, waiver_day())
    return () if found is None else (told(found),)


def _standing(report: AnyReport) -> AnyReport:
    """Return the report as its waivers stand on the day."""
    if not getattr(report, "policy", ()):
        return report
    from mipaudit.statements.provenance import waiver_day
    from mipaudit.statements.verdict import standing

    found: AnyReport = standing(report, waiver_day())
    return found


def _asked(command: str) -> tuple[type[Options], type[Options]]:
    """Return the classes of what the command that made a report may be asked."""
    from mipaudit.options.commands import BY_NAME

    row = BY_NAME.get(command) or BY_NAME[command.split(maxsplit=1)[0]]
    return named(row.asked), named(row.shown)


def _typed(part: Any) -> Any:  # noqa: ANN401 - a document, or of one
    """Return a part of a document with its options named as they are typed."""
    if isinstance(part, str):
        return as_typed(part)
    if isinstance(part, Grid):
        # Of a table the prose: other cells hold data.
        rows = part.rows
        if part.prose:
            rows = tuple((*row[:-1], as_typed(row[-1])) for row in rows)
        return part._replace(caption=as_typed(part.caption), rows=rows)
    if not isinstance(part, tuple):
        return part
    parts = [_typed(one) for one in part]
    return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
