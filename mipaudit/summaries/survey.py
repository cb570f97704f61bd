"""One pass that samples for the cut points and, where there is a plan, counts by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from mipaudit.summaries.identity.row_rank import rank_bytes
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally

if TYPE_CHECKING:
    from mipaudit.summaries.plan import Plan
    from mipaudit.summaries.rows import Rows


class Survey:
    """A burn-in sample, and a tally if a plan is at hand."""

    __slots__ = ("_seed", "sample", "tally")

    def __init__(self, columns: int, seed: int, plan: Plan | None) -> None:
        """Start empty."""
        self._seed = seed
        self.sample = BurnInSample(columns, seed)
        self.tally = None if plan is None else Tally(plan)

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        top = rank_bytes(rows, self._seed)
        self.sample.take(rows, top)
        if self.tally is not None:
            self.tally.take(rows, top)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        self.sample.merge(other.sample)
        if self.tally is not None and other.tally is not None:
            self.tally.merge(other.tally)
