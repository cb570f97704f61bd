"""What a report tells, as markup: a page, Markdown (GitHub's) for job summaries, JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, assert_never
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mipaudit.report import blocks
from mipaudit.report.blocks import Block, Case, Fold, Grid, Picture, Section, Text, first_sentence
from mipaudit.report.messages.told import Fields, filled
from mipaudit.report.origin import bare_name
from mipaudit.report.text import whole_text
from mipaudit.statements.kinds import kind_of
from mipaudit.statements.printable_names import first_names, plain, safe_name

if TYPE_CHECKING:
    from jinja2 import Template

    from mipaudit.report.walk import Walk


# What would be read as markup. An underscore is so only at the edge of a word.
_MARKUP: Final = re.compile(r"[\\`*\[\]<>|~&$]|:(?=//)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_AT_START: Final = re.compile(r"^(\s*)([#+=-]|\d+[.)])")


def whole_markdown(title: str, answer: str, about: str, sections: Iterable[Section]) -> str:
    """Return all that is told as markdown; nothing in it can become markup or a link.

    Where the text is posted, a site may still read a name such as ``@somebody`` in its own way.
    """
    head = [f"# {_safe(title)}\n", f"**{_safe(answer)}**\n"]
    head += [f"{_line(about)}\n"] if about else []
    return "\n".join([*head, blocks_markdown(one for section in sections for one in section)])


def blocks_markdown(told: Iterable[Block]) -> str:
    """Return blocks as markdown; nothing in them can become markup or a link."""
    return "\n".join(part for one in told for part in _block(one))


def _block(block: Block) -> Iterator[str]:
    match block:
        case blocks.Text():
            text = f"{'#' * int(block.role[1])} {_safe(block.text)}" if block.heads else ""
            yield f"{text or _line(block.text)}\n"
        case blocks.Bullets():
            yield "".join(f"- {_safe(text)}\n" for text in block.texts)
        case blocks.Pairs():
            yield "".join(f"- **{_safe(term)}**: {_safe(text)}\n" for term, text in block.pairs)
        case Grid():
            yield _grid(block)
        case blocks.Picture():
            yield f"*{_safe(block.alt)}*\n"
        case _:
            assert_never(block)


def _grid(grid: Grid) -> str:
    last = ["---"] * grid.prose
    rule = ["---"] * grid.words + ["--:"] * (len(grid.head) - grid.words - grid.prose) + last
    rows = [
        [f"**{_safe(cell)}**" if at in grid.marked and cell else _safe(cell) for cell in row]
        for at, row in enumerate(grid.rows)
    ]
    lines = [[_safe(cell) for cell in grid.head], rule, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _line(text: str) -> str:
    """Return a paragraph that does not begin a list or a heading."""
    return _AT_START.sub(r"\1\\\2", _safe(text))


def _safe(text: str) -> str:
    """Return text that is markdown for itself, in a cell too."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", plain(text).replace("\n", " "))


_TEMPLATE: Final = "page.html.j2"
_MEASURES: Final = frozenset({"advantage", "blind advantage", "risk", "epsilon"})
_SAID: Final = 2  # of what was read, so many names make a title
# Of a printed sheet, in letters and points: a line, its height, a pixel of a picture, and what
# the head and its pictures may take so that there is room to sign.
_LINE: Final = 110
_LEADING: Final = 11.0
_PIXEL: Final = 0.525
_CAPTION: Final = 60.0  # pixels
_MOST_POINTS: Final = 505.0
_LIMITS: Final = ("max_", "limits")  # how the settings that limit something begin
_SETTERS: Final = {"command line": "for this run", "api": "for this run, in Python"}
# Of its own: the page's style would be the notebook's, too.
_NOTEBOOK: Final = (
    "<style>.mipaudit .answer { font-weight: bold; font-size: 1.5em; line-height: 1.3 } "
    ".mipaudit h2, .mipaudit h3 { font-size: 1.05em } .mipaudit summary h2 { display: inline } "
    ".mipaudit img { background: white; max-width: 100% } .mipaudit .heard { display: none } "
    ".mipaudit .w { text-align: left }</style>"
)


def report_page(walk: Walk, *, full: bool = False) -> str:
    """Return a page that can be mailed, printed and archived, and holds the report for programs.

    Its head is for those who read nothing else, and paper has it with the sign-off on one sheet:
    what was asked, what was found, and what that does not say.

    Args:
        walk: along the report.
        full: whether all of the report stands open, with codes and folders, below a contents.
    """
    from mipaudit.report.codec import carried, to_json

    title, facts = _facts(walk)
    drawn = tuple(one for one in walk.pictures() if one not in walk.leading)
    pictures = ((Text("In pictures", "h2"), *drawn),) if drawn else ()
    parts = _parts((*walk.sections("page"), *pictures)) if full else _folded(walk)
    return _template().render(
        _head(walk),
        title=title,
        facts=facts,
        question=kind_of(walk.report.command).question,
        pictures=walk.leading,
        parts=tuple(parts),
        contents=full,
        signed="print",
        report=carried(to_json(walk.report)),
    )


def notebook_html(walk: Walk) -> str:
    """Return what a notebook shows: the answer, its pictures, what it does not say, the rest."""
    page = _template().render(
        _head(walk),
        title=walk.title,
        question=kind_of(walk.report.command).question,
        pictures=[one.inert() for one in walk.leading],
        parts=tuple(_folded(walk, inert=True)),
    )
    body = page.partition("</header>")[2].partition("</main>")[0]
    return f'<div class="mipaudit">{_NOTEBOOK}{body}</div>'


def plain_page(title: str, answer: str, mood: str, sections: Sequence[Section]) -> str:
    """Return a page that ends with lines to sign, on the screen and in print; nothing is folded."""
    parts = tuple(_parts(sections))
    return _template().render(title=title, answer=answer, mood=mood, parts=parts, signed="shown")


def _head(walk: Walk) -> dict[str, Any]:
    """Return what stands first: the answer for everybody, and as a statistician would say it."""
    plainly, figures = walk.plainly, walk.about
    answer = first_sentence(plainly)
    more = plainly.removeprefix(answer).lstrip()
    if plainly != walk.answer:
        once = walk.answer.replace(more, "").rstrip() if more else walk.answer
        figures = f"For a statistician: {once} {figures}"
    caveats, warnings = walk.caveats, walk.warnings
    said = f"{plainly} {figures}".casefold()
    words = ((word, text) for word, text in walk.terms if word in _MEASURES and word in said)
    measure = ": ".join(next(words, ()))
    head = (plainly, walk.beside, figures, measure, *warnings)
    return {
        "answer": answer,
        "more": more,
        "beside": walk.beside,
        "mood": walk.mood,
        "figures": figures,
        "warnings": warnings,
        "measure": measure[:1].upper() + measure[1:],
        "unsaid": caveats,
        "long": _height(head, caveats, walk) > _MOST_POINTS,
        "following": walk.following,
    }


def _height(head: Iterable[str], caveats: Iterable[str], walk: Walk) -> float:
    """Return about how high what stands above the lines to sign is in print, in points.

    A picture alone stands beside the list of what is not said.
    """
    heights = [float(re.findall(r' height="([\d.]+)"', one.svg)[0]) for one in walk.leading]
    beside = len(heights) == 1
    drawn = (max(heights) + _CAPTION) * _PIXEL if heights else 0.0
    wide = _LINE // (1 + beside)
    listed = _LEADING * sum(1 + len(one) // wide for one in caveats)
    above = _LEADING * sum(1 + len(one) // _LINE for one in head)
    return above + (max(drawn, listed) if beside else drawn + listed + 2 * _LEADING)


def _facts(walk: Walk) -> tuple[str, list[tuple[str, str]]]:
    """Return what was audited, and what was released, by whom it was tried, when and with what."""
    made, question = walk.report.provenance, kind_of(walk.report.command).question
    declared = made.declared
    read = first_names([safe_name(bare_name(one.name)) for one in made.inputs], _SAID)
    unstated = "not named" if read else ""  # what is computed from a promise is no release
    day, _, time = made.created.partition("T")
    named = walk.named or (f"Audit of {read}" if read else question)
    title = (declared.title if declared else None) or named
    facts = (
        ("Released", (declared.release if declared else None) or unstated),
        ("Tested by", (declared.author if declared else None) or unstated),
        ("Read", "" if title == f"Audit of {read}" else read),
        (
            "Data",
            "; ".join(f"sha256 {one.sha256[:12]}…" for one in made.inputs[:_SAID] if one.sha256),
        ),
        ("Limit", _limits(walk.report)),
        ("Made", f"{day} {time[:5]} (UTC), by {walk.title}, version {made.mipaudit}"),
    )
    return title, [(name, text) for name, text in facts if text]


def _limits(report: Any) -> str:  # noqa: ANN401 - of any kind
    """Return the limits of a policy, and what set them; empty without any."""
    checks = [one for one in getattr(report, "policy", ()) if hasattr(one, "quantity")]
    how = getattr(report, "rejudged", None) or report.provenance
    named = "{quantity:checked} at most {limit:number}"
    limits = dict.fromkeys(plain(filled(named, Fields(one))) for one in checks)
    set_by = dict.fromkeys(
        _SETTERS.get(one.source) or f"in {safe_name(one.where or one.source)}"
        for one in how.settings
        if one.source != "default" and one.name.startswith(_LIMITS)
    )
    said = f", set {' and '.join(set_by)}" if limits and set_by else ""
    return "; ".join(limits) + said


def _parts(sections: Iterable[Section]) -> Iterator[Fold]:
    """Yield what is told heading by heading."""
    gathered: list[tuple[str, list[Block]]] = [("", [])]
    for block in (block for section in sections for block in section):
        if isinstance(block, Text) and block.role == "h2":
            gathered.append((block.text, []))
        else:
            gathered[-1][1].append(block)
    for number, (title, found) in enumerate(gathered):
        if found or number:
            yield Fold(title, tuple(found), None, f"part-{number}")


def _folded(walk: Walk, *, inert: bool = False) -> Iterator[Fold]:
    """Yield what is folded; what has one heading within has that as its own."""
    for number, fold in enumerate(walk.folds(), 1):
        title, found = fold.title, fold.blocks
        if inert:
            found = tuple(one.inert() if isinstance(one, Picture) else one for one in found)
        within = [one for one in found if isinstance(one, Text) and one.role == "h2"]
        if within == [found[0]]:
            title, found = within[0].text, found[1:]
        yield Fold(title, found, fold.opened and not inert, f"part-{number}")


@cache
def _template() -> Template:
    from importlib.resources import files

    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["plain"] = plain
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment.from_string(files(__package__).joinpath(_TEMPLATE).read_text("utf-8"))


_FAILING: Final = {"failed": "not_met", "open": "inconclusive"}
_JUNIT_WIDTH: Final = 100
_SKIPPED: Final = frozenset({"waived", "skipped"})

# What the schemas ask for and a report does not say: where, how long, of which package.
_REQUIRED: Final = {"hostname": "localhost", "time": "0", "package": "mipaudit", "id": "0"}


def report_junit(walk: Walk) -> str:
    """Return one test suite: what is not met or inconclusive fails, as the exit code does.

    Elements and attributes are those that both Ant's schema, which asks for most, and that of
    Jenkins' xUnit plugin, which refuses whatever it does not know, accept.
    """
    totals = {
        "name": walk.title,
        "tests": str(len(walk.cases)),
        "failures": str(sum(case.status in _FAILING for case in walk.cases)),
        "errors": "0",
        "skipped": str(sum(case.status in _SKIPPED for case in walk.cases)),
        "timestamp": plain(walk.report.provenance.created).removesuffix("Z"),
    }
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", totals | _REQUIRED)
    SubElement(suite, "properties")
    for case in walk.cases:
        suite.append(_junit_case(case, walk.title))
    # All of the report: a case has no place for why it passed, nor for a figure.
    said = whole_text(walk.answer, walk.about, walk.sections("text"), width=_JUNIT_WIDTH)
    SubElement(suite, "system-out").text = said
    SubElement(suite, "system-err")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _junit_case(case: Case, title: str) -> Element:
    element = Element(
        "testcase", {"classname": plain(case.group) or title, "name": plain(case.name), "time": "0"}
    )
    text = plain(case.text)
    if case.status in _FAILING:
        failure = SubElement(element, "failure", {"type": _FAILING[case.status], "message": text})
        failure.text = text
    elif case.status in _SKIPPED:
        SubElement(element, "skipped", {"message": text})
    return element
