"""What zero-concentrated differential privacy allows an attacker."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from mipaudit.maths.privacy.tradeoff import TradeOff

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GOLDEN: Final = (math.sqrt(5) - 1) / 2
# Golden section narrows down to this; parabolas do the rest, to the second.
_NARROW: Final = 0.5
_NARROWEST: Final = 1e-7
_ORDERS: Final = 150
_ORDERS_ABOUT: Final = 61
# Log-odds within which both a rate and its complement are ordinary floats.
_LONGEST: Final = 700.0
# Beyond this the search would leave these log-odds.
_FARTHEST: Final = 600.0
# The root is this exact; the curve is moved outward by more.
_EXACT: Final = 1e-13
_OUTWARD: Final = 1 + 1e-12
# The search for the touching point is exact to less, also where two orders meet.
_SEARCHED: Final = 1 + 1e-8
# Less than any log-odds or epsilon.
_OUTSIDE: Final = -1e6
# Enough to know which order decides; the orders about it move the edge by less.
_ROUGH: Final = 1e-3
_SLIGHTLY: Final = 1.003
_TERMS: Final = 12
_NEAR: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroConcentrated(TradeOff):
    """rho-zCDP (Bun and Steinke 2016): Renyi divergence at most rho alpha at every order.

    An attacker's answer is a coin that is heads with probability TPR for a member and
    FPR for a holdout record, and by data processing its divergences obey the same
    limits, both ways round. The curve is the edge of the coins that do (Asoodeh et al.
    2021; Zhu, Dong and Wang 2022), at 150 orders and 61 more about the one that decides:
    leaving orders out only loosens it. Gaussian noise is inside it, with mu = sqrt(2 rho).

    Where the edge lies at rates that no float holds, the profile is the conversion of
    Canonne, Kamath and Steinke (2020, Proposition 12), which uses one order at a time.

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
        if self.rho == 0:
            return 0.0
        if epsilon > _FARTHEST:
            return _one_order_delta(epsilon, self.rho)

        def height(fpr: float) -> float:
            # TPR - e^epsilon F, written without cancellation.
            return fpr * (_expm1(_edge(fpr, 1 - fpr, self.rho)[0]) - math.expm1(epsilon))

        # Where a line of this slope touches, e^epsilon F is at most 1, and F at most 1/2.
        where, delta = _greatest(height, high=min(0.0, 1 - epsilon))
        if where <= 1 - _LONGEST:
            return _one_order_delta(epsilon, self.rho)
        return min(1.0, max(0.0, delta * _SEARCHED))

    def epsilon_at(self, delta: float) -> float:
        """Return the least epsilon with delta(epsilon) <= ``delta``, or infinity."""
        if delta <= 0 or self.rho == 0:
            return self.loss
        if delta >= 1:
            return 0.0

        def steepness(fpr: float) -> float:
            above = _expm1(_edge(fpr, 1 - fpr, self.rho)[0]) - delta / fpr
            return math.log1p(above) if above > -1 else _OUTSIDE

        where, epsilon = _greatest(steepness, high=0.0)
        if where <= 1 - _LONGEST or epsilon > _FARTHEST:
            return _one_order_epsilon(delta, self.rho)
        return max(0.0, epsilon * _SEARCHED)

    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate."""
        if fpr <= 0 or fpr >= 1 or self.rho == 0:
            return min(1.0, max(0.0, fpr))
        # At most 1 in exact arithmetic.
        return min(1.0, math.exp(math.log(fpr) + _edge(fpr, 1 - fpr, self.rho)[0]))

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives at a false-positive rate."""
        if fpr <= 0 or fpr >= 1 or self.rho == 0:
            return 1 - min(1.0, max(0.0, fpr))
        return (1 - fpr) * math.exp(_edge(fpr, 1 - fpr, self.rho)[1])


class _Orders(NamedTuple):
    """The orders alpha of the divergences, and what follows from them alone.

    Attributes:
        beyond: alpha - 1, evenly spaced in its logarithm.
        order: alpha.
        series: (1 - alpha^(1-k)) / k!, one row for each k from 2.
    """

    beyond: NDArray[np.float64]
    order: NDArray[np.float64]
    series: tuple[NDArray[np.float64], ...]


def _greatest(height: Callable[[float], float], *, high: float) -> tuple[float, float]:
    """Return where a unimodal function of the false-positive rate is greatest, and its value.

    A search on its log-odds, up to ``high`` at most 0: from 1/2 on a symmetric ROC is
    less steep than any line that is asked about. Ties go right: what is flat is on the
    left.
    """
    from scipy.optimize import minimize_scalar

    low = -_LONGEST
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = height(_rate(left)), height(_rate(right))
    while high - low > _NARROW:
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = height(_rate(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = height(_rate(right))
    last = minimize_scalar(
        lambda odds: -height(_rate(odds)),
        bounds=(low, high),
        method="bounded",
        options={"xatol": _NARROWEST},
    )
    return low, max(at_left, at_right, -float(last.fun))


@lru_cache(maxsize=4)
def _orders(rho: float) -> _Orders:
    """Return the orders that matter: from far below to far above 1 / sqrt(rho), and 2."""
    size = math.log10(rho) / 2
    return _spaced(-4 - max(0.0, size), 2 + max(0.0, -size), _ORDERS)


@lru_cache(maxsize=_ORDERS)
def _orders_about(rho: float, index: int) -> _Orders:
    """Return orders between the neighbours of one of the orders, closely spaced."""
    beyond = _orders(rho).beyond
    low, high = beyond[max(0, index - 1)], beyond[min(_ORDERS - 1, index + 1)]
    return _spaced(math.log10(low), math.log10(high), _ORDERS_ABOUT)


def _spaced(low: float, high: float, number: int) -> _Orders:
    """Return orders whose distances from 1 have logarithms from ``low`` to ``high``."""
    import numpy as np

    beyond = np.logspace(low, high, number)
    log_order = np.log1p(beyond)
    series = tuple(
        -np.expm1(-(k - 1) * log_order) / math.factorial(k) for k in range(2, 2 + _TERMS)
    )
    return _Orders(beyond=beyond, order=1 + beyond, series=series)


@lru_cache(maxsize=2)  # the TPR and its complement are asked for together
def _edge(fpr: float, tnr: float, rho: float) -> tuple[float, float]:
    """Return ln(TPR / FPR) at the greatest TPR allowed, and ln(FNR / TNR); tnr is 1 - fpr."""
    about = 4 * math.sqrt(rho) * (1 + math.sqrt(-math.log(min(fpr, tnr)))) + 2 * rho
    roughly = _shift(fpr, tnr, rho, _orders(rho), about=about, exact=_ROUGH)
    _, deciding = _divergence(roughly, fpr, tnr, _orders(rho))
    shift = _shift(fpr, tnr, rho, _orders_about(rho, deciding), about=roughly, exact=_EXACT)
    return _log_ratios(shift * _OUTWARD, fpr, tnr)


def _shift(
    fpr: float, tnr: float, rho: float, orders: _Orders, *, about: float, exact: float
) -> float:
    """Return how far a coin's log-odds may be from those of another, at some orders.

    Args:
        fpr: probability of heads of the other coin, in (0, 1).
        tnr: 1 - fpr.
        rho: the limit of D_alpha / alpha.
        orders: the alphas.
        about: where to look first.
        exact: relative error.
    """
    from scipy.optimize import brentq

    def beyond(shift: float) -> float:
        return _divergence(shift, fpr, tnr, orders)[0] - math.sqrt(rho)

    low, high = about / _SLIGHTLY, about * _SLIGHTLY
    if beyond(low) > 0:
        low, high = 0.0, low
    while beyond(high) <= 0:
        low, high = high, 2 * high
    return float(brentq(beyond, low, high, xtol=1e-300, rtol=exact))


def _divergence(shift: float, fpr: float, tnr: float, orders: _Orders) -> tuple[float, int]:
    """Return the greatest root of D_alpha / alpha of two coins, and for which order.

    Args:
        shift: how far the log-odds of one coin are above those of the other; at least 0.
        fpr: probability of heads of the other coin, in (0, 1).
        tnr: 1 - fpr.
        orders: the alphas; the divergence is taken both ways.
    """
    import numpy as np

    if shift == 0:
        return 0.0, 0
    beyond, order, _ = orders
    heads, tails = _log_ratios(shift, fpr, tnr)
    logs = np.array([heads, tails, -heads, -tails])[:, None]
    logs_of_shares = np.array([math.log(fpr), math.log(tnr)] * 2)[:, None] + [
        [0.0],
        [0.0],
        [heads],
        [tails],
    ]
    with np.errstate(over="ignore", invalid="ignore"):
        shares = np.exp(logs_of_shares) * _excess(logs, orders)
        near = np.log1p(shares[::2] + shares[1::2])
    powers = logs_of_shares + logs * order
    far = np.logaddexp(powers[::2], powers[1::2])
    divergence = np.where((logs * order)[[0, 3]] < _LONGEST, near, far).max(axis=0)
    divergence /= order * beyond
    deciding = int(divergence.argmax())
    return math.sqrt(float(divergence[deciding])), deciding


def _excess(logs: NDArray[np.float64], orders: _Orders) -> NDArray[np.float64]:
    """Return e^(alpha l) - 1 - alpha (e^l - 1), at least 0, for every l in ``logs`` and alpha.

    Weighted by the shares of the two outcomes its sum is that of e^(alpha l) - 1: the
    linear terms cancel, and small divergences are differences of second order.
    """
    import numpy as np

    powers = logs * orders.order
    small = np.clip(powers, -_NEAR, _NEAR)
    series = orders.series[-1]
    for coefficient in orders.series[-2::-1]:
        series = series * small + coefficient
    direct = np.expm1(powers) - orders.order * np.expm1(logs)
    return np.where(np.abs(powers) < _NEAR, series * small * small, direct)


def _log_ratios(shift: float, fpr: float, tnr: float) -> tuple[float, float]:
    """Return ln(TPR / FPR) and ln(FNR / TNR) of a shift of the log-odds, none cancelled."""
    if shift < 1:
        heads = -math.log1p(tnr * math.expm1(-shift))
    else:
        heads = -math.log(fpr + tnr * math.exp(-shift))
    if shift < _LONGEST:
        return heads, -math.log1p(fpr * math.expm1(shift))
    return heads, heads - shift


def _one_order_delta(epsilon: float, rho: float) -> float:
    """Return delta(epsilon) by Canonne, Kamath and Steinke (2020), Proposition 12."""

    def log_delta(orders: _Orders) -> NDArray[np.float64]:
        import numpy as np

        beyond, order, _ = orders
        slope = beyond * (order * rho - epsilon)
        return slope + beyond * np.log(beyond) - order * np.log(order)

    return math.exp(min(0.0, _least(log_delta, rho)))


def _one_order_epsilon(delta: float, rho: float) -> float:
    """Return the same solved for epsilon."""

    def epsilon(orders: _Orders) -> NDArray[np.float64]:
        import numpy as np

        beyond, order, _ = orders
        rest = -math.log(delta) - order * np.log(order)
        return order * rho + np.log(beyond) + rest / beyond

    return max(0.0, _least(epsilon, rho))


def _least(bound: Callable[[_Orders], NDArray[np.float64]], rho: float) -> float:
    """Return the least of a bound over the orders, and those about the best."""
    best = int(bound(_orders(rho)).argmin())
    return float(bound(_orders_about(rho, best)).min())


def _expm1(x: float) -> float:
    return math.expm1(min(x, _LONGEST))


def _rate(odds: float) -> float:
    """Return the probability with these log-odds."""
    return 1 / (1 + math.exp(-odds))
