"""Where a condition starts to hold, and how far one is known to hold. Standard library only."""

from __future__ import annotations

import math
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


def reach(holds: Callable[[float, float], bool], *, limit: float, tolerance: float) -> float:
    """Return an x such that a condition was found to hold in pieces that make up [0, x].

    Nothing is taken for monotone: no point below x is stepped over.

    Args:
        holds: tells of a piece (from, to) whether the condition is sure to hold in all of it.
        limit: the largest x.
        tolerance: above 0; where no piece wider than that holds the search ends.

    Returns:
        At most ``limit``; 0 if not even [0, tolerance] holds.
    """
    found, step = 0.0, limit / 2
    while step > tolerance and found < limit:
        end = min(found + step, limit)
        if holds(found, end):
            found = end
        else:
            step /= 2
    return found
