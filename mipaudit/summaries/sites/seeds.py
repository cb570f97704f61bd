"""Whose coins a row is counted by: every site draws a seed of its own, and keeps it.

The rows that a site told of in its cuts train, and no others may: so the site counts with
the seed that is written in its cuts. By positions this holds for every input that has the
same rows, however it is cut up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from mipaudit.summaries.identity.row_rank import rank_bytes
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally

if TYPE_CHECKING:
    from mipaudit.summaries.plan import Plan
    from mipaudit.summaries.rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedSpan:
    """Rows at the positions ``first_row`` to ``stop`` - 1 of the whole, and their seed."""

    first_row: int
    stop: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSeeds:
    """The seed of every row of a part.

    Attributes:
        own: of rows that no site made cuts of.
        spans: of the others; apart, in increasing order.
    """

    own: int
    spans: tuple[SeedSpan, ...] = ()

    def pieces(self, rows: Rows) -> Iterator[tuple[Rows, int]]:
        """Yield consecutive pieces of a batch, each with its seed."""
        at, end = 0, rows.source_rows
        for span in self.spans:
            first, stop = span.first_row - rows.first_row, min(span.stop - rows.first_row, end)
            if stop <= at or first >= end:
                continue
            if at < first:
                yield rows.between(at, first), self.own
            yield rows.between(max(at, first), stop), span.seed
            at = stop
        if at < end:
            yield rows.between(at, end), self.own


class SiteSurvey:
    """Counts by a shared plan, and a sample for each seed, by which repeated keys are found."""

    __slots__ = ("_columns", "_seeds", "samples", "tally")

    def __init__(self, columns: int, seeds: SiteSeeds, plan: Plan) -> None:
        """Start empty."""
        self._columns = columns
        self._seeds = seeds
        self.samples: dict[int, BurnInSample] = {}
        self.tally = Tally(plan)

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        for piece, seed in self._seeds.pieces(rows):
            top = rank_bytes(piece, seed)
            self._sample(seed).take(piece, top)
            self.tally.take(piece, top)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        for seed, sample in other.samples.items():
            self._sample(seed).merge(sample)
        self.tally.merge(other.tally)

    def sizes(self) -> tuple[int, int]:
        """Return the number of members and of holdout records."""
        samples = self.samples.values()
        return sum(one.members.rows for one in samples), sum(one.holdout.rows for one in samples)

    def _sample(self, seed: int) -> BurnInSample:
        return self.samples.setdefault(seed, BurnInSample(self._columns, seed))
