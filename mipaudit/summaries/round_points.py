"""Round numbers that separate sampled values without being any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TRIES: Final = 3
_LARGEST_EXACT_POWER: Final = 22


def round_between(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a number of few digits strictly between each pair, NaN where there is none.

    The number says no more of the pair than where they are apart: its last digit is of the
    size of their distance.

    Args:
        low: shape (n,), below ``high``.
        high: shape (n,).
    """
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log10(high - low))
        found = np.full(low.shape, np.nan)
        for _ in range(_TRIES):
            point = _next_multiple(low, exponent)
            fits = np.isnan(found) & (low < point) & (point < high)
            found[fits] = point[fits]
            exponent = exponent - 1
    return found


def _next_multiple(low: NDArray[np.float64], exponent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first multiple of 10**exponent above ``low``, as its decimals read."""
    power = np.abs(exponent)
    # Powers up to 10**22 are exact, and one division rounds as a decimal literal does.
    fine = (exponent < 0) & (power <= _LARGEST_EXACT_POWER)
    scale = np.power(10.0, np.where(fine, power, exponent))
    up = (np.floor(low * scale) + 1) / scale
    down = (np.floor(low / scale) + 1) * scale
    return np.where(fine, up, down)
