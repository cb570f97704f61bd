"""The risk f_p of the records in a cell, with its limits, and lists of discoveries among cells.

Given the number t of records in a cell, the number of members among them is binomial with
a share theta that determines the risk (Przyborowski and Wilenski 1940, for two Poisson
counts). One Clopper-Pearson interval for theta is an interval for the risk: there is no
second proportion to pay for.

These conditional limits take the counts of a cell to be Poisson, which costs much where a cell
holds a large share of a class, as with a score of two values. Melded limits put the two
Clopper-Pearson limits together instead: the limit of the ratio P / Q is the
quantile of the ratio of two independent beta variables that have the limits of P and of Q as
quantiles (Fay, Proschan and Brittain 2015, Biometrics 71:146). For small shares it is the
conditional limit; no case below the nominal coverage is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints

Counts = NDArray[np.int64]

# Standard deviations, and their spacing, at which an integrand that is smooth is summed.
_FARTHEST: Final = 7.5
_STEP: Final = 0.2
_HALVINGS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RiskLimits:
    """Signed risks f in [-1, 1]; above 0 the score points to membership.

    Attributes:
        signed: the plug-in, shape (m,); 2p-1 in an empty cell.
        lower: lower limits of f, shape (m,).
        upper: upper limits of f, shape (m,).
    """

    signed: Floats
    lower: Floats
    upper: Floats

    @property
    def risk(self) -> Floats:
        """Return |f|, in [0, 1]."""
        return np.abs(self.signed)

    @property
    def risk_lower(self) -> Floats:
        """Return the least |f| between the limits."""
        return np.maximum(0.0, np.maximum(self.lower, -self.upper))

    @property
    def risk_upper(self) -> Floats:
        """Return the largest |f| between the limits."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    @property
    def direction(self) -> NDArray[np.int8]:
        """Return 1 where f is surely above 0, -1 where surely below, else 0."""
        return (self.lower > 0).astype(np.int8) - (self.upper < 0).astype(np.int8)


def risk_of_share(share: Floats, n_members: int, n_holdout: int, prior: float) -> Floats:
    """Return f_p of a cell in which this share of the records are members.

    Args:
        share: theta in [0, 1], shape (m,).
        n_members: members in all cells, above 0.
        n_holdout: holdout records in all cells, above 0.
        prior: p in (0, 1).

    Returns:
        (p P - (1-p) Q) / (p P + (1-p) Q), increasing in theta, in [-1, 1].
    """
    members = prior * share / n_members
    holdout = (1 - prior) * (1 - share) / n_holdout
    return np.asarray((members - holdout) / (members + holdout))


def share_of_risk(risk: float, n_members: int, n_holdout: int, prior: float) -> float:
    """Return theta at which f_p has this value in (-1, 1): the inverse of `risk_of_share`."""
    members = n_members * (1 - prior) * (1 + risk)
    return members / (members + n_holdout * prior * (1 - risk))


def conditional_limits(
    members: Counts, holdout: Counts, *, n_members: int, n_holdout: int, prior: float, alpha: float
) -> RiskLimits:
    """Return the risk of each cell with limits of two-sided error alpha each.

    Args:
        members: members in each cell, shape (m,); other cells may exist.
        holdout: holdout records in each cell.
        n_members: members in all, above 0.
        n_holdout: holdout records in all, above 0.
        prior: p in (0, 1).
        alpha: error of each cell's pair of limits, in (0, 1); divide it by the number of
            cells for limits that hold together (Bonferroni).
    """
    from scipy.special import betaincinv

    x, y = members.astype(np.float64), holdout.astype(np.float64)
    low = np.where(x > 0, betaincinv(np.maximum(x, 1), y + 1, alpha / 2), 0.0)
    # 1 - theta has its own lower limit: no cancellation where theta is near 1.
    rest = np.where(y > 0, betaincinv(np.maximum(y, 1), x + 1, alpha / 2), 0.0)
    empty = x + y == 0
    share = np.where(empty, 0.5, x / np.maximum(x + y, 1))
    signed = np.where(empty, 2 * prior - 1, risk_of_share(share, n_members, n_holdout, prior))
    return RiskLimits(
        signed=signed,
        lower=risk_of_share(low, n_members, n_holdout, prior),
        # The mirror image: holdout in the place of the members, at prior 1 - p.
        upper=-risk_of_share(rest, n_holdout, n_members, 1 - prior),
    )


def above_p_values(
    members: Counts, holdout: Counts, *, n_members: int, n_holdout: int, prior: float, tau: float
) -> Floats:
    """Return the p-value of each cell for the hypothesis that |f| is at most tau.

    Args:
        members: members in each cell, shape (m,).
        holdout: holdout records in each cell.
        n_members: members in all, above 0.
        n_holdout: holdout records in all, above 0.
        prior: p in (0, 1).
        tau: in [0, 1).

    Returns:
        Twice the smaller of the two one-sided conditional binomial p-values, at most 1.
    """
    from scipy.special import betainc

    x, y = members.astype(np.float64), holdout.astype(np.float64)
    for_membership = share_of_risk(tau, n_members, n_holdout, prior)
    against = share_of_risk(-tau, n_members, n_holdout, prior)
    # P(Bin(t, theta) >= x) = I_theta(x, y + 1); all of it where x is 0.
    high = np.where(x > 0, betainc(np.maximum(x, 1), y + 1, for_membership), 1.0)
    low = np.where(y > 0, betainc(np.maximum(y, 1), x + 1, 1 - against), 1.0)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(high, low)))


def melded_limits(
    members: Ints, holdout: Ints, *, n_members: int, n_holdout: int, prior: float, alpha: float
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


def _least_ratio(x: Ints, n: int, y: Ints, m: int, alpha: float) -> Floats:
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
        over_members, _beta_quantiles(x, n - x + 1, level), _beta_quantiles(y + 1, m - y, level)
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


def discoveries(p_values: Floats, rate: float) -> Bools:
    """Return which hypotheses are rejected (Benjamini and Hochberg 1995).

    Args:
        p_values: in [0, 1], shape (m,).
        rate: false-discovery rate, in (0, 1).

    Returns:
        bool, shape (m,): the R smallest, R being the largest number for which the R-th
        smallest is at most R rate / m.
    """
    if not p_values.size:
        return np.zeros(0, dtype=np.bool_)
    ordered = np.sort(p_values)
    steps = rate * np.arange(1, p_values.size + 1) / p_values.size
    (kept,) = np.nonzero(ordered <= steps)
    if not kept.size:
        return np.zeros(p_values.size, dtype=np.bool_)
    return np.asarray(p_values <= ordered[kept[-1]])


def error_for_selected(alpha: float, selected: int, tested: int) -> float:
    """Return the error at which to make the interval of each selected parameter.

    So many of the intervals as alpha says miss, in expectation, among those that are made
    (Benjamini and Yekutieli 2005: the false-coverage rate).

    Args:
        alpha: false-coverage rate, in (0, 1).
        selected: parameters selected, at most ``tested``.
        tested: parameters in all, above 0.
    """
    return alpha * max(1, selected) / max(1, tested)
