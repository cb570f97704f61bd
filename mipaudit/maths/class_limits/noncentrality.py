"""An upper limit of total variation from a weighted chi-square distance.

Total variation is at most half the root of sum (P_j - Q_j)^2 / w_j for any fixed
weights w that sum to 1 (Cauchy and Schwarz). The right-hand side is a noncentrality
parameter; it has an unbiased estimate, whose error does not grow with the number
of cells as the bias of the plug-in does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Noncentrality:
    """The estimate, the terms of its variance and the limits derived from it.

    The variance is taken to be ``null_variance`` + 4 ``slope`` times the noncentrality.
    """

    estimate: float
    null_variance: float
    slope: float
    upper: float | None
    total_variation_upper: float


def noncentrality_weights(pooled: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return cell weights that sum to 1 from counts that the estimate does not use.

    Half follows the counts, half is even: members may gather on cells that hardly any
    holdout record fills, and a weight near 0 there would let few rows decide.
    """
    weights = (pooled + 1.0) ** (2 / 3)
    return np.asarray(weights / weights.sum() + 1 / pooled.size) / 2


def noncentrality_upper(
    members: NDArray[np.int64],
    holdout: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    alpha: float,
) -> Noncentrality:
    """Return an upper limit of the total variation between two multinomials.

    Args:
        members: counts per cell, shape (K,), total at least 2.
        holdout: counts per cell, shape (K,), total at least 2.
        weights: positive, sum 1, shape (K,), fixed without looking at these counts:
            weights or cells chosen from the same counts make the limit invalid.
        alpha: one-sided error in (0, 1). A normal approximation: see docs/methods.md
            for its measured coverage.

    Returns:
        The limit in ``total_variation_upper``, 1 where the equation has no root.
    """
    n1, n2 = int(members.sum()), int(holdout.sum())
    p_hat, q_hat = members / n1, holdout / n2
    pooled = (members + holdout) / (n1 + n2)
    noise = p_hat * (1 - p_hat) / (n1 - 1) + q_hat * (1 - q_hat) / (n2 - 1)
    estimate = float((((p_hat - q_hat) ** 2 - noise) / weights).sum())
    spread = 1 / n1 + 1 / n2
    cell_variance = pooled * spread
    slope = float((cell_variance / weights).max())
    squared = np.maximum(cell_variance**2 - pooled * spread**2 / (n1 + n2), 0)
    null_variance = 2 * max(float((squared / weights**2).sum()), slope**2 / 2)
    # With unequal classes the pooled counts are those of the larger one, and the variance
    # at a noncentrality L is (1 + L) times this one where the cells are even.
    slope += null_variance / 4
    upper = _largest_noncentrality(estimate, null_variance, slope, alpha)
    return Noncentrality(
        estimate=estimate,
        null_variance=null_variance,
        slope=slope,
        upper=upper,
        total_variation_upper=1.0 if upper is None else min(1.0, 0.5 * math.sqrt(upper)),
    )


def _largest_noncentrality(
    estimate: float, null_variance: float, slope: float, alpha: float
) -> float | None:
    """Solve L - estimate = z sqrt(null_variance + 4 slope L) for the larger root L."""
    z = NormalDist().inv_cdf(1 - alpha)
    inside = null_variance + 4 * slope * estimate + 4 * slope**2 * z**2
    if inside < 0:
        return None
    root = estimate + 2 * slope * z**2 + z * math.sqrt(inside)
    return root if root >= 0 else None
