"""Rows by class of attackers: one table, or one for each class where names are long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import Grid, Heading
from mipaudit.statements.policy import class_words
from mipaudit.statements.text.rounding import lower_text, upper_text, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.statements.estimate import Attackers, Estimate

# A longer name leaves no room for the class beside three numbers in 80 columns.
_LONGEST_NAME: Final = 22

Row = tuple[str, "Attackers", tuple[str, ...]]


def class_grids(
    caption: str,
    name: str,
    head: Sequence[str],
    rows: Sequence[Row],
    *,
    classes: str = "attackers",
) -> Iterator[Grid | Heading]:
    """Yield the tables, each within 80 columns for names of up to 40 characters.

    Args:
        caption: what they show.
        name: head of the names.
        head: of the numbers.
        rows: (name, class, numbers); the classes of one name stand together.
        classes: head of the classes.
    """
    if max((len(row[0]) for row in rows), default=0) <= _LONGEST_NAME:
        cells = tuple((row[0], short_class(row[1]), *row[2]) for row in rows)
        yield Grid(caption=caption, head=(name, classes, *head), rows=cells, words=2)
        return
    for one in dict.fromkeys(row[1] for row in rows):
        text = class_words(one)
        yield Heading(text=text[0].upper() + text[1:], level=3)
        cells = tuple((row[0], *row[2]) for row in rows if row[1] == one)
        yield Grid(caption=f"{caption}: {text}", head=(name, *head), rows=cells, words=1)


def short_class(attackers: Attackers) -> str:
    """Return a class for a narrow column: ``one threshold``."""
    return class_words(attackers).removeprefix("attackers with ")


def limits(one: Estimate) -> tuple[str, str, str]:
    """Return the three figures of a row, limits rounded outward."""
    return (
        "-" if one.lower is None else lower_text(one.lower),
        "-" if one.value is None else value_text(one.value),
        "none" if one.upper is None else upper_text(one.upper),
    )
