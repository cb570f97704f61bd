"""Records as arrays, how far two of them are apart, and the nearest found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mipaudit.commands.query.kind import Metric


Floats = NDArray[np.float64]
# Told how many pairs, or records, more are behind us.
Tick = Callable[[int], None]
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

    numbers: Floats
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

    def distance(self, figures: Floats) -> Floats:
        """Return distances for figures."""
        return np.asarray(
            np.sqrt(figures) if self.metric == "euclidean" else figures / self.columns
        )

    @property
    def indicator(self) -> float:
        """What is written for a level: one level differing changes two columns."""
        return 1.0 if self.metric == "euclidean" else 0.5

    def figure(self, distance: float) -> float:
        """Return the figure for a distance."""
        return distance * distance if self.metric == "euclidean" else distance * self.columns

    def figures(
        self, left: Points, i: NDArray[np.intp], right: Points, j: NDArray[np.intp]
    ) -> Floats:
        """Return the figure of each pair of rows ``left[i]`` and ``right[j]``, shape (m,)."""
        found = np.empty(i.size)
        for part in parts(i.size, _PAIRS):
            found[part] = self._figures(left, i[part], right, j[part])
        return found

    def _figures(
        self, left: Points, i: NDArray[np.intp], right: Points, j: NDArray[np.intp]
    ) -> Floats:
        apart = left.numbers[i] - right.numbers[j]
        mismatches = np.count_nonzero(left.codes[i] != right.codes[j], axis=1)
        if self.metric == "euclidean":
            # Column by column: the sum is the same whatever rows stand beside.
            return np.asarray(_sum_of(apart * apart) + 2.0 * mismatches)
        return np.asarray(_sum_of(np.abs(apart)) + mismatches)


def _sum_of(terms: Floats) -> Floats:
    total = np.zeros(len(terms))
    for column in terms.T:
        total += column
    return total


def parts(count: int, size: int) -> Iterator[slice]:
    """Yield so many records, at most ``size`` at a time."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


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


def dense_features(points: Points, levels: Sequence[int]) -> Floats:
    """Return numbers and indicators side by side, shape (n, p + buckets)."""
    p = points.numbers.shape[1]
    found = np.zeros((len(points), p + bucket_count(levels)))
    found[:, :p] = points.numbers
    write_indicators(found[:, p:], points, levels)
    return found


class NearestRows:
    """Figures and rows of the k nearest, in ascending order; infinite where none is known yet."""

    def __init__(self, records: int, k: int) -> None:
        """Begin without any."""
        self.figures = np.full((records, k), np.inf)
        self.rows = np.zeros((records, k), dtype=np.intp)

    def bar(self, records: slice) -> Floats:
        """Return the k-th figure of these records: what a new row has to stay below."""
        return self.figures[records, -1]

    def put(self, records: slice, rows: NDArray[np.intp], figures: Floats) -> None:
        """Keep the nearest of some rows for each of these records, each of shape (n, m)."""
        best = np.argsort(figures, axis=1, kind="stable")[:, : self.figures.shape[1]]
        self.figures[records] = np.take_along_axis(figures, best, axis=1)
        self.rows[records] = np.take_along_axis(rows, best, axis=1)

    def insert(self, records: NDArray[np.intp], rows: NDArray[np.intp], figures: Floats) -> None:
        """Take in pairs of a record and a new row."""
        if not records.size:
            return
        k = self.figures.shape[1]
        order = np.lexsort((figures, records))
        records, rows, figures = records[order], rows[order], figures[order]
        touched, first, sizes = np.unique(records, return_index=True, return_counts=True)
        rank = np.arange(records.size) - np.repeat(first, sizes)
        place = np.repeat(np.arange(touched.size), sizes)
        kept = rank < k
        new = np.full((touched.size, k), np.inf)
        new_rows = np.zeros((touched.size, k), dtype=np.intp)
        new[place[kept], rank[kept]] = figures[kept]
        new_rows[place[kept], rank[kept]] = rows[kept]
        both = np.concatenate([self.figures[touched], new], axis=1)
        both_rows = np.concatenate([self.rows[touched], new_rows], axis=1)
        best = np.argsort(both, axis=1, kind="stable")[:, :k]
        self.figures[touched] = np.take_along_axis(both, best, axis=1)
        self.rows[touched] = np.take_along_axis(both_rows, best, axis=1)
