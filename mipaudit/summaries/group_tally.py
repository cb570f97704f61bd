"""Rows by group: how many there are, and the counts of each; mergeable."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.identity.row_rank import micro_labels, rank_bytes
from mipaudit.summaries.kept_counts import KeptCounts, ScoreCounts
from mipaudit.summaries.ranked_rows import further_blocks
from mipaudit.summaries.rows import Rows
from mipaudit.summaries.tally import Tally, coarse_atoms

if TYPE_CHECKING:
    from mipaudit.summaries.plan import Plan


# Group, score, label and further micro-blocks of each row.
_Batch: TypeAlias = tuple[
    NDArray[np.intp], NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint8]
]


class GroupCensus:
    """The number of members and holdout records of every group.

    Attributes:
        sizes: (members, holdout) by the hash of the group.
    """

    __slots__ = ("sizes",)

    def __init__(self) -> None:
        """Start empty."""
        self.sizes: dict[int, tuple[int, int]] = {}

    def add(self, rows: Rows) -> None:
        """Count a batch, read with groups."""
        assert rows.groups is not None  # noqa: S101 - read with group columns
        found, code = np.unique(rows.groups, return_inverse=True)
        members = np.bincount(code[rows.member], minlength=found.size)
        holdout = np.bincount(code[~rows.member], minlength=found.size)
        for group, inside, outside in zip(
            found.tolist(), members.tolist(), holdout.tolist(), strict=True
        ):
            self._count(group, inside, outside)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        for group, (inside, outside) in other.sizes.items():
            self._count(group, inside, outside)

    def _count(self, group: int, inside: int, outside: int) -> None:
        before = self.sizes.get(group, (0, 0))
        self.sizes[group] = before[0] + inside, before[1] + outside


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouping:
    """Which groups are told apart, and which are taken together or left out.

    Attributes:
        kept: hashes of the groups, increasing, uint64, shape (g,); group i is number i.
        merged: hashes of the groups that are taken together as number g, increasing.
    """

    kept: NDArray[np.uint64]
    merged: NDArray[np.uint64]

    @property
    def count(self) -> int:
        """Return the number of groups, the merged one included."""
        return int(self.kept.size) + bool(self.merged.size)

    def numbers(self, groups: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Return the group's number of each row; -1 for a group that is left out."""
        at = _position(self.kept, groups)
        if self.merged.size:
            other = (at < 0) & (_position(self.merged, groups) >= 0)
            at[other] = self.kept.size
        return at


def _position(known: NDArray[np.uint64], groups: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return where each value is in a sorted array, -1 where it is not."""
    if not known.size:
        return np.full(groups.size, -1, dtype=np.intp)
    at = np.minimum(np.searchsorted(known, groups), known.size - 1)
    return np.where(known[at] == groups, at, -1)


class GroupTally(ABC):
    """The counts of every group, in the same cells."""

    __slots__ = ("_grouping", "_plan")

    def __init__(self, plan: Plan, grouping: Grouping) -> None:
        """Start empty."""
        self._plan = plan
        self._grouping = grouping

    @abstractmethod
    def add(self, rows: Rows) -> None:
        """Take in a batch, read with groups."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add the rows of another part."""

    @abstractmethod
    def counts(self) -> tuple[ScoreCounts, ...]:
        """Return the finished counts of the one score column, group by group."""

    def _numbers(self, rows: Rows) -> NDArray[np.intp]:
        """Return the group's number of each row; -1 for a group that is left out."""
        assert rows.groups is not None  # noqa: S101 - read with group columns
        return self._grouping.numbers(rows.groups)


def group_tally(plan: Plan, grouping: Grouping) -> GroupTally:
    """Return what counts groups: of few rows they are kept, of many counted as they come."""
    return KeptGroups(plan, grouping) if plan.exact else CountedGroups(plan, grouping)


class CountedGroups(GroupTally):
    """A table of counts for each group."""

    __slots__ = ("_tallies",)

    def __init__(self, plan: Plan, grouping: Grouping) -> None:
        """Start empty."""
        super().__init__(plan, grouping)
        self._tallies = [Tally(plan) for _ in range(grouping.count)]

    def add(self, rows: Rows) -> None:
        """Count a batch, read with groups."""
        number = self._numbers(rows)
        order = np.argsort(number, kind="stable")
        ends = np.searchsorted(number[order], np.arange(len(self._tallies) + 1))
        top = rank_bytes(rows, self._plan.seed)
        for tally, first, end in zip(self._tallies, ends[:-1], ends[1:], strict=True):
            if end > first:
                chosen = order[first:end]
                tally.take(_among(rows, chosen), top[chosen])

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        for mine, theirs in zip(self._tallies, other._tallies, strict=True):
            mine.merge(theirs)

    def counts(self) -> tuple[ScoreCounts, ...]:
        """Return the finished counts of the one score column, group by group."""
        return tuple(tally.counts()[0] for tally in self._tallies)


class KeptGroups(GroupTally):
    """The rows themselves: all groups are sorted at once, and each counted when it is looked at."""

    __slots__ = ("_batches",)

    def __init__(self, plan: Plan, grouping: Grouping) -> None:
        """Start empty."""
        super().__init__(plan, grouping)
        self._batches: list[_Batch] = []

    def add(self, rows: Rows) -> None:
        """Keep a batch, read with groups."""
        number = self._numbers(rows)
        labels = micro_labels(rank_bytes(rows, self._plan.seed))
        labels |= rows.member.view(np.uint8)
        further = further_blocks(rows, self._plan)
        inside = number >= 0
        self._batches.append(
            (number[inside], rows.scores[0][inside], labels[inside], further[inside])
        )

    def merge(self, other: Self) -> None:
        """Keep the rows of another part too."""
        self._batches += other._batches

    def counts(self) -> tuple[ScoreCounts, ...]:
        """Return the counts of the one score column, group by group; the rows are let go."""
        number, scores, labels, further = (
            np.concatenate(part) for part in zip(*self._batches, strict=True)
        )
        self._batches.clear()
        if (scores[1:] >= scores[:-1]).all():  # as rows in canonical order are
            small = number.astype(np.min_scalar_type(self._grouping.count))
            order = np.argsort(small, kind="stable")  # of few bytes by digits
        else:
            order = np.lexsort((scores, number))
        ends = np.searchsorted(number[order], np.arange(self._grouping.count + 1))
        scores, labels, further = scores[order], labels[order], further[order]
        (plan,) = self._plan.columns
        cell = plan.cells.coarse[np.searchsorted(plan.cells.edges, scores)].astype(np.int32)
        return tuple(
            KeptCounts(
                scores=scores[first:end],
                labels=labels[first:end],
                further=further[first:end],
                cell=cell[first:end],
                burn_in=self._plan.burn_in,
                single=coarse_atoms(plan.cells),
                discrete=plan.discrete,
            )
            for first, end in itertools.pairwise(ends.tolist())
        )


def _among(rows: Rows, chosen: NDArray[np.intp]) -> Rows:
    return Rows(
        first_row=rows.first_row,
        source_rows=rows.source_rows,
        kept=chosen if rows.kept is None else rows.kept[chosen],
        keys=None if rows.keys is None else rows.keys[chosen],
        member=rows.member[chosen],
        scores=tuple(score[chosen] for score in rows.scores),
    )
