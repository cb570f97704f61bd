"""A limit on attackers, and the weakest guarantee that keeps it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.commands.bounds.readings import Neighbours  # noqa: TC001 - the codec reads it
from mipaudit.maths.advantage import baseline
from mipaudit.maths.privacy.epsilon_delta import ApproximateDP, two_steps
from mipaudit.maths.privacy.mechanism import GaussianDP, LaplaceMechanism
from mipaudit.maths.privacy.tradeoff import TradeOff, largest_within
from mipaudit.model.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable


Quantity = Literal["advantage", "accuracy", "eta", "tpr_at_fpr", "success", "delta"]

# Figures hold to a relative 1e-9: with so much room a delta is surely kept.
_SURELY: Final = 1 - 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A limit that no attacker may exceed.

    Attributes:
        quantity: what is limited.
        value: the limit.
        prior: probability that a challenged record is a member.
        fpr: the false-positive rate, for ``tpr_at_fpr``.
        baseline: what is reached without the record, for ``success``.
        epsilon: at which the guarantee's ``delta`` is limited.
    """

    quantity: Quantity
    value: float
    prior: float
    fpr: float | None = None
    baseline: float | None = None
    epsilon: float | None = None

    def kept_by(self, curve: TradeOff) -> bool:
        """Tell whether the guarantee keeps every attacker within the limit."""
        if self.quantity == "delta":
            return curve.profile(self.epsilon or 0.0) <= self.value * _SURELY
        if self.quantity in {"tpr_at_fpr", "success"}:
            fpr = self.fpr or self.baseline or 0.0
            if self.value <= fpr:
                # The ROC is concave: it leaves the diagonal everywhere or nowhere.
                return curve.profile(0.0) == 0
            return curve.tpr(fpr) <= self.value
        # Counted from the trivial attacker, so that a small target stays exact; that one keeps
        # every limit, also one that is off by a rounding.
        guessing = baseline(self.prior)
        above = {
            "advantage": self.value - guessing,
            "accuracy": 2 * (self.value - (1 + guessing) / 2),
            "eta": 2 * self.value,
        }[self.quantity]
        return curve.excess(self.prior) <= max(0.0, above)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """The weakest guarantees that keep a target, for one kind of neighbours.

    Each suffices by itself. A number that does not exist is None, with a reason.

    Attributes:
        adjacency: the neighbours that all of them, and the sensitivity, are for; None where it
            is the same for all.
        one_step: whether one such step is all that an attacker has to tell.
        delta: the delta of ``epsilon``.
        epsilon: the largest epsilon at that delta.
        epsilon_reason: why there is none.
        mu: the largest mu of Gaussian differential privacy.
        mu_reason: why there is none.
        sensitivity: what the noise is for: Euclidean for Gaussian, one number for Laplace.
        gaussian_sd: the least standard deviation of Gaussian noise.
        laplace_scale: the least scale of Laplace noise on one number; None for more.
    """

    adjacency: Neighbours | None
    delta: float
    epsilon: float | None
    epsilon_reason: Message | None
    mu: float | None
    mu_reason: Message | None
    sensitivity: float
    gaussian_sd: float | None
    laplace_scale: float | None
    one_step: bool = False

    @property
    def present(self) -> bool:
        """Whether all that an attacker has to tell is whether a record is there."""
        return self.one_step and self.adjacency == "add-remove"


def requirement(
    target: Target,
    *,
    delta: float,
    adjacency: Neighbours | None,
    sensitivity: float,
    one_number: bool = True,
    one_step: bool = False,
) -> Requirement:
    """Return the weakest guarantees that keep a target.

    Args:
        target: the limit.
        delta: in [0, 1].
        adjacency: the neighbours that the guarantees are to be stated for.
        sensitivity: above 0; the most that the release moves between such neighbours.
        one_number: whether the release is one number, as Laplace noise assumes.
        one_step: whether an attacker has to tell what is one step apart by ``adjacency``; else
            what is apart by substitution, two steps by add or remove.
    """
    one_step = one_step or adjacency == "substitution"

    def largest(curve: Callable[[float], TradeOff]) -> float | None:
        steps = (lambda found: found) if one_step else two_steps
        return largest_within(lambda x: steps(curve(x)), target.kept_by)

    if target.quantity == "delta":  # the guarantee itself is wanted
        epsilon, delta = target.epsilon, target.value
    else:
        epsilon = largest(lambda x: ApproximateDP(epsilon=x, delta=delta))
    mu = largest(lambda x: GaussianDP(mu=x))
    shift = largest(lambda x: LaplaceMechanism(shift=x))
    if shift == math.inf and target.epsilon is not None:
        shift = target.epsilon  # beyond what is searched: pure, which is more than is asked for
    return Requirement(
        adjacency=adjacency,
        delta=delta,
        epsilon=_finite(epsilon),
        epsilon_reason=_reason(epsilon, "delta_allows_more"),
        # A mu of 0 is a release that does not depend on the data.
        mu=_finite(mu or None),
        mu_reason=_reason(mu or None, "no_noise_hides"),
        sensitivity=sensitivity,
        gaussian_sd=_scale(sensitivity, mu),
        laplace_scale=_scale(sensitivity, shift) if one_number else None,
        one_step=one_step,
    )


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _reason(number: float | None, impossible: str) -> Message | None:
    if number is None:
        return Message(impossible)
    return Message("any_attacker_allowed") if math.isinf(number) else None


def _scale(sensitivity: float, most: float | None) -> float | None:
    """Return the least scale for which sensitivity / scale is within ``most``, if any is."""
    if not most:
        return None
    least = sensitivity / most
    return _finite(math.nextafter(least, math.inf)) if least else least
