"""Groups of rows: how many rows each has, and which of the groups are told apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mipaudit.summaries.rows import Rows


class GroupCensus:
    """The number of members and holdout records of every group; mergeable."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        """Start empty."""
        self._rows: dict[bool, Counter[int]] = {False: Counter(), True: Counter()}

    def add(self, rows: Rows) -> None:
        """Count a batch, read with groups."""
        assert rows.groups is not None  # noqa: S101 - read with group columns
        for side, counter in self._rows.items():
            found, times = np.unique(rows.groups[rows.member == side], return_counts=True)
            counter.update(dict(zip(found.tolist(), times.tolist(), strict=True)))

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        for side, counter in self._rows.items():
            counter.update(other._rows[side])

    @property
    def sizes(self) -> dict[int, tuple[int, int]]:
        """Return (members, holdout) by the hash of the group, in order."""
        holdout, members = self._rows[False], self._rows[True]
        return {group: (members[group], holdout[group]) for group in sorted(holdout | members)}


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

    def numbers(self, rows: Rows) -> NDArray[np.intp]:
        """Return the group's number of each row, read with groups; -1 for one that is left out."""
        assert rows.groups is not None  # noqa: S101 - read with group columns
        at = _position(self.kept, rows.groups)
        if self.merged.size:
            other = (at < 0) & (_position(self.merged, rows.groups) >= 0)
            at[other] = self.kept.size
        return at


def _position(known: NDArray[np.uint64], groups: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return where each value is in a sorted array, -1 where it is not."""
    if not known.size:
        return np.full(groups.size, -1, dtype=np.intp)
    at = np.minimum(np.searchsorted(known, groups), known.size - 1)
    return np.where(known[at] == groups, at, -1)
