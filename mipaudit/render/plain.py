"""Tables in plain text, for the commands that answer before rich could be loaded."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_GAP: Final = "  "
_NARROWEST_TEXT: Final = 24


def columns(rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), numbers: int = 0) -> str:
    """Return rows as aligned columns, indented by two, without a limit on the width.

    Args:
        rows: equally many cells each.
        header: the head of each column; none if empty.
        numbers: how many columns at the end are numbers, set flush right.
    """
    lines = [header, *rows] if header else rows
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    first_number = len(widths) - numbers
    return "".join(
        _GAP
        + _GAP.join(
            cell.rjust(width) if i >= first_number else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        + "\n"
        for line in lines
    )


def annotated(
    rows: Sequence[Sequence[str]], *, header: Sequence[str], width: int, numbers: int = 0
) -> str:
    """Return rows whose last cell is prose, wrapped into what the width leaves.

    ``numbers`` counts the columns of numbers just before the prose.
    """
    heads = columns([row[:-1] for row in rows], header=header[:-1], numbers=numbers).splitlines()
    left = max(map(len, heads)) + len(_GAP)
    room = max(_NARROWEST_TEXT, width - left)
    lines: list[str] = []
    for head, text in zip(heads, [header[-1], *(row[-1] for row in rows)], strict=True):
        first, *rest = wrap(text, room, break_long_words=False) or [""]
        lines.append(head.ljust(left) + first)
        lines.extend(" " * left + line for line in rest)
    return "".join(line.rstrip() + "\n" for line in lines)


def paragraph(
    text: str, *, width: int, indent: str = "", first: str | None = None, hyphens: bool = True
) -> str:
    """Return prose wrapped to a width.

    Args:
        text: the prose.
        width: of a line.
        indent: of every line.
        first: indents the first line, if it differs.
        hyphens: whether a line may end with a hyphen of a word, or of an option.
    """
    lines = wrap(
        text,
        max(_NARROWEST_TEXT, width),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=hyphens,
    )
    return "".join(f"{line}\n" for line in lines)
