"""Limits of the mean of independent numbers in [0, 1], valid at every sample size.

Bets against a mean m with constant stakes (Waudby-Smith and Ramdas 2024): with
K(m) = average over stakes s of product over i of (1 + s (m - X_i)), E K(m) <= 1 where the
mean is at least m, so that K(m) >= 1/alpha states at confidence 1 - alpha that the mean is
below m (Markov). The stakes do not depend on m, so K grows with m and one bisection finds
the limit; they are fixed by the number of terms, before any is seen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Terms are rounded up to this many steps: every factor of K falls as a term grows, so
# that rounding can only widen the limit, by a step at most.
_STEPS: Final = 1 << 13
# How close the bisection comes, from above: far below a step.
_CLOSE: Final = 1e-10
_LEAST_VARIANCE: Final = 0.25


def mean_upper(terms: NDArray[np.float64], alpha: float) -> float:
    """Return an upper limit of the mean of independent terms in [0, 1], one-sided alpha.

    Args:
        terms: shape (n,); with none nothing is known.
        alpha: in (0, 1).
    """
    if not terms.size:
        return 1.0
    steps = np.ceil(terms * _STEPS - 1e-9).astype(np.int64)
    counts = np.bincount(steps, minlength=_STEPS + 1)
    (found,) = np.nonzero(counts)
    return _upper(found / _STEPS, counts[found], alpha)


def mean_lower(terms: NDArray[np.float64], alpha: float) -> float:
    """Return a lower limit of the mean of independent terms in [0, 1], one-sided alpha."""
    return 1.0 - mean_upper(1.0 - terms, alpha)


def stakes(count: int, alpha: float) -> NDArray[np.float64]:
    """Return the stakes, from 1 down by halves to what suits the largest variance.

    The best stake is about sqrt(2 ln(1/alpha) / (n variance)).
    """
    least = min(1.0, math.sqrt(2 * math.log(1 / alpha) / (count * _LEAST_VARIANCE)))
    halvings = math.ceil(math.log2(1 / least))
    return np.asarray(0.5 ** np.arange(halvings + 1.0))


def _upper(values: NDArray[np.float64], counts: NDArray[np.int64], alpha: float) -> float:
    chosen = stakes(int(counts.sum()), alpha)
    wanted = -math.log(alpha) + math.log(chosen.size)

    def surely_below(mean: float) -> bool:
        with np.errstate(divide="ignore"):
            logs = np.log1p(chosen[:, None] * (mean - values)) @ counts
        largest = float(logs.max())
        return largest + math.log(float(np.exp(logs - largest).sum())) >= wanted

    low, high = float(values @ counts / counts.sum()), 1.0
    if not surely_below(high):
        return 1.0
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if surely_below(middle) else (middle, high)
    return high
