"""Pass one: class sizes, a burn-in sample, and the extremes of vector scores, mergeable.

The sample holds, for each class, the rows of smallest rank: a uniform sample
whatever the order of the file, the same for every way of cutting the input up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS, rank_bytes, ranks

if TYPE_CHECKING:
    from mipaudit.summaries.rows import Rows

SAMPLE_SIZE: Final = 1 << 16
_LARGEST_BURN_IN: Final = 0.3
_SMALLEST_BURN_IN: Final = 0.1
# Those of any burn-in, however large the input, or small.
FEWEST_BURN_IN_BLOCKS: Final = math.ceil(MICRO_BLOCKS * _SMALLEST_BURN_IN)
MOST_BURN_IN_BLOCKS: Final = math.ceil(MICRO_BLOCKS * _LARGEST_BURN_IN)
_MOST_VALUES: Final = 1 << 20
_FEWEST_ROWS: Final = 8192


def burn_in_blocks(n_members: int, n_holdout: int) -> int:
    """Return how many of the 64 micro-blocks train before any row counts.

    A share of 3/sqrt(min N), within [0.1, 0.3]: small files need it to start with
    sensible attackers, large ones do not.
    """
    smaller = max(1, min(n_members, n_holdout))
    share = min(max(3 / math.sqrt(smaller), _SMALLEST_BURN_IN), _LARGEST_BURN_IN)
    return math.ceil(MICRO_BLOCKS * share)


class ClassSample:
    """The rows of smallest rank of one class: ranks (k,) and scores (k, d)."""

    __slots__ = ("_pending", "_size", "_waiting", "limit", "ranks", "rows", "scores")

    def __init__(self, columns: int, size: int = SAMPLE_SIZE) -> None:
        """Start empty, for ``columns`` score columns and at most ``size`` rows."""
        self.rows = 0
        self.ranks = np.empty(0, dtype=np.uint64)
        self.scores = np.empty((0, columns), dtype=np.float64)
        self.limit = np.uint64(((MOST_BURN_IN_BLOCKS << 58) - 1) & ((1 << 64) - 1))
        self._pending: list[tuple[NDArray[np.uint64], NDArray[np.float64]]] = []
        self._waiting = 0
        self._size = size

    def offer(self, ranks: NDArray[np.uint64], scores: NDArray[np.float64]) -> None:
        """Consider rows of the class; those that cannot belong may be left out."""
        keep = np.flatnonzero(ranks <= self.limit)
        if keep.size < ranks.size:
            ranks, scores = ranks[keep], scores[keep]
        self._pending.append((ranks, scores))
        self._waiting += ranks.size
        if self._waiting > self._size:
            self.prune()

    def prune(self) -> None:
        """Fold the pending rows in and drop those that cannot stay; ties of rank stay."""
        ranks = np.concatenate([self.ranks, *(part for part, _ in self._pending)])
        scores = np.concatenate([self.scores, *(part for _, part in self._pending)])
        self._pending.clear()
        self._waiting = 0
        if ranks.size >= self._size:
            self.limit = np.partition(ranks, self._size - 1)[self._size - 1]
            keep = ranks <= self.limit
            ranks, scores = ranks[keep], scores[keep]
        self.ranks, self.scores = ranks, scores

    def settle(self) -> None:
        """Finish: sort by rank and cut to size.

        Rows of one key share a rank; their scores break the tie, so that the cut does
        not depend on the order of arrival.
        """
        self.prune()
        order = np.argsort(self.ranks)
        ordered = self.ranks[order]
        if (ordered[1:] == ordered[:-1]).any():
            order = np.lexsort((*self.scores.T, self.ranks))
        order = order[: self._size]
        self.ranks, self.scores = self.ranks[order], self.scores[order]

    def merge(self, other: Self) -> None:
        """Take in the sample of another part."""
        self.rows += other.rows
        other.prune()
        self.offer(other.ranks, other.scores)
        self.prune()

    def within(self, blocks: int) -> NDArray[np.bool_]:
        """Tell which sampled rows lie in the first ``blocks`` micro-blocks."""
        return np.asarray((self.ranks >> np.uint64(58)) < blocks)


class BurnInSample:
    """Class sizes and one `ClassSample` per class."""

    __slots__ = ("_seed", "holdout", "members")

    def __init__(self, columns: int, seed: int, size: int = SAMPLE_SIZE) -> None:
        """Start empty."""
        self._seed = seed
        self.members = ClassSample(columns, size)
        self.holdout = ClassSample(columns, size)

    def add(self, rows: Rows) -> None:
        """Count a batch and sample from it."""
        self.take(rows, rank_bytes(rows, self._seed))

    def take(self, rows: Rows, top: NDArray[np.uint8]) -> None:
        """Count a batch and sample from it, given the rows' top rank bytes."""
        count_members = int(np.count_nonzero(rows.member))
        self.members.rows += count_members
        self.holdout.rows += rows.member.size - count_members
        ceiling = np.uint8(max(self.members.limit, self.holdout.limit) >> np.uint64(56))
        chosen = np.flatnonzero(top <= ceiling)
        rank = ranks(rows, self._seed, chosen, top[chosen])
        member = rows.member[chosen]
        for one, side in ((self.members, member), (self.holdout, ~member)):
            at = np.flatnonzero(side)
            mine = chosen[at]
            scores = np.empty((at.size, len(rows.scores)), dtype=np.float64)
            for index, column in enumerate(rows.scores):
                scores[:, index] = column[mine]
            one.offer(rank[at], scores)

    def merge(self, other: Self) -> None:
        """Take in the sample of another part; the result does not depend on the order."""
        self.members.merge(other.members)
        self.holdout.merge(other.holdout)

    def settle(self) -> None:
        """Finish: after this the samples are in rank order."""
        self.members.settle()
        self.holdout.settle()


def sample_size(columns: int) -> int:
    """Return how many rows of each class the sample holds: fewer of many coordinates."""
    return min(SAMPLE_SIZE, max(_MOST_VALUES // max(columns, 1), _FEWEST_ROWS))


class ScoreRange:
    """The finite extremes and the infinities of each column; they never leave the program.

    Attributes:
        low: smallest finite value of each column, shape (d,), infinite where there is none.
        high: the largest.
        infinite: number of infinite values, int64, shape (d, 2), (below, above).
    """

    __slots__ = ("high", "infinite", "low")

    def __init__(self, columns: int) -> None:
        """Start empty."""
        self.low = np.full(columns, np.inf)
        self.high = np.full(columns, -np.inf)
        self.infinite = np.zeros((columns, 2), dtype=np.int64)

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        for index, values in enumerate(rows.scores):
            if not values.size:
                continue
            low, high = float(values.min()), float(values.max())
            if np.isinf(low) or np.isinf(high):
                self.infinite[index] += (
                    np.count_nonzero(values == -np.inf),
                    np.count_nonzero(values == np.inf),
                )
                finite = values[np.isfinite(values)]
                if not finite.size:
                    continue
                low, high = float(finite.min()), float(finite.max())
            self.low[index] = min(self.low[index], low)
            self.high[index] = max(self.high[index], high)

    def merge(self, other: Self) -> None:
        """Take in the range of another part."""
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        self.infinite += other.infinite

    def constant(self, index: int) -> bool:
        """Tell whether every row has the same value in a column."""
        below, above = (int(count) for count in self.infinite[index])
        if self.low[index] > self.high[index]:  # no finite value
            return not (below and above)
        return bool(self.low[index] == self.high[index]) and not below + above


class VectorSurvey(ScoreRange):
    """A burn-in sample of all columns, with their range.

    Attributes:
        sample: rows of smallest rank of each class.
    """

    __slots__ = ("sample",)

    def __init__(self, columns: int, seed: int) -> None:
        """Start empty."""
        super().__init__(columns)
        self.sample = BurnInSample(columns, seed, sample_size(columns))

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        super().add(rows)
        self.sample.add(rows)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        super().merge(other)
        self.sample.merge(other.sample)
