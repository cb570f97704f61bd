"""What a report tells, in blocks of text and tables, whatever they will be written in.

Named tuples: to make as many dataclasses takes a third of the time in which `noise` and
`bounds` have to answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Self

from mipaudit.statements.kinds import named
from mipaudit.statements.printable_names import plain, spaced
from mipaudit.statements.rounding import number_text

if TYPE_CHECKING:
    import os

    from mipaudit.model.row import Row


NARROW: Final = 12  # characters of a drawn interval
WIDE: Final = 36  # and where a line has room for more
_ROUNDING: Final = 1e-9
_STEPS: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_REPR: Final = 90


class Text(NamedTuple):
    """Running text, small print below a table, or a heading below the title: by what a page has."""

    text: str
    role: Literal["h2", "h3", "p", "note"] = "p"

    @property
    def heads(self) -> bool:
        """Tell whether it is a heading."""
        return self.role in {"h2", "h3"}


class Bullets(NamedTuple):
    """A list."""

    texts: tuple[str, ...]


class Pairs(NamedTuple):
    """Terms and what is said of each."""

    pairs: tuple[tuple[str, str], ...]


class Grid(NamedTuple):
    """A table of text.

    Attributes:
        caption: what it shows, for those who do not see what stands above it.
        head: one for each column.
        rows: cells, as many as heads.
        words: how many columns at the start are words; the others are numbers.
        prose: whether the last column is running text, behind the numbers.
        marked: rows that matter more, by position.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int
    prose: bool = False
    marked: frozenset[int] = frozenset()

    @property
    def width(self) -> int:
        """Return how many characters its lines take where nothing folds."""
        columns = zip(self.head, *self.rows, strict=True)
        return sum(2 + max(len(spaced(plain(cell))) for cell in column) for column in columns)


class Picture(NamedTuple):
    """A drawing, and the same in words.

    Attributes:
        svg: one ``svg`` element without scripts.
        alt: what it shows, for those who do not see it.
        caption: below it.
    """

    svg: str
    alt: str
    caption: str

    def __repr__(self) -> str:
        """Return what it shows, in words."""
        return f"Picture: {shorten(plain(self.alt), _REPR, placeholder=' …')}"

    def _repr_svg_(self) -> str:
        """Return the drawing: notebooks call this to show it."""
        return self.svg

    @property
    def inline(self) -> str:
        """The drawing as part of a page: its axis is as long as the page has room for."""
        found = re.fullmatch(
            r'<svg [^>]*><rect [^>]*/>(<svg x="(\d+)" y="(\d+)".*)</svg>', self.svg
        )
        if found is None:
            return self.svg
        left, top = found[2], found[3]
        return f'<div class="drawn" style="padding: {top}px 18px 0 {left}px">{found[1]}</div>'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing.

        Args:
            path: the file, whose name ends in .svg.

        Raises:
            UsageError: it has another ending.
            OutputError: it cannot be written.
        """
        named("mipaudit.output.presentation:save_picture")(self, path)

    def inert(self) -> Picture:
        """Return it as an image of its own: its names are not those of other drawings."""
        from base64 import b64encode

        data = b64encode(self.svg.encode()).decode()
        # What is around it says what it shows.
        return self._replace(svg=f'<img alt="" src="data:image/svg+xml;base64,{data}"/>')


Block = Text | Bullets | Pairs | Grid | Picture
# Blocks that belong together: no blank line stands between them.
Section = tuple[Block, ...]


class Fold(NamedTuple):
    """What a page shows under one heading.

    Attributes:
        title: the heading.
        blocks: below it.
        opened: whether it is open before a reader opens it, so that paper has it; None: always.
        anchor: its place on the page.
    """

    title: str
    blocks: Section
    opened: bool | None
    anchor: str = ""


class Case(NamedTuple):
    """One thing that a pipeline waits for.

    Attributes:
        group: what it is about, such as a score.
        name: what was to be shown.
        status: ``passed``, ``failed``, ``open`` (nobody can tell yet), ``waived`` or ``skipped``.
        text: why.
    """

    group: str
    name: str
    status: Literal["passed", "failed", "open", "waived", "skipped"]
    text: str


def listed(title: str, texts: Sequence[str]) -> Section:
    """Return a list under its heading, or nothing where there is nothing to list."""
    return (Text(title, "h2"), Bullets(texts=tuple(texts))) if texts else ()


def list_items(sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    """Yield everything that is a list, under its heading: findings, assumptions, limitations."""
    for section in sections:
        heading = ""
        for block in section:
            if isinstance(block, Text) and block.heads:
                heading = plain(block.text)
            elif isinstance(block, Bullets):
                yield from ((heading, plain(text)) for text in block.texts)


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text: each ends at a full stop before a capital letter."""
    return tuple(re.split(r"(?<=[.)])\s+(?=[A-Z])", text))


def first_sentence(text: str) -> str:
    """Return how a text begins."""
    return sentences(text)[0]


def beyond(limit: float, start: float) -> float:
    """Return how far an axis goes that has room above a limit; for a share at most to 1."""
    room = limit + (limit - start) / 10
    return min(room, 1.0) if limit <= 1 else room


class Axis(NamedTuple):
    """On what intervals are drawn as text in a narrow column.

    Attributes:
        start: below which nothing is drawn: 0, or what blind guessing has.
        end: beyond which nothing is; the same where blind guessing has all there is.
        width: in characters, at least 3.
    """

    start: float
    end: float
    width: int = NARROW

    @classmethod
    def over(
        cls,
        intervals: Iterable[Row],
        marks: Iterable[float] = (),
        *,
        start: float = 0.0,
        width: int = NARROW,
    ) -> Self:
        """Return the axis whose end is round, and beyond which no limit lies.

        Args:
            intervals: what is drawn; without a limit, up to the best estimate.
            marks: what else must fit.
            start: where it begins.
            width: in characters.
        """
        ends = [one.upper if one.upper is not None else (one.value or 0.0) for one in intervals]
        length = max((*ends, *(beyond(mark, start) for mark in marks)), default=start) - start
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

    def drawn(self, one: Row, mark: float | None = None) -> str:
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
