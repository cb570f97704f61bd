"""The answer of a report in a screenful: what comes first, and what gives way where lines are few.

Intervals of all scores on one axis, drawn in text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from mipaudit.formats.document import Grid, Mood, plain
from mipaudit.formats.text import annotated, closed, columns, inked, paragraph, spaced
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import number_text

if TYPE_CHECKING:
    from mipaudit.formats.document import Limited

_WIDEST: Final = 80  # longer lines are hard to read, and the lines are counted at 80
_MORE: Final = "More: `full`, -f html, mipaudit help limits."
_ROUNDING: Final = 1e-9
_LONGEST_NAME: Final = 18
_REPR: Final = 5  # lines at Python's prompt
_CUT: Final = " …"
_FEW: Final = 3  # rows of a table that are kept while another can give way
_BEFORE: Final = 4  # characters shown before the first in which names differ
_STEPS: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)

AXIS: Final = 20  # characters of a drawn interval


class Interval(NamedTuple):
    """A figure with its limits, to be drawn."""

    lower: float | None
    value: float | None
    upper: float | None


# A table, and how many of its rows are shown.
Part = tuple[Grid, int]


class Brief(NamedTuple):
    """What a terminal shows of a report.

    Attributes:
        answer: the verdict or the answer, with its number, in a sentence; the first line.
        mood: of the answer.
        warnings: what can make the answer untrue, a sentence each; never cut.
        about: what was measured, and for whom it holds.
        tables: the figures, the most important row first; rows give way from the end, but for a
            few of each table while that helps.
        notes: what else is worth a line, the most important first; these give way before rows.
        again: the answer in two or three words, for the last line; empty where it would be no help.
        rest: what shows the rest, as options are named.
        more: the last line, after ``again``.
        closing: notes that give way first, after those on the input.
        following: what to run next, on a line of its own; never cut.
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
    closing: tuple[str, ...] = ()
    following: str = ""
    height: int = 30


def brief_text(brief: Brief, *, width: int, color: bool = False) -> str:
    """Return the answer in at most ``brief.height`` lines, but for warnings, which all stand.

    Args:
        brief: of a report.
        width: characters in a line; more than 80 are used by tables alone.
        color: whether to use terminal colours.
    """
    prose = min(width, _WIDEST)
    answer = paragraph(plain(brief.answer), width=prose, hyphens=False, whole=False)
    head = inked(answer, brief.mood) if color else answer
    about = _item(brief.about, prose) if brief.about else ""
    last = _item(brief.following, prose) if brief.following else ""
    last += _item(f"{brief.again} {brief.more}".lstrip(), prose)
    text = ""
    for warnings, parts, notes in _fitting(brief):
        if sum(kept for _, kept in parts) > brief.height:
            continue  # each row takes a line or more: not worth drawing
        warned = "".join(_item(text, prose, mark="! ") for text in warnings)
        drawn = (_table(part, brief, width, color=color) for part in parts)
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
    indent = " " * len(mark)
    return paragraph(
        plain(text), width=width, indent=indent, first=mark, hyphens=False, whole=False
    )


def _table(part: Part, brief: Brief, width: int, *, color: bool) -> str:
    """Return what is shown of a table, and under it how much is not."""
    table, kept = part
    left_out = len(table.rows) - kept
    more = f"and {left_out} more: {brief.rest}" if left_out else ""
    if not kept:
        return _item(f"{table.caption or ', '.join(table.head)} {more}", min(width, _WIDEST))
    return _rows(table._replace(rows=table.rows[:kept]), width, color=color) + (
        f"  {more}\n" if more else ""
    )


def _rows(table: Grid, width: int, *, color: bool) -> str:
    rows = tuple(tuple(map(plain, row)) for row in table.rows)
    numbers = len(table.head) - table.words - table.prose
    drawn = annotated if table.prose else columns
    head = table.head if table.prose or any(table.head) else ()
    lines = drawn(rows, header=head, numbers=numbers, width=width)
    caption = _item(table.caption, min(width, _WIDEST)) if table.caption else ""
    return (inked(caption) if color else caption) + lines


def _fitting(brief: Brief) -> Iterator[tuple[Sequence[str], Sequence[Part], Sequence[str]]]:
    """Yield what is shown, ever less of it: first notes go, then words of warnings, then rows."""
    notes = tuple(filter(None, brief.notes))
    parts = [(table, len(table.rows)) for table in brief.tables]
    for kept in range(len(notes), -1, -1):
        yield brief.warnings, parts, notes[:kept]
    warnings = tuple(map(first_sentence, brief.warnings))
    yield warnings, parts, ()
    # The last table gives way first, but for a few rows; then these go, and its head; the first
    # table keeps a row.
    for fewest in (_FEW, 0):
        for at in range(len(parts) - 1, -1, -1):
            table, rows = parts[at]
            for kept in range(rows - 1, max(fewest, not at) - 1, -1):
                parts[at] = (table, kept)
                yield warnings, parts, ()


def first_sentence(text: str) -> str:
    """Return how a text begins, up to its first full stop before a capital letter."""
    return re.split(r"(?<=[.)])\s+(?=[A-Z])", text, maxsplit=1)[0]


class Axis(NamedTuple):
    """On what intervals of a column are drawn.

    Attributes:
        start: below which nothing is drawn: 0, or what blind guessing has.
        end: beyond which nothing is; the same where blind guessing has all there is.
        width: in characters, at least 3.
    """

    start: float
    end: float
    width: int = AXIS

    @classmethod
    def over(
        cls,
        intervals: Iterable[Limited],
        marks: Iterable[float] = (),
        *,
        start: float = 0.0,
        width: int = AXIS,
    ) -> Self:
        """Return the axis whose end is round, and beyond which no limit lies.

        Args:
            intervals: what is drawn; without a limit, up to the best estimate.
            marks: what else must fit.
            start: where it begins.
            width: in characters.
        """
        ends = [one.upper if one.upper is not None else (one.value or 0.0) for one in intervals]
        length = max((*ends, *marks), default=start) - start
        # What is left of rounding is no length.
        if length <= _ROUNDING:
            return cls(start, 1.0, width)
        power = 10.0 ** math.floor(math.log10(length))
        step = next(step * power for step in _STEPS if step * power >= length * (1 - _ROUNDING))
        # Beside blind guessing there are advantages alone, which end at 1.
        return cls(start, min(1.0, start + step) if start else step, width)

    @property
    def head(self) -> str:
        """Return the head of drawn intervals: ``0·····0.4``."""
        left, right = (number_text(float(f"{one:.6g}")) for one in (self.start, self.end))
        return left + "·" * max(1, self.width - len(left) - len(right)) + right

    def drawn(self, one: Limited, mark: float | None = None) -> str:
        """Return an interval as a line: ``···├──●───┤···``.

        Args:
            one: the limits and the best estimate; an end that is not known is open, and one below
                the start an arrow. What surely lies below it has no place; where nothing is known
                nothing is drawn.
            mark: a limit of the policy, drawn where the interval leaves room.
        """
        if one.lower is None and one.value is None and one.upper is None:
            return ""
        if one.upper is not None and one.upper < self.start:
            return f"← below {number_text(self.start)}".ljust(self.width)
        line = ["·"] * self.width
        left = self._place(one.lower or 0.0)
        right = self.width - 1 if one.upper is None else self._place(one.upper)
        line[left : right + 1] = "─" * (right + 1 - left)
        line[right] = "→" if one.upper is None else "┤"
        line[left] = "←" if (one.lower or 0.0) < self.start - _ROUNDING else "├"
        if mark is not None:
            line[self._place(mark)] = "┃"
        if one.value is not None and one.value >= self.start - _ROUNDING:
            line[self._place(one.value)] = "●"
        return "".join(line)

    def _place(self, value: float) -> int:
        # At a prior next to 0 or 1 blind guessing has all there is, and the axis no length.
        share = (value - self.start) / max(self.end - self.start, _ROUNDING)
        return min(self.width - 1, max(0, round(share * (self.width - 1))))


def short_name(name: str) -> str:
    """Return a name for a narrow column, its middle left out where it is long."""
    shown = spaced(safe_name(name))
    if len(shown) <= _LONGEST_NAME:
        return closed(shown)
    half = _LONGEST_NAME // 2
    return closed(f"{shown[:half]}…{shown[len(shown) - half + 1 :]}")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return names for a narrow column, no two the same: alike ones by where they differ."""
    shown = {name: short_name(name) for name in names}
    groups: dict[str, list[str]] = {}
    for name, short in shown.items():
        groups.setdefault(short, []).append(name)
    for alike in groups.values():
        if len(alike) > 1:
            taken: set[str] = set()
            safe = [safe_name(name) for name in alike]
            signs = enumerate(zip(*safe, strict=False))
            same = next((at for at, these in signs if len(set(these)) > 1), 0)
            start = max(0, same - _BEFORE)
            for at, (name, whole) in enumerate(zip(alike, safe, strict=True)):
                part = whole[start : start + _LONGEST_NAME - 2]
                rest = "…" if len(whole) > start + len(part) else ""
                shown[name] = f"{'…' if start else ''}{part}{rest}"
                if shown[name] in taken:
                    shown[name] = f"{part[: _LONGEST_NAME - 6]}…~{at + 1}"
                taken.add(shown[name])
    return shown
