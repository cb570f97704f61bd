"""What a report tells, as text for a terminal: in a screenful, in full, in a few lines, in one.

Tables are plain text: what draws better ones takes longer to load than some reports to make.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Final, assert_never

from mipaudit.errors import as_typed
from mipaudit.report import blocks
from mipaudit.report.blocks import Block, Grid, Section, first_sentence
from mipaudit.statements.printable_names import closed, plain, spaced

if TYPE_CHECKING:
    from mipaudit.report.messages.told import Mood
    from mipaudit.report.walk import Walk

_GAP: Final = "  "
_NARROWEST_TEXT: Final = 24
_LONGEST_WORD: Final = 32  # names of columns may be longer; they are broken where they must
_WIDEST_PROSE: Final = 100  # longer lines are hard to read
_PROMPT: Final = 80  # characters in a line of what Python's prompt shows
_REPR: Final = 5  # and how many lines
_CUT: Final = " …"
# Where a line is cut: never before what takes back what stands there.
_PAUSE: Final = r"(?<=[;:,])(?= (?!or |but |if |unless |and ))|(?= \()"
_LINE: Final = 120  # characters of the answer in a line
_ENOUGH: Final = 8  # rows of a table that are kept while a remark can give way
_FEW: Final = 3  # and while another table can
# Select Graphic Rendition: bold, and what good, bad and open outcomes are drawn in.
_INK: Final[Mapping[Mood, str]] = {"good": "1;32", "bad": "1;31", "open": "1;33", "plain": "1"}

MORE: Final = "More: `full`, -f html, mipaudit help figures."
MORE_IN_PYTHON: Final = 'More: .show(), .show(full=True), .to_pandas(), .save("report.html").'


def table_text(grid: Grid, width: int) -> str:
    """Return a table as aligned columns, indented by two.

    Heads fold where lines would be longer than the width, then words; numbers are flush right and
    never broken. Prose stands in what is left, or below its row where words would have to fold for
    it. An empty head is left out.
    """
    lines = [[spaced(plain(cell)) for cell in row] for row in (grid.head, *grid.rows)]
    prose = [row.pop() for row in lines] if grid.prose else []
    least = min(_NARROWEST_TEXT, max(map(len, prose))) + len(_GAP) if prose else 0
    widths = _widths(lines, 0 if prose else grid.words, width - least)
    left = sum(widths) + len(_GAP) * len(widths)
    below = bool(prose) and left + least > width
    if below:
        widths = _widths(lines, grid.words, width)
    flush = [at >= grid.words for at in range(len(widths))]
    if prose and not below:
        lines = [[*row, text] for row, text in zip(lines, prose, strict=True)]
        widths, flush = [*widths, width - left - len(_GAP)], [*flush, False]
    drawn: list[str] = []
    for at, row in enumerate(lines):
        if at or any(grid.head):
            drawn += _row(row, widths, flush, head=not at)
            if below:
                drawn += paragraph(prose[at], width=width, indent=_GAP * 3).splitlines()
    return closed("".join(f"{line}\n" for line in drawn))


def _widths(lines: Sequence[Sequence[str]], words: int, room: int) -> list[int]:
    """Return widths that fit the room if they can: first heads fold, then columns of words."""
    columns = [(head, cells) for head, *cells in zip(*lines, strict=True)]
    widths = [max(map(len, (head, *cells))) for head, cells in columns]
    room -= len(_GAP) * len(widths)
    for folding in (False, True):
        least = [
            max(
                _longest_word(head), *(map(_longest_word if folding and at < words else len, cells))
            )
            for at, (head, cells) in enumerate(columns)
        ]
        while sum(widths) > room and widths != least:
            loose = [at for at, width in enumerate(widths) if width > least[at]]
            widest = max(loose, key=lambda at: widths[at])
            widths[widest] -= 1
    return widths


def _row(
    cells: Sequence[str], widths: Sequence[int], flush: Sequence[bool], *, head: bool
) -> Iterator[str]:
    """Yield the lines of a row; its cells begin together, but heads end together."""
    folded = [_folded(cell, width) for cell, width in zip(cells, widths, strict=True)]
    count = max(map(len, folded))
    for at in range(count):
        parts = []
        for lines, width, right in zip(folded, widths, flush, strict=True):
            place = at - (count - len(lines)) * head
            text = lines[place] if 0 <= place < len(lines) else ""
            parts.append(text.rjust(width) if right else text.ljust(width))
        yield (_GAP + _GAP.join(parts)).rstrip()


def _folded(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    indent = cell[: len(cell) - len(cell.lstrip())]
    return wrap(
        cell.lstrip(),
        max(1, width),
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


def _longest_word(cell: str) -> int:
    indent = len(cell) - len(cell.lstrip())
    return indent + min(max(map(len, cell.split()), default=0), _LONGEST_WORD)


def paragraph(text: str, *, width: int, indent: str = "", first: str | None = None) -> str:
    """Return prose wrapped to a width; no line ends with a hyphen of a word, or of an option.

    Args:
        text: the prose.
        width: of a line.
        indent: of every line.
        first: indents the first line, if it differs.
    """
    lines = wrap(
        spaced(plain(text)),
        max(_NARROWEST_TEXT, width),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return closed("".join(f"{line.rstrip()}\n" for line in lines))


def inked(text: str, mood: Mood = "plain", *, color: bool) -> str:
    """Return lines in the colour of an outcome, or bold, where a terminal has colours."""
    if not color:
        return text
    return "".join(f"\x1b[{_INK[mood]}m{line}\x1b[0m\n" for line in text.splitlines())


def whole_text(
    answer: str,
    about: str,
    sections: Iterable[Section],
    *,
    width: int,
    mood: Mood = "plain",
    color: bool = False,
) -> str:
    """Return all that is told, without the title: who reads it has just typed the command.

    Args:
        answer: its first line.
        about: the paragraph below it; empty for none.
        sections: the rest, a blank line between them.
        width: of tables, where numbers allow; prose is up to 100 wide.
        mood: of the answer.
        color: whether headings are bold and the answer has the colour of its outcome, which its
            words say too.
    """
    prose = min(width, _WIDEST_PROSE)
    lead = [inked(paragraph(answer, width=prose), mood, color=color)]
    lead += [paragraph(about, width=prose)] if about else []
    drawn = ("".join(_block(one, width, color=color) for one in part) for part in sections)
    return "\n".join([*lead, *filter(None, drawn)])


def _block(block: Block, width: int, *, color: bool) -> str:
    prose = min(width, _WIDEST_PROSE)
    match block:
        case blocks.Text():
            text = paragraph(block.text, width=prose, indent="  " * (block.role == "note"))
            return inked(text, color=color and block.heads)
        case blocks.Bullets():
            return "".join(
                paragraph(text, width=prose, indent="    ", first="  - ") for text in block.texts
            )
        case blocks.Pairs():
            return "".join(
                paragraph(f"{term}: {text}", width=prose, indent="    ", first="  ")
                for term, text in block.pairs
            )
        case Grid():
            return table_text(block, width)
        case blocks.Picture():
            return ""
        case _:
            assert_never(block)


def screenful(
    walk: Walk, *, width: int, height: int | None, color: bool = False, more: str = MORE
) -> str:
    """Return the answer in as many lines as a window has, but for warnings, which all stand whole.

    Args:
        walk: of a report.
        width: characters in a line; prose has at most 100.
        height: lines; None: as many as it takes.
        color: whether to use terminal colours.
        more: the last line, which says what shows the rest.
    """
    prose = min(width, _WIDEST_PROSE)
    head = inked(paragraph(walk.answer, width=prose), walk.mood, color=color)
    warned = "".join(paragraph(one, width=prose, first="! ", indent="  ") for one in walk.warnings)
    about = paragraph(walk.about, width=prose) if walk.about else ""
    following = paragraph(f"Next: {walk.following}", width=prose) if walk.following else ""
    remarks, room = tuple(walk.notes), math.inf if height is None or walk.lists else height
    text = ""
    for tables, shown in _fitting(tuple(walk.tables(width)), len(remarks)):
        if sum(kept for _, kept in tables) > room:
            continue  # each row takes a line or more: not worth drawing
        drawn = (_cut(table, kept, width, color=color) for table, kept in tables)
        noted = "".join(paragraph(one, width=prose) for one in remarks[:shown])
        hidden = sum(not kept for _, kept in tables), len(remarks) - shown
        last = following + paragraph(as_typed(_more(more, *hidden)), width=prose)
        text = "\n".join(filter(None, [head, warned, about, *drawn, noted, last]))
        if text.count("\n") <= room:
            break
    return text


def _fitting(
    grids: Sequence[Grid], remarks: int
) -> Iterator[tuple[Sequence[tuple[Grid, int]], int]]:
    """Yield tables each with how many rows are shown, and the number of remarks; ever less of them.

    Remarks stay before rows beyond those of eight scores, the first before the others. Then the
    last table gives way, but for a few rows; then these, and its head; the first table keeps a row.
    """
    for shown in range(remarks, -1, -1):
        tables = [(grid, len(grid.rows)) for grid in grids]
        yield tables, shown
        for fewest in (_ENOUGH,) if shown else (_ENOUGH, _FEW, 0):
            for at in range(len(tables) - 1, -1, -1):
                table, rows = tables[at]
                # Of eight scores none gives way for a row of another table.
                least = max(fewest, _ENOUGH if fewest and not at else not at)
                for kept in range(rows - 1, least - 1, -1):
                    tables[at] = (table, kept)
                    yield tables, shown


def _more(more: str, tables: int, remarks: int) -> str:
    """Return the last line with what a window has no room for."""
    counts = (("table", tables), ("remark", remarks))
    hidden = ", ".join(f"{count} {what}{'s' * (count > 1)}" for what, count in counts if count)
    return more.replace(":", f" ({hidden}):", 1) if hidden else more


def _cut(table: Grid, kept: int, width: int, *, color: bool) -> str:
    """Return what is shown of a table, and under it how much is not."""
    left_out = len(table.rows) - kept
    if not kept:
        return ""
    caption = paragraph(table.caption, width=width) if table.caption else ""
    rows = table_text(table._replace(rows=table.rows[:kept]), width)
    more = as_typed(f"  and {left_out} more: `full`\n") if left_out else ""
    return inked(caption, color=color) + rows + more


def one_line(walk: Walk) -> str:
    """Return the answer in at most 120 characters: as many of its parts as fit, in their order."""
    first, *rest = map(plain, walk.line)
    line = first
    if len(line) > _LINE:
        pieces = list(itertools.accumulate(re.split(_PAUSE, line)))
        fitting = (piece for piece in pieces if len(piece) <= _LINE - len(_CUT))
        kept = [piece for piece in fitting if piece.count("(") == piece.count(")")]
        line = kept[-1].rstrip(";:,") + _CUT if kept else shorten(line, _LINE, placeholder=_CUT)
    for part in rest:
        longer = f"{line}{' ' if line.endswith(('.', ':', _CUT)) else '; '}{part}"
        line = longer if len(longer) + (not longer.endswith(".")) <= _LINE else line
    return line if line.endswith((".", ":", _CUT)) else f"{line}."


def few_lines(walk: Walk) -> str:
    """Return a title and the answer in at most five lines of 80 characters, for Python's prompt.

    Of several warnings the first stands, and how many more there are.
    """
    answer = plain(f"{walk.title}: {walk.answer}")
    lines = wrap(answer, _PROMPT, max_lines=3, placeholder=_CUT)
    if walk.warnings:
        count = len(walk.warnings) - 1
        more = f" (and {count} more)" if count else ""
        text = plain(first_sentence(walk.warnings[0]))
        lines.append(f"! {shorten(text, _PROMPT - 2 - len(more), placeholder=_CUT)}{more}")
    if walk.about and len(lines) < _REPR - 1:
        lines.append(shorten(plain(walk.about), _PROMPT, placeholder=_CUT))
    return "\n".join([*lines, MORE_IN_PYTHON])
