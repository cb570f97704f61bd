"""Counts of many small codes, taken in as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Codes are gathered and counted this many at a time: each count walks the whole table.
GATHERED: Final = 1 << 18


class CodeCounter:
    """Counts codes in [0, size), many at a time."""

    __slots__ = ("_counts", "_gathered", "_size", "_waiting")

    def __init__(self, size: int) -> None:
        """Start at zero."""
        self._size = size
        self._counts: NDArray[np.int64] | None = None
        self._gathered: list[NDArray[np.int32]] = []
        self._waiting = 0

    def add(self, codes: NDArray[np.int32]) -> None:
        """Count codes, shape (n,); the array must not change afterwards."""
        self._gathered.append(codes)
        self._waiting += codes.size
        if self._waiting >= GATHERED:
            self._flush()

    def merge(self, other: Self) -> None:
        """Add the counts of another counter of the same size."""
        self._include(other.counts().copy())

    def counts(self) -> NDArray[np.int64]:
        """Return the counts so far, shape (size,)."""
        self._flush()
        if self._counts is None:
            self._counts = np.zeros(self._size, dtype=np.int64)
        return self._counts

    def _flush(self) -> None:
        if self._gathered:
            codes = np.concatenate(self._gathered)
            self._gathered.clear()
            self._waiting = 0
            self._include(np.bincount(codes, minlength=self._size))

    def _include(self, counts: NDArray[np.int64]) -> None:
        if self._counts is None:
            self._counts = counts.astype(np.int64, copy=False)
        else:
            self._counts += counts
