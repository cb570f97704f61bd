"""The exact trade-off curves of the classical mechanisms. Standard library only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mipaudit.maths.normal import cdf, density, mills_drop, mills_ratio, quantile
from mipaudit.maths.tradeoff import TradeOff

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianDP(TradeOff):
    """mu-GDP (Dong, Roth and Su 2022): at most what N(0, 1) against N(mu, 1) allows.

    Gaussian noise reaches it with mu = sensitivity / standard deviation.

    Attributes:
        mu: at least 0.
    """

    mu: float

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
        return cdf(quantile(fpr) + self.mu)

    def fnr(self, fpr: float) -> float:
        """Return Phi(-Phi^-1(F) - mu)."""
        return cdf(-quantile(fpr) - self.mu)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceMechanism(TradeOff):
    """Laplace noise on one number, as a shift of the noise by the whole sensitivity.

    Attributes:
        shift: sensitivity / scale of the noise; its epsilon. At least 0.
    """

    shift: float

    @property
    def loss(self) -> float:
        """The mechanism's epsilon."""
        return self.shift

    def profile(self, epsilon: float) -> float:
        """Return 1 - e^((epsilon - shift) / 2) below the shift."""
        return -math.expm1(min(0.0, (epsilon - self.shift) / 2))

    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate."""
        if 0 < fpr <= math.exp(-self.shift) / 2:
            return math.exp(math.log(fpr) + self.shift)
        return 1 - self.fnr(fpr)

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives at a false-positive rate."""
        inverse = math.exp(-self.shift)
        if fpr > 1 / 2:
            return inverse * (1 - fpr)
        if fpr <= inverse / 2:
            return 1 - math.exp(math.log(fpr) + self.shift) if fpr > 0 else 1.0
        return inverse / (4 * fpr)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricMechanism(TradeOff):
    """Two-sided geometric (discrete Laplace) noise on one whole number.

    P(noise = x) ~ e^(-|x| / scale); Ghosh, Roughgarden and Sundararajan 2012.

    Attributes:
        scale: above 0.
        sensitivity: a whole number, at least 0.
    """

    scale: float
    sensitivity: int

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
        if fpr <= 0 or fpr >= 1:
            return float(fpr >= 1)
        return self._at(fpr, lambda t: self._tail(t - self.sensitivity))

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives at a false-positive rate."""
        if fpr <= 0 or fpr >= 1:
            return float(fpr <= 0)
        return self._at(fpr, lambda t: self._tail(self.sensitivity + 1 - t))

    def _difference(self, t: int, epsilon: float) -> float:
        """Return P(noise >= t - sensitivity) - e^epsilon P(noise >= t), for 1 <= t."""
        if not 1 <= t <= self.sensitivity:
            return 0.0
        ratio = math.exp(-1 / self.scale)
        first = -math.expm1(epsilon - t / self.scale)
        second = -ratio * math.expm1((t - self.sensitivity) / self.scale)
        return (first + second) / (1 + ratio)

    def _tail(self, t: int) -> float:
        """Return P(noise >= t)."""
        ratio = math.exp(-1 / self.scale)
        if t < 0:
            return 1 - self._tail(1 - t)
        return math.exp(-t / self.scale) / (1 + ratio)

    def _at(self, fpr: float, height: Callable[[int], float]) -> float:
        """Return ``height`` at a false-positive rate in (0, 1), linear between corners."""
        t = self._corner(fpr)
        here, before = self._tail(t), self._tail(t - 1)
        weight = min(1.0, (fpr - here) / (before - here))
        return (1 - weight) * height(t) + weight * height(t - 1)

    def _corner(self, fpr: float) -> int:
        """Return the least t with P(noise >= t) <= fpr."""
        ratio = math.exp(-1 / self.scale)
        # The tail solved for t; the rounding is put right below.
        if fpr * (1 + ratio) <= 1:
            t = math.ceil(-self.scale * math.log(fpr * (1 + ratio)))
        else:
            t = 1 - math.floor(-self.scale * math.log((1 - fpr) * (1 + ratio)))
        while self._tail(t) > fpr:
            t += 1
        while self._tail(t - 1) <= fpr:
            t -= 1
        return t


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizedResponse(TradeOff):
    """One answer out of ``categories``, true with probability ``truth``.

    Otherwise one of the others, all equally likely. Warner 1965; Kairouz, Bonawitz and
    Ramage 2016. Neighbours differ in the true answer.

    Attributes:
        truth: probability of the true answer, in [0, 1].
        categories: at least 2.
    """

    truth: float
    categories: int

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
        return math.log(self.likely / self.rare) if self.rare > 0 else math.inf

    def profile(self, epsilon: float) -> float:
        """Return delta(epsilon): the answer whose likelihoods differ most decides it."""
        if epsilon >= self.loss:
            return 0.0
        return self.likely - self.rare - self.rare * math.expm1(min(epsilon, _ALL_BUT_ENDLESS))

    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate."""
        if fpr <= self.rare:
            return self.likely if self.rare == 0 else fpr * (self.likely / self.rare)
        return 1 - self.fnr(fpr)

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives: three straight pieces, slope -1 in the middle."""
        if fpr <= self.rare:
            return 1 - self.tpr(fpr)
        if fpr < 1 - self.likely:
            return self.rare + (1 - self.likely - fpr)
        return (1 - fpr) * (self.rare / self.likely)

    @property
    def _other(self) -> float:
        return (1 - self.truth) / (self.categories - 1)


# e to this power is still a float; the profile is 0 long before.
_ALL_BUT_ENDLESS = 700.0
