"""Round numbers near sampled values: written no finer than many records lie apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST_EXACT_POWER: Final = 22
_HALF: Final = 0.5


def round_beside(
    values: NDArray[np.float64],
    span: NDArray[np.float64],
    *,
    above: NDArray[np.bool_],
    taken: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return a number of few digits beside each value, NaN where there is none.

    Its last digit is worth a half to a twentieth of ``span``, or a half of that for all of
    them: it says no more of where records lie, however close to each other two of them are.

    Args:
        values: shape (n,).
        span: the distance over which enough records lie, above 0, shape (n,).
        above: whether a number above is wanted, or one below, shape (n,).
        taken: increasing, shape (m,): none of them is returned.
    """
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log10(_HALF * span))
        points = _next_multiple(values, exponent, above, 1.0)
        # All of them move or none: one that moves alone would tell that a record was there.
        if np.isin(points, taken).any():
            points = _next_multiple(values, exponent, above, 1.0 + _HALF)
    return np.where(np.isfinite(points) & ~np.isin(points, taken), points, np.nan)


def _next_multiple(
    values: NDArray[np.float64],
    exponent: NDArray[np.float64],
    above: NDArray[np.bool_],
    steps: float,
) -> NDArray[np.float64]:
    """Return a multiple of 10**exponent beside each value, as its decimals read."""
    power = np.abs(exponent)
    # Powers up to 10**22 are exact, and one division rounds as a decimal literal does.
    fine = (exponent < 0) & (power <= _LARGEST_EXACT_POWER)
    scale = np.power(10.0, np.where(fine, power, exponent))
    scaled = np.where(fine, values * scale, values / scale)
    moved = np.where(above, np.floor(scaled) + steps, np.ceil(scaled) - steps)
    return np.where(fine, moved / scale, moved * scale)
