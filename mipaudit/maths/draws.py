"""Random draws: seeded when first drawn from, and rows dropped so that classes fit the prior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

_LARGEST_DENOMINATOR: Final = 1000
_WORTHWHILE: Final = 0.25
_MOST_ROWS: Final = 10**9  # numpy draws without replacement below this


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


def proportional_sizes(n_members: int, n_holdout: int, prior: float) -> tuple[int, int] | None:
    """Return the largest (N1', N2') with N1' = p (N1' + N2') exactly.

    Args:
        n_members: members available.
        n_holdout: holdout records available.
        prior: p in (0, 1).

    Returns:
        The sizes, or None where the prior is no simple fraction, or where dropping
        so many rows of one class would cost more than it gains.
    """
    share = Fraction(prior).limit_denominator(_LARGEST_DENOMINATOR)
    if not math.isclose(float(share), prior, rel_tol=1e-12) or not 0 < share < 1:
        return None
    per_member, per_holdout = share.numerator, share.denominator - share.numerator
    times = min(n_members // per_member, n_holdout // per_holdout)
    if times == 0 or max(n_members, n_holdout) >= _MOST_ROWS:
        return None
    kept = times * per_member, times * per_holdout
    if kept[0] < _WORTHWHILE * n_members and kept[1] < _WORTHWHILE * n_holdout:
        return None
    return kept


def in_proportion(n_members: int, n_holdout: int, prior: float) -> bool:
    """Tell whether the classes stand in proportion to the prior."""
    return math.isclose(n_members, prior * (n_members + n_holdout), rel_tol=1e-12)


def thin(counts: NDArray[np.int64], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the counts of ``size`` rows drawn without replacement.

    Args:
        counts: rows per step, shape (m,).
        size: rows to keep, at most the total.
        rng: source of randomness.
    """
    if size == int(counts.sum()):
        return counts
    return np.asarray(rng.multivariate_hypergeometric(counts, size, method="marginals"))
