"""What a report tells, as a page: its head, what was found, and the rest folded under a contents.

The head is for those who read nothing else: what was asked, what was found, what it does not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.report.blocks import Block, Bullets, Heading, Section, plain
from mipaudit.report.messages.words import named_quantity, named_where
from mipaudit.report.walk import FEW
from mipaudit.statements.kinds import kind_of
from mipaudit.statements.printable_names import safe_name
from mipaudit.statements.rounding import number_text

if TYPE_CHECKING:
    from jinja2 import Template

    from mipaudit.model.row import Check
    from mipaudit.report.walk import Walk

_TEMPLATE: Final = "page.html.j2"
_SAID: Final = 2  # of what was read, so many names make a title
_LIMITS: Final = ("max_", "limits")  # how the settings that limit something begin
_SETTERS: Final = {"command line": "on the command line", "api": "in Python"}
# Of its own: the page's style would be the notebook's, too.
_NOTEBOOK: Final = (
    "<style>.mipaudit .verdict { font-weight: bold; font-size: 1.15em } "
    ".mipaudit h2 { font-size: 1.1em } .mipaudit summary h2 { display: inline } "
    ".mipaudit img { background: white; max-width: 100% }</style>"
)


class Part(NamedTuple):
    """A part of the page under one heading, at its place on the page."""

    title: str
    anchor: str
    blocks: Section
    folded: bool


def report_page(walk: Walk) -> str:
    """Return a page that can be mailed, printed and archived, and holds the report for programs."""
    from mipaudit.report.codec import carried, to_json

    pictures = [*walk.pictures()]
    drawn = ((Heading(text="In pictures"), *pictures[1:]),) if pictures[1:] else ()
    title, facts = _facts(walk.report)
    return _template().render(
        _head(walk),
        command=walk.title,
        title=title,
        facts=facts,
        question=kind_of(walk.report.command).question,
        unsaid=walk.unsaid[:FEW],
        picture=next(iter(pictures), None),
        parts=tuple(_parts((*walk.sections("page"), *drawn), folding=True)),
        contents=True,
        report=carried(to_json(walk.report)),
    )


def notebook_html(walk: Walk) -> str:
    """Return what a notebook shows: the answer, its picture, and the rest folded."""
    picture = next(walk.pictures(), None)
    page = _template().render(
        _head(walk),
        command=walk.title,
        picture=None if picture is None else picture.inert(),
        parts=tuple(_parts(walk.sections("page"), folding=True)),
    )
    body = page.partition("</header>")[2].partition("</main>")[0]
    return f'<div class="mipaudit">{_NOTEBOOK}{body}</div>'


def plain_page(title: str, answer: str, mood: str, sections: Sequence[Section]) -> str:
    """Return a page that ends with lines to sign, on the screen and in print; nothing is folded."""
    parts = tuple(_parts(sections, folding=False))
    return _template().render(command=title, answer=answer, mood=mood, parts=parts, signed=True)


def _head(walk: Walk) -> dict[str, Any]:
    """Return what stands first: the answer for everybody, and as a statistician would say it."""
    plainly, figures = walk.plainly, walk.about
    if plainly != walk.answer:
        figures = f"{walk.answer} {figures}"
    said = f"{plainly} {figures}"
    return {
        "answer": plainly,
        "mood": walk.mood,
        "figures": figures,
        "warnings": walk.warnings,
        "terms": [one for one in walk.terms if re.search(rf"(?i)\b{re.escape(one[0])}\b", said)],
    }


def _facts(report: Any) -> tuple[str, list[tuple[str, str]]]:  # noqa: ANN401 - of any kind
    """Return what was audited, and what was released, by whom it was tried, when and with what."""
    made = report.provenance
    declared = made.declared
    names = [safe_name(one.name) for one in made.inputs]
    more = f" and {len(names) - _SAID} more" if len(names) > _SAID else ""
    read = f"{', '.join(names[:_SAID])}{more}"
    unstated = "not stated" if names else ""  # what is computed from a promise is no release
    title = (declared.title if declared else None) or read
    facts = (
        ("released", (declared.release if declared else None) or unstated),
        ("tested by", (declared.author if declared else None) or unstated),
        ("read", "" if read == title else read),
        ("limit", _limits(report)),
        ("made", f"{made.created} (UTC), with mipaudit {made.mipaudit}"),
    )
    return title, [(name, text) for name, text in facts if text]


def _checked_name(check: Check) -> str:
    """Name what a check is about, without its limit."""
    named = named_quantity(check.quantity, check.metric, check.fpr)
    return named + named_where(check.prior, check.group)


def _limits(report: Any) -> str:  # noqa: ANN401 - of any kind
    """Return the limits of a policy, and what set them; empty without any."""
    checks = [one for one in getattr(report, "policy", ()) if hasattr(one, "quantity")]
    how = getattr(report, "rejudged", None) or report.provenance
    limits = dict.fromkeys(
        f"{plain(_checked_name(one))} at most {number_text(one.limit)}" for one in checks
    )
    set_by = dict.fromkeys(
        _SETTERS.get(one.source) or f"in {safe_name(one.where or one.source)}"
        for one in how.settings
        if one.source != "default" and one.name.startswith(_LIMITS)
    )
    said = f", set {' and '.join(set_by)}" if limits and set_by else ""
    return "; ".join(limits) + said


def _parts(sections: Iterable[Section], *, folding: bool) -> Iterator[Part]:
    """Yield what is told heading by heading; what is more than a list is folded."""
    gathered: list[tuple[str, list[Block]]] = [("The figures", [])]
    for block in (block for section in sections for block in section):
        if isinstance(block, Heading) and block.level == 2:  # noqa: PLR2004 - <h2>
            gathered.append((block.text, []))
        else:
            gathered[-1][1].append(block)
    for number, (title, blocks) in enumerate(gathered):
        if blocks or number:
            listed = len(blocks) == 1 and isinstance(blocks[0], Bullets)
            named = title if folding or number else ""
            yield Part(named, f"part-{number}", tuple(blocks), folding and not listed)


@cache
def _template() -> Template:
    from importlib.resources import files

    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["plain"] = plain
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment.from_string(files(__package__).joinpath(_TEMPLATE).read_text("utf-8"))
