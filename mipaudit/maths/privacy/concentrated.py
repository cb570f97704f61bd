"""Zero-concentrated and Renyi differential privacy, by their limits of Renyi divergences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

from mipaudit.maths.privacy.divergences import DivergenceLimits, Orders, edge, spaced, with_series
from mipaudit.maths.privacy.tradeoff import TradeOff

_ORDERS: Final = 150
_ORDERS_ABOUT: Final = 61
# e to this power is a float.
_LARGEST_POWER: Final = 700.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroConcentrated(DivergenceLimits):
    """rho-zCDP (Bun and Steinke 2016): Renyi divergence at most rho alpha at every order.

    Looked at are 150 orders and 61 more about the one that decides. Gaussian noise is
    inside it, with mu = sqrt(2 rho).

    Attributes:
        rho: at least 0.
    """

    rho: float

    @property
    def about(self) -> float:
        """The same number."""
        return self.rho

    def first_orders(self) -> Orders:
        """Return the orders that matter."""
        return _orders(self.rho)

    def closer_orders(self, index: int) -> Orders:
        """Return orders between the neighbours of one of them."""
        return _orders_about(self.rho, index)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenyiDP(DivergenceLimits):
    """Renyi differential privacy (Mironov 2017): a limit at each of some orders.

    Attributes:
        limits: pairs of an order above 1 and its limit, at least 0; at least one pair.
        steps: 1, or 2 for a substitution that is a removal and an addition: the ROC is then
            that of one step after the other, as for every trade-off curve.
    """

    limits: tuple[tuple[float, float], ...]
    steps: int = 1

    kinked: ClassVar[bool] = True

    @property
    def about(self) -> float:
        """The least of the limits, each for one unit of its order."""
        return min(limit / order for order, limit in self.limits)

    def first_orders(self) -> Orders:
        """Return the orders that have a limit."""
        return _given_orders(self.limits)

    def closer_orders(self, index: int) -> Orders:
        """Return the same: of others nothing is known."""
        del index
        return _given_orders(self.limits)

    def log_ratios(self, fpr: float, tnr: float) -> tuple[float, float]:
        """Return the same of all steps together."""
        heads, tails = edge(fpr, tnr, self._one_step)
        if self.steps == 1:
            return heads, tails
        between, missed = math.exp(math.log(fpr) + heads), tnr * math.exp(tails)
        if not (between < 1 and missed > 0):
            return -math.log(fpr), -math.inf
        further = edge(between, missed, self._one_step)
        return heads + further[0], tails + further[1]

    def one_order_delta(self, epsilon: float) -> float:
        """Return the same; of two steps, half of epsilon in each."""
        if self.steps == 1:
            return DivergenceLimits.one_order_delta(self, epsilon)
        delta = self._one_step.one_order_delta(epsilon / 2)
        return min(1.0, delta + math.exp(min(epsilon / 2, _LARGEST_POWER)) * delta)

    def one_order_epsilon(self, delta: float) -> float:
        """Return the same; of two steps, by the profile."""
        if self.steps == 1:
            return DivergenceLimits.one_order_epsilon(self, delta)
        return TradeOff.epsilon_at(self, delta)

    @property
    def _one_step(self) -> RenyiDP:
        return self if self.steps == 1 else RenyiDP(limits=self.limits)


@lru_cache(maxsize=4)
def _orders(rho: float) -> Orders:
    """Return the orders that matter: from far below to far above 1 / sqrt(rho), and 2."""
    size = math.log10(rho) / 2
    return spaced(rho, -4 - max(0.0, size), 2 + max(0.0, -size), _ORDERS)


@lru_cache(maxsize=_ORDERS)
def _orders_about(rho: float, index: int) -> Orders:
    """Return orders between the neighbours of one of the orders, closely spaced."""
    beyond = _orders(rho).beyond
    low, high = beyond[max(0, index - 1)], beyond[min(_ORDERS - 1, index + 1)]
    return spaced(rho, math.log10(low), math.log10(high), _ORDERS_ABOUT)


@lru_cache(maxsize=4)
def _given_orders(limits: tuple[tuple[float, float], ...]) -> Orders:
    import numpy as np

    order, limit = np.array(limits, dtype=np.float64).T
    return with_series(order - 1, limit)
