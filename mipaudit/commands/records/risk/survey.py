"""What two passes over the records gather, with groups or without; mergeable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from mipaudit.commands.records.risk.cells import RecordTally
from mipaudit.summaries.group_tally import GroupCensus, GroupTally
from mipaudit.summaries.sample import BurnInSample

if TYPE_CHECKING:
    from mipaudit.commands.records.risk.cells import RecordCells
    from mipaudit.summaries.group_tally import Grouping
    from mipaudit.summaries.plan import Plan
    from mipaudit.summaries.rows import Rows


class RecordSurvey:
    """Pass one: a burn-in sample of one score, and the sizes of the groups."""

    __slots__ = ("census", "sample")

    def __init__(self, seed: int, *, grouped: bool) -> None:
        """Start empty."""
        self.sample = BurnInSample(1, seed)
        self.census = GroupCensus() if grouped else None

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        self.sample.add(rows)
        if self.census is not None:
            self.census.add(rows)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        self.sample.merge(other.sample)
        if self.census is not None and other.census is not None:
            self.census.merge(other.census)


class RecordCount:
    """Pass two: counts of the cells, and of the groups."""

    __slots__ = ("cells", "groups")

    def __init__(self, cells: RecordCells, plan: Plan | None, grouping: Grouping | None) -> None:
        """Start empty; a plan and a grouping go together."""
        self.cells = RecordTally(cells)
        self.groups = None if plan is None or grouping is None else GroupTally(plan, grouping)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        self.cells.add(rows)
        if self.groups is not None:
            self.groups.add(rows)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.cells.merge(other.cells)
        if self.groups is not None and other.groups is not None:
            self.groups.merge(other.groups)
