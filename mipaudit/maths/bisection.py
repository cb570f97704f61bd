"""Where a monotone condition starts to hold, to the last bit. Standard library only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def crossing(holds: Callable[[float], bool], *, start: float, limit: float) -> float:
    """Return the least positive x for which ``holds(x)``, correct to a unit in the last place.

    Finding it by halves costs fewer than 200 calls, and no import.

    Args:
        holds: False up to some x, True from there on.
        start: a positive first guess.
        limit: the largest x that is tried.

    Returns:
        0 if ``holds(0)``; infinity if not even ``holds(limit)``; otherwise an x that holds.
    """
    if holds(0.0):
        return 0.0
    high = start
    while not holds(high):
        if high >= limit:
            return math.inf
        high = min(2 * high, limit)
    low = high / 2
    while low > 0 and holds(low):
        low, high = low / 2, low
    while (middle := (low + high) / 2) not in {low, high}:
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
