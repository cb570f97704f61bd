"""The exact trade-off curves of the classical mechanisms. Standard library only."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Final

from mipaudit.maths.normal import cdf, density, mills_drop, mills_ratio, quantile
from mipaudit.maths.privacy.tradeoff import TradeOff, scaled


class GaussianDP(TradeOff):
    """mu-GDP (Dong, Roth and Su 2022): at most what N(0, 1) against N(mu, 1) allows.

    Gaussian noise reaches it with mu = sensitivity / standard deviation.

    Attributes:
        mu: at least 0.
    """

    __slots__ = ("mu",)

    def __init__(self, *, mu: float) -> None:
        self.mu: Final = mu

    @property
    def loss(self) -> float:
        """No limit, unless nothing is released at all."""
        return math.inf if self.mu > 0 else 0.0

    def profile(self, epsilon: float) -> float:
        """Return Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)."""
        if self.mu == 0:
            return 0.0
        near = epsilon / self.mu - self.mu / 2
        if near < 0 and self.mu > 1:
            return cdf(-near) - density(near) * mills_ratio(near + self.mu)
        # e^epsilon density(near + mu) = density(near): the difference of two Mills ratios.
        return density(near) * mills_drop(near, self.mu)

    def tpr(self, fpr: float) -> float:
        """Return Phi(Phi^-1(F) + mu)."""
        if self.mu == 0:
            return fpr
        return cdf(quantile(fpr) + self.mu)

    def fnr(self, fpr: float) -> float:
        """Return Phi(-Phi^-1(F) - mu)."""
        return cdf(-quantile(fpr) - self.mu)


class LaplaceMechanism(TradeOff):
    """Laplace noise on one number, as a shift of the noise by the whole sensitivity.

    Attributes:
        shift: sensitivity / scale of the noise; its epsilon. At least 0.
    """

    __slots__ = ("shift",)

    def __init__(self, *, shift: float) -> None:
        self.shift: Final = shift

    @property
    def loss(self) -> float:
        """The mechanism's epsilon."""
        return self.shift

    def profile(self, epsilon: float) -> float:
        """Return 1 - e^((epsilon - shift) / 2) below the shift."""
        return abs(math.expm1(min(0.0, (epsilon - self.shift) / 2)))

    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate."""
        if fpr <= math.exp(-self.shift) / 2:
            return scaled(fpr, self.shift)
        return 1 - self.fnr(fpr)

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives at a false-positive rate."""
        inverse = math.exp(-self.shift)
        if fpr > 1 / 2:
            return inverse * (1 - fpr)
        if fpr <= inverse / 2:
            return 1 - scaled(fpr, self.shift)
        return inverse / (4 * fpr)


class GeometricMechanism(TradeOff):
    """Two-sided geometric (discrete Laplace) noise on one whole number.

    P(noise = x) ~ e^(-|x| / scale); Ghosh, Roughgarden and Sundararajan 2012.

    Attributes:
        scale: above 0.
        sensitivity: a whole number, at least 0.
    """

    __slots__ = ("scale", "sensitivity")

    def __init__(self, *, scale: float, sensitivity: int) -> None:
        self.scale: Final = scale
        self.sensitivity: Final = sensitivity

    @property
    def loss(self) -> float:
        """The mechanism's epsilon."""
        return self.sensitivity / self.scale

    def profile(self, epsilon: float) -> float:
        """Return delta(epsilon): the best set is {noise >= t} for one of few whole t."""
        if epsilon >= self.loss:
            return 0.0
        best = math.ceil((self.sensitivity + epsilon * self.scale) / 2)
        # One more on both sides: the product may be off by a rounding.
        return max(self._difference(t, epsilon) for t in (best - 1, best, best + 1))

    def tpr(self, fpr: float) -> float:
        """Return the most true positives; between two corners of the ROC by a coin."""
        if fpr <= self._tail(self.sensitivity):
            return scaled(fpr, self.loss)
        return 1 - self.fnr(fpr)

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives at a false-positive rate."""
        steep = self._tail(self.sensitivity)
        if fpr <= steep:
            # Counted from the end of the steepest piece, where 1 - TPR would cancel.
            return self._tail(1) + scaled(steep - fpr, self.loss)
        if fpr >= self._tail(0):
            return math.exp(-self.loss) * (1 - fpr)
        t = self._corner(fpr)
        here, before = self._tail(t), self._tail(t - 1)
        weight = (fpr - here) / (before - here)
        beyond = self.sensitivity + 1 - t
        return (1 - weight) * self._tail(beyond) + weight * self._tail(beyond + 1)

    def _difference(self, t: int, epsilon: float) -> float:
        """Return P(noise >= t - sensitivity) - e^epsilon P(noise >= t), for 1 <= t."""
        if not 1 <= t <= self.sensitivity:
            return 0.0
        ratio = math.exp(-1 / self.scale)
        first = -math.expm1(epsilon - t / self.scale)
        second = -ratio * math.expm1((t - self.sensitivity) / self.scale)
        return (first + second) / (1 + ratio)

    def _tail(self, t: int) -> float:
        """Return P(noise >= t), for t at least 0."""
        return math.exp(-t / self.scale) / (1 + math.exp(-1 / self.scale))

    def _corner(self, fpr: float) -> int:
        """Return the least t with P(noise >= t) <= fpr, between 1 and the sensitivity."""
        return 1 + bisect_left(
            range(1, self.sensitivity), x=True, key=lambda t: self._tail(t) <= fpr
        )


class RandomizedResponse(TradeOff):
    """One answer out of ``categories``, true with probability ``truth``.

    Otherwise one of the others, all equally likely. Warner 1965; Kairouz, Bonawitz and
    Ramage 2016. Neighbours differ in the true answer.

    Attributes:
        truth: probability of the true answer, in [0, 1].
        categories: at least 2.
    """

    __slots__ = ("categories", "truth")

    def __init__(self, *, truth: float, categories: int) -> None:
        self.truth: Final = truth
        self.categories: Final = categories

    @property
    def likely(self) -> float:
        """The greater of the two probabilities of naming one given answer."""
        return max(self.truth, self._other)

    @property
    def rare(self) -> float:
        """The lesser of the two."""
        return min(self.truth, self._other)

    @property
    def loss(self) -> float:
        """The mechanism's epsilon."""
        if self.rare == 0:
            return math.inf
        if self.likely <= 2 * self.rare:
            # The difference is exact, and next to 1 the ratio would not be.
            return math.log1p((self.likely - self.rare) / self.rare)
        return math.log(self.likely) - math.log(self.rare)

    def profile(self, epsilon: float) -> float:
        """Return delta(epsilon): the answer whose likelihoods differ most decides it."""
        return self.likely * abs(math.expm1(min(0.0, epsilon - self.loss)))

    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate."""
        if fpr <= self.rare:
            return self.likely * (fpr / self.rare if self.rare > 0 else 1.0)
        return 1 - self.fnr(fpr)

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives: three straight pieces, slope -1 in the middle."""
        if fpr <= self.rare:
            spare = (self.rare - fpr) / self.rare if self.rare > 0 else 0.0
            return self._unlikely + self.likely * spare
        if fpr < self._unlikely:
            return self.rare + (self._unlikely - fpr)
        return (1 - fpr) * (self.rare / self.likely)

    @property
    def _other(self) -> float:
        return (1 - self.truth) / (self.categories - 1)

    @property
    def _unlikely(self) -> float:
        """1 - ``likely``, without cancellation."""
        if self.truth >= self._other:
            return 1 - self.truth
        return (self.categories - 2 + self.truth) / (self.categories - 1)
