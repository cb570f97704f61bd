"""A document as plain text, for the commands that answer before rich could be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from mipaudit.render.document import Bullets, Grid, Heading, Note, Pairs, Paragraph, Picture
from mipaudit.render.plain import annotated, columns, paragraph

if TYPE_CHECKING:
    from mipaudit.render.document import Block, Document


def document_text(document: Document, *, width: int) -> str:
    """Return the document as text, lines up to ``width`` where prose allows.

    The title is left out: who reads this has just typed it.
    """
    lead = [paragraph(text, width=width) for text in (document.headline,) if text]
    if document.summary:
        lead.append(paragraph(document.summary, width=width, hyphens=False))
    sections = ("".join(_block(one, width) for one in section) for section in document.sections)
    return "\n".join([*lead, *(section for section in sections if section)])


def _block(block: Block, width: int) -> str:  # noqa: PLR0911 - one for each kind
    match block:
        case Heading():
            return f"{block.text}\n"
        case Paragraph():
            return paragraph(block.text, width=width, hyphens=block.hyphens)
        case Note():
            return paragraph(block.text, width=width, indent="  ")
        case Bullets():
            return "".join(
                paragraph(text, width=width, indent="    ", first="  - ") for text in block.texts
            )
        case Pairs():
            return "".join(
                paragraph(f"{term}: {text}", width=width, indent="    ", first="  ")
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
        return columns(grid.rows, header=grid.head if named else (), numbers=numbers)
    text = annotated(grid.rows, header=grid.head, width=width, numbers=numbers)
    return text if named else text.partition("\n")[2]
