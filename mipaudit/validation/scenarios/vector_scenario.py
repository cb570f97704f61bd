"""Scores of two numbers that tell more together than each alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.validation.laws.density import Normal
from mipaudit.validation.laws.parametric_laws import coin, law_of
from mipaudit.validation.scenarios.scenario import RecordScenario
from mipaudit.validation.scenarios.view import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.scenarios.view import Columns

FIRST: Final = "d1"
SECOND: Final = "d2"
BOTH: Final = f"{FIRST}, {SECOND}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Xor(RecordScenario):
    """Normal scores whose signs agree more often in members: alone, each tells nothing.

    Attributes:
        advantage: of the best attacker at prior 0.5, in (0, 1].
    """

    advantage: float

    @property
    def drawn(self) -> tuple[str, ...]:
        """Two scores."""
        return (FIRST, SECOND)

    def draw(self, rng: np.random.Generator, member: NDArray[np.bool_]) -> Columns:
        """Return pairs of scores of records with this membership."""
        first = rng.standard_normal(member.size)
        second = np.abs(rng.standard_normal(member.size))
        agree = rng.random(member.size) < np.where(member, *self._chances())
        return {FIRST: first, SECOND: np.copysign(second, np.where(agree, first, -first))}

    def views(self) -> tuple[View, ...]:
        """Return the pair, of which the agreement of the signs is all, and each alone."""
        inside, outside = self._chances()
        agreement = law_of("signs", "whether the signs agree", coin(inside), coin(outside))
        alone = law_of("sign", "one of the two", Normal(), Normal())
        return (
            View(sees=BOTH, law=agreement, read=_signs_agree, ordered=False),
            *_alone(alone),
        )

    def _chances(self) -> tuple[float, float]:
        return (1 + self.advantage) / 2, (1 - self.advantage) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianPlane(RecordScenario):
    """Two normal scores, members higher in both.

    Attributes:
        mu: distance of the two centres, in standard deviations.
    """

    mu: float

    @property
    def drawn(self) -> tuple[str, ...]:
        """Two scores."""
        return (FIRST, SECOND)

    def draw(self, rng: np.random.Generator, member: NDArray[np.bool_]) -> Columns:
        """Return pairs of scores of records with this membership."""
        centre = member * (self.mu / math.sqrt(2))
        return {name: rng.standard_normal(member.size) + centre for name in self.drawn}

    def views(self) -> tuple[View, ...]:
        """Return the pair, of which the sum is all, and each alone."""
        return (
            View(sees=BOTH, law=_shift("sum", self.mu), read=_scaled_sum, ordered=False),
            *_alone(_shift("one", self.mu / math.sqrt(2))),
        )


def _alone(law: Law) -> tuple[View, ...]:
    return (
        View(sees=FIRST, law=law, read=lambda columns: columns[FIRST]),
        View(sees=SECOND, law=law, read=lambda columns: columns[SECOND]),
    )


def _shift(name: str, mu: float) -> Law:
    return law_of(name, f"members {mu:g} higher", Normal(mean=mu), Normal())


def _signs_agree(columns: Columns) -> NDArray[np.float64]:
    agree = np.signbit(columns[FIRST]) == np.signbit(columns[SECOND])
    return np.asarray(agree, dtype=np.float64)


def _scaled_sum(columns: Columns) -> NDArray[np.float64]:
    return np.asarray((columns[FIRST] + columns[SECOND]) / math.sqrt(2))
