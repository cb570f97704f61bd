"""Records as arrays, their categories as columns, and how far two of them are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.query.kind import Metric

# Levels share a column beyond: what then agrees may still differ.
MOST_BUCKETS: Final = 32
# Pairs whose rows are gathered at once.
_PAIRS: Final = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Points:
    """Encoded records.

    Attributes:
        numbers: scaled numbers, shape (n, p), finite, no negative zeros.
        codes: levels of categories, shape (n, c), each from 0 to its number of levels less 1.
    """

    numbers: NDArray[np.float64]
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.numbers)

    def take(self, rows: NDArray[np.intp] | slice) -> Points:
        """Return some of the records."""
        return Points(numbers=self.numbers[rows], codes=self.codes[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """How records are compared.

    Searches compare a figure that grows with the distance and needs no root: ``euclidean``
    the squared distance, where a mismatch of categories counts 2 as in one-hot columns;
    ``gower`` the sum of the absolute differences and of the mismatches, of which the
    distance is the mean over the columns (Gower 1971, without his cap at 1).

    Attributes:
        metric: of the two.
        levels: of each column of codes.
        columns: of the table, at least 1.
    """

    metric: Metric
    levels: tuple[int, ...]
    columns: int

    def distance(self, figures: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return distances for figures."""
        return np.asarray(
            np.sqrt(figures) if self.metric == "euclidean" else figures / self.columns
        )

    def figure(self, distance: float) -> float:
        """Return the figure for a distance."""
        return distance * distance if self.metric == "euclidean" else distance * self.columns

    def figures(
        self, left: Points, i: NDArray[np.intp], right: Points, j: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the figure of each pair of rows ``left[i]`` and ``right[j]``, shape (m,)."""
        found = np.empty(i.size)
        for start in range(0, i.size, _PAIRS):
            part = slice(start, start + _PAIRS)
            found[part] = self._figures(left, i[part], right, j[part])
        return found

    def _figures(
        self, left: Points, i: NDArray[np.intp], right: Points, j: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        apart = left.numbers[i] - right.numbers[j]
        mismatches = np.count_nonzero(left.codes[i] != right.codes[j], axis=1)
        if self.metric == "euclidean":
            # Column by column: the sum is the same whatever rows stand beside.
            return np.asarray(_sum_of(apart * apart) + 2.0 * mismatches)
        return np.asarray(_sum_of(np.abs(apart)) + mismatches)


def _sum_of(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.zeros(len(terms))
    for column in terms.T:
        total += column
    return total


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
