"""Laws of scores of several numbers, which tell more together than each alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.validation.laws.families import law_of
from mipaudit.validation.laws.law import Law
from mipaudit.validation.laws.mixture import normal
from mipaudit.validation.scenarios.vector_scenarios import gaussian_plane, xor

if TYPE_CHECKING:
    from mipaudit.validation.scenarios.scenario import RecordScenario

Draw = Callable[[np.random.Generator, NDArray[np.bool_]], NDArray[np.float64]]
Masses = Callable[[bool, Sequence[NDArray[np.float64]]], NDArray[np.float64]]
_MEMBER, _HOLDOUT = True, False


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
    masses: Masses | None

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


def _plane(name: str, text: str, scenario: RecordScenario, masses: Masses) -> VectorLaw:
    seen = scenario.views[0].law

    def draw(rng: np.random.Generator, member: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.stack(list(scenario.draw(rng, member).values()), axis=1)

    return VectorLaw(
        name=name,
        description=text,
        discrete=False,
        members=seen.members,
        holdout=seen.holdout,
        numbers=2,
        draw=draw,
        masses=masses,
    )


def _gaussian_plane(mu: float) -> VectorLaw:
    text = f"two normal numbers, members {mu:g} s.d. apart"
    masses = partial(_gaussian_masses, mu)
    return _plane(f"plane-gauss-{mu:g}", text, gaussian_plane(mu), masses)


def _gaussian_masses(
    mu: float,
    member: bool,  # noqa: FBT001 - one of two classes
    edges: Sequence[NDArray[np.float64]],
) -> NDArray[np.float64]:
    centre = mu / np.sqrt(2) if member else 0.0
    first, second = (
        np.diff(normal(mean=centre).cdf(one), prepend=0.0, append=1.0) for one in edges
    )
    return np.outer(first, second)


def _xor(advantage: float) -> VectorLaw:
    text = f"signs that agree in {50 + 50 * advantage:g}% of members and differ in as many others"
    masses = partial(_xor_masses, advantage)
    return _plane(f"plane-xor-{advantage:g}", text, xor(advantage), masses)


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
    below = np.diff(normal().cdf(np.minimum(edges, 0.0)), prepend=0.0, append=0.5)
    above = np.diff(normal().cdf(np.maximum(edges, 0.0)), prepend=0.5, append=1.0)
    return below, above


def _cube(width: int, mu: float) -> VectorLaw:
    shift = f"members {mu:g} higher in one" if mu else "no leak"
    one = law_of("one", "", normal(mean=mu), normal())

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
