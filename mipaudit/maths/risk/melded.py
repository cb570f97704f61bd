"""The risk of the records in a cell, with melded limits: as tight as its share allows.

The conditional limits of `conditional_risk` take the counts of a cell to be Poisson, which
costs much where a cell holds a large share of a class, as with a score of two values. Here
the two Clopper-Pearson limits are put together instead: the limit of the ratio P / Q is the
quantile of the ratio of two independent beta variables that have the limits of P and of Q as
quantiles (Fay, Proschan and Brittain 2015, Biometrics 71:146). For small shares it is the
conditional limit; no case below the nominal coverage is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.risk.conditional import RiskLimits, conditional_limits, risk_of_share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Standard deviations, and their spacing, at which an integrand that is smooth is summed.
_FARTHEST: Final = 7.5
_STEP: Final = 0.2
_HALVINGS: Final = 40


def melded_limits(
    members: NDArray[np.int64],
    holdout: NDArray[np.int64],
    *,
    n_members: int,
    n_holdout: int,
    prior: float,
    alpha: float,
) -> RiskLimits:
    """Return the risk of each cell with limits of two-sided error alpha each.

    Args and returns as for `conditional_limits`.
    """
    plain = conditional_limits(
        members, holdout, n_members=n_members, n_holdout=n_holdout, prior=prior, alpha=alpha
    )
    low = _least_ratio(members, n_members, holdout, n_holdout, alpha / 2)
    # Upward it is the same with the classes in each other's place.
    high = _least_ratio(holdout, n_holdout, members, n_members, alpha / 2)
    return RiskLimits(
        signed=plain.signed,
        lower=risk_of_share(low, 1, 1, prior),
        upper=-risk_of_share(high, 1, 1, 1 - prior),
    )


def _least_ratio(
    x: NDArray[np.int64], n: int, y: NDArray[np.int64], m: int, alpha: float
) -> Floats:
    """Return the lower limit of P / (P + Q) in [0, 1], for x of n and y of m."""
    found = np.zeros(x.shape)
    some = x > 0
    if some.any():
        found[some] = _quantile(x[some].astype(float), n, y[some].astype(float), m, alpha)
    return found


def _quantile(x: Floats, n: int, y: Floats, m: int, alpha: float) -> Floats:
    """Return the quantile of P* / (P* + Q*), P* ~ Beta(x, n-x+1), Q* ~ Beta(y+1, m-y)."""
    from scipy.special import ndtr

    z = np.arange(-_FARTHEST, _FARTHEST + _STEP / 2, _STEP)
    weight = np.exp(-(z**2) / 2)
    weight /= weight.sum()
    level = ndtr(z), ndtr(-z)
    # Summed over the more certain of the two, the other's distribution is smooth.
    over_members = ((n - x + 1) / (n * x) <= (m - y) / (m * (y + 1)))[:, None]
    nodes = np.where(
        over_members,
        _beta_quantiles(x, n - x + 1, level),
        _beta_quantiles(y + 1, m - y, level),
    )
    low, high = np.zeros(x.shape), np.ones(x.shape)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        odds = ((1 - middle) / middle)[:, None]
        below = np.where(
            over_members,
            1 - _beta_cdf(y + 1, m - y, nodes * odds),
            _beta_cdf(x, n - x + 1, nodes / odds),
        )
        error = (below * weight).sum(axis=1)
        low, high = np.where(error > alpha, low, middle), np.where(error > alpha, middle, high)
    return low


def _beta_quantiles(a: Floats, b: Floats, level: tuple[Floats, Floats]) -> Floats:
    """Return quantiles at a level and its complement, shape (cells, nodes); 1 where b is 0."""
    from scipy.special import betaincinv

    some = np.maximum(b, 1.0)[:, None]
    below = betaincinv(a[:, None], some, level[0])
    above = 1 - betaincinv(some, a[:, None], level[1])
    found = np.where(level[0] <= level[1], below, above)
    return np.where((b > 0)[:, None], found, 1.0)


def _beta_cdf(a: Floats, b: Floats, at: Floats) -> Floats:
    """Return P(Beta(a, b) <= at), shape (cells, nodes); the variable is 1 where b is 0."""
    from scipy.special import betainc

    some = np.maximum(b, 1.0)[:, None]
    found = betainc(a[:, None], some, np.minimum(at, 1.0))
    return np.where((b > 0)[:, None], found, (at >= 1).astype(np.float64))
