"""The groups of a report of ``records``: three tables, each within a terminal's width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import Grid, Note, Paragraph
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    percent_text,
    upper_text,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.records.report import GroupRisk, RecordsReport
    from mipaudit.formats.document import Section

_CLASSES: Final = {"any": "any attacker", "thresholds": "one threshold", "bins-16": "16 bins"}


def group_sections(report: RecordsReport) -> Iterator[Section]:
    """Yield how much leaks of each group, and which groups differ from the rest."""
    if report.groups:
        yield _advantage(report)
        yield _upper_limits(report)
        yield _differences(report)


def _advantage(report: RecordsReport) -> Section:
    rows = tuple(
        (
            safe_name(one.group),
            count_text(one.members),
            count_text(one.holdout),
            lower_text(one.lower),
            value_text(one.value),
        )
        for one in report.groups
    )
    grid = Grid(
        caption="Advantage within each group",
        head=("group", "members", "holdout", "at least", "best estimate"),
        rows=rows,
        words=1,
    )
    text = f"Advantage within each group, for any attacker. {_jointly(report)}"
    return (grid, Note(text=text))


def _jointly(report: RecordsReport) -> str:
    sure = percent_text(report.design.confidence)
    return f"Each column holds with {sure} confidence for all groups together."


def _upper_limits(report: RecordsReport) -> Section:
    upper: dict[tuple[str | None, str], float | None] = {
        (e.group, e.attackers): e.upper for e in report.estimates if e.quantity == "advantage"
    }
    # A continuous score has no upper limit for all attackers.
    classes = [
        name
        for name in _CLASSES
        if any(key[1] == name for key in upper) and (report.design.discrete or name != "any")
    ]
    if not classes:
        return ()
    rows = tuple(
        (safe_name(one.group), *(_upper(upper.get((one.group, name))) for name in classes))
        for one in report.groups
    )
    grid = Grid(
        caption="Advantage within each group, at most",
        head=("group", *(_CLASSES[name] for name in classes)),
        rows=rows,
        words=1,
    )
    text = f"The advantage within each group is at most this, by attackers. {_jointly(report)}"
    return (Paragraph(text=text), grid)


def _upper(limit: float | None) -> str:
    return "none" if limit is None else upper_text(limit)


def _differences(report: RecordsReport) -> Section:
    grid = Grid(
        caption="One attack in the group, less the same attack in the rest",
        head=("group", "differs", "difference", "from", "to"),
        rows=tuple((safe_name(one.group), one.differs, *_difference(one)) for one in report.groups),
        words=2,
        marked=frozenset(at for at, one in enumerate(report.groups) if one.differs == "higher"),
    )
    text = (
        "The difference is that of one attack, the best threshold on everybody, in the group less "
        f"in the rest. {_jointly(report)}"
    )
    return (grid, Note(text=text))


def _difference(group: GroupRisk) -> tuple[str, str, str]:
    if group.difference is None or group.difference_lower is None or group.difference_upper is None:
        return ("-", "-", "-")
    return (
        value_text(group.difference),
        lower_text(group.difference_lower),
        upper_text(group.difference_upper),
    )
