"""A document as plain text, for the commands that answer before rich could be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from mipaudit.formats.document import Bullets, Grid, Heading, Note, Pairs, Paragraph, Picture
from mipaudit.formats.plain_tables import annotated, columns, paragraph

if TYPE_CHECKING:
    from mipaudit.formats.document import Block, Document


_WIDEST_PROSE: Final = 100  # longer lines are hard to read


def document_text(document: Document, *, width: int) -> str:
    """Return the document as text: tables up to ``width`` where numbers allow, prose up to 100.

    The title is left out: who reads this has just typed it.
    """
    prose = min(width, _WIDEST_PROSE)
    headline = "" if document.leads else document.headline
    lead = [paragraph(headline, width=prose)] if headline else []
    if document.summary:
        lead.append(paragraph(document.summary, width=prose, hyphens=False))
    sections = ("".join(_block(one, width) for one in section) for section in document.sections)
    return "\n".join([*lead, *(section for section in sections if section)])


def _block(block: Block, width: int) -> str:  # noqa: PLR0911 - one for each kind
    prose = min(width, _WIDEST_PROSE)
    match block:
        case Heading():
            return f"{block.text}\n"
        case Paragraph():
            return paragraph(block.text, width=prose, hyphens=block.hyphens)
        case Note():
            return paragraph(block.text, width=prose, indent="  ")
        case Bullets():
            return "".join(
                paragraph(text, width=prose, indent="    ", first="  - ") for text in block.texts
            )
        case Pairs():
            return "".join(
                paragraph(f"{term}: {text}", width=prose, indent="    ", first="  ")
                for term, text in block.pairs
            )
        case Grid():
            return _grid(block, width)
        case Picture():
            return ""
        case _:
            assert_never(block)


def _grid(grid: Grid, width: int) -> str:
    numbers = len(grid.head) - grid.words - grid.prose
    named = any(grid.head)
    if not grid.prose:
        header = grid.head if named else ()
        return columns(grid.rows, header=header, numbers=numbers, width=width)
    return annotated(grid.rows, header=grid.head, width=width, numbers=numbers)
