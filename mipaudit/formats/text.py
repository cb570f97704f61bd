"""A document as text for a terminal.

Tables in plain text, for the commands that answer before rich could be loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import wrap
from typing import Final, assert_never
from unicodedata import east_asian_width

from mipaudit.formats import document as parts
from mipaudit.formats.document import Block, Document, Grid, Mood, plain

_GAP: Final = "  "
_NARROWEST_TEXT: Final = 24
_LONGEST_WORD: Final = 32  # names of columns may be longer; they are broken where they must
_REST: Final = "\ue000"  # of a wide sign; in no text that is shown, where it would be an escape
_WIDEST_PROSE: Final = 100  # longer lines are hard to read
# Select Graphic Rendition: bold, and what good, bad and open outcomes are drawn in.
_INK: Final[Mapping[Mood, str]] = {"good": "1;32", "bad": "1;31", "open": "1;33", "plain": "1"}


def columns(
    rows: Sequence[Sequence[str]],
    *,
    header: Sequence[str] = (),
    numbers: int = 0,
    width: int | None = None,
) -> str:
    """Return rows as aligned columns, indented by two.

    Args:
        rows: equally many cells each.
        header: the head of each column; none if empty.
        numbers: how many columns at the end are numbers, set flush right and never broken.
        width: heads and words fold where the lines would be longer; None: no limit.
    """
    rows = [[*map(spaced, row)] for row in rows]
    blocks = _blocks(rows, header=header, numbers=numbers, width=width, folding=True)
    return closed("".join(f"{line}\n" for block in blocks for line in block))


def annotated(
    rows: Sequence[Sequence[str]], *, header: Sequence[str], width: int, numbers: int = 0
) -> str:
    """Return rows whose last cell is prose, in what the width leaves, or below its row.

    ``numbers`` counts the columns of numbers just before the prose. The header is left out
    where all of it is empty.
    """
    rows = [[*map(spaced, row)] for row in rows]
    texts = [header[-1], *(row[-1] for row in rows)]
    cells = [row[:-1] for row in rows]
    least = min(_NARROWEST_TEXT, max(map(len, texts)))
    for limit in (None, width - len(_GAP) - least):
        blocks = _blocks(cells, header=header[:-1], numbers=numbers, width=limit, folding=False)
        left = max(len(line) for block in blocks for line in block) + len(_GAP)
        if width - left >= least:
            lines = [
                _beside(block, text, left=left, width=width, head=i == 0)
                for i, (block, text) in enumerate(zip(blocks, texts, strict=True))
            ]
            break
    else:
        blocks = _blocks(cells, header=header[:-1], numbers=numbers, width=width, folding=True)
        lines = [
            [*block, *paragraph(text, width=width, indent=_GAP * 3).splitlines()]
            for block, text in zip(blocks, texts, strict=True)
        ]
    if not any(header):
        lines = lines[1:]
    return closed("".join(f"{line.rstrip()}\n" for block in lines for line in block))


def _beside(block: list[str], text: str, *, left: int, width: int, head: bool) -> list[str]:
    prose = wrap(text, max(1, width - left), break_long_words=False)
    count = max(len(block), len(prose))
    both = zip(_padded(block, count), _padded(prose, count, above=head), strict=True)
    return [line.ljust(left) + words for line, words in both]


def _blocks(
    rows: Sequence[Sequence[str]],
    *,
    header: Sequence[str],
    numbers: int,
    width: int | None,
    folding: bool,
) -> list[list[str]]:
    """Return the lines of each row, the header's first; ``folding`` also words, not only heads."""
    lines = [header, *rows] if header else rows
    if not lines:
        return []
    last_word = len(lines[0]) - numbers
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if width is not None:
        words = [folding and i < last_word for i in range(len(widths))]
        widths = _narrowed(widths, rows, header, words, room=width - len(_GAP) * len(widths))
    return [
        _lines(line, widths, last_word=last_word, head=bool(header) and i == 0)
        for i, line in enumerate(lines)
    ]


def _narrowed(
    widths: list[int],
    rows: Sequence[Sequence[str]],
    header: Sequence[str],
    words: Sequence[bool],
    *,
    room: int,
) -> list[int]:
    """Return widths that fit the room if they can: first heads fold, then columns of words."""
    heads = [_longest_word(cell) for cell in header] or [0] * len(widths)
    cells = [[row[i] for row in rows] for i in range(len(widths))]
    whole = [max(map(len, column), default=0) for column in cells]
    split = [max(map(_longest_word, column), default=0) for column in cells]
    for floor in (
        whole,
        [s if word else w for s, w, word in zip(split, whole, words, strict=True)],
    ):
        least = [max(pair) for pair in zip(floor, heads, strict=True)]
        while sum(widths) > room and widths != least:
            loose = [i for i, width in enumerate(widths) if width > least[i]]
            widest = max(loose, key=lambda i: widths[i])
            widths = [width - (i == widest) for i, width in enumerate(widths)]
    return widths


def _lines(cells: Sequence[str], widths: Sequence[int], *, last_word: int, head: bool) -> list[str]:
    """Return one row; its cells begin together, but heads end together."""
    folded = [_folded(cell, width) for cell, width in zip(cells, widths, strict=True)]
    count = max(map(len, folded))
    columns = [_padded(lines, count, above=head) for lines in folded]
    return [
        (
            _GAP
            + _GAP.join(
                cell.rjust(width) if i >= last_word else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
        ).rstrip()
        for line in zip(*columns, strict=True)
    ]


def _folded(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    indent = cell[: len(cell) - len(cell.lstrip())]
    return wrap(
        cell.lstrip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


def _padded(lines: list[str], count: int, *, above: bool = False) -> list[str]:
    blank = [""] * (count - len(lines))
    return [*blank, *lines] if above else [*lines, *blank]


def _longest_word(cell: str) -> int:
    indent = len(cell) - len(cell.lstrip())
    return indent + min(max(map(len, cell.split()), default=0), _LONGEST_WORD)


def paragraph(
    text: str,
    *,
    width: int,
    indent: str = "",
    first: str | None = None,
    hyphens: bool = True,
    whole: bool = True,
) -> str:
    """Return prose wrapped to a width.

    Args:
        text: the prose.
        width: of a line.
        indent: of every line.
        first: indents the first line, if it differs.
        hyphens: whether a line may end with a hyphen of a word, or of an option.
        whole: whether a word too long for a line makes the line longer, rather than two of it.
    """
    lines = wrap(
        spaced(text),
        max(_NARROWEST_TEXT, width),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=not whole,
        break_on_hyphens=hyphens,
    )
    return closed("".join(f"{line}\n" for line in lines))


def spaced(text: str) -> str:
    """Return text as long as it is wide: a sign of two columns is followed by one of none."""
    if text.isascii():
        return text
    return "".join(f"{one}{_REST}" if east_asian_width(one) in "WF" else one for one in text)


def closed(text: str) -> str:
    """Return a text that was `spaced` as it is written."""
    return text.replace(_REST, "")


def document_text(document: Document, *, width: int, color: bool = False) -> str:
    """Return the document as text: tables up to ``width`` where numbers allow, prose up to 100.

    The title is left out: who reads this has just typed it. With ``color`` headings are bold
    and the headline has the colour of its outcome, which its words say too.
    """
    prose = min(width, _WIDEST_PROSE)
    lead = [paragraph(plain(document.headline), width=prose)] if document.headline else []
    lead = [inked(text, document.mood) for text in lead] if color else lead
    if document.summary:
        lead.append(paragraph(plain(document.summary), width=prose, hyphens=False))
    drawn = partial(_emphatic, width=width) if color else partial(_block, width=width)
    sections = ("".join(map(drawn, section)) for section in document.sections)
    return "\n".join([*lead, *(section for section in sections if section)])


def inked(text: str, mood: Mood = "plain") -> str:
    """Return lines in the colour of an outcome, or bold, for a terminal."""
    return "".join(f"\x1b[{_INK[mood]}m{line}\x1b[0m\n" for line in text.splitlines())


def _emphatic(block: Block, width: int) -> str:
    text = _block(block, width)
    return inked(text) if isinstance(block, parts.Heading) else text


def _block(block: Block, width: int) -> str:  # noqa: PLR0911 - one for each kind
    prose = min(width, _WIDEST_PROSE)
    match block:
        case parts.Heading():
            return paragraph(plain(block.text), width=prose)
        case parts.Paragraph():
            return paragraph(plain(block.text), width=prose, hyphens=block.hyphens)
        case parts.Note():
            return paragraph(plain(block.text), width=prose, indent="  ")
        case parts.Bullets():
            return "".join(
                paragraph(plain(text), width=prose, indent="    ", first="  - ")
                for text in block.texts
            )
        case parts.Pairs():
            return "".join(
                paragraph(plain(f"{term}: {text}"), width=prose, indent="    ", first="  ")
                for term, text in block.pairs
            )
        case Grid():
            return _grid(block, width)
        case parts.Picture():
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
