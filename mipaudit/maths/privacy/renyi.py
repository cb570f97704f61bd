"""Renyi divergences of mechanisms: in closed form, and of DP-SGD and tuned runs by dp-accounting.

Of tuned runs the best is published, of a number of runs that was drawn before (Papernot and
Steinke 2022): its theorems are dp-accounting's ``RepeatAndSelectDpEvent``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.errors import MissingExtraError, UsageError
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP
from mipaudit.maths.privacy.mechanism import (
    GaussianDP,
    GeometricMechanism,
    LaplaceMechanism,
    RandomizedResponse,
)

if TYPE_CHECKING:
    from mipaudit.maths.privacy.composition import Composition, Part
    from mipaudit.maths.privacy.tradeoff import TradeOff

Drawn = Literal["fixed", "poisson", "geometric", "logarithmic"]

ORDERS: Final = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
# The shapes that the paper's truncated negative binomial distribution has by these names.
_SHAPES: Final = {"poisson": math.inf, "geometric": 1.0, "logarithmic": 0.0}
_MOST_TERMS: Final = 10_000
# e to this power is a float.
_LARGEST_POWER: Final = 600.0
_NEAR: Final = 0.5
_SERIES: Final = 18
Limits = tuple[tuple[float, float], ...]


def divergences(curve: TradeOff) -> dict[float, float]:
    """Return the limits of the Renyi divergences at ``ORDERS`` that a guarantee implies.

    Empty where they have no closed form: where delta is above 0 there is no limit.
    """
    found = {order: _divergence(curve, order) for order in ORDERS}
    return {order: limit for order, limit in found.items() if limit is not None}


def _divergence(curve: TradeOff, order: float) -> float | None:
    match curve:
        case GaussianDP():
            return order * curve.mu**2 / 2
        case LaplaceMechanism():
            return _of_laplace(curve.shift, order)
        case GeometricMechanism() if curve.sensitivity <= _MOST_TERMS:
            return _of_sums(_geometric(curve), order)
        case RandomizedResponse() if curve.rare > 0:
            # The other answers are as likely of both.
            return _of_sums([(curve.rare, curve.loss), (curve.likely, -curve.loss)], order)
        case ApproximateDP(delta=0, epsilon=epsilon):
            # Randomized response among two answers is the worst case.
            share = 1 / (1 + math.exp(-epsilon))
            return _of_sums([(math.exp(-epsilon) * share, epsilon), (share, -epsilon)], order)
        case _:
            return None


def _of_laplace(shift: float, order: float) -> float:
    """Return the divergence of Laplace noise (Mironov 2017, Proposition 6)."""
    up, down = (order - 1) * shift, -order * shift
    if up > _LARGEST_POWER:
        return (up + math.log(order / (2 * order - 1))) / (order - 1)
    sums = order * _curved(up) + (order - 1) * _curved(down)
    return math.log1p(sums / (2 * order - 1)) / (order - 1)


def _geometric(curve: GeometricMechanism) -> list[tuple[float, float]]:
    """Return shares of the shifted noise, and losses: beyond either centre, and between."""
    unit, far = 1 / curve.scale, curve.sensitivity
    outside, inside = 1 / (1 + math.exp(-unit)), math.tanh(unit / 2)
    between = [(inside * math.exp(-unit * (far - x)), unit * (far - 2 * x)) for x in range(1, far)]
    return [(outside * math.exp(-unit * far), unit * far), (outside, -unit * far), *between]


def _of_sums(losses: list[tuple[float, float]], order: float) -> float:
    """Return the divergence, from shares of Q and losses ln(P/Q), those of 0 perhaps left out.

    The mean of e^(order loss) - 1 is that of its part that is curved: the rest cancels.
    """
    highest = max(loss for _, loss in losses)
    if order * highest > _LARGEST_POWER:
        # The share of the greatest loss has left the floats, or will: as Q = e^-loss P.
        sums = math.fsum(
            math.exp(order * (loss - highest) + math.log(share))
            for share, loss in losses
            if share > 0
        )
        return (order * highest + math.log(sums)) / (order - 1) if sums > 0 else highest
    curved = (share * (_curved(order * x) - order * _curved(x)) for share, x in losses)
    return math.log1p(math.fsum(curved)) / (order - 1)


def _curved(x: float) -> float:
    """Return e^x - 1 - x, without cancellation."""
    if abs(x) > _NEAR:
        return math.expm1(x) - x
    term = total = x * x / 2
    for power in range(3, _SERIES):
        term *= x / power
        total += term
    return total


def accounted(composition: Composition, best_of: float = 1, drawn: Drawn = "fixed") -> Limits:
    """Return limits at many orders, by adding or removing a record.

    Args:
        composition: Gaussian noise, Laplace noise and DP-SGD: what one run releases.
        best_of: how many runs there are, on average where the number is drawn.
        drawn: ``fixed`` for a number that is known: as if all runs were published.

    Raises:
        MissingExtraError: ``accounting_missing``: dp-accounting is not installed.
        UsageError: ``best_of``: of a part the divergences are not known.
    """
    events, rdp = _accounting()
    one = events.ComposedDpEvent([_event(part, events) for part in composition.parts])
    if drawn == "fixed":
        event = events.SelfComposedDpEvent(one, int(best_of))
    else:
        event = events.RepeatAndSelectDpEvent(one, best_of, _SHAPES[drawn])
    accountant = rdp.RdpAccountant().compose(event)
    pairs = zip(accountant.orders.tolist(), accountant.rdp.tolist(), strict=True)
    return tuple((order, max(0.0, limit)) for order, limit in pairs if math.isfinite(limit))


def _event(part: Part, events: Any) -> Any:  # noqa: ANN401 - a module without types
    from mipaudit.maths.privacy.composition import DpSgd, GaussianPart, LaplacePart

    match part:
        case GaussianPart():
            return events.SelfComposedDpEvent(
                events.GaussianDpEvent(part.noise_multiplier), part.count
            )
        case LaplacePart():
            return events.SelfComposedDpEvent(
                events.LaplaceDpEvent(part.noise_multiplier), part.count
            )
        case DpSgd():
            noise = events.GaussianDpEvent(part.noise_multiplier)
            return events.SelfComposedDpEvent(
                events.PoissonSampledDpEvent(part.q, noise), part.steps
            )
        case _:
            raise no_such_run()


def no_such_run() -> UsageError:
    """Return the error about runs whose divergences are not known."""
    return UsageError(
        "best_of",
        "The best of several runs can be computed only for Gaussian or Laplace noise or DP-SGD.",
        "State each run's noise: `mu`, `noise_sd`, `scale`, `dp_sgd` or `compose`.",
    )


def _accounting() -> Any:  # noqa: ANN401
    try:
        from dp_accounting import dp_event, rdp
    except ImportError:
        raise MissingExtraError(
            "accounting_missing",
            "Tuned runs need the library dp-accounting, which is not installed.",
            hint='Try: pip install "mipaudit[accounting]"',
        ) from None
    return dp_event, rdp
