"""A document as a page: its head, what was found, and the rest folded under a table of contents.

The head is for those who read nothing else: what was asked, what was found, what it does not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from mipaudit.formats.document import Block, Bullets, Document, Heading, Picture, Section, plain
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from jinja2 import Template

    from mipaudit.formats.brief import Brief
    from mipaudit.statements.origin import Provenance

_TEMPLATE: Final = "document.html.j2"
_FEW: Final = 3
_SAID: Final = 2  # of what was read, so many names make a title
_ADVANTAGE: Final = (
    "how well somebody can tell whose records were used. 0 is no better than a coin; 0.5 is right "
    "75 times in 100; 1 is always right."
)
_MEMBERS: Final = "records that were used, as in training; holdout records are like them, unused."
_TERMS: Final = (("Advantage", _ADVANTAGE), ("Members", _MEMBERS))


class Head(NamedTuple):
    """What stands above everything else.

    Attributes:
        title: what was audited.
        facts: when, by whom, with what.
        question: that the report answers, in everybody's words.
        answer: the verdict, or the answer, with its number.
        mood: of the answer.
        warnings: what can make it untrue.
        about: for whom it holds.
        unsaid: what the answer does not say.
        terms: of the words of the head that need it, what they mean.
        report: the element that holds the report for programs.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    question: str = ""
    answer: str = ""
    mood: str = "plain"
    warnings: tuple[str, ...] = ()
    about: str = ""
    unsaid: str = ""
    terms: tuple[tuple[str, str], ...] = ()
    report: str = ""


class Part(NamedTuple):
    """A part of the page under one heading.

    Attributes:
        title: of it; empty for what stands before the first heading.
        anchor: its place on the page.
        shown: what is always seen.
        folded: what is seen once it is opened, and in print.
        fold: what opens it, where the title does not.
    """

    title: str
    anchor: str
    shown: Section = ()
    folded: Section = ()
    fold: str = ""


def head_of(brief: Brief, provenance: Provenance, *, question: str, unsaid: str) -> Head:
    """Return the head of a report's page.

    Args:
        brief: the report in a few lines.
        provenance: of the report.
        question: that its kind answers.
        unsaid: the first of its limitations.
    """
    declared = provenance.declared
    names = [safe_name(one.name) for one in provenance.inputs]
    more = f" and {len(names) - _SAID} more" if len(names) > _SAID else ""
    read = f"{', '.join(names[:_SAID])}{more}"
    facts = (
        ("release", declared.release if declared else None),
        ("of", read),
        ("by", declared.author if declared else None),
        ("made", f"{provenance.created} (UTC), with mipaudit {provenance.mipaudit}"),
    )
    title = declared.title if declared else None
    said = " ".join((brief.answer, *brief.warnings, brief.about))
    return Head(
        title=title or read,
        facts=tuple((name, text) for name, text in facts if text and text != (title or read)),
        question=question,
        answer=brief.answer,
        mood=brief.mood,
        warnings=brief.warnings,
        about=brief.about,
        unsaid=unsaid,
        terms=tuple((word, text) for word, text in _TERMS if re.search(rf"(?i)\b{word}\b", said)),
    )


def document_html(document: Document, head: Head | None = None) -> str:
    """Return the document as a page that can be mailed, printed and archived.

    Every text is escaped by the template engine; pictures are drawings by our own
    plotting, whose texts it has escaped.

    Args:
        document: what is shown.
        head: above it; None for the document's own outcome alone.
    """
    found = head or Head(title="", answer=document.headline, mood=document.mood)
    picture = next(_pictures(document.sections), None) if head else None
    sections = _without(document.sections, picture)
    summary = (
        ""
        if document.summary in {found.answer, found.about, f"{found.answer} {found.about}"}
        else (document.summary)
    )
    return _template().render(
        document=document,
        head=found,
        picture=picture,
        summary=summary,
        parts=tuple(_parts(sections, folding=head is not None)),
    )


def _pictures(sections: tuple[Section, ...]) -> Iterator[Picture]:
    """Return the pictures of a document: the first shows the answer."""
    return (block for section in sections for block in section if isinstance(block, Picture))


def _without(sections: tuple[Section, ...], picture: Picture | None) -> tuple[Section, ...]:
    """Return the sections without what stands at the head, nor a heading over nothing."""
    kept = (tuple(block for block in section if block is not picture) for section in sections)
    return tuple(one for one in kept if any(not isinstance(block, Heading) for block in one))


def _parts(sections: tuple[Section, ...], *, folding: bool) -> Iterator[Part]:
    """Yield the document heading by heading; lists show their beginning, the rest is folded."""
    gathered: list[tuple[str, list[Block]]] = [("", [])]
    for block in (block for section in sections for block in section):
        if isinstance(block, Heading) and block.level == 2:  # noqa: PLR2004 - <h2>
            gathered.append((block.text, []))
        else:
            gathered[-1][1].append(block)
    for number, (title, blocks) in enumerate(gathered):
        anchor, whole = f"part-{number}", tuple(blocks)
        if not title or not folding:
            yield Part(title=title, anchor=anchor, shown=whole)
        elif len(whole) == 1 and isinstance(whole[0], Bullets):
            texts = whole[0].texts
            rest = texts[_FEW:]
            yield Part(
                title=title,
                anchor=anchor,
                shown=(Bullets(texts=texts[:_FEW]),),
                folded=(Bullets(texts=rest),) if rest else (),
                fold=f"and {len(rest)} more",
            )
        else:
            yield Part(title=title, anchor=anchor, folded=whole)


@cache
def _template() -> Template:
    from importlib.resources import files

    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["plain"] = plain
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment.from_string(files(__package__).joinpath(_TEMPLATE).read_text("utf-8"))
