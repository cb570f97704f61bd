"""Two queries of the same records with known advantages, correlated as wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.scenarios.density import Normal
from mipaudit.scenarios.law_families import law_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.scenarios.law import Law


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedScores:
    """Normal scores of two queries; members are higher by a shift, another for each query.

    Attributes:
        name: stable, lower case, with hyphens.
        shifts: of the two queries, in standard deviations, at least 0.
        correlation: of the two scores of a record, given its membership, in (-1, 1).
        apart: whether the second query was asked about other records.
    """

    name: str
    shifts: tuple[float, float]
    correlation: float = 0.0
    apart: bool = False

    def draw(
        self, rng: np.random.Generator, member: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores of records with this membership under both queries."""
        first, other = rng.standard_normal((2, member.size))
        second = self.correlation * first + math.sqrt(1 - self.correlation**2) * other
        return first + self.shifts[0] * member, second + self.shifts[1] * member

    def difference(self, prior: float) -> float:
        """Return the first query's advantage minus the second's.

        The best attacker has one threshold on either score, so this is the difference for
        the classes of thresholds and of intervals alike.
        """
        first, second = (_law(shift).advantage(prior) for shift in self.shifts)
        return first - second

    def larger_advantage(self, prior: float) -> float:
        """Return the larger of the two advantages."""
        return max(_law(shift).advantage(prior) for shift in self.shifts)

    def joint_advantage(self, prior: float) -> float:
        """Return the advantage of the best attacker who sees both scores."""
        a, b, r = *self.shifts, self.correlation
        return _law(math.sqrt(max(0.0, (a * a - 2 * r * a * b + b * b) / (1 - r * r)))).advantage(
            prior
        )


@lru_cache(maxsize=64)
def _law(shift: float) -> Law:
    return law_of("shifted", f"members {shift:g} higher", Normal(mean=shift), Normal())


PAIRED_SCORES: Final = tuple(
    PairedScores(
        name=f"{kind}-{word}", shifts=shifts, correlation=correlation, apart=word == "apart"
    )
    for kind, shifts in (("null", (0.0, 0.0)), ("equal", (1.0, 1.0)), ("unequal", (1.5, 0.5)))
    for word, correlation in (("alike", 0.8), ("unrelated", 0.0), ("opposed", -0.8), ("apart", 0.0))
)
