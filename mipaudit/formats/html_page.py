"""A document as a page: its head, what was found, and the rest folded under a table of contents.

The head is for those who read nothing else: what was asked, what was found, what it does not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from mipaudit.formats.document import (
    UNSAID,
    Block,
    Bullets,
    Document,
    Heading,
    Mood,
    Paragraph,
    Picture,
    Section,
    plain,
)
from mipaudit.statements.policy import checked_name
from mipaudit.statements.text.guesses import advantage_words
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from jinja2 import Template

    from mipaudit.formats.brief import Brief
    from mipaudit.model.check import Check
    from mipaudit.statements.origin import Provenance, Setting

_TEMPLATE: Final = "document.html.j2"
_FEW: Final = 3
_SAID: Final = 2  # of what was read, so many names make a title
_MEMBERS: Final = "records that were used, as in training; holdout records are like them, unused."
_UNSTATED: Final = "not stated"
_NOTHING: Final = Bullets(())
_LIMITS: Final = ("max_", "limits")  # how the settings that limit something begin
_SETTERS: Final = {"command line": "on the command line", "api": "in Python"}


class Front(NamedTuple):
    """What a page says to those who read nothing else, in everybody's words.

    Attributes:
        answer: the verdict, or the answer, in a sentence or two.
        mood: of it.
        figures: the same as a statistician would say it.
        facts: what was tried, and against what.
        terms: of the words used, what they mean.
        unsaid: what the answer does not say.
    """

    answer: str
    mood: Mood
    figures: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    unsaid: tuple[str, ...] = ()


class Head(NamedTuple):
    """What stands above everything else.

    Attributes:
        title: what was audited.
        facts: what was released, by whom it was tried, when and with what.
        question: that the report answers, in everybody's words.
        warnings: what can make the answer untrue.
        front: the answer, and what goes with it.
        report: the element that holds the report for programs.
    """

    title: str
    front: Front
    facts: tuple[tuple[str, str], ...] = ()
    question: str = ""
    warnings: tuple[str, ...] = ()
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


def front_of(brief: Brief, unsaid: Sequence[str], prior: float = 0.5) -> Front:
    """Return what the terminal's few lines say, for a kind of report without a front of its own.

    Args:
        brief: the report in a few lines.
        unsaid: its limitations, of which the first stand at the top.
        prior: how likely a challenged record is a member.
    """
    said = " ".join((brief.answer, *brief.warnings, brief.about))
    terms = (("Advantage", advantage_words(prior)), ("Members", _MEMBERS))
    return Front(
        answer=brief.answer,
        mood=brief.mood,
        figures=brief.about,
        terms=said_terms(terms, said),
        unsaid=tuple(unsaid[:_FEW]),
    )


def said_terms(terms: Iterable[tuple[str, str]], said: str) -> tuple[tuple[str, str], ...]:
    """Return the terms that a text uses, with what they mean."""
    return tuple((word, text) for word, text in terms if re.search(rf"(?i)\b{word}\b", said))


def limit_fact(checks: Sequence[Check], settings: Iterable[Setting]) -> tuple[str, str]:
    """Return the policy's limits as a fact, and what set them.

    Args:
        checks: of the policy.
        settings: of the report, from which they come.
    """
    limits = dict.fromkeys(
        f"{plain(checked_name(one))} at most {number_text(one.limit)}" for one in checks
    )
    if not limits:
        return ("limit", "none was set")
    set_by = dict.fromkeys(
        _SETTERS.get(one.source) or f"in {safe_name(one.where or one.source)}"
        for one in settings
        if one.source != "default" and one.name.startswith(_LIMITS)
    )
    return ("limit", "; ".join(limits) + (f", set {' and '.join(set_by)}" if set_by else ""))


def head_of(
    front: Front, provenance: Provenance, *, question: str, warnings: tuple[str, ...]
) -> Head:
    """Return the head of a report's page.

    Args:
        front: of the report.
        provenance: of the report.
        question: that its kind answers.
        warnings: what can make the answer untrue.
    """
    declared = provenance.declared
    names = [safe_name(one.name) for one in provenance.inputs]
    more = f" and {len(names) - _SAID} more" if len(names) > _SAID else ""
    read = f"{', '.join(names[:_SAID])}{more}"
    unstated = _UNSTATED if names else ""  # what is computed from a promise is no release
    title = (declared.title if declared else None) or read
    facts = (
        ("released", (declared.release if declared else None) or unstated),
        ("tested by", (declared.author if declared else None) or unstated),
        ("read", "" if read == title else read),
        *front.facts,
        ("made", f"{provenance.created} (UTC), with mipaudit {provenance.mipaudit}"),
    )
    return Head(
        title=title,
        facts=tuple((name, text) for name, text in facts if text),
        question=question,
        warnings=warnings,
        front=front,
    )


def document_html(document: Document, head: Head | None = None, *, signed: bool = False) -> str:
    """Return the document as a page that can be mailed, printed and archived.

    Every text is escaped by the template engine; pictures are drawings by our own
    plotting, whose texts it has escaped.

    Args:
        document: what is shown.
        head: above it; None for the document's own outcome alone.
        signed: whether it ends with lines to sign, on the screen and in print; a page with a head
            has them in print.
    """
    outcome = Front(answer=document.headline, mood=document.mood)
    found = head or Head(title="", front=outcome)
    picture = next(_pictures(document.sections), None) if head else None
    sections = _without(document.sections, picture)
    if head is not None:
        sections = tuple(_unrepeated(sections, head.front, document.summary))
    return _template().render(
        document=document,
        head=found,
        unsaid=UNSAID,
        signed=signed,
        picture=picture,
        summary="" if head else document.summary,
        parts=tuple(_parts(sections, folding=head is not None)),
    )


def _unrepeated(sections: tuple[Section, ...], front: Front, summary: str) -> Iterator[Section]:
    """Yield the paragraph that can be read alone, then the sections without what is said above."""
    said = {front.answer, front.figures, f"{front.answer} {front.figures}"}
    if summary and summary not in said and summary not in front.figures:
        yield (Heading(text="The same for statisticians"), Paragraph(text=summary))
    for section in sections:
        # A second heading of the same name would say that it is all.
        blocks = tuple(
            block._replace(text=f"What else{block.text.removeprefix('What')}")
            if isinstance(block, Heading) and block.text == UNSAID
            else _less(block, (*front.unsaid, summary))
            for block in section
        )
        if any(not isinstance(block, Heading) and block != _NOTHING for block in blocks):
            yield tuple(block for block in blocks if block != _NOTHING)


def _less(block: Block, said: tuple[str, ...]) -> Block:
    """Return a list without the texts that stand in others."""
    if not isinstance(block, Bullets):
        return block
    return Bullets(tuple(one for one in block.texts if not any(one in text for text in said)))


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
        if not folding:
            yield Part(title=title, anchor=anchor, shown=whole)
        elif not title and whole:
            yield Part(title="The figures", anchor=anchor, folded=whole)
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
