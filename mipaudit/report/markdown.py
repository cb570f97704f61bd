"""What a report tells, in markdown (GitHub's), for job summaries and pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from mipaudit.report import blocks
from mipaudit.report.blocks import Block, Grid, Section, plain

# What would be read as markup. An underscore is so only at the edge of a word.
_MARKUP: Final = re.compile(r"[\\`*\[\]<>|~&$]|:(?=//)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_AT_START: Final = re.compile(r"^(\s*)([#+=-]|\d+[.)])")


def whole_markdown(title: str, answer: str, about: str, sections: Iterable[Section]) -> str:
    """Return all that is told as markdown; nothing in it can become markup or a link.

    Where the text is posted, a site may still read a name such as ``@somebody`` in its own way.
    """
    head = [f"# {_safe(title)}\n", f"**{_safe(answer)}**\n"]
    head += [f"{_line(about)}\n"] if about else []
    return "\n".join([*head, blocks_markdown(one for section in sections for one in section)])


def blocks_markdown(told: Iterable[Block]) -> str:
    """Return blocks as markdown; nothing in them can become markup or a link."""
    return "\n".join(part for one in told for part in _block(one))


def _block(block: Block) -> Iterator[str]:
    match block:
        case blocks.Heading():
            yield f"{'#' * block.level} {_safe(block.text)}\n"
        case blocks.Paragraph() | blocks.Note():
            yield f"{_line(block.text)}\n"
        case blocks.Bullets():
            yield "".join(f"- {_safe(text)}\n" for text in block.texts)
        case blocks.Pairs():
            yield "".join(f"- **{_safe(term)}**: {_safe(text)}\n" for term, text in block.pairs)
        case Grid():
            yield _grid(block)
        case blocks.Picture():
            yield f"*{_safe(block.alt)}*\n"
        case _:
            assert_never(block)


def _grid(grid: Grid) -> str:
    last = ["---"] * grid.prose
    rule = ["---"] * grid.words + ["--:"] * (len(grid.head) - grid.words - grid.prose) + last
    rows = [
        [f"**{_safe(cell)}**" if at in grid.marked and cell else _safe(cell) for cell in row]
        for at, row in enumerate(grid.rows)
    ]
    lines = [[_safe(cell) for cell in grid.head], rule, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _line(text: str) -> str:
    """Return a paragraph that does not begin a list or a heading."""
    return _AT_START.sub(r"\1\\\2", _safe(text))


def _safe(text: str) -> str:
    """Return text that is markdown for itself, in a cell too."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", plain(text).replace("\n", " "))
