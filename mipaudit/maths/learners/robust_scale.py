"""Coordinates brought to one scale that no extreme value can spoil."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The interquartile range of a normal law, in standard deviations.
_NORMAL_RANGE: Final = 1.3489795003921634
_LINEAR: Final = 4.0
_LARGEST: Final = 12.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RobustScale:
    """Centre and width of each coordinate; beyond 4 widths the scale is logarithmic.

    Attributes:
        centre: shape (d,), finite.
        width: shape (d,), finite and above 0.
    """

    centre: NDArray[np.float64]
    width: NDArray[np.float64]

    def column(self, values: NDArray[np.float64], index: int) -> NDArray[np.float64]:
        """Return coordinate ``index`` on the common scale, in [-12, 12]; infinities allowed.

        Element by element, so that a row's figure does not depend on its batch.
        """
        with np.errstate(over="ignore"):
            scaled = (values - self.centre[index]) / self.width[index]
        size = np.abs(scaled)
        beyond = size > _LINEAR
        if beyond.any():
            far = np.minimum(_LINEAR + np.log(size[beyond] - (_LINEAR - 1)), _LARGEST)
            scaled[beyond] = np.copysign(far, scaled[beyond])
        return np.asarray(scaled)

    def matrix(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows of shape (n, d) on the common scale."""
        columns = [self.column(values[:, index], index) for index in range(values.shape[1])]
        return np.stack(columns, axis=1)


def robust_scale(values: NDArray[np.float64]) -> RobustScale:
    """Return the scale of rows of shape (n, d), n at least 1; infinities allowed, no NaN.

    The width is the interquartile range; where that is 0, the standard deviation of the
    finite values; where that is 0 too, 1.
    """
    finite = [column[np.isfinite(column)] for column in values.T]
    pairs = [_centre_and_width(column) for column in finite]
    return RobustScale(
        centre=np.array([centre for centre, _ in pairs]),
        width=np.array([width for _, width in pairs]),
    )


def _centre_and_width(values: NDArray[np.float64]) -> tuple[float, float]:
    if not values.size:
        return 0.0, 1.0
    low, centre, high = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    with np.errstate(over="ignore", invalid="ignore"):
        for width in ((high - low) / _NORMAL_RANGE, float(values.std())):
            if np.isfinite(width) and width > np.finfo(float).tiny:
                return centre, width
    return centre, 1.0
