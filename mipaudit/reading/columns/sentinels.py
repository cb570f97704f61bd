"""Numbers such as -999 that stand for a missing score in many files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

# Nines of either sign: a finding may name them, since they are not from the data alone.
_SENTINELS: Final = frozenset(
    float(sign * (10**digits - 1)) for digits in range(2, 10) for sign in (-1, 1)
)
_SORTED: Final = np.array(sorted(_SENTINELS))
_REPEATED: Final = 2


@dataclass(slots=True, kw_only=True)
class Spread:
    """The scores of a column that are no sentinels, and how often each sentinel is there.

    Attributes:
        lowest, highest: of the others.
        counts: by sentinel.
    """

    lowest: float = np.inf
    highest: float = -np.inf
    counts: Counter[float] = field(default_factory=Counter)

    def add(self, scores: NDArray[np.float64]) -> None:
        """Count more scores, shape (n,), none of them NaN."""
        if not scores.size:
            return
        ends = (float(scores.min()), float(scores.max()))
        # One that lies among the others is a score like them, so that the ends tell.
        if not _SENTINELS.isdisjoint(ends):
            hits = np.isin(scores, _SORTED)
            self.counts.update(scores[hits].tolist())
            scores = scores[~hits]
            if not scores.size:
                return
            ends = (float(scores.min()), float(scores.max()))
        self.lowest, self.highest = min(self.lowest, ends[0]), max(self.highest, ends[1])

    def include(self, other: Spread) -> None:
        """Add the scores of other rows."""
        self.lowest = min(self.lowest, other.lowest)
        self.highest = max(self.highest, other.highest)
        self.counts.update(other.counts)

    @property
    def far(self) -> dict[int, int]:
        """Rows by sentinel, of those farther from all other scores than these are wide."""
        width = self.highest - self.lowest
        return {
            int(value): count
            for value, count in sorted(self.counts.items())
            if count >= _REPEATED
            and 0 < width < max(self.lowest - value, value - self.highest) < np.inf
        }
