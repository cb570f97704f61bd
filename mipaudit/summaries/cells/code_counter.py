"""Counts of many small codes, taken in as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# No counter can pass 2^31 before it is emptied.
_MOST_IN_NARROW: Final = 1 << 30


class CodeCounter:
    """Counts codes in [0, size), many at a time.

    The counts in progress are narrow, so that they stay in a core's cache, and are
    added to in place: a table of its own for every batch costs more than the batch.
    """

    __slots__ = ("_counts", "_narrow", "_waiting")

    def __init__(self, size: int) -> None:
        """Start at zero."""
        self._counts: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        self._narrow: NDArray[np.int32] = np.zeros(size, dtype=np.int32)
        self._waiting = 0

    def add(self, codes: NDArray[np.signedinteger[Any]]) -> None:
        """Count codes, shape (n,), n at most 2^30."""
        if self._waiting + codes.size > _MOST_IN_NARROW:
            self._flush()
        self._waiting += codes.size
        np.add.at(self._narrow, codes, np.int32(1))

    def merge(self, other: Self) -> None:
        """Add the counts of another counter of the same size."""
        self._counts += other.counts()

    def counts(self) -> NDArray[np.int64]:
        """Return the counts so far, shape (size,)."""
        self._flush()
        return self._counts

    def _flush(self) -> None:
        self._counts += self._narrow
        self._narrow[:] = 0
        self._waiting = 0
