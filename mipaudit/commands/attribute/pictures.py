"""The pictures of a report of ``attribute``: how much better members are guessed, and how well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import quoted
from mipaudit.formats.drawing import Interval, intervals, marks_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.commands.attribute.report import (
        AttributeFigure,
        AttributeQuantity,
        AttributeReport,
    )
    from mipaudit.formats.document import Picture

_ADVANTAGES: Final[dict[AttributeQuantity, str]] = {
    "attribute_advantage": "how much better members are guessed",
    "membership_advantage": "how well a right guess tells members",
}
_SHARES: Final[dict[AttributeQuantity, str]] = {
    "right_of_members": "members",
    "right_of_holdout": "holdout records",
}


def attribute_pictures(report: AttributeReport) -> Iterator[Picture]:
    """Yield what the guesses tell, how often they are right, and both for each value."""
    by = {one.quantity: one for one in report.figures}
    limits = {one.subject: one.limit for one in report.policy}
    told = [
        _row(name, by[quantity])._replace(allowed=limits.get(quantity))
        for quantity, name in _ADVANTAGES.items()
        if by[quantity].value is not None
    ]
    attribute = quoted(report.design.attribute_column)
    if told:
        yield intervals(
            told,
            name="told",
            what="advantage",
            caption=f"What these guesses of {attribute} tell; right of 0 members are guessed "
            "better than others.",
            ends=(_floor(told), 1.0),
            marks=marks_of((), report.design.baseline),
        )
    yield intervals(
        [_row(name, by[quantity]) for quantity, name in _SHARES.items()],
        name="right",
        what="share guessed right",
        caption=f"Of how many {attribute} was guessed right: what the release tells of everybody "
        "alike is in both rows.",
    )
    values = [
        Interval(one.name, one.lower, one.value, one.upper)
        for one in report.by_value
        if one.value is not None
    ]
    if values:
        yield intervals(
            values,
            name="values",
            what="how much better members are guessed",
            caption=f"Each value of {attribute}, limits for all of them together.",
            ends=(_floor(values), 1.0),
        )


def _row(name: str, one: AttributeFigure) -> Interval:
    return Interval(name, one.lower, one.value, one.upper)


def _floor(rows: Sequence[Interval]) -> float:
    """Return where an axis begins on which nothing is cut: a tenth below what is less than 0."""
    least = min(0.0, *(x for one in rows for x in one[1:4] if x is not None))
    return -1.0 if least < -0.9 else int(least * 10 - 1) / 10 if least < 0 else 0.0  # noqa: PLR2004
