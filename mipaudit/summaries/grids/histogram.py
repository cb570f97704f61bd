"""Counts in bins of equal width between the extremes: MACE's bins, for reproduction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.summaries.rows import Rows


class ScoreRange:
    """The finite extremes of each score column; they never leave the program."""

    __slots__ = ("high", "low")

    def __init__(self, columns: int) -> None:
        """Start empty."""
        self.low = np.full(columns, np.inf)
        self.high = np.full(columns, -np.inf)

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        for index, scores in enumerate(rows.scores):
            finite = scores[np.isfinite(scores)]
            if finite.size:
                self.low[index] = min(self.low[index], finite.min())
                self.high[index] = max(self.high[index], finite.max())

    def merge(self, other: Self) -> None:
        """Take in the range of another part."""
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)


class EqualWidthCounts:
    """Counts per column, bin and class. Infinite scores go to the end bins.

    Attributes:
        counts: int64, shape (columns, bins, 2), the last axis (holdout, member).
    """

    __slots__ = ("_extent", "counts")

    def __init__(self, extent: ScoreRange, bins: int) -> None:
        """Start empty."""
        self._extent = extent
        self.counts: NDArray[np.int64] = np.zeros((extent.low.size, bins, 2), dtype=np.int64)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        for index, scores in enumerate(rows.scores):
            low, high = float(self._extent.low[index]), float(self._extent.high[index])
            bins = self.counts.shape[1]
            self.counts[index] += equal_width_counts(scores, rows.member, low, high, bins)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.counts += other.counts


def equal_width_counts(
    scores: NDArray[np.float64], member: NDArray[np.bool_], low: float, high: float, bins: int
) -> NDArray[np.int64]:
    """Return counts per bin and class, shape (bins, 2), the last axis (holdout, member).

    Args:
        scores: float64, shape (n,); those outside [low, high] go to the end bins.
        member: bool, shape (n,).
        low: lower end of the first bin; above ``high`` where no score is finite.
        high: upper end of the last bin.
        bins: number of bins, at least 1.
    """
    if low > high:  # no finite score
        low = high = 0.0
    # Halves, so that the width of the widest range is still a float.
    width = max(high / 2 - low / 2, np.finfo(float).tiny)
    place = (np.clip(scores, low, high) / 2 - low / 2) / width
    cell = np.minimum((place * bins).astype(np.int64), bins - 1)
    return np.bincount(cell * 2 + member, minlength=2 * bins).reshape(bins, 2)
