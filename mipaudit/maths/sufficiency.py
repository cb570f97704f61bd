"""The weakest guarantee that keeps every attacker within a limit. Standard library only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from mipaudit.maths.bisection import crossing

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.maths.tradeoff import TradeOff

_LARGEST: Final = 1e5


def largest_within(
    curve: Callable[[float], TradeOff], within: Callable[[TradeOff], bool]
) -> float | None:
    """Return the largest parameter whose guarantee keeps within a limit.

    Args:
        curve: the guarantee for a parameter that weakens as it grows: epsilon, mu.
        within: whether a guarantee keeps the limit.

    Returns:
        A parameter that keeps it, to the last bit; None if not even 0 does; infinity if
        all do.
    """
    first_beyond = crossing(lambda x: not within(curve(x)), start=1.0, limit=_LARGEST)
    if first_beyond == 0:
        return None
    return first_beyond if math.isinf(first_beyond) else math.nextafter(first_beyond, 0.0)
