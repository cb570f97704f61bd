"""Finished counts of a part of the input, which add up with those of other parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from mipaudit.maths.class_limits.roc_counts import Ladder
from mipaudit.summaries.tally import ColumnCounts

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary:
    """The counts of every score by one plan; any number of them can be added, in any order.

    Attributes:
        columns: one per score, in the order of the plan.
        n_members: rows of members.
        n_holdout: rows of holdout records.
    """

    columns: tuple[ColumnCounts, ...]
    n_members: int
    n_holdout: int

    def __add__(self, other: Summary) -> Summary:
        """Return the counts of both parts together; both must be by the same plan."""
        return Summary(
            columns=tuple(
                _added(one, two) for one, two in zip(self.columns, other.columns, strict=True)
            ),
            n_members=self.n_members + other.n_members,
            n_holdout=self.n_holdout + other.n_holdout,
        )

    def smallest_count(self) -> int | None:
        """Return the smallest count above zero of the tables, None where all are zero."""
        found = [int(one.blocks[one.blocks > 0].min()) for one in self.columns if one.blocks.any()]
        return min(found, default=None)


def sum_of(parts: Sequence[Summary]) -> Summary:
    """Return the counts of all parts together.

    Args:
        parts: at least one, all by the same plan.
    """
    return reduce(lambda one, two: one + two, parts)


def _added(one: ColumnCounts, two: ColumnCounts) -> ColumnCounts:
    return ColumnCounts(
        blocks=one.blocks + two.blocks,
        burn_in=one.burn_in,
        single=one.single,
        everyone=_stacked(one.everyone, two.everyone),
        evaluated=_stacked(one.evaluated, two.evaluated),
        infinite=one.infinite + two.infinite,
        discrete=one.discrete,
    )


def _stacked(one: Ladder, two: Ladder) -> Ladder:
    return Ladder(
        members=one.members + two.members, holdout=one.holdout + two.holdout, single=one.single
    )
