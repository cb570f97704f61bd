"""The pictures of a report of ``records``: the risk by group, and cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.drawing import Interval, intervals, marks_of
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.records.report import CellRisk, RecordsReport
    from mipaudit.formats.document import Picture

_MOST: Final = 12  # more rows would fill the screen, and say little


def records_pictures(report: RecordsReport) -> Iterator[Picture]:
    """Yield the risk by group, where there are groups, and by cell of the score."""
    floor = report.design.baseline
    limits = [one.limit for one in report.policy if one.quantity == "risk"]
    allowed = {one.group: one.limit for one in report.policy if one.quantity == "advantage"}
    groups = sorted(report.groups, key=lambda one: -one.lower)
    if groups:
        yield intervals(
            [
                Interval(one.group, one.lower, one.value, None, allowed.get(one.group))
                for one in groups
            ],
            name="groups",
            what="mean risk of a group",
            caption="Each group, the most exposed first.",
            ends=(floor, 1.0),
            marks=marks_of((), floor),
        )
    # First those that give away who was used, as the page asks; then the others.
    cells = sorted(report.cells, key=lambda one: (one.speaks_for != "member", -one.lower))
    rows = [Interval(_named(one), one.lower, one.risk, one.upper) for one in cells[:_MOST]]
    more = len(cells) - len(rows)
    if rows:
        yield intervals(
            rows,
            name="cells",
            what="risk of a record",
            caption="Groups of records with like scores, the most exposed as used first."
            + (f" {count_text(more)} more are in the tables." if more else ""),
            ends=(floor, 1.0),
            marks=marks_of(limits, floor),
        )


def _named(cell: CellRisk) -> str:
    """Return how many of either class a group has, and what it gives away for sure."""
    says = {"member": ": used", "holdout": ": not used"}.get(cell.speaks_for, "")
    return f"{count_text(cell.members)} members, {count_text(cell.holdout)} holdout{says}"
