"""Counts of both classes along the ordered score: what threshold statistics need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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

    members: NDArray[np.int64]
    holdout: NDArray[np.int64]
    single: NDArray[np.bool_]

    @property
    def n_members(self) -> int:
        """Return the number of members."""
        return int(self.members.sum())

    @property
    def n_holdout(self) -> int:
        """Return the number of holdout records."""
        return int(self.holdout.sum())

    @property
    def exact(self) -> bool:
        """Tell whether every occupied step is a single value."""
        return bool((self.single | (self.members + self.holdout == 0)).all())

    def reversed(self) -> Ladder:
        """Return the same counts with the score negated."""
        return Ladder(
            members=self.members[::-1], holdout=self.holdout[::-1], single=self.single[::-1]
        )


def exact_ladder(members: NDArray[np.float64], holdout: NDArray[np.float64]) -> Ladder:
    """Return the ladder of the distinct values of two samples.

    Sorting each class alone and merging is several times faster than sorting the
    rows with their labels.

    Args:
        members: scores, shape (n1,), no NaN; infinities are ordinary values.
        holdout: scores, shape (n2,), no NaN.
    """
    x, y = np.sort(members), np.sort(holdout)
    merged = np.concatenate([x, y])
    merged.sort(kind="stable")  # two sorted runs: a linear merge
    new = np.ones(merged.size, dtype=bool)
    np.not_equal(merged[1:], merged[:-1], out=new[1:])
    values = merged[new]
    return Ladder(
        members=np.diff(np.searchsorted(x, values, side="right"), prepend=0),
        holdout=np.diff(np.searchsorted(y, values, side="right"), prepend=0),
        single=np.ones(values.size, dtype=bool),
    )


def weighted_differences(ladder: Ladder, prior: float) -> NDArray[np.float64]:
    """Return p P_j - (1-p) Q_j per step, shape (m,): what guessing 'member' there gains."""
    return np.asarray(
        prior * ladder.members / ladder.n_members - (1 - prior) * ladder.holdout / ladder.n_holdout
    )
