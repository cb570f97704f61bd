"""Confidence limits for the mean of positive terms: approximate ones, and sure ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

# Above this exp() leaves the floats.
_LARGEST_EXPONENT: Final = 700.0


def mean_limits(terms: Vector, alpha: float) -> tuple[float, float]:
    """Return approximate one-sided limits of the mean of independent terms.

    Student's t on the logarithm of the mean (delta method). It is used in the place of a
    bootstrap because it did as well or better in simulation, needs no random numbers, and
    is defined at every ``alpha``. Shares of runs with the mean outside, nominally 2.5%
    below and 2.5% above the limits, for norms of normal vectors in 1 and 10 dimensions,
    exponential, log-normal and Pareto (index 3) terms, and a tenth of the terms 10 and
    the rest 1:

    ======  =========  ==========  ===========  ==========  ==========  ==========
    terms   normal 1   normal 10   exponential  log-normal  Pareto 3    rare
    ======  =========  ==========  ===========  ==========  ==========  ==========
    8       1.8, 3.4   2.8, 2.6    1.8, 5.1     0.9, 11     0.3, 17     0.6, 44
    20      2.0, 2.6   2.7, 2.6    2.1, 3.8     1.3, 8.8    0.7, 14     1.4, 12
    100     1.8, 2.9   2.9, 1.4    2.5, 3.7     1.4, 6.1    0.3, 8.9    2.1, 6.4
    ======  =========  ==========  ===========  ==========  ==========  ==========

    Percentile and BCa bootstraps miss above 9.2% and 7.5% of the time in the first cell;
    the studentised bootstrap gains a third on heavy tails, at upper limits that are now
    and then 10^20 times the mean. No method covers an event that the terms do not show.

    Args:
        terms: (n,) numbers, at least 0, n at least 2.
        alpha: error of each of the two limits, in (0, 1/2).

    Returns:
        The lower and the upper limit; the upper may be infinite.
    """
    from scipy.special import stdtrit

    mean = float(terms.mean())
    if mean == 0:
        return 0.0, 0.0
    relative = float((terms / mean).std(ddof=1)) / math.sqrt(terms.size)
    exponent = float(-stdtrit(terms.size - 1, alpha)) * relative
    upper = math.inf if exponent > _LARGEST_EXPONENT else mean * math.exp(exponent)
    return mean * math.exp(-exponent), upper


def empirical_bernstein_upper(terms: Vector, ceiling: float, alpha: float) -> float:
    """Return an upper limit of the mean that holds at every sample size.

    Maurer and Pontil 2009, Theorem 4, for independent terms in [0, ceiling] that need not
    have the same law: with probability at least 1 - alpha,

        mean <= sample mean + sqrt(2 V ln(2/alpha) / n) + 7 ceiling ln(2/alpha) / (3 (n-1)),

    V the unbiased sample variance.

    Args:
        terms: (n,) numbers in [0, ceiling], n at least 2.
        ceiling: what no term can exceed, fixed before the terms are seen.
        alpha: error in (0, 1).

    Returns:
        The limit, at most ``ceiling``.
    """
    doubt = math.log(2 / alpha)
    spread = math.sqrt(2 * float(terms.var(ddof=1)) * doubt / terms.size)
    slack = 7 * ceiling * doubt / (3 * (terms.size - 1))
    return min(ceiling, float(terms.mean()) + spread + slack)
