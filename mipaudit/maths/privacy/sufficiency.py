"""The weakest guarantee that keeps every attacker within a limit. Standard library only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from mipaudit.maths.bisection import crossing

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.maths.privacy.tradeoff import TradeOff

_LARGEST: Final = 1e5
# A parameter this small is none: what is left of it is rounding.
_NOTHING: Final = 1e-300


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
    if math.isinf(first_beyond):
        return first_beyond
    return math.nextafter(first_beyond, 0.0) if first_beyond > _NOTHING else 0.0
