"""Categories as columns of zeros and ones, at most so many for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.query.search.points import Points

# Levels share a column beyond: what then agrees may still differ.
MOST_BUCKETS: Final = 32


def bucket_count(levels: Sequence[int], most: int = MOST_BUCKETS) -> int:
    """Return how many columns the indicators of these categories have."""
    return sum(min(count, most) for count in levels)


def write_indicators(
    target: NDArray[np.floating],
    points: Points,
    levels: Sequence[int],
    *,
    value: float = 1.0,
    most: int = MOST_BUCKETS,
) -> None:
    """Write the indicators of all categories into ``target``, zeros of shape (n, buckets).

    Args:
        target: ``bucket_count(levels, most)`` columns.
        points: n records.
        levels: of each category.
        value: of the one that is set.
        most: columns for each category; its levels share them.
    """
    rows = np.arange(len(points))
    first = 0
    for codes, count in zip(points.codes.T, levels, strict=True):
        width = min(count, most)
        target[rows, first + codes % width] = value
        first += width


def dense_features(points: Points, levels: Sequence[int]) -> NDArray[np.float64]:
    """Return numbers and indicators side by side, shape (n, p + buckets)."""
    p = points.numbers.shape[1]
    found = np.zeros((len(points), p + bucket_count(levels)))
    found[:, :p] = points.numbers
    write_indicators(found[:, p:], points, levels)
    return found
