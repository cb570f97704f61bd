"""The pictures of a report of ``records``: the risk by group, and cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.drawing import Interval, Mark, intervals
from mipaudit.statements.text.rounding import count_text, number_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.commands.records.report import RecordsReport
    from mipaudit.formats.document import Picture


def records_pictures(report: RecordsReport) -> Iterator[Picture]:
    """Yield the risk by group, where there are groups, and by cell of the score."""
    floor = report.design.baseline
    limits = dict.fromkeys(one.limit for one in report.policy if one.quantity == "risk")
    marks = [Mark(limit, f"policy {number_text(limit)}") for limit in limits]
    groups = sorted(report.groups, key=lambda one: -one.lower)
    if groups:
        yield intervals(
            [Interval(one.group, one.lower, one.value, None) for one in groups],
            name="groups",
            what="mean risk of a group",
            caption="Each group, the most exposed first.",
            ends=(floor, 1.0),
        )
    cells = sorted(report.cells, key=lambda one: -one.lower)
    rows = [
        Interval(
            f"cell {one.cell}: {count_text(one.members + one.holdout)} records",
            one.lower,
            one.risk,
            one.upper,
        )
        for one in cells
    ]
    if rows:
        yield intervals(
            rows,
            name="cells",
            what="risk of a record",
            caption="Each cell of the score, the most exposed first.",
            ends=(floor, 1.0),
            marks=marks,
        )
