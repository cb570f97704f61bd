"""One pass over the coordinates of vector scores: a burn-in sample, and their extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mipaudit.summaries.sample import SAMPLE_SIZE, BurnInSample

if TYPE_CHECKING:
    from mipaudit.summaries.rows import Rows

_MOST_VALUES: Final = 1 << 20
_FEWEST_ROWS: Final = 8192


def sample_size(columns: int) -> int:
    """Return how many rows of each class the sample holds: fewer of many coordinates."""
    return min(SAMPLE_SIZE, max(_MOST_VALUES // max(columns, 1), _FEWEST_ROWS))


class VectorSurvey:
    """A burn-in sample of all columns, with the finite extremes and infinities of each.

    Attributes:
        sample: rows of smallest rank of each class.
        low: smallest finite value of each column, shape (d,), infinite where there is none.
        high: the largest.
        infinite: number of infinite values, int64, shape (d, 2), (below, above).
    """

    __slots__ = ("high", "infinite", "low", "sample")

    def __init__(self, columns: int, seed: int) -> None:
        """Start empty."""
        self.sample = BurnInSample(columns, seed, sample_size(columns))
        self.low = np.full(columns, np.inf)
        self.high = np.full(columns, -np.inf)
        self.infinite = np.zeros((columns, 2), dtype=np.int64)

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        self.sample.add(rows)
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
        """Take in the survey of another part."""
        self.sample.merge(other.sample)
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        self.infinite += other.infinite

    def constant(self, index: int) -> bool:
        """Tell whether every row has the same value in a column."""
        below, above = (int(count) for count in self.infinite[index])
        if self.low[index] > self.high[index]:  # no finite value
            return not (below and above)
        return bool(self.low[index] == self.high[index]) and not below + above
