"""Records as arrays: how far two of them are apart, and which are equal.

Equal rows are found by their hashes, which is checked, and so is an order that follows from
the rows alone. Who writes the tables would otherwise choose, at a seed that he knows, which
rows are drawn, and so the scores, by the order of the rows. Members and holdout have no part
in it: what a query says of a record must not depend on whom it is asked of.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Places
from mipaudit.summaries.content import ContentColumn, canonical_order
from mipaudit.summaries.rows import splitmix64
from mipaudit.summaries.seed import SeedChoice

Metric = Literal["euclidean", "gower"]
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

    def take(self, rows: Places | slice) -> "Points":
        """Return some of the records."""
        return Points(numbers=self.numbers[rows], codes=self.codes[rows])

    def and_then(self, others: "Points") -> "Points":
        """Return these records, and others after them."""
        return Points(
            numbers=np.concatenate([self.numbers, others.numbers]),
            codes=np.concatenate([self.codes, others.codes]),
        )

    def words(self) -> Iterator[NDArray[np.uint64]]:
        """Yield each column as 64-bit words, equal where its numbers or levels are."""
        for column in self.numbers.T:
            yield np.ascontiguousarray(column).view(np.uint64)
        for codes in self.codes.T:
            yield codes.astype(np.uint64)


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

    def figures(self, left: Points, i: Places, right: Points, j: Places) -> Floats:
        """Return the figure of each pair of rows ``left[i]`` and ``right[j]``, shape (m,)."""
        squared = self.metric == "euclidean"
        found = np.zeros(i.size)
        for part in parts(i.size, _PAIRS):
            apart = left.numbers[i[part]] - right.numbers[j[part]]
            # Column by column: the sum is the same whatever rows stand beside.
            for column in (apart * apart if squared else np.abs(apart)).T:
                found[part] += column
            mismatches = np.count_nonzero(left.codes[i[part]] != right.codes[j[part]], axis=1)
            found[part] += 2.0 * mismatches if squared else mismatches
        return found


def parts(count: int, size: int) -> Iterator[slice]:
    """Yield so many records, at most ``size`` at a time."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def bucket_count(levels: Sequence[int], most: int = MOST_BUCKETS) -> int:
    """Return how many columns the indicators of these categories have."""
    return sum(min(count, most) for count in levels)


def dense_features(
    points: Points,
    levels: Sequence[int],
    *,
    value: float = 1.0,
    most: int = MOST_BUCKETS,
    before: int = 0,
    dtype: type[np.floating[Any]] = np.float64,
) -> NDArray[Any]:
    """Return numbers and indicators side by side, shape (n, before + p + buckets).

    Args:
        points: n records.
        levels: of each category.
        value: of the indicator that is set.
        most: columns for each category; its levels share them.
        before: columns of zeros in front.
        dtype: of all.
    """
    at = before + points.numbers.shape[1]
    found = np.zeros((len(points), at + bucket_count(levels, most)), dtype=dtype)
    found[:, before:at] = points.numbers
    rows = np.arange(len(points))
    for codes, count in zip(points.codes.T, levels, strict=True):
        width = min(count, most)
        found[rows, at + codes % width] = value
        at += width
    return found


class NearestRows:
    """Figures and rows of the k nearest, in ascending order; infinite where none is known yet."""

    def __init__(self, records: int, k: int) -> None:
        """Begin without any."""
        self.figures = np.full((records, k), np.inf)
        self.rows = np.zeros((records, k), dtype=np.intp)

    def keep(self, records: Places | slice, rows: Places, figures: Floats) -> None:
        """Keep the nearest of what is known and of new rows for these records, shape (n, m)."""
        figures = np.concatenate([self.figures[records], figures], axis=1)
        rows = np.concatenate([self.rows[records], rows], axis=1)
        best = np.argsort(figures, axis=1, kind="stable")[:, : self.figures.shape[1]]
        self.figures[records] = np.take_along_axis(figures, best, axis=1)
        self.rows[records] = np.take_along_axis(rows, best, axis=1)

    def insert(self, records: Places, rows: Places, figures: Floats) -> None:
        """Take in pairs of a record and a new row, the records in order."""
        if not records.size:
            return
        touched, first, sizes = np.unique(records, return_index=True, return_counts=True)
        line = np.repeat(np.arange(touched.size), sizes)
        place = np.arange(records.size) - first[line]
        new = np.full((touched.size, int(sizes.max())), np.inf)
        new_rows = np.zeros(new.shape, dtype=np.intp)
        new[line, place], new_rows[line, place] = figures, rows
        self.keep(touched, new_rows, new)


def row_hashes(points: Points) -> NDArray[np.uint64]:
    """Return a hash for each record, shape (n,): equal for equal records."""
    state = np.zeros(len(points), dtype=np.uint64)
    for column in points.words():
        state = splitmix64(state ^ column, 0)
    return state


def distinct_places(points: Points) -> tuple[Places, Places]:
    """Return where each distinct record stands first, and which of those each record is.

    The distinct ones are in an order of their own, whatever that of the records is.
    """
    hashes = row_hashes(points)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if _equal(points, np.arange(len(points)), points, first[inverse]).all():
        return first, inverse
    order = np.argsort(hashes, kind="stable")
    return order, np.argsort(order)


def copies(records: Points, others: Points) -> Bools:
    """Return which records are among the others, in all columns, shape (n,)."""
    theirs, first = np.unique(row_hashes(others), return_index=True)
    ours = row_hashes(records)
    place = np.minimum(np.searchsorted(theirs, ours), theirs.size - 1)
    same = theirs[place] == ours
    rows = np.flatnonzero(same)
    same[rows] = _equal(records, rows, others, first[place[rows]])
    return np.asarray(same)


def _equal(left: Points, i: Places, right: Points, j: Places) -> Bools:
    same = np.ones(i.size, dtype=np.bool_)
    for ours, theirs in zip(left.words(), right.words(), strict=True):
        same &= ours[i] == theirs[j]
    return same


def released_rows(
    synthetic: Points, reference: Points | None, choice: SeedChoice
) -> tuple[Points, Points, int]:
    """Return the rows of both in the order of their hashes, and the seed that they decide.

    Args:
        synthetic: what was released.
        reference: records of neither, or None.
        choice: of the seed.
    """
    both = synthetic if reference is None else synthetic.and_then(reference)
    released = np.arange(len(both)) < len(synthetic)
    columns = [
        # Columns are taken in the order of their names, which is that of the table.
        ContentColumn(name=f"{at:09}", values=column, labels=True)
        for at, column in enumerate(both.words())
    ]
    found = canonical_order(columns, released, row_hashes(both))
    inside = released[found.order]
    ours, theirs = (both.take(found.order[side]) for side in (inside, ~inside))
    return ours, theirs, choice.in_use(found.content)
