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
        return bool(self.single.all() or (self.single | (self.members + self.holdout == 0)).all())

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
    return ladder_of_sorted(np.sort(members), np.sort(holdout))


def ladder_of_sorted(x: NDArray[np.float64], y: NDArray[np.float64]) -> Ladder:
    """Return the ladder of two samples in increasing order, members first."""
    values = np.concatenate([x, y])
    values.sort(kind="stable")  # two sorted runs: a linear merge
    new = np.ones(values.size, dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    values = values[new]
    return Ladder(
        members=_counts_at(x, values),
        holdout=_counts_at(y, values),
        single=np.ones(values.size, dtype=bool),
    )


def _counts_at(ordered: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how often each of the distinct values occurs."""
    return np.asarray(np.diff(np.searchsorted(ordered, values, side="right"), prepend=0))


def weighted_differences(ladder: Ladder, prior: float) -> NDArray[np.float64]:
    """Return p P_j - (1-p) Q_j per step, shape (m,): what guessing 'member' there gains."""
    return np.asarray(
        prior * ladder.members / max(1, ladder.n_members)
        - (1 - prior) * ladder.holdout / max(1, ladder.n_holdout)
    )
