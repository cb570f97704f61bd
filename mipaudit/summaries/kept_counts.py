"""What one score is estimated from, and its counts made of few rows when they are looked at.

A table by micro-block of a file with many groups would be mostly zeros, once for each group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.class_limits.roc_counts import Ladder, ladder_of_rows
from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS
from mipaudit.summaries.ranked_rows import RankedRows, ranked


class ScoreCounts(Protocol):
    """What one score is estimated from."""

    @property
    def blocks(self) -> NDArray[np.int64]:
        """Return the rows by micro-block, coarse cell and (holdout, member)."""
        ...

    @property
    def trained(self) -> NDArray[np.int64]:
        """Return the burn-in counts, shape (K, 2)."""
        ...

    @property
    def scored(self) -> NDArray[np.int64]:
        """Return the counts outside the burn-in, shape (K, 2)."""
        ...

    @property
    def burn_in(self) -> int:
        """Return the number of micro-blocks that only train."""
        ...

    @property
    def single(self) -> NDArray[np.bool_]:
        """Tell which coarse cells hold one value, shape (K,)."""
        ...

    @property
    def everyone(self) -> Ladder:
        """Return the ladder of all rows."""
        ...

    @property
    def evaluated(self) -> Ladder:
        """Return the ladder of the rows outside the burn-in."""
        ...

    @property
    def infinite(self) -> int:
        """Return the number of infinite scores."""
        ...

    @property
    def discrete(self) -> bool:
        """Tell whether every burn-in value is a cell of its own."""
        ...

    @property
    def ranked(self) -> RankedRows | None:
        """Return the rows for more than one assignment; None for many."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptCounts:
    """What one score of a group in memory is estimated from, counted when it is looked at.

    Attributes:
        scores: increasing, shape (n,).
        labels: 2 * micro-block + member of each row.
        further: micro-blocks of further draws, shape (n, draws - 1).
        cell: coarse cell of each row, int32.
        burn_in: number of micro-blocks that only train.
        single: bool, shape (K,): coarse cells that hold one value.
        discrete: whether every burn-in value is a cell of its own.
    """

    scores: NDArray[np.float64]
    labels: NDArray[np.uint8]
    further: NDArray[np.uint8]
    cell: NDArray[np.int32]
    burn_in: int
    single: NDArray[np.bool_]
    discrete: bool

    @property
    def blocks(self) -> NDArray[np.int64]:
        """Return the rows by micro-block, coarse cell and (holdout, member)."""
        shape = MICRO_BLOCKS, 2, self.single.size
        code = self.labels * np.int32(self.single.size) + self.cell
        return np.bincount(code, minlength=math.prod(shape)).reshape(shape).transpose(0, 2, 1)

    @cached_property
    def trained(self) -> NDArray[np.int64]:
        """Return the burn-in counts, shape (K, 2)."""
        return self._by_cell(~self._late)

    @cached_property
    def scored(self) -> NDArray[np.int64]:
        """Return the counts outside the burn-in, shape (K, 2)."""
        return self._by_cell(self._late)

    @cached_property
    def everyone(self) -> Ladder:
        """Return the ladder of all rows."""
        return ladder_of_rows(self.scores, self._member)

    @cached_property
    def evaluated(self) -> Ladder:
        """Return the ladder of the rows outside the burn-in."""
        return ladder_of_rows(self.scores[self._late], self._member[self._late])

    @property
    def infinite(self) -> int:
        """Return the number of infinite scores."""
        return int(np.count_nonzero(np.isinf(self.scores)))

    @property
    def ranked(self) -> RankedRows:
        """Return the rows for more than one assignment: a group has few."""
        return ranked(self.scores, self.labels, self.further, discrete=self.discrete)

    @cached_property
    def _member(self) -> NDArray[np.uint8]:
        return self.labels & np.uint8(1)

    @cached_property
    def _late(self) -> NDArray[np.bool_]:
        return self.labels >= 2 * self.burn_in

    def _by_cell(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the chosen rows by coarse cell and class; each class is contiguous."""
        code = self._member[chosen] * np.int32(self.single.size) + self.cell[chosen]
        return np.bincount(code, minlength=2 * self.single.size).reshape(2, -1).T
