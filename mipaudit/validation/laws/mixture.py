"""Mixtures: the distribution of one class's scores, and the simple parts that it is mixed from.

A part is either continuous or a set of atoms. Each draws its scores in one way
and states its distribution function in another, so that tests can compare them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]
# Takes how many, and returns as many independent scores.
Draw = Callable[[np.random.Generator, int], Floats]

_TAIL_STEPS: Final = 24
_REACH: Final = 40.0  # standard deviations: no draw is further from its mean
_HALVINGS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Continuous:
    """A part without atoms.

    Attributes:
        draw: independent scores.
        cdf: P(score <= x) for each x; infinities are allowed.
        quantile: the scores at levels, each in (0, 1).
        kinks: the scores where the density is not smooth.
    """

    draw: Draw
    cdf: Function
    quantile: Function
    kinks: Sequence[float] | Floats = ()

    def edges(self, cells: int) -> Floats:
        """Return points that cut the part into cells of at most 1/``cells`` of its mass.

        The two outermost cells are halved again and again, for low false-positive rates.
        """
        inner = np.arange(1, cells) / cells
        tail = np.exp2(-np.arange(1, _TAIL_STEPS + 1)) / cells
        return np.concatenate([self.quantile(np.concatenate([tail, inner, 1 - tail])), self.kinks])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Discrete:
    """A part of atoms only.

    Attributes:
        draw: independent scores.
        values: of the atoms, increasing.
        table: returns their masses, which sum to 1, and P(score <= value) after a 0.
    """

    draw: Draw
    values: Floats
    table: Callable[[], tuple[Floats, Floats]]

    def cdf(self, x: Floats) -> Floats:
        """Return P(score <= x)."""
        return self.table()[1][np.searchsorted(self.values, x, side="right")]

    def atoms(self) -> tuple[Floats, Floats]:
        """Return the increasing values and their masses, which sum to 1."""
        return self.values, self.table()[0]


Part = Continuous | Discrete


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mixture:
    """Parts with weights that sum to 1."""

    parts: tuple[Part, ...]
    weights: tuple[float, ...]

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Return ``size`` independent scores, in no particular order of parts."""
        if len(self.parts) == 1:
            return self.parts[0].draw(rng, size)
        source = rng.choice(len(self.parts), size, p=self.weights)
        scores = np.empty(size)
        for index, part in enumerate(self.parts):
            chosen = source == index
            scores[chosen] = part.draw(rng, int(chosen.sum()))
        return scores

    def cdf(self, x: Floats) -> Floats:
        """Return P(score <= x), atoms at x included."""
        total = np.zeros(x.shape)
        for part, weight in zip(self.parts, self.weights, strict=True):
            total += weight * part.cdf(x)
        return total

    def continuous_cdf(self, x: Floats) -> Floats:
        """Return the mass at or below x of the continuous parts alone."""
        total = np.zeros(x.shape)
        for part, weight in zip(self.parts, self.weights, strict=True):
            if isinstance(part, Continuous):
                total += weight * part.cdf(x)
        return total

    def edges(self, cells: int) -> Floats:
        """Return the cell edges of all continuous parts; empty if there is none."""
        found = [part.edges(cells) for part in self.parts if isinstance(part, Continuous)]
        return np.concatenate([np.empty(0), *found])

    def atoms(self) -> tuple[Floats, Floats]:
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


def atoms(values: Floats, masses: Floats) -> Discrete:
    """Return finitely many increasing values (infinity allowed), with masses that sum to 1."""
    return Discrete(
        draw=lambda rng, size: rng.choice(values, size, p=masses),
        values=values,
        table=lambda: (masses, np.concatenate([[0.0], np.cumsum(masses)])),
    )


def rounded(base: Continuous, values: Floats) -> Discrete:
    """Return continuous scores rounded to the nearest of some increasing, finite values."""
    middles = (values[1:] + values[:-1]) / 2

    def table() -> tuple[Floats, Floats]:
        levels = np.concatenate([[0.0], base.cdf(middles), [1.0]])
        return np.diff(levels), levels

    return Discrete(
        draw=lambda rng, size: values[np.searchsorted(middles, base.draw(rng, size))],
        values=values,
        table=table,
    )


def _special() -> Any:  # noqa: ANN401 - a module without types
    from scipy import special

    return special


def normal(mean: float = 0.0, sd: float = 1.0) -> Continuous:
    """Return normal scores."""
    return Continuous(
        draw=lambda rng, size: rng.normal(mean, sd, size),
        cdf=lambda x: np.asarray(_special().ndtr((x - mean) / sd)),
        quantile=lambda level: np.asarray(mean + sd * _special().ndtri(level)),
    )


def drift(start: float, stop: float) -> Continuous:
    """Return normal scores whose mean moves evenly along the rows; their law is the mean of all."""

    def draw(rng: np.random.Generator, size: int) -> Floats:
        along = (np.arange(size) + 1 / 2) / max(size, 1)
        return rng.normal(start + (stop - start) * along)

    def cdf(x: Floats) -> Floats:
        middle, half = (start + stop) / 2, (stop - start) / 2
        # By symmetry the lower tail serves for both, so that neither is lost in rounding.
        z = np.maximum(-np.abs(x - middle), -_REACH)[:, None] + [half, -half]
        sums = z * _special().ndtr(z) + np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        tail = (sums[:, 0] - sums[:, 1]) / (2 * half)
        return np.asarray(np.where(x > middle, 1 - tail, tail))

    def quantile(level: Floats) -> Floats:
        # By halving.
        step = stop - start + 2 * _REACH
        found = np.full(level.shape, start - _REACH)
        for _ in range(_HALVINGS):
            step /= 2
            found += np.where(cdf(found + step) < level, step, 0.0)
        return found

    return Continuous(draw=draw, cdf=cdf, quantile=quantile)


def half_normal(sd: float) -> Continuous:
    """Return absolute values of normal scores about 0: the errors of a regression."""
    scale = sd * math.sqrt(2)
    return Continuous(
        draw=lambda rng, size: np.abs(rng.normal(0.0, sd, size)),
        cdf=lambda x: np.asarray(_special().erf(np.maximum(x, 0.0) / scale)),
        quantile=lambda level: np.asarray(scale * _special().erfinv(level)),
        kinks=(0.0,),
    )


def log_normal(log_mean: float = 0.0, log_sd: float = 1.0) -> Continuous:
    """Return exponentials of normal scores."""
    logs = normal(log_mean, log_sd)

    def cdf(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return logs.cdf(np.log(np.maximum(x, 0.0)))

    return Continuous(
        draw=lambda rng, size: rng.lognormal(log_mean, log_sd, size),
        cdf=cdf,
        quantile=lambda level: np.asarray(np.exp(logs.quantile(level))),
    )


def laplace(centre: float = 0.0, scale: float = 1.0) -> Continuous:
    """Return Laplace scores: what the Laplace mechanism releases."""

    def cdf(x: Floats) -> Floats:
        z = (x - centre) / scale
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, tail, 1 - tail)

    def quantile(level: Floats) -> Floats:
        distance = -np.log(2 * np.minimum(level, 1 - level))
        return np.asarray(centre + scale * np.sign(level - 0.5) * distance)

    return Continuous(
        draw=lambda rng, size: rng.laplace(centre, scale, size),
        cdf=cdf,
        quantile=quantile,
        kinks=(centre,),
    )


def cauchy(centre: float = 0.0) -> Continuous:
    """Return Cauchy scores: no mean, so equal-width bins see nothing."""
    return Continuous(
        draw=lambda rng, size: centre + rng.standard_cauchy(size),
        cdf=lambda x: 0.5 + np.arctan(x - centre) / math.pi,
        quantile=lambda level: centre + np.tan(math.pi * (level - 0.5)),
    )


def pareto(index: float, shift: float = 0.0) -> Continuous:
    """Return ``shift`` plus a Pareto score, which is at least 1."""
    return Continuous(
        draw=lambda rng, size: shift + 1.0 + rng.pareto(index, size),
        cdf=lambda x: -np.expm1(-index * np.log(np.maximum(x - shift, 1.0))),
        quantile=lambda level: np.asarray(shift + np.exp(-np.log1p(-level) / index)),
        kinks=(shift + 1.0,),
    )


def beta(a: float, b: float) -> Continuous:
    """Return beta scores, as a classifier's confidence in the true label."""
    return Continuous(
        draw=lambda rng, size: rng.beta(a, b, size),
        cdf=lambda x: np.asarray(_special().betainc(a, b, np.clip(x, 0.0, 1.0))),
        quantile=lambda level: np.asarray(_special().betaincinv(a, b, level)),
    )


def steps(masses: Sequence[float] | Floats, start: float = 0.0, stop: float = 1.0) -> Continuous:
    """Return a density constant on equal steps of [start, stop], with these positive masses."""
    ends = np.linspace(start, stop, len(masses) + 1)
    levels = np.concatenate([[0.0], np.cumsum(masses)])

    def draw(rng: np.random.Generator, size: int) -> Floats:
        step = rng.choice(len(masses), size, p=masses)
        return start + (stop - start) / len(masses) * (step + rng.random(size))

    return Continuous(
        draw=draw,
        cdf=lambda x: np.interp(x, ends, levels),
        quantile=lambda level: np.interp(level, levels, ends),
        kinks=ends,
    )
