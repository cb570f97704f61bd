"""What a report tells, in blocks of text and tables, whatever they will be written in.

Named tuples: to make as many dataclasses takes a third of the time in which `noise` and
`bounds` have to answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Final, Literal, NamedTuple
from unicodedata import east_asian_width

from mipaudit.statements.kinds import named
from mipaudit.statements.printable_names import safe_text

if TYPE_CHECKING:
    import os

_REPR: Final = 90
_LONGEST_TEXT: Final = 100_000
_REST: Final = "\ue000"  # of a wide sign; in no text that is shown, where it would be an escape
UNSAID: Final = "What this does not say"


class Heading(NamedTuple):
    """A heading below the title."""

    text: str
    level: Literal[2, 3] = 2


class Paragraph(NamedTuple):
    """Running text."""

    text: str


class Note(NamedTuple):
    """Small print below a table."""

    text: str


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


Block = Heading | Paragraph | Note | Bullets | Pairs | Grid | Picture
# Blocks that belong together: no blank line stands between them.
Section = tuple[Block, ...]


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
    return (Heading(text=title), Bullets(texts=tuple(texts))) if texts else ()


def list_items(sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    """Yield everything that is a list, under its heading: findings, assumptions, limitations."""
    for section in sections:
        heading = ""
        for block in section:
            if isinstance(block, Heading):
                heading = plain(block.text)
            elif isinstance(block, Bullets):
                yield from ((heading, plain(text)) for text in block.texts)


def plain(text: str) -> str:
    """Return prose with anything that could steer a terminal made visible, line ends too.

    A column's name in it could otherwise begin a line of its own.
    """
    return safe_text(text, longest=_LONGEST_TEXT)


def first_sentence(text: str) -> str:
    """Return how a text begins, up to its first full stop before a capital letter."""
    return re.split(r"(?<=[.)])\s+(?=[A-Z])", text, maxsplit=1)[0]


def spaced(text: str) -> str:
    """Return text as long as it is wide: a sign of two columns is followed by one of none."""
    if text.isascii():
        return text
    return "".join(f"{one}{_REST}" if east_asian_width(one) in "WF" else one for one in text)


def closed(text: str) -> str:
    """Return a text that was `spaced` as it is written."""
    return text.replace(_REST, "")
