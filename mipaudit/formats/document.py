"""A report as a document: blocks of text and tables, whatever it will be written in.

Named tuples: to make as many dataclasses takes a third of the time in which `noise` and
`bounds` have to answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeVar

from mipaudit.report.messages.told import is_serious, told
from mipaudit.statements.reports.kinds import named
from mipaudit.statements.text.printable_names import safe_text

if TYPE_CHECKING:
    import os

    from mipaudit.model.message import Message
    from mipaudit.statements.estimate import Finding

    class Limited(Protocol):
        """A figure with its limits."""

        @property
        def value(self) -> float | None:
            """Best estimate."""

        @property
        def lower(self) -> float | None:
            """Lower limit."""

        @property
        def upper(self) -> float | None:
            """Upper limit."""


T = TypeVar("T")
Mood = Literal["good", "bad", "open", "plain"]
# For a terminal, for a job summary or a server of pipelines, or a page with pictures.
View = Literal["text", "summary", "page"]
_REPR: Final = 90
_LONGEST_SUMMARY: Final = 10_000
_LONGEST_TEXT: Final = 100_000
AT_LEAST: Final = "at least"
BEST_ESTIMATE: Final = "best estimate"
AT_MOST: Final = "at most"
UNSAID: Final = "What this does not say"


class Heading(NamedTuple):
    """A heading below the title."""

    text: str
    level: Literal[2, 3] = 2


class Paragraph(NamedTuple):
    """Running text; ``hyphens`` says whether a line may end with one of its hyphens."""

    text: str
    hyphens: bool = True


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


def bulleted(title: str, texts: Sequence[str]) -> Section:
    """Return a list under its heading, or nothing where there is nothing to list."""
    return (Heading(text=title), Bullets(texts=tuple(texts))) if texts else ()


def told_all(said: Iterable[Message]) -> tuple[str, ...]:
    """Return the sentences of several messages."""
    return tuple(map(told, said))


def mark(found: Finding) -> str:
    """Return what stands before a finding that the answer may be untrue because of."""
    return "! " if is_serious(found) else ""


def bullets_of(document: Document) -> Iterator[tuple[str, str]]:
    """Yield everything that is a list, under its heading: findings, assumptions, limitations."""
    for section in document.sections:
        heading = ""
        for block in section:
            if isinstance(block, Heading):
                heading = plain(block.text)
            elif isinstance(block, Bullets):
                yield from ((heading, plain(text)) for text in block.texts)


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


class Document(NamedTuple):
    """All that a report shows.

    Attributes:
        title: the command that made it.
        headline: the outcome in a line; empty where nothing was to be decided.
        mood: of the headline.
        summary: the paragraph that can be read alone.
        sections: the rest, in order.
        cases: what a pipeline waits for.
        created: UTC time, as the provenance has it.
    """

    title: str
    headline: str
    mood: Mood
    summary: str
    sections: tuple[Section, ...]
    cases: tuple[Case, ...]
    created: str


def plain(text: str) -> str:
    """Return prose with anything that could steer a terminal made visible, line ends too.

    A column's name in it could otherwise begin a line of its own.
    """
    return safe_text(text, longest=_LONGEST_TEXT)
