"""Exact misses of limits on files of two values: every possible content, and its probability.

With every member at one value, and each holdout record there with probability F, a file of n + n
rows has n + 1 contents, each with its own seed for ever. So the luck of an assignment of its rows
does not average out, and the worst F is where a limit is just passed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom


def worst_miss(
    truth: Callable[[float], float],
    *,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    weights: ArrayLike = 1.0,
) -> float:
    """Return the largest probability, over F, that the truth is outside the limits.

    Args:
        truth: as a monotone function of F.
        lower: limits by what is seen of the members and number of holdout records, (a, n + 1).
        upper: likewise.
        weights: probability of what is seen of the members, shape (a,).
    """
    low, high = np.broadcast_arrays(np.atleast_2d(lower), np.atleast_2d(upper))
    weights = np.broadcast_to(weights, len(low))
    n, worst = low.shape[1] - 1, 0.0
    ends = truth(0.0), truth(1.0)
    limits = np.unique(np.concatenate([low.ravel(), high.ravel()]))
    for limit in limits[(limits > min(ends)) & (limits < max(ends))]:
        for share in _around(truth, float(limit)):
            at = truth(share)
            missed = weights @ ((low > at + 1e-12) | (high < at - 1e-12))
            worst = max(worst, float(missed @ binom.pmf(np.arange(n + 1), n, share)))
    return worst


def _around(truth: Callable[[float], float], limit: float) -> tuple[float, float]:
    """Return shares just before and just after the truth is at a limit."""
    low, high, falls = 0.0, 1.0, truth(0.0) > truth(1.0)
    for _ in range(60):
        middle = (low + high) / 2
        if (truth(middle) > limit) == falls:
            low = middle
        else:
            high = middle
    return max(low - 1e-9, 0.0), min(high + 1e-9, 1.0)
