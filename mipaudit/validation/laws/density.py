"""Densities: the continuous parts that score laws are mixed from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.validation.laws.part import Continuous

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal(Continuous):
    """Normal scores."""

    mean: float = 0.0
    sd: float = 1.0

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""
        return rng.normal(self.mean, self.sd, size)

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x)."""
        from scipy.special import ndtr

        return np.asarray(ndtr((x - self.mean) / self.sd))

    def quantile(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores at these levels."""
        from scipy.special import ndtri

        return np.asarray(self.mean + self.sd * ndtri(level))


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfNormal(Continuous):
    """Absolute values of normal scores about 0: the errors of a regression."""

    sd: float = 1.0

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""
        return np.abs(rng.normal(0.0, self.sd, size))

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x)."""
        from scipy.special import erf

        return np.asarray(erf(np.maximum(x, 0.0) / (self.sd * math.sqrt(2))))

    def quantile(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores at these levels."""
        from scipy.special import erfinv

        return np.asarray(self.sd * math.sqrt(2) * erfinv(level))

    def kinks(self) -> NDArray[np.float64]:
        """Return the end of the support."""
        return np.array([0.0])


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNormal(Continuous):
    """Exponentials of normal scores."""

    log_mean: float = 0.0
    log_sd: float = 1.0

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""
        return rng.lognormal(self.log_mean, self.log_sd, size)

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x)."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(x, 0.0))
        return Normal(mean=self.log_mean, sd=self.log_sd).cdf(logs)

    def quantile(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores at these levels."""
        return np.asarray(np.exp(Normal(mean=self.log_mean, sd=self.log_sd).quantile(level)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace(Continuous):
    """Laplace scores: what the Laplace mechanism releases."""

    centre: float = 0.0
    scale: float = 1.0

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""
        return rng.laplace(self.centre, self.scale, size)

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x)."""
        z = (x - self.centre) / self.scale
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, tail, 1 - tail)

    def quantile(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores at these levels."""
        distance = -np.log(2 * np.minimum(level, 1 - level))
        return np.asarray(self.centre + self.scale * np.sign(level - 0.5) * distance)

    def kinks(self) -> NDArray[np.float64]:
        """Return the cusp."""
        return np.array([self.centre])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cauchy(Continuous):
    """Cauchy scores: no mean, so equal-width bins see nothing."""

    centre: float = 0.0

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""
        return self.centre + rng.standard_cauchy(size)

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x)."""
        return 0.5 + np.arctan(x - self.centre) / math.pi

    def quantile(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores at these levels."""
        return self.centre + np.tan(math.pi * (level - 0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pareto(Continuous):
    """``shift`` plus a Pareto score, which is at least 1."""

    index: float
    shift: float = 0.0

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""
        return self.shift + 1.0 + rng.pareto(self.index, size)

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x)."""
        return -np.expm1(-self.index * np.log(np.maximum(x - self.shift, 1.0)))

    def quantile(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores at these levels."""
        return np.asarray(self.shift + np.exp(-np.log1p(-level) / self.index))

    def kinks(self) -> NDArray[np.float64]:
        """Return the end of the support."""
        return np.array([self.shift + 1.0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Beta(Continuous):
    """Beta scores, as a classifier's confidence in the true label."""

    a: float
    b: float

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""
        return rng.beta(self.a, self.b, size)

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x)."""
        from scipy.special import betainc

        return np.asarray(betainc(self.a, self.b, np.clip(x, 0.0, 1.0)))

    def quantile(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores at these levels."""
        from scipy.special import betaincinv

        return np.asarray(betaincinv(self.a, self.b, level))


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps(Continuous):
    """A density constant on equal steps of [start, stop], with these positive masses."""

    masses: tuple[float, ...]
    start: float = 0.0
    stop: float = 1.0

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""
        step = rng.choice(len(self.masses), size, p=self.masses)
        width = (self.stop - self.start) / len(self.masses)
        return self.start + width * (step + rng.random(size))

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x)."""
        return np.interp(x, self.kinks(), self._levels())

    def quantile(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores at these levels."""
        return np.interp(level, self._levels(), self.kinks())

    def kinks(self) -> NDArray[np.float64]:
        """Return the ends of the steps."""
        return np.linspace(self.start, self.stop, len(self.masses) + 1)

    def _levels(self) -> NDArray[np.float64]:
        return np.concatenate([[0.0], np.cumsum(self.masses)])
