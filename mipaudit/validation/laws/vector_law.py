"""Laws of scores of several numbers, which tell more together than each alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
Edges = Sequence[NDArray[np.float64]]
BothMasses = tuple[NDArray[np.float64], NDArray[np.float64]]
Masses = Callable[[Edges], BothMasses | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorLaw(Law):
    """A joint law of vectors; ``members`` and ``holdout`` are those of a sufficient number.

    The best attacker on that number is the best of all on the vector.

    Attributes:
        width: how many numbers a score has.
        draw: returns independent scores of records with this membership, shape (n, width).
        masses: takes the cut points of a grid of two axes, and returns the masses of members and
            of holdout records in its cells; None where they are not known.
    """

    width: int
    draw: Draw
    masses: Masses

    def sample(
        self, rng: np.random.Generator, n_members: int, n_holdout: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return independent scores of members and of holdout records, one in a row."""
        drawn = self.draw(rng, np.arange(n_members + n_holdout) < n_members)
        return drawn[:n_members], drawn[n_members:]

    def advantage_cells(self, prior: float, edges: Edges) -> float | None:
        """Return the best advantage of who sees the cell of a grid alone, if it is known."""
        masses = self.masses(edges)
        if masses is None:
            return None
        return float(np.abs(prior * masses[0] - (1 - prior) * masses[1]).sum())


def _vectors(name: str, text: str, width: int, best: Law, draw: Draw, masses: Masses) -> VectorLaw:
    """Return a law of vectors of which a number with the law ``best`` tells all."""
    return VectorLaw(
        name=name,
        description=text,
        discrete=False,
        members=best.members,
        holdout=best.holdout,
        width=width,
        draw=draw,
        masses=masses,
    )


def _plane(name: str, text: str, scenario: RecordScenario, masses: Masses) -> VectorLaw:
    def draw(rng: np.random.Generator, member: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.stack(list(scenario.draw(rng, member).values()), axis=1)

    return _vectors(name, text, 2, scenario.views[0].law, draw, masses)


def _gaussian_plane(mu: float) -> VectorLaw:
    def masses(edges: Edges) -> BothMasses:
        return _gaussian(mu / np.sqrt(2), edges), _gaussian(0.0, edges)

    text = f"two normal numbers, members {mu:g} s.d. apart"
    return _plane(f"plane-gauss-{mu:g}", text, gaussian_plane(mu), masses)


def _gaussian(centre: float, edges: Edges) -> NDArray[np.float64]:
    first, second = (np.diff(normal(centre).cdf(one), prepend=0.0, append=1.0) for one in edges)
    return np.outer(first, second)


def _xor(advantage: float) -> VectorLaw:
    def masses(edges: Edges) -> BothMasses:
        first, second = (_halves(one) for one in edges)
        same = np.outer(first[0], second[0]) + np.outer(first[1], second[1])
        apart = np.outer(first[0], second[1]) + np.outer(first[1], second[0])
        members, holdout = (
            2 * (agree * same + (1 - agree) * apart)
            for agree in ((1 + advantage) / 2, (1 - advantage) / 2)
        )
        return members, holdout

    text = f"signs that agree in {50 + 50 * advantage:g}% of members and differ in as many others"
    return _plane(f"plane-xor-{advantage:g}", text, xor(advantage), masses)


def _halves(edges: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the normal mass of each cell below and above 0."""
    below = np.diff(normal().cdf(np.minimum(edges, 0.0)), prepend=0.0, append=0.5)
    above = np.diff(normal().cdf(np.maximum(edges, 0.0)), prepend=0.5, append=1.0)
    return below, above


def _cube(width: int, mu: float) -> VectorLaw:
    def draw(rng: np.random.Generator, member: NDArray[np.bool_]) -> NDArray[np.float64]:
        drawn = rng.standard_normal((member.size, width))
        drawn[:, width // 2] += mu * member
        return drawn

    def masses(edges: Edges) -> BothMasses | None:
        # Only the square is cut into cells, and nothing tells its members from others.
        square = len(edges) == width == 2  # noqa: PLR2004
        return (_gaussian(0.0, edges), _gaussian(0.0, edges)) if square else None

    name = f"cube-{width}-{mu:g}" if mu else f"null-cube-{width}"
    shift = f"members {mu:g} higher in one" if mu else "no leak"
    one = law_of("one", "", normal(mean=mu), normal())
    return _vectors(name, f"{width} normal numbers, {shift}", width, one, draw, masses)


_ALL: Final = (
    *(_cube(2, 0.0), _gaussian_plane(1.0), _xor(0.3)),
    *(_cube(10, 1.0), _cube(100, 0.0), _cube(100, 1.0)),
)
VECTOR_LAWS: Final[Mapping[str, VectorLaw]] = {one.name: one for one in _ALL}
