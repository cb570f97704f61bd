"""A document as text for a terminal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, assert_never

from mipaudit.formats.document import Bullets, Grid, Heading, Note, Pairs, Paragraph, Picture
from mipaudit.formats.plain_tables import annotated, columns, paragraph
from mipaudit.formats.wording import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.formats.document import Block, Document, Mood

_WIDEST_PROSE: Final = 100  # longer lines are hard to read


# Select Graphic Rendition: bold, and what good, bad and open outcomes are drawn in.
_BOLD: Final = "1"
_INK: Final[Mapping[Mood, str]] = {"good": "1;32", "bad": "1;31", "open": "1;33", "plain": _BOLD}


def document_text(document: Document, *, width: int, color: bool = False) -> str:
    """Return the document as text: tables up to ``width`` where numbers allow, prose up to 100.

    The title is left out: who reads this has just typed it. With ``color`` headings are bold
    and the headline has the colour of its outcome, which its words say too.
    """
    prose = min(width, _WIDEST_PROSE)
    headline = "" if document.leads else document.headline
    lead = [paragraph(plain(headline), width=prose)] if headline else []
    lead = [_inked(text, _INK[document.mood]) for text in lead] if color else lead
    if document.summary:
        lead.append(paragraph(plain(document.summary), width=prose, hyphens=False))
    drawn = partial(_bold, width=width) if color else partial(_block, width=width)
    sections = ("".join(map(drawn, section)) for section in document.sections)
    return "\n".join([*lead, *(section for section in sections if section)])


def _inked(text: str, ink: str) -> str:
    return "".join(f"\x1b[{ink}m{line}\x1b[0m\n" for line in text.splitlines())


def _bold(block: Block, width: int) -> str:
    text = _block(block, width)
    return _inked(text, _BOLD) if isinstance(block, Heading) else text


def _block(block: Block, width: int) -> str:  # noqa: PLR0911 - one for each kind
    prose = min(width, _WIDEST_PROSE)
    match block:
        case Heading():
            return f"{plain(block.text)}\n"
        case Paragraph():
            return paragraph(plain(block.text), width=prose, hyphens=block.hyphens)
        case Note():
            return paragraph(plain(block.text), width=prose, indent="  ")
        case Bullets():
            return "".join(
                paragraph(plain(text), width=prose, indent="    ", first="  - ")
                for text in block.texts
            )
        case Pairs():
            return "".join(
                paragraph(plain(f"{term}: {text}"), width=prose, indent="    ", first="  ")
                for term, text in block.pairs
            )
        case Grid():
            return _grid(block, width)
        case Picture():
            return ""
        case _:
            assert_never(block)


def _grid(grid: Grid, width: int) -> str:
    rows = tuple(tuple(map(plain, row)) for row in grid.rows)
    numbers = len(grid.head) - grid.words - grid.prose
    named = any(grid.head)
    if not grid.prose:
        header = grid.head if named else ()
        return columns(rows, header=header, numbers=numbers, width=width)
    return annotated(rows, header=grid.head, width=width, numbers=numbers)
