"""Random draws, seeded when first drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Draws(Protocol):
    """What breaks ties: a `numpy.random.Generator`, or a late one."""

    def standard_gamma(self, shape: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return a standard gamma draw of each shape."""

    def multinomial(self, n: int, pvals: NDArray[np.float64], /) -> NDArray[np.int64]:
        """Return how ``n`` draws fall into classes of these probabilities."""


class LateGenerator:
    """The two draws that break ties, as `numpy.random.Generator` makes them.

    Most scores have no ties, and seeding a generator costs more than a threshold does.
    """

    __slots__ = ("_made", "_seed")

    def __init__(self, seed: Sequence[int]) -> None:
        """Remember the seed."""
        self._seed = seed
        self._made: np.random.Generator | None = None

    def standard_gamma(self, shape: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a standard gamma draw of each shape."""
        return self._generator().standard_gamma(shape)

    def multinomial(self, n: int, pvals: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return how ``n`` draws fall into classes of these probabilities."""
        return self._generator().multinomial(n, pvals)

    def _generator(self) -> np.random.Generator:
        if self._made is None:
            self._made = np.random.default_rng(self._seed)
        return self._made
