"""Counts in MACE's bins, of equal width in one coordinate or several, for reproduction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.summaries.identity.row_rank import splitmix64

if TYPE_CHECKING:
    from mipaudit.summaries.rows import Rows
    from mipaudit.summaries.sample import ScoreRange

MOST_OCCUPIED: Final = 1 << 23
_GATHERED: Final = 1 << 20
_EXACT_CODES: Final = 2.0**63


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
    cell = _places(scores, low, high, bins).astype(np.int64)
    return np.bincount(cell * 2 + member, minlength=2 * bins).reshape(bins, 2)


class SparseBins:
    """Counts of the occupied bins of one vector score.

    Bins are told apart by their number where bins^d fits into 64 bits, otherwise by a
    64-bit hash of it: among 10^6 bins two share one with probability 3e-8.
    """

    __slots__ = ("_bins", "_codes", "_columns", "_counts", "_high", "_low", "_pending", "_waiting")

    def __init__(
        self,
        columns: tuple[int, ...],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        bins: int,
    ) -> None:
        """Start empty, for these columns of the rows, cut between their finite extremes."""
        self._columns = columns
        self._low, self._high = low, high
        self._bins = bins
        self._codes = np.empty(0, dtype=np.uint64)
        self._counts = np.empty((0, 2), dtype=np.int64)
        self._pending: list[tuple[NDArray[np.uint64], NDArray[np.bool_]]] = []
        self._waiting = 0

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        codes = bin_codes(
            [rows.scores[at] for at in self._columns], self._low, self._high, self._bins
        )
        self._pending.append((codes, rows.member))
        self._waiting += codes.size
        if self._waiting >= _GATHERED:
            self._fold()

    def merge(self, other: Self) -> None:
        """Add the counts of another part; exactly associative and commutative."""
        other._fold()
        self._fold()
        self._include(other._codes, other._counts)

    def counts(self) -> NDArray[np.int64]:
        """Return the counts of the occupied bins, shape (K, 2), (holdout, member)."""
        self._fold()
        return self._counts

    def _fold(self) -> None:
        if not self._pending:
            return
        codes = np.concatenate([part for part, _ in self._pending])
        member = np.concatenate([part for _, part in self._pending])
        self._pending.clear()
        self._waiting = 0
        self._include(codes, np.stack([~member, member], axis=1).astype(np.int64))

    def _include(self, codes: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
        codes = np.concatenate([self._codes, codes])
        counts = np.concatenate([self._counts, counts])
        if not codes.size:
            return
        order = np.argsort(codes)
        ordered = codes[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        if starts.size > MOST_OCCUPIED:
            raise InputError(
                "too_many_bins",
                f"`method` mace: a vector score occupies more than {MOST_OCCUPIED:,} bins.",
                hint="Leave `method` mace out, or audit a part of the rows with `where`.",
            )
        self._codes = ordered[starts]
        self._counts = np.add.reduceat(counts[order], starts, axis=0)


def bin_codes(
    columns: list[NDArray[np.float64]],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    bins: int,
) -> NDArray[np.uint64]:
    """Return the number of each row's bin, or a hash of it, shape (n,).

    Args:
        columns: coordinates, each of shape (n,); infinities go to the end bins.
        low: lower end of the first bin of each coordinate; above ``high`` where no value
            is finite.
        high: upper end of the last bin.
        bins: bins of each coordinate, at least 1.
    """
    small = bins ** len(columns) < _EXACT_CODES
    codes = np.zeros(columns[0].size, dtype=np.uint64)
    for index, column in enumerate(columns):
        place = _places(column, float(low[index]), float(high[index]), bins)
        codes = codes * np.uint64(bins) + place if small else splitmix64(codes ^ place, index + 1)
    return codes


def _places(values: NDArray[np.float64], low: float, high: float, bins: int) -> NDArray[np.uint64]:
    if low > high:  # no finite value
        low = high = 0.0
    # Halves, so that the width of the widest range is still a float.
    width = max(high / 2 - low / 2, np.finfo(float).tiny)
    place = (np.clip(values, low, high) / 2 - low / 2) / width
    return np.minimum((place * bins).astype(np.uint64), np.uint64(bins - 1))


def shuffled_counts(counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the counts that the bins would have with membership shuffled among the rows.

    Given the rows in each bin, shuffling deals the members out without replacement.

    Args:
        counts: shape (K, 2), (holdout, member).
        rng: deals.
    """
    rows = counts.sum(axis=1)
    members = rng.multivariate_hypergeometric(rows, int(counts[:, 1].sum()), method="marginals")
    return np.stack([rows - members, members], axis=1)
