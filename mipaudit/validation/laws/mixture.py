"""Mixtures: the distribution of one class's scores, and the simple parts that it is mixed from.

A part is either continuous or a set of atoms. Each draws its scores in one way
and states its distribution function in another, so that tests can compare them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_TAIL_STEPS: Final = 24
_REACH: Final = 40.0  # standard deviations: no draw is further from its mean
_HALVINGS: Final = 60


class Part(ABC):
    """One simple distribution of scores."""

    __slots__ = ()

    @abstractmethod
    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""

    @abstractmethod
    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x) for each x; infinities are allowed."""


class Continuous(Part):
    """A part without atoms."""

    __slots__ = ()

    @abstractmethod
    def quantile(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores at these levels, each in (0, 1)."""

    def kinks(self) -> NDArray[np.float64]:
        """Return the scores where the density is not smooth."""
        return np.empty(0)

    def edges(self, cells: int) -> NDArray[np.float64]:
        """Return points that cut the part into cells of at most 1/``cells`` of its mass.

        The two outermost cells are halved again and again, for low false-positive rates.
        """
        inner = np.arange(1, cells) / cells
        tail = np.exp2(-np.arange(1, _TAIL_STEPS + 1)) / cells
        return np.concatenate(
            [self.quantile(np.concatenate([tail, inner, 1 - tail])), self.kinks()]
        )


class Discrete(Part):
    """A part of atoms only."""

    __slots__ = ()

    @abstractmethod
    def atoms(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the increasing values and their masses, which sum to 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Atoms(Discrete):
    """Finitely many increasing values (infinity allowed), with masses that sum to 1."""

    values: NDArray[np.float64]
    masses: NDArray[np.float64]

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""
        return rng.choice(self.values, size, p=self.masses)

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x)."""
        levels = np.concatenate([[0.0], np.cumsum(self.masses)])
        return levels[np.searchsorted(self.values, x, side="right")]

    def atoms(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the values and their masses."""
        return self.values, self.masses


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rounded(Discrete):
    """Continuous scores rounded to the nearest of some increasing, finite values."""

    base: Continuous
    values: NDArray[np.float64]

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores."""
        return self.values[np.searchsorted(self._midpoints(), self.base.draw(rng, size))]

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x)."""
        levels = np.concatenate([[0.0], self.base.cdf(self._midpoints()), [1.0]])
        return levels[np.searchsorted(self.values, x, side="right")]

    def atoms(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the values and their masses."""
        levels = np.concatenate([[0.0], self.base.cdf(self._midpoints()), [1.0]])
        return self.values, np.diff(levels)

    def _midpoints(self) -> NDArray[np.float64]:
        return (self.values[1:] + self.values[:-1]) / 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mixture:
    """Parts with weights that sum to 1."""

    parts: tuple[Part, ...]
    weights: tuple[float, ...]

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores, in no particular order of parts."""
        if len(self.parts) == 1:
            return self.parts[0].draw(rng, size)
        source = rng.choice(len(self.parts), size, p=self.weights)
        scores = np.empty(size)
        for index, part in enumerate(self.parts):
            chosen = source == index
            scores[chosen] = part.draw(rng, int(chosen.sum()))
        return scores

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(score <= x), atoms at x included."""
        total = np.zeros(x.shape)
        for part, weight in zip(self.parts, self.weights, strict=True):
            total += weight * part.cdf(x)
        return total

    def continuous_cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mass at or below x of the continuous parts alone."""
        total = np.zeros(x.shape)
        for part, weight in zip(self.parts, self.weights, strict=True):
            if isinstance(part, Continuous):
                total += weight * part.cdf(x)
        return total

    def edges(self, cells: int) -> NDArray[np.float64]:
        """Return the cell edges of all continuous parts; empty if there is none."""
        found = [part.edges(cells) for part in self.parts if isinstance(part, Continuous)]
        return np.concatenate([np.empty(0), *found])

    def atoms(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return all atoms, as values (a value may repeat) and masses."""
        values, masses = [np.empty(0)], [np.empty(0)]
        for part, weight in zip(self.parts, self.weights, strict=True):
            if isinstance(part, Discrete):
                at, mass = part.atoms()
                values.append(at)
                masses.append(weight * mass)
        return np.concatenate(values), np.concatenate(masses)


def mixture(*weighted: tuple[float, Part]) -> Mixture:
    """Return the mixture of (weight, part) pairs; the weights sum to 1."""
    return Mixture(
        parts=tuple(part for _, part in weighted), weights=tuple(weight for weight, _ in weighted)
    )


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
class Drift(Continuous):
    """Normal scores whose mean moves evenly along the rows; stated is the mean of their laws."""

    start: float
    stop: float

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return ``size`` independent scores, in the order of the drift."""
        along = (np.arange(size) + 1 / 2) / max(size, 1)
        return rng.normal(self.start + (self.stop - self.start) * along)

    def cdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean over the rows of P(score <= x)."""
        from scipy.special import ndtr

        middle, half = (self.start + self.stop) / 2, (self.stop - self.start) / 2
        # By symmetry the lower tail serves for both, so that neither is lost in rounding.
        z = np.maximum(-np.abs(x - middle), -_REACH)[:, None] + [half, -half]
        sums = z * ndtr(z) + np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        tail = (sums[:, 0] - sums[:, 1]) / (2 * half)
        return np.asarray(np.where(x > middle, 1 - tail, tail))

    def quantile(self, level: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores at these levels, by halving."""
        step = self.stop - self.start + 2 * _REACH
        found = np.full(level.shape, self.start - _REACH)
        for _ in range(_HALVINGS):
            step /= 2
            found += np.where(self.cdf(found + step) < level, step, 0.0)
        return found


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
