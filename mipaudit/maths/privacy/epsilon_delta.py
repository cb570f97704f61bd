"""What (epsilon, delta)-differential privacy allows an attacker. Standard library only.

The tight bound is for neighbours that differ by *substitution* of one record, and
for members and holdout that are independent draws from one law. From neighbours that add or
remove a record to those there are two steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from mipaudit.maths.advantage import baseline
from mipaudit.maths.noise_scales import allowed_eta
from mipaudit.maths.privacy.mechanism import GaussianDP, GeometricMechanism, LaplaceMechanism
from mipaudit.maths.privacy.tradeoff import TradeOff, exp, prior_loss, scaled

_SUBSTITUTION: Final = "by substitution"


class ApproximateDP(TradeOff):
    """(epsilon, delta)-differential privacy, between the neighbours it is stated for.

    The ROC is at most min(delta + e^epsilon F, 1 - e^-epsilon (1 - delta - F), 1)
    (Kairouz, Oh and Viswanath 2015, Theorem 2.1), and some mechanism reaches it.

    Attributes:
        epsilon: at least 0; may be infinite.
        delta: in [0, 1].
    """

    __slots__ = ("delta", "epsilon")

    def __init__(self, *, epsilon: float, delta: float) -> None:
        self.epsilon: Final = epsilon
        self.delta: Final = delta

    @property
    def corner(self) -> float:
        """The false-positive rate at the corner of the ROC; there TPR = 1 - FPR."""
        inverse = math.exp(-self.epsilon)
        return (1 - self.delta) * inverse / (1 + inverse)

    @property
    def loss(self) -> float:
        """The claim's epsilon if delta is 0; no limit otherwise."""
        return self.epsilon if self.delta == 0 else math.inf

    def profile(self, epsilon: float) -> float:
        """Return delta(epsilon): the claim's delta from its own epsilon on."""
        if epsilon >= self.epsilon:
            return self.delta
        share = -math.expm1(epsilon - self.epsilon) / (1 + math.exp(-self.epsilon))
        return self.delta + (1 - self.delta) * share

    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate."""
        if fpr <= self.corner:
            return min(1.0, self.delta + scaled(fpr, self.epsilon))
        return 1 - self.fnr(fpr)

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives at a false-positive rate."""
        if fpr == 0:  # the corner may be there too, by underflow
            return 1 - self.delta
        if fpr <= self.corner:
            # Counted from the corner, where the plain formula would cancel.
            return self.corner + scaled(self.corner - fpr, self.epsilon)
        return self.fnr_beyond(1 - fpr)

    def fnr_beyond(self, tnr: float) -> float:
        """Return the least false negatives at a true-negative rate up to 1 - ``corner``."""
        return math.exp(-self.epsilon) * max(0.0, tnr - self.delta)


class TwoStepDP(TradeOff):
    """Substituting a record under (epsilon, delta) by adding or removing one.

    A substitution is a removal and an addition, so the attacker's ROC is at most
    T(T(F)), T being that of one step (Dong, Roth and Su 2022, Theorem 2.14). It is
    inside the usual (2 epsilon, (1 + e^epsilon) delta), which keeps only its two outer
    edges: at delta = 0 the advantage is at most 1 - e^-epsilon, not tanh(epsilon), and
    the Laplace mechanism reaches it.

    Attributes:
        step: the guarantee by adding or removing one record.
    """

    __slots__ = ("step",)

    def __init__(self, *, step: ApproximateDP) -> None:
        self.step: Final = step

    @property
    def loss(self) -> float:
        """Twice the claim's epsilon if delta is 0; no limit otherwise."""
        return 2 * self.step.loss

    def profile(self, epsilon: float) -> float:
        """Return delta(epsilon), the greater of two corners of the curve."""
        start = self.step.tpr(self.step.delta)
        claimed, delta = self.step.epsilon, self.step.delta
        # Not from the corner on: at a large epsilon the corner, too, is 0 in floats.
        if delta > self.step.corner or epsilon >= 2 * claimed:
            return start
        # Where T(F) meets the corner of the outer T; written without cancellation.
        share = -math.expm1(epsilon - 2 * claimed) / (1 + math.exp(-claimed))
        rest = math.exp(-claimed) + math.exp(epsilon - 2 * claimed)
        spent = exp(epsilon - claimed) + rest / (1 + math.exp(-claimed))
        return min(1.0, max(start, share + (delta * spent if delta > 0 else 0.0)))

    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate."""
        return self.step.tpr(self.step.tpr(fpr))

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives at a false-positive rate."""
        between = self.step.tpr(fpr)
        if between <= self.step.corner:
            return self.step.fnr(between)
        return self.step.fnr_beyond(self.step.fnr(fpr))


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedBound:
    """One upper bound of the advantage under a claim, in [0, 1], and its source.

    ``tight`` tells whether it equals that of an exact trade-off curve; None where none was asked.
    """

    name: str
    advantage: float
    source: str
    assumes: str
    tight: bool | None = None


def to_substitution(epsilon: float, delta: float) -> tuple[float, float]:
    """Return the (epsilon, delta) by substitution that one by adding or removing implies.

    A substitution is a removal and an addition: (2 epsilon, (1 + e^epsilon) delta). As a
    bound on attackers it is loose: see :class:`mipaudit.maths.privacy.epsilon_delta.TwoStepDP`.
    """
    return 2 * epsilon, min(1.0, (1 + exp(epsilon)) * delta)


def advantage_bound(curve: TradeOff, prior: float) -> float:
    """Return the most that any attacker can reach at a prior, in [|2p-1|, 1].

    For (epsilon, delta) at p = 1/2 this is (e^epsilon - 1 + 2 delta) / (e^epsilon + 1)
    (Humphries et al. 2023, Theorem 3.1).

    Args:
        curve: what tells a member from a holdout record: a guarantee by substitution.
        prior: p in (0, 1).
    """
    return min(1.0, baseline(prior) + curve.excess(prior))


def published_bounds(epsilon: float, delta: float, prior: float) -> tuple[PublishedBound, ...]:
    """Return the published bounds side by side, the loosest proof first.

    Those proved for p = 1/2 stand only there, and those for delta = 0 say 1 otherwise.

    Args:
        epsilon: at least 0, by substitution; may be infinite.
        delta: in [0, 1].
        prior: p in (0, 1).
    """
    pure = delta == 0
    humphries = PublishedBound(
        name="humphries",
        advantage=advantage_bound(ApproximateDP(epsilon=epsilon, delta=delta), prior),
        source="Humphries et al. 2023, Theorem 3.1, at the prior by the trade-off curve",
        assumes=f"(epsilon, delta) {_SUBSTITUTION}; independent, identically distributed records",
    )
    mace = PublishedBound(
        name="mace",
        advantage=_mace_bound(epsilon, prior) if pure else 1.0,
        source="Liu et al. 2022 (MACE), Theorem 4, as a bound of the advantage",
        assumes=f"epsilon {_SUBSTITUTION}, delta = 0 (else no bound); training set drawn at random",
    )
    if prior != 0.5:  # noqa: PLR2004 - the even prior, at which the other papers work
        return (mace, humphries)
    yeom = PublishedBound(
        name="yeom",
        advantage=min(1.0, math.expm1(min(epsilon, 1.0))) if pure else 1.0,
        source="Yeom et al. 2018, Theorem 1",
        assumes=f"epsilon {_SUBSTITUTION}, delta = 0 (else no bound)",
    )
    erlingsson = PublishedBound(
        name="erlingsson",
        advantage=-math.expm1(-epsilon) + delta * math.exp(-epsilon),
        source="Erlingsson et al. 2019",
        assumes=f"(epsilon, delta) {_SUBSTITUTION}",
    )
    izzo = PublishedBound(
        name="izzo",
        advantage=2 * allowed_eta(epsilon) if pure else 1.0,
        source="Izzo et al. 2022, Theorem 4: twice its eta",
        assumes=f"epsilon {_SUBSTITUTION}, delta = 0 (else no bound); a random half is trained on",
    )
    return (yeom, erlingsson, mace, izzo, humphries)


def _mace_bound(epsilon: float, prior: float) -> float:
    """Return max |tanh((lambda +- epsilon) / 2)| with lambda = ln(p / (1-p)).

    It bounds the risk of every record, and so, loosely, their mean.
    """
    return math.tanh((epsilon + prior_loss(prior)) / 2)


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
    from mipaudit.maths.privacy.concentrated import RenyiDP, ZeroConcentrated
    from mipaudit.maths.privacy.points_of_curve import Accounted, substituted

    match curve:
        case ZeroConcentrated():
            return ZeroConcentrated(rho=4 * curve.rho)
        case RenyiDP():
            return RenyiDP(limits=curve.limits, steps=2 * curve.steps)
        case Accounted():
            return substituted(curve)
        case _:
            raise TypeError(type(curve).__name__)
