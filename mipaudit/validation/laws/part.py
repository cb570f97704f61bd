"""Parts: the simple distributions that score laws are mixed from.

A part is either continuous or a set of atoms. Each draws its scores in one way
and states its distribution function in another, so that tests can compare them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TAIL_STEPS: Final = 24


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
