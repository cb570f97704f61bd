"""From neighbours that add or remove a record to neighbours that substitute one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.maths.privacy.approximate import ApproximateDP, TwoStepDP
from mipaudit.maths.privacy.mechanism import GaussianDP, GeometricMechanism, LaplaceMechanism

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff


def two_steps(curve: TradeOff) -> TradeOff:
    """Return what a substitution allows, given what adding or removing a record does.

    A substitution is a removal and an addition. Additive noise then hides a shift up to
    twice as long; in general the ROC is at most T(T(F)) (Dong, Roth and Su 2022,
    Theorem 2.14), and rho-zCDP becomes 4 rho (Bun and Steinke 2016, Proposition 27).
    """
    match curve:
        case ApproximateDP():
            return TwoStepDP(step=curve)
        case GaussianDP():
            return GaussianDP(mu=2 * curve.mu)
        case LaplaceMechanism():
            return LaplaceMechanism(shift=2 * curve.shift)
        case GeometricMechanism():
            return GeometricMechanism(scale=curve.scale, sensitivity=2 * curve.sensitivity)
        case _:
            return _numeric_two_steps(curve)


def _numeric_two_steps(curve: TradeOff) -> TradeOff:
    # These bring numpy along.
    from mipaudit.maths.privacy.concentrated import ZeroConcentrated
    from mipaudit.maths.privacy.points_of_curve import Accounted, substituted

    match curve:
        case ZeroConcentrated():
            return ZeroConcentrated(rho=4 * curve.rho)
        case Accounted():
            return substituted(curve)
        case _:
            raise TypeError(type(curve).__name__)
