"""The normal distribution with the standard library alone, accurate in both tails."""

from __future__ import annotations

import math
from typing import Final

from mipaudit.maths.bisection import crossing

_ROOT_TWO: Final = math.sqrt(2.0)
_ROOT_TWO_PI: Final = math.sqrt(2.0 * math.pi)
# Above this the continued fraction settles in few terms; below it erfc has no trouble.
_FAR: Final = 6.0
_TERMS: Final = 80
# Abscissae and weights of 10-point Gauss-Legendre quadrature on [-1, 1], positive half.
_NODES: Final = (
    (0.1488743389816312, 0.2955242247147529),
    (0.4333953941292472, 0.2692667193099963),
    (0.6794095682990244, 0.2190863625159820),
    (0.8650633666889845, 0.1494513491505806),
    (0.9739065285171717, 0.0666713443086881),
)


def cdf(x: float) -> float:
    """Return P(Z <= x), accurate in the lower tail down to the smallest float."""
    return math.erfc(-x / _ROOT_TWO) / 2


def density(x: float) -> float:
    """Return the standard normal density."""
    return math.exp(-x * x / 2) / _ROOT_TWO_PI


def quantile(probability: float) -> float:
    """Return the x with P(Z <= x) = ``probability`` in [0, 1]; infinite at the ends."""
    if probability <= 0 or probability >= 1:
        return -math.inf if probability <= 0 else math.inf
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)


def central_quantile(mass: float) -> float:
    """Return the x with P(-x <= Z <= x) = ``mass`` in [0, 1].

    ``quantile((1 + mass) / 2)`` would lose a small mass in the sum.
    """
    if mass <= 0 or mass >= 1:
        return 0.0 if mass <= 0 else math.inf
    if mass > 0.5:  # noqa: PLR2004 - 1 - mass is exact from here on
        return -quantile((1 - mass) / 2)
    # By halves: `noise` has no use for the rest of what `quantile` loads.
    return crossing(lambda x: math.erf(x / _ROOT_TWO) >= mass, start=1.0, limit=1.0)


def mills_ratio(x: float) -> float:
    """Return P(Z > x) / density(x) for x above -37: what is left of the tail in its scale."""
    if x <= _FAR:
        return math.erfc(x / _ROOT_TWO) / 2 / density(x)
    return 1 / (x + _tail_fraction(x))


def mills_drop(start: float, length: float) -> float:
    """Return mills_ratio(start) - mills_ratio(start + length), without cancellation.

    Args:
        start: at least -length / 2 and above -37; further out the ratio is not smooth enough.
        length: at least 0.
    """
    if length > 1 and start > _FAR:
        # 1 / (x + c) - 1 / (y + d): the length is large beside the small c - d.
        near, far = _tail_fraction(start), _tail_fraction(start + length)
        return (length + (far - near)) / (start + near) / (start + length + far)
    if length > 1:
        return mills_ratio(start) - mills_ratio(start + length)
    # The ratio falls at the rate 1 - x m(x), which is smooth on the scale of 1.
    middle, half = start + length / 2, length / 2
    return half * sum(
        weight * (_mills_slope(middle - half * node) + _mills_slope(middle + half * node))
        for node, weight in _NODES
    )


def _mills_slope(x: float) -> float:
    """Return 1 - x m(x), the rate at which the Mills ratio falls."""
    if x <= _FAR:
        return 1 - x * mills_ratio(x)
    rest = _tail_fraction(x)
    return rest / (x + rest)


def _tail_fraction(x: float) -> float:
    """Return c with m(x) = 1 / (x + c): Laplace's continued fraction, from the inside."""
    rest = 0.0
    for term in range(_TERMS, 0, -1):
        rest = term / (x + rest)
    return rest
