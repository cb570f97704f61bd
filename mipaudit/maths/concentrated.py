"""What zero-concentrated differential privacy allows an attacker."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.maths.tradeoff import TradeOff

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_STEPS: Final = 80
_ORDERS: Final = 150
# Log-odds within which both a rate and its complement are ordinary floats.
_LONGEST: Final = 700.0
_NEAR: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroConcentrated(TradeOff):
    """rho-zCDP (Bun and Steinke 2016): Renyi divergence at most rho alpha at every order.

    An attacker's answer is a coin that is heads with probability TPR for a member and
    FPR for a holdout record, and by data processing its divergences obey the same
    limits, both ways round. The curve is the edge of the coins that do (Asoodeh et al.
    2021; Zhu, Dong and Wang 2022), at 150 orders: leaving orders out only loosens it.
    Gaussian noise is inside it, with mu = sqrt(2 rho).

    Attributes:
        rho: at least 0.
    """

    rho: float

    @property
    def loss(self) -> float:
        """No limit, unless nothing is released at all."""
        return math.inf if self.rho > 0 else 0.0

    def profile(self, epsilon: float) -> float:
        """Return delta(epsilon), the farthest point of the curve above a line."""
        ratio = math.exp(min(epsilon, 700.0))
        return max(0.0, _greatest(lambda fpr: self.tpr(fpr) - ratio * fpr))

    def epsilon_at(self, delta: float) -> float:
        """Return the least epsilon with delta(epsilon) <= ``delta``, or infinity."""
        if delta <= 0:
            return self.loss

        def steepness(fpr: float) -> float:
            above = self.tpr(fpr) - delta
            return math.log(above / fpr) if above > 0 else -math.inf

        return max(0.0, _greatest(steepness))

    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate."""
        if fpr <= 0 or fpr >= 1:
            return float(fpr >= 1)
        return _edge(fpr, 1 - fpr, self.rho)[0]

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives at a false-positive rate."""
        if fpr <= 0 or fpr >= 1:
            return float(fpr <= 0)
        return _edge(fpr, 1 - fpr, self.rho)[1]


def _greatest(height: Callable[[float], float]) -> float:
    """Return the greatest value of a unimodal function of the false-positive rate.

    Golden section on its log-odds, up to 1/2: from there on a symmetric ROC is less
    steep than any line that is asked about. Ties go right: what is flat is on the left.
    """
    low, high = -_LONGEST, 0.0
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = height(_rate(left)), height(_rate(right))
    for _ in range(_STEPS):
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = height(_rate(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = height(_rate(right))
    return max(at_left, at_right)


def _edge(fpr: float, tnr: float, rho: float) -> tuple[float, float]:
    """Return the greatest TPR allowed at (fpr, tnr = 1 - fpr), and 1 - TPR."""
    import numpy as np

    if rho == 0:
        return fpr, tnr
    beyond = np.logspace(-3, 3 + max(0.0, -math.log10(rho)), _ORDERS)  # alpha - 1

    def divergence(one: tuple[float, float], other: tuple[float, float]) -> NDArray[np.float64]:
        """Return (alpha - 1) times the Renyi divergence of two coins, for every order."""
        powers = np.multiply.outer(beyond + 1, np.log(np.divide(one, other)))
        with np.errstate(over="ignore"):
            # Written from 1 up: a small divergence is a difference of second order.
            near = np.log1p(np.expm1(powers) @ np.array(other))
        far = np.logaddexp.reduce(powers + np.log(other), axis=1)
        chosen: NDArray[np.float64] = np.where(np.abs(powers).max(axis=1) < _NEAR, near, far)
        return chosen

    def refused(odds: float) -> bool:
        coin, base = (_rate(odds), _rate(-odds)), (fpr, tnr)
        limit = rho * beyond * (1 + beyond)
        return bool(
            (divergence(coin, base) > limit).any() or (divergence(base, coin) > limit).any()
        )

    low, high = math.log(fpr / tnr), _LONGEST
    while (middle := (low + high) / 2) not in {low, high}:
        low, high = (low, middle) if refused(middle) else (middle, high)
    return _rate(high), _rate(-high)


def _rate(odds: float) -> float:
    """Return the probability with these log-odds."""
    return 1 / (1 + math.exp(-odds))
