"""Laws of scores of several numbers, which tell more together than each alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.laws.families import coin, law_of
from mipaudit.validation.laws.law import Law
from mipaudit.validation.laws.mixture import Normal
from mipaudit.validation.scenarios.scenario import RecordScenario, View

if TYPE_CHECKING:
    from mipaudit.validation.scenarios.scenario import Columns


Draw = Callable[[np.random.Generator, NDArray[np.bool_]], NDArray[np.float64]]

FIRST: Final = "d1"
SECOND: Final = "d2"
BOTH: Final = f"{FIRST}, {SECOND}"
_MEMBER, _HOLDOUT = True, False


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorLaw(Law):
    """A joint law of vectors; ``members`` and ``holdout`` are those of a sufficient number.

    The best attacker on that number is the best of all on the vector.

    Attributes:
        numbers: in a score.
        draw: returns independent scores of records with this membership, shape (n, numbers).
        masses: the mass of one class in each cell of a grid of two axes, whose cut points
            are given; None for other widths.
    """

    numbers: int
    draw: Draw
    masses: Callable[[bool, Sequence[NDArray[np.float64]]], NDArray[np.float64]] | None

    @property
    def width(self) -> int:
        """Return how many numbers a score has."""
        return self.numbers

    def sample(
        self, rng: np.random.Generator, n_members: int, n_holdout: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return independent scores of members and of holdout records, one in a row."""
        drawn = self.draw(rng, np.arange(n_members + n_holdout) < n_members)
        return drawn[:n_members], drawn[n_members:]

    def advantage_cells(self, prior: float, edges: Sequence[NDArray[np.float64]]) -> float | None:
        """Return the best advantage of who sees the cell of a grid alone, if it is known."""
        if self.masses is None:
            return None
        difference = prior * self.masses(_MEMBER, edges)
        difference -= (1 - prior) * self.masses(_HOLDOUT, edges)
        return float(np.abs(difference).sum())


def _plane(name: str, scenario: RecordScenario, masses: object) -> VectorLaw:
    seen = scenario.views()[0].law

    def draw(rng: np.random.Generator, member: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.stack(list(scenario.draw(rng, member).values()), axis=1)

    return VectorLaw(
        name=name,
        description=scenario.summary,
        discrete=False,
        members=seen.members,
        holdout=seen.holdout,
        numbers=2,
        draw=draw,
        masses=masses,  # type: ignore[arg-type]
    )


def _gaussian_plane(mu: float) -> VectorLaw:
    text = f"two normal numbers, members {mu:g} s.d. apart"
    scenario = GaussianPlane(name=f"plane-gauss-{mu:g}", summary=text, heading="", mu=mu)
    return _plane(scenario.name, scenario, partial(_gaussian_masses, mu))


def _gaussian_masses(
    mu: float,
    member: bool,  # noqa: FBT001 - one of two classes
    edges: Sequence[NDArray[np.float64]],
) -> NDArray[np.float64]:
    centre = mu / np.sqrt(2) if member else 0.0
    first, second = (
        np.diff(Normal(mean=centre).cdf(one), prepend=0.0, append=1.0) for one in edges
    )
    return np.outer(first, second)


def _xor(advantage: float) -> VectorLaw:
    text = f"signs that agree in {50 + 50 * advantage:g}% of members and differ in as many others"
    scenario = Xor(name=f"plane-xor-{advantage:g}", summary=text, heading="", advantage=advantage)
    return _plane(scenario.name, scenario, partial(_xor_masses, advantage))


def _xor_masses(
    advantage: float,
    member: bool,  # noqa: FBT001 - one of two classes
    edges: Sequence[NDArray[np.float64]],
) -> NDArray[np.float64]:
    agree = (1 + advantage) / 2 if member else (1 - advantage) / 2
    first, second = (_halves(one) for one in edges)
    same = np.outer(first[0], second[0]) + np.outer(first[1], second[1])
    apart = np.outer(first[0], second[1]) + np.outer(first[1], second[0])
    return 2 * (agree * same + (1 - agree) * apart)


def _halves(edges: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the normal mass of each cell below and above 0."""
    below = np.diff(Normal().cdf(np.minimum(edges, 0.0)), prepend=0.0, append=0.5)
    above = np.diff(Normal().cdf(np.maximum(edges, 0.0)), prepend=0.5, append=1.0)
    return below, above


def _cube(width: int, mu: float) -> VectorLaw:
    shift = f"members {mu:g} higher in one" if mu else "no leak"
    one = law_of("one", "", Normal(mean=mu), Normal())

    def draw(rng: np.random.Generator, member: NDArray[np.bool_]) -> NDArray[np.float64]:
        drawn = rng.standard_normal((member.size, width))
        drawn[:, width // 2] += mu * member
        return drawn

    return VectorLaw(
        name=f"cube-{width}-{mu:g}" if mu else f"null-cube-{width}",
        description=f"{width} normal numbers, {shift}",
        discrete=False,
        members=one.members,
        holdout=one.holdout,
        numbers=width,
        draw=draw,
        masses=partial(_gaussian_masses, 0.0) if width == 2 else None,  # noqa: PLR2004
    )


def _catalogue() -> Mapping[str, VectorLaw]:
    found = (
        _cube(2, 0.0),
        _gaussian_plane(1.0),
        _xor(0.3),
        _cube(10, 1.0),
        _cube(100, 0.0),
        _cube(100, 1.0),
    )
    return MappingProxyType({one.name: one for one in found})


VECTOR_LAWS: Final = _catalogue()
