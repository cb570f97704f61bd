"""What a design can refute before it is run: Gaussian and Laplace mechanisms, best attack.

A detector says with what probability a design refutes one claimed epsilon when the
mechanism's trade-off curve is a given one and the attack is the best threshold.
`mipaudit.commands.epsilon.canaries.power` and `mipaudit.commands.epsilon.runs.power` make them.
Nothing is drawn: every answer is the same each time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, assert_never

from mipaudit.maths.bisection import crossing
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.maths.privacy.tradeoff import TradeOff

    Detector = Callable[[TradeOff], float]

Mechanism = Literal["gaussian", "laplace"]

USUAL_POWER: Final = 0.8
LARGEST_EPSILON: Final = 100.0
_LARGEST_MU: Final = 1e4
# A plan to four digits; the last bit of a power means nothing.
_TOLERANCE: Final = 1e-4
_TWO_DIGITS: Final = 0.01


def curve_with_epsilon(mechanism: Mechanism, *, epsilon: float, delta: float) -> TradeOff | None:
    """Return the mechanism's curve that costs exactly ``epsilon`` at ``delta``.

    Args:
        mechanism: its kind.
        epsilon: at least 0.
        delta: in [0, 1).

    Returns:
        The curve, or None for a Gaussian one at delta = 0: it has no finite epsilon there.
    """
    match mechanism:
        case "laplace":
            return LaplaceMechanism(shift=epsilon - 2 * math.log1p(-delta))
        case "gaussian" if delta == 0:
            return None
        case "gaussian":
            mu = crossing(
                lambda mu: GaussianDP(mu=mu).profile(epsilon) >= delta,
                start=1.0,
                limit=_LARGEST_MU,
            )
            return GaussianDP(mu=mu)
        case _:
            assert_never(mechanism)


def smallest_refutable_epsilon(
    detector: Detector,
    mechanism: Mechanism,
    *,
    claimed: float,
    delta: float,
    power: float = USUAL_POWER,
) -> float | None:
    """Return the least true epsilon with which a claim is refuted with probability ``power``.

    Args:
        detector: of the claim, by one design.
        mechanism: whose true epsilon is sought.
        claimed: the claimed epsilon, at least 0.
        delta: in [0, 1), of both.
        power: in (0, 1).

    Returns:
        An epsilon at ``delta`` above the claim, to four digits; None where not even 100
        is found, or the mechanism has no epsilon at ``delta``.
    """

    def refuted(epsilon: float) -> bool:
        curve = curve_with_epsilon(mechanism, epsilon=epsilon, delta=delta)
        return curve is not None and detector(curve) >= power

    low, high = claimed, max(LARGEST_EPSILON, 2 * claimed)
    if not refuted(high):
        return None
    while high - low > _TOLERANCE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if refuted(middle) else (middle, high)
    return high


def size_needed(
    power_of: Callable[[int], float],
    *,
    start: int,
    most: int,
    power: float = USUAL_POWER,
) -> int | None:
    """Return the least size of a design, to two digits, with at least ``power``.

    Args:
        power_of: size to probability of refuting the claim; rises, up to small jags.
        start: the smallest size to try, at least 1.
        most: the largest.
        power: in (0, 1).

    Returns:
        A size in [start, most] with that power, or None where there is none.
    """
    if power_of(start) >= power:
        return start
    low, high = start, start
    while power_of(high) < power:
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > max(1, math.floor(_TWO_DIGITS * high)):
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= power else (middle, high)
    return high
