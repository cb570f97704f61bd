"""What limits of Renyi divergences allow an attacker: the coins that keep all of them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from mipaudit.maths.privacy.tradeoff import TradeOff

if TYPE_CHECKING:
    from mipaudit.maths.arrays import Floats

_GOLDEN: Final = (math.sqrt(5) - 1) / 2
# Golden section narrows down to this; parabolas do the rest, to the second.
_NARROW: Final = 0.5
_NARROWEST: Final = 1e-7
# What the search takes for nothing, as a share of where it is: the root of a float's digits.
_TOLERANCE: Final = 1.5e-8
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


class DivergenceLimits(TradeOff):
    """Renyi divergences within a limit at each order, both ways round.

    An attacker's answer is a coin that is heads with probability TPR for a member and
    FPR for a holdout record, and by data processing its divergences obey the same
    limits. The curve is the edge of the coins that do (Asoodeh et al. 2021; Zhu, Dong
    and Wang 2022): leaving orders out only loosens it.

    Where the edge lies at rates that no float holds, the profile is the conversion of
    Canonne, Kamath and Steinke (2020, Proposition 12), which uses one order at a time.
    """

    __slots__ = ()
    # Whether the edge has corners, where few orders meet: a search ends beside them.
    kinked: ClassVar[bool] = False

    @property
    @abstractmethod
    def about(self) -> float:
        """About what D_alpha / alpha may be, to know where to look; 0 if nothing is released."""

    @abstractmethod
    def first_orders(self) -> Orders:
        """Return the orders to begin with, and the limits at them."""

    @abstractmethod
    def closer_orders(self, index: int) -> Orders:
        """Return orders about one of them."""

    def log_ratios(self, fpr: float, tnr: float) -> tuple[float, float]:
        """Return ln(TPR / FPR) at the greatest TPR allowed, and ln(FNR / TNR); tnr is 1 - fpr."""
        return edge(fpr, tnr, self)

    @property
    def loss(self) -> float:
        """No limit, unless nothing is released at all."""
        return math.inf if self.about > 0 else 0.0

    def profile(self, epsilon: float) -> float:
        """Return delta(epsilon), the farthest point of the curve above a line."""
        if self.about == 0:
            return 0.0
        if epsilon > _FARTHEST:
            return self.one_order_delta(epsilon)

        def height(fpr: float) -> float:
            # TPR - e^epsilon F, written without cancellation.
            return fpr * (_expm1(self.log_ratios(fpr, 1 - fpr)[0]) - math.expm1(epsilon))

        # Where a line of this slope touches, e^epsilon F is at most 1, and F at most 1/2.
        where, delta = _greatest(height, high=min(0.0, 1 - epsilon))
        if where <= 1 - _LONGEST:
            return self.one_order_delta(epsilon)
        return min(1.0, max(0.0, delta * (_SEARCHED + self._beside(where))))

    def epsilon_at(self, delta: float) -> float:
        """Return the least epsilon with delta(epsilon) <= ``delta``, or infinity."""
        if delta <= 0 or self.about == 0:
            return self.loss
        if delta >= 1:
            return 0.0

        def steepness(fpr: float) -> float:
            above = _expm1(self.log_ratios(fpr, 1 - fpr)[0]) - delta / fpr
            return math.log1p(above) if above > -1 else _OUTSIDE

        where, epsilon = _greatest(steepness, high=0.0)
        if where <= 1 - _LONGEST or epsilon > _FARTHEST:
            return self.one_order_epsilon(delta)
        return max(0.0, epsilon * _SEARCHED + self._beside(where))

    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate."""
        if fpr <= 0 or fpr >= 1 or self.about == 0:
            return min(1.0, max(0.0, fpr))
        # At most 1 in exact arithmetic.
        return min(1.0, math.exp(math.log(fpr) + self.log_ratios(fpr, 1 - fpr)[0]))

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives at a false-positive rate."""
        if fpr <= 0 or fpr >= 1 or self.about == 0:
            return 1 - min(1.0, max(0.0, fpr))
        return (1 - fpr) * math.exp(self.log_ratios(fpr, 1 - fpr)[1])

    def one_order_delta(self, epsilon: float) -> float:
        """Return delta(epsilon) by Canonne, Kamath and Steinke (2020), Proposition 12."""

        def log_delta(orders: Orders) -> Floats:
            import numpy as np

            beyond, order, limit, _ = orders
            slope = beyond * (limit - epsilon)
            return slope + beyond * np.log(beyond) - order * np.log(order)

        return math.exp(min(0.0, self._least(log_delta)))

    def one_order_epsilon(self, delta: float) -> float:
        """Return the same solved for epsilon."""

        def epsilon(orders: Orders) -> Floats:
            import numpy as np

            beyond, order, limit, _ = orders
            rest = -math.log(delta) - order * np.log(order)
            return limit + np.log(beyond) + rest / beyond

        return max(0.0, self._least(epsilon))

    def _beside(self, where: float) -> float:
        """Return how far off the greatest value is, at most, where it is at a corner.

        The search ends with a point on either side within four tolerances. The profile, as a
        share of itself, rises to the corner no faster than the log-odds, and the loss falls
        from it no faster: both curves are concave, and 0 at an FPR of 0.
        """
        return 4 * (_NARROWEST + _TOLERANCE * (abs(where) + 1)) if self.kinked else 0.0

    def _least(self, bound: Callable[[Orders], Floats]) -> float:
        """Return the least of a bound over the orders, and those about the best."""
        best = int(bound(self.first_orders()).argmin())
        return float(bound(self.closer_orders(best)).min())


class Orders(NamedTuple):
    """The orders alpha of the divergences, and what follows from them alone.

    Attributes:
        beyond: alpha - 1, evenly spaced in its logarithm.
        order: alpha.
        limit: of the divergence of that order.
        series: (1 - alpha^(1-k)) / k!, one row for each k from 2.
    """

    beyond: Floats
    order: Floats
    limit: Floats
    series: tuple[Floats, ...]


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


def spaced(rho: float, low: float, high: float, number: int) -> Orders:
    """Return orders whose distances from 1 have logarithms from ``low`` to ``high``."""
    import numpy as np

    beyond = np.logspace(low, high, number)
    return with_series(beyond, rho * (1 + beyond))


def with_series(beyond: Floats, limit: Floats) -> Orders:
    """Return orders by how far they are above 1, with a limit each."""
    import numpy as np

    log_order = np.log1p(beyond)
    series = tuple(
        -np.expm1(-(k - 1) * log_order) / math.factorial(k) for k in range(2, 2 + _TERMS)
    )
    return Orders(beyond=beyond, order=1 + beyond, limit=limit, series=series)


@lru_cache(maxsize=4)  # the TPR and its complement are asked for together, perhaps of two steps
def edge(fpr: float, tnr: float, limits: DivergenceLimits) -> tuple[float, float]:
    """Return ln(TPR / FPR) at the greatest TPR allowed, and ln(FNR / TNR); tnr is 1 - fpr."""
    rho, orders = limits.about, limits.first_orders()
    about = 4 * math.sqrt(rho) * (1 + math.sqrt(-math.log(min(fpr, tnr)))) + 2 * rho
    roughly = _shift(fpr, tnr, orders, about=about, exact=_ROUGH)
    _, deciding = _divergence(roughly, fpr, tnr, orders)
    closer = limits.closer_orders(deciding)
    shift = _shift(fpr, tnr, closer, about=roughly, exact=_EXACT)
    return _log_ratios(shift * _OUTWARD, fpr, tnr)


def _shift(fpr: float, tnr: float, orders: Orders, *, about: float, exact: float) -> float:
    """Return how far a coin's log-odds may be from those of another, at some orders.

    Args:
        fpr: probability of heads of the other coin, in (0, 1).
        tnr: 1 - fpr.
        orders: the alphas, and the limits.
        about: where to look first.
        exact: relative error.
    """
    from scipy.optimize import brentq

    def beyond(shift: float) -> float:
        return _divergence(shift, fpr, tnr, orders)[0] - 1

    low, high = about / _SLIGHTLY, about * _SLIGHTLY
    if beyond(low) > 0:
        low, high = 0.0, low
    while beyond(high) <= 0:
        low, high = high, 2 * high
    return float(brentq(beyond, low, high, xtol=1e-300, rtol=exact))


def _divergence(shift: float, fpr: float, tnr: float, orders: Orders) -> tuple[float, int]:
    """Return the greatest root of D_alpha over its limit, and for which order.

    Args:
        shift: how far the log-odds of one coin are above those of the other; at least 0.
        fpr: probability of heads of the other coin, in (0, 1).
        tnr: 1 - fpr.
        orders: the alphas; the divergence is taken both ways.
    """
    import numpy as np

    if shift == 0:
        return 0.0, 0
    beyond, order, limit, _ = orders
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
    divergence /= limit * beyond
    deciding = int(divergence.argmax())
    return math.sqrt(float(divergence[deciding])), deciding


def _excess(logs: Floats, orders: Orders) -> Floats:
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


def _expm1(x: float) -> float:
    return math.expm1(min(x, _LONGEST))


def _rate(odds: float) -> float:
    """Return the probability with these log-odds."""
    return 1 / (1 + math.exp(-odds))
