"""Counts of both classes along the ordered score: what threshold statistics need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints

_Counted = NDArray[np.signedinteger[Any]]
# So many steps are looked at first for each holdout record that is to be passed.
_FIRST_STEPS: Final = 3
_LARGEST_INT32: Final = (1 << 31) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Ladder:
    """Steps of increasing score, each with its counts.

    A *single* step holds one exact score value, which no threshold can divide. Any
    other step is a cell that holds several values in an unknown order: statistics
    that depend on the order are bracketed.

    Attributes:
        members: int64, shape (m,), members per step.
        holdout: int64, shape (m,), holdout records per step.
        single: bool, shape (m,).
    """

    members: Ints
    holdout: Ints
    single: Bools

    @cached_property
    def n_members(self) -> int:
        """Return the number of members."""
        return int(self.members.sum())

    @cached_property
    def n_holdout(self) -> int:
        """Return the number of holdout records."""
        return int(self.holdout.sum())

    @cached_property
    def exact(self) -> bool:
        """Tell whether every occupied step is a single value."""
        return bool(self.single.all() or (self.single | (self.members + self.holdout == 0)).all())

    def reversed(self) -> Ladder:
        """Return the same counts with the score negated: the same object each time."""
        return self._reversed

    @cached_property
    def _reversed(self) -> Ladder:
        return Ladder(
            members=self.members[::-1], holdout=self.holdout[::-1], single=self.single[::-1]
        )

    def from_the_top(self, holdout: int) -> tuple[_Counted, _Counted]:
        """Return how many members and holdout records lie above each step, from the highest.

        As far down as is needed to pass ``holdout`` holdout records, or to the end.
        """
        size = self.members.size
        if not self._top:
            self._top.append(self._counted(min(size, _FIRST_STEPS * (holdout + 1))))
        while (steps := self._top[0][1].size - 1) < size and self._top[0][1][-1] < holdout:
            self._top[0] = self._counted(min(size, 4 * steps))
        members, passed = self._top[0]
        # Of another type the sought number would have all steps converted.
        end = int(np.searchsorted(passed, passed.dtype.type(min(holdout, self.n_holdout)))) + 1
        return members[:end], passed[:end]

    @cached_property
    def _top(self) -> list[tuple[_Counted, _Counted]]:
        return []

    def _counted(self, steps: int) -> tuple[_Counted, _Counted]:
        fits = self.n_members + self.n_holdout <= _LARGEST_INT32
        dtype = np.dtype(np.int32 if fits else np.int64)
        members, holdout = np.zeros((2, steps + 1), dtype=dtype)
        np.cumsum(self.members[::-1][:steps], out=members[1:])
        np.cumsum(self.holdout[::-1][:steps], out=holdout[1:])
        return members, holdout


def exact_ladder(members: Floats, holdout: Floats) -> Ladder:
    """Return the ladder of the distinct values of two samples.

    Args:
        members: scores, shape (n1,), no NaN; infinities are ordinary values.
        holdout: scores, shape (n2,), no NaN.
    """
    scores = np.concatenate([members, holdout])
    order = np.argsort(scores)
    return ladder_of_rows(scores[order], (order < members.size).view(np.uint8))


def ladder_of_rows(scores: Floats | NDArray[np.uint64], member: NDArray[np.uint8]) -> Ladder:
    """Return the ladder of rows in increasing order of score.

    Args:
        scores: increasing, shape (n,), no NaN.
        member: 1 for members and 0 for holdout records, shape (n,).
    """
    new = np.ones(scores.size, dtype=bool)
    np.not_equal(scores[1:], scores[:-1], out=new[1:])
    members = member.astype(np.int64)
    if new.all():
        return Ladder(members=members, holdout=1 - members, single=new)
    starts = np.flatnonzero(new)
    members = np.add.reduceat(members, starts)
    return Ladder(
        members=members,
        holdout=np.diff(starts, append=scores.size) - members,
        single=np.ones(starts.size, dtype=bool),
    )


def weighted_differences(ladder: Ladder, prior: float) -> Floats:
    """Return p P_j - (1-p) Q_j per step, shape (m,): what guessing 'member' there gains."""
    return np.asarray(
        prior * ladder.members / max(1, ladder.n_members)
        - (1 - prior) * ladder.holdout / max(1, ladder.n_holdout)
    )
