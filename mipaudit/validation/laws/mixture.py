"""A mixture of parts: the distribution of one class's scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.validation.laws.part import Continuous, Discrete

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.validation.laws.part import Part


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
