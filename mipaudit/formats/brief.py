"""The answer of a report in a screenful: what comes first, and what gives way where lines are few.

Intervals of all scores on one axis, drawn in text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Final, NamedTuple

from mipaudit.formats.document import Grid, Mood, plain
from mipaudit.formats.text import columns, inked, paragraph
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from mipaudit.formats.document import Document, Limited

_WIDEST: Final = 80  # longer lines are hard to read, and the lines are counted at 80
_MORE: Final = "More: `full`, -f html, mipaudit help limits."
_LONGEST_NAME: Final = 18
_REPR: Final = 5  # lines at Python's prompt
_CUT: Final = " …"
_STEPS: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


class Brief(NamedTuple):
    """What a terminal shows of a report.

    Attributes:
        answer: the verdict or the answer, with its number, in a sentence; the first line.
        mood: of the answer.
        warnings: what can make the answer untrue, a sentence each; never cut.
        about: what was measured, and for whom it holds.
        tables: the figures, the most important row first; rows give way from the end.
        notes: what else is worth a line, the most important first; these give way before rows.
        again: the answer in two or three words, for the last line; empty where it would be no help.
        rest: what shows the rest, as options are named.
        more: the last line, after ``again``.
        moves: how far another seed would move the answer, to follow the seed.
        height: lines that it may take at most.
    """

    answer: str
    mood: Mood
    warnings: tuple[str, ...] = ()
    about: str = ""
    tables: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = ()
    again: str = ""
    rest: str = "`full`"
    more: str = _MORE
    moves: str = ""
    height: int = 30


def brief_of(document: Document) -> Brief:
    """Return the few lines of a report whose document is short: answer, summary, first table."""
    first = first_sentence(document.summary)
    leads = document.leads or not document.headline
    grids = [block for section in document.sections for block in section if isinstance(block, Grid)]
    return Brief(
        answer=first if leads else document.headline,
        mood=document.mood,
        about=document.summary.removeprefix(first).lstrip() if leads else document.summary,
        tables=tuple(grids[:1]),
    )


def brief_text(brief: Brief, *, width: int, color: bool = False) -> str:
    """Return the answer in at most ``brief.height`` lines, but for warnings, which all stand.

    Args:
        brief: of a report.
        width: characters in a line; more than 80 are used by tables alone.
        color: whether to use terminal colours.
    """
    prose = min(width, _WIDEST)
    answer = paragraph(plain(brief.answer), width=prose, hyphens=False)
    head = inked(answer, brief.mood) if color else answer
    about = _item(brief.about, prose) if brief.about else ""
    last = _item(f"{brief.again} {brief.more}".lstrip(), prose)
    text = ""
    for warnings, tables, notes in _fitting(brief):
        warned = "".join(_item(text, prose, mark="! ") for text in warnings)
        drawn = (_table(table, width, color=color) for table in tables)
        listed = "".join(_item(text, prose) for text in notes)
        text = "\n".join(part for part in [head, warned, about, *drawn, listed, last] if part)
        if text.count("\n") <= brief.height:
            break
    return text


def brief_lines(title: str, brief: Brief) -> list[str]:
    """Return a title and the answer in at most five lines of 80 characters.

    Args:
        title: what leads the answer.
        brief: of a report; of several warnings the first stands, and how many more there are.
    """
    answer = plain(f"{title}: {brief.answer}" if brief.answer else title)
    lines = wrap(answer, _WIDEST, max_lines=3, placeholder=_CUT)
    if brief.warnings:
        count = len(brief.warnings) - 1
        more = f" (and {count} more)" if count else ""
        text = plain(first_sentence(brief.warnings[0]))
        lines.append(f"! {shorten(text, _WIDEST - 2 - len(more), placeholder=_CUT)}{more}")
    if brief.about and len(lines) < _REPR - 1:
        lines.append(shorten(plain(brief.about), _WIDEST, placeholder=_CUT))
    return [*lines, brief.more]


def _item(text: str, width: int, mark: str = "") -> str:
    return paragraph(plain(text), width=width, indent=" " * len(mark), first=mark, hyphens=False)


def _table(table: Grid, width: int, *, color: bool) -> str:
    rows = tuple(tuple(map(plain, row)) for row in table.rows)
    numbers = len(table.head) - table.words
    lines = columns(rows, header=table.head, numbers=numbers, width=width)
    caption = _item(table.caption, min(width, _WIDEST)) if table.caption else ""
    return (inked(caption) if color else caption) + lines


def _fitting(brief: Brief) -> Iterator[tuple[Sequence[str], Sequence[Grid], Sequence[str]]]:
    """Yield what is shown, ever less of it: first notes go, then words of warnings, then rows."""
    notes = tuple(filter(None, brief.notes))
    for kept in range(len(notes), -1, -1):
        yield brief.warnings, brief.tables, notes[:kept]
    warnings = tuple(map(first_sentence, brief.warnings))
    yield warnings, brief.tables, ()
    tables = list(brief.tables)
    left_out = 0
    for at in range(len(tables) - 1, -1, -1):
        rows = tables[at].rows
        for kept in range(len(rows) - 1, 0, -1):
            tables[at] = tables[at]._replace(rows=rows[:kept])
            yield warnings, tables, (f"and {left_out + len(rows) - kept} more: {brief.rest}",)
        left_out += len(rows)
        if at:
            tables.pop()
            yield warnings, tables, (f"and {left_out} more: {brief.rest}",)


def first_sentence(text: str) -> str:
    """Return how a text begins, up to its first full stop before a capital letter."""
    return re.split(r"(?<=[.)])\s+(?=[A-Z])", text, maxsplit=1)[0]


def axis_end(intervals: Sequence[Limited], marks: Sequence[float] = ()) -> float:
    """Return a round number at which an axis from 0 can end: no limit lies beyond it.

    Args:
        intervals: what is drawn; without a limit, up to the best estimate.
        marks: what else must fit.
    """
    ends = [one.upper if one.upper is not None else (one.value or 0.0) for one in intervals]
    largest = max((*ends, *marks), default=0.0)
    if largest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(largest))
    return next(step * power for step in _STEPS if step * power >= largest * (1 - 1e-9))


def axis(end: float, width: int) -> str:
    """Return the head of drawn intervals: ``0·····0.4``."""
    right = number_text(float(f"{end:.6g}"))
    return "0" + "·" * (width - 1 - len(right)) + right


def drawn(one: Limited, end: float, width: int, mark: float | None = None) -> str:
    """Return an interval on an axis from 0 to ``end``: ``···├──●───┤···``.

    Args:
        one: the limits and the best estimate; an end that is not known is open.
        end: of the axis, positive.
        width: in characters, at least 3.
        mark: a limit of the policy, drawn where the interval leaves room.
    """
    line = ["·"] * width
    left = _place(one.lower or 0.0, end, width)
    right = width - 1 if one.upper is None else _place(one.upper, end, width)
    line[left : right + 1] = "─" * (right + 1 - left)
    line[right] = "→" if one.upper is None else "┤"
    line[left] = "├"
    if mark is not None:
        line[_place(mark, end, width)] = "┃"
    if one.value is not None:
        line[_place(one.value, end, width)] = "●"
    return "".join(line)


def short_name(name: str) -> str:
    """Return a name for a narrow column, its middle left out where it is long."""
    shown = safe_name(name)
    if len(shown) <= _LONGEST_NAME:
        return shown
    half = _LONGEST_NAME // 2
    return f"{shown[:half]}…{shown[len(shown) - half + 1 :]}"


def _place(value: float, end: float, width: int) -> int:
    return min(width - 1, max(0, round(value / end * (width - 1))))
