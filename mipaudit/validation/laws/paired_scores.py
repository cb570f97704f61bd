"""Two queries of the same records with known advantages: correlated, or seldom swapped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.laws.mixture import Normal
from mipaudit.validation.laws.parametric_laws import law_of

if TYPE_CHECKING:
    from mipaudit.validation.laws.law import Law


class ScorePair(Protocol):
    """Scores of two queries with known advantages."""

    @property
    def name(self) -> str:
        """Return the name: stable, lower case, with hyphens."""
        ...

    @property
    def apart(self) -> bool:
        """Return whether the second query was asked about other records."""
        ...

    def draw(
        self, rng: np.random.Generator, member: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores of records with this membership under both queries."""
        ...

    def difference(self, prior: float) -> float:
        """Return the first query's advantage minus the second's, for thresholds."""
        ...

    def larger_advantage(self, prior: float) -> float:
        """Return the larger of the two advantages."""
        ...

    def joint_advantage(self, prior: float) -> float:
        """Return the advantage of the best attacker who sees both scores."""
        ...


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RareSwing:
    """One score tells all members but a few, and the other tells just those few.

    The hardest case for a limit of the difference: a file may hold none of the rows on which
    the two attackers change places, and each of them moves the difference twice.

    Attributes:
        name: stable, lower case, with hyphens.
        share: of the members that only the second score tells, in (0, 1).
    """

    name: str
    share: float

    @property
    def apart(self) -> bool:
        """Return whether the second query was asked about other records: it was not."""
        return False

    def draw(
        self, rng: np.random.Generator, member: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores, 0 or 1, of records with this membership under both queries."""
        rare = member & (rng.random(member.size) < self.share)
        return np.asarray(member & ~rare, dtype=np.float64), rare.astype(np.float64)

    def difference(self, prior: float) -> float:
        """Return the first query's advantage minus the second's, for any class."""
        return self._advantage(1 - self.share, prior) - self._advantage(self.share, prior)

    def larger_advantage(self, prior: float) -> float:
        """Return the larger of the two advantages."""
        return self._advantage(max(self.share, 1 - self.share), prior)

    def joint_advantage(self, prior: float) -> float:  # noqa: ARG002
        """Return the advantage of who sees both scores, and so is always right."""
        return 1.0

    def _advantage(self, tpr: float, prior: float) -> float:
        """Return the advantage of a score that no holdout record has and some members do."""
        return max(1 - 2 * prior + 2 * prior * tpr, abs(2 * prior - 1))


@lru_cache(maxsize=64)
def _law(shift: float) -> Law:
    return law_of("shifted", f"members {shift:g} higher", Normal(mean=shift), Normal())


CORRELATED: Final = tuple(
    PairedScores(
        name=f"{kind}-{word}", shifts=shifts, correlation=correlation, apart=word == "apart"
    )
    for kind, shifts in (("null", (0.0, 0.0)), ("equal", (1.0, 1.0)), ("unequal", (1.5, 0.5)))
    for word, correlation in (("alike", 0.8), ("unrelated", 0.0), ("opposed", -0.8), ("apart", 0.0))
)
# About two such members are expected in a file of 200 and of 1,000 records: the worst for them.
SWINGS: Final = (
    RareSwing(name="swing-rare", share=0.03),
    RareSwing(name="swing-rarer", share=0.005),
)
PAIRED_SCORES: Final[tuple[ScorePair, ...]] = (*CORRELATED, *SWINGS)
