"""A grid on the order of floats: finer towards zero, for scores of many magnitudes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BITS: Final = 18
LAST: Final = (1 << _BITS) - 1
_SIGN: Final = 63
_MAGNITUDE: Final = (1 << _SIGN) - 1
# One edge in so many is left to either tail.
_TAIL: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatGrid:
    """The map order(score) >> shift, less ``base``: monotone in the score.

    Attributes:
        shift: bits of a float's order that a bucket spans.
        base: place of the first bucket; it and the last one collect the tails.
    """

    shift: int
    base: int

    def locate_into(
        self, scores: NDArray[np.float64], scaled: NDArray[np.float64], place: NDArray[np.int64]
    ) -> None:
        """Put the bucket of each score, before clipping to [0, LAST], into ``place``.

        The order of a float is its bits as an integer, those of negative ones turned
        around. Adding zero makes both zeros one. ``scaled`` is room of the same shape.
        """
        np.add(scores, 0.0, out=scaled)
        bits = scaled.view(np.int64)
        np.right_shift(bits, _SIGN, out=place)
        place &= _MAGNITUDE
        place ^= bits
        place >>= self.shift
        place -= self.base

    def clipped(self, edges: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the bucket of each edge in [0, LAST]."""
        place = np.empty(edges.size, dtype=np.int64)
        self.locate_into(edges, np.empty(edges.size), place)
        return np.clip(place, 0, LAST)


def float_grid(edges: NDArray[np.float64], *, most: int) -> FloatGrid | None:
    """Return the finest grid that spans the edges but for the tails.

    Args:
        edges: increasing, shape (m,).
        most: edges that a bucket may hold to be of use.

    Returns:
        The grid, or None where more than half of the edges lie in buckets that hold more.
    """
    if edges.size < _TAIL:
        return None
    tail = edges.size // _TAIL
    order = np.empty(2, dtype=np.int64)
    ends = edges[[tail, -1 - tail]]
    FloatGrid(shift=0, base=0).locate_into(ends, np.empty(2), order)
    low, high = (int(end) for end in order)
    shift = max(0, (high - low).bit_length() - _BITS)
    while (high >> shift) - (low >> shift) > LAST - 2:
        shift += 1
    grid = FloatGrid(shift=shift, base=(low >> shift) - 1)
    bucket = grid.clipped(edges)
    held = np.bincount(bucket, minlength=LAST + 1)
    held[[0, LAST]] = most + 1
    return grid if 2 * np.count_nonzero(held[bucket] <= most) >= edges.size else None
