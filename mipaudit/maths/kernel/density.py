"""Gaussian kernel densities on an equal-width grid, by one transform per density.

Scores are spread over their two nearest nodes in proportion (linear binning, Jones
and Lotwick 1984), which keeps their mean: what that and the sum over the nodes can
cost an integral is bounded by `grid_slack`, whatever the scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The normal density beyond so many standard deviations is below 1e-14 of its peak.
REACH: Final = 8.0
# The integral of the absolute second derivative of the normal density: 4 phi(1).
_CURVATURE: Final = 4 * math.exp(-0.5) / math.sqrt(2 * math.pi)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Equal-width nodes low, low + step, ..., of which some may end the score's range.

    Attributes:
        low: the first node.
        step: distance of neighbours, above 0.
        nodes: how many, at least 2.
        floor: node where the range ends below, or None.
        ceiling: node where it ends above, or None.
    """

    low: float
    step: float
    nodes: int
    floor: int | None = None
    ceiling: int | None = None

    def points(self) -> NDArray[np.float64]:
        """Return the nodes, shape (nodes,)."""
        return np.asarray(self.low + self.step * np.arange(self.nodes, dtype=np.float64))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Smoothed:
    """Masses that a smoothed measure puts about the nodes of a grid, wider than its own.

    Attributes:
        low: the first node.
        step: distance of neighbours.
        masses: signed, shape (m,).
        ends: bool, shape (m,): nodes at an end of the range, which have half a cell.
    """

    low: float
    step: float
    masses: NDArray[np.float64]
    ends: NDArray[np.bool_]

    def density(self) -> NDArray[np.float64]:
        """Return the density at the nodes, per unit of the score."""
        return np.asarray(self.masses / self.step * np.where(self.ends, 2.0, 1.0))

    def at(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the density at these scores, linear between nodes and 0 outside."""
        points = self.low + self.step * np.arange(self.masses.size, dtype=np.float64)
        return np.interp(scores, points, self.density(), left=0.0, right=0.0)


def linear_weights(
    scores: NDArray[np.float64], grid: Grid, masses: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the mass at each node of some scores, each shared by its two nearest nodes.

    Args:
        scores: shape (n,); those outside the grid are left out.
        grid: the nodes.
        masses: of the scores, shape (n,); 1 each by default.

    Returns:
        Shape (nodes,).
    """
    with np.errstate(over="ignore"):
        place = (scores - grid.low) / grid.step
    inside = (place >= 0) & (place <= grid.nodes - 1)
    place = place[inside]
    mass = np.ones(place.size) if masses is None else masses[inside]
    cell = np.minimum(place.astype(np.int64), grid.nodes - 2)
    part = (place - cell) * mass
    weights = np.zeros(grid.nodes)
    weights += np.bincount(cell, weights=mass - part, minlength=grid.nodes)
    weights[1:] += np.bincount(cell, weights=part, minlength=grid.nodes - 1)
    return weights


def smooth(
    weights: NDArray[np.float64], grid: Grid, bandwidth: float, *, fold: bool = False
) -> Smoothed:
    """Return a measure on the nodes after Gaussian noise.

    Args:
        weights: of the nodes, of any sign, shape (nodes,).
        grid: the nodes.
        bandwidth: standard deviation of the noise, above 0; at most a few thousand steps.
        fold: whether what the noise carries over an end of the range is reflected there.
    """
    reach = math.ceil(REACH * bandwidth / grid.step)
    steps = np.arange(-reach, reach + 1) * (grid.step / bandwidth)
    kernel = np.exp(-0.5 * steps**2) * (grid.step / (bandwidth * math.sqrt(2 * math.pi)))
    masses = _convolved(weights, kernel)
    low = grid.low - reach * grid.step
    if fold and (grid.floor is not None or grid.ceiling is not None):
        return _folded(masses, grid, reach)
    return Smoothed(low=low, step=grid.step, masses=masses, ends=np.zeros(masses.size, dtype=bool))


def _convolved(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the full convolution, by transforms of a power of two that nothing wraps round."""
    size = first.size + second.size - 1
    length = 1 << (size - 1).bit_length()
    product = np.fft.rfft(first, length) * np.fft.rfft(second, length)
    return np.fft.irfft(product, length)[:size]


def _folded(masses: NDArray[np.float64], grid: Grid, reach: int) -> Smoothed:
    """Reflect the masses beyond the ends of the range into it."""
    node = np.arange(masses.size) - reach
    floor = int(node[0]) if grid.floor is None else grid.floor
    ceiling = int(node[-1]) if grid.ceiling is None else grid.ceiling
    if grid.floor is not None and grid.ceiling is not None:
        width = ceiling - floor
        place = np.abs((node - floor + width) % (2 * width) - width)
    elif grid.floor is not None:
        place = np.abs(node - floor)
    else:
        place = ceiling - np.abs(node - ceiling) - floor
    start = int(place.min())
    masses = np.asarray(np.bincount(place - start, weights=masses), dtype=np.float64)
    ends = np.zeros(masses.size, dtype=bool)
    if grid.floor is not None:
        ends[0] = True
    if grid.ceiling is not None:
        ends[-1] = True
    return Smoothed(
        low=grid.low + (floor + start) * grid.step, step=grid.step, masses=masses, ends=ends
    )


def kernel_advantage(
    gains: NDArray[np.float64], grid: Grid, bandwidth: float, *, fold: bool = False
) -> float:
    """Return U_N: the sum of |p f - (1-p) g| over the nodes (Liu et al., MACE, Theorem 3).

    Args:
        gains: p times the members' share of each node, less 1-p times the holdout's,
            shape (nodes,).
        grid: the nodes.
        bandwidth: of both densities, above 0.
        fold: whether to reflect at the ends of the range.
    """
    return float(np.abs(smooth(gains, grid, bandwidth, fold=fold).masses).sum())


def grid_slack(step: float, bandwidth: float, places: int) -> tuple[float, float]:
    """Return what the grid can cost an advantage after noise: (in the sum, in the truth).

    A function is at most step^2/8 of its greatest second derivative away from the chord
    between two nodes; integrated, 4 phi(1) step^2/(8 bandwidth^2) for each unit of mass.
    The first of the two is by how much the sum over the nodes may fall below the
    integral; the second by how much noise on the score spread over two nodes may differ
    from noise on the score itself, and what rounding the share to ``places`` adds.

    Args:
        step: distance of neighbouring nodes.
        bandwidth: standard deviation of the noise.
        places: the share of a node is a multiple of 1/places.
    """
    chord = _CURVATURE * (step / bandwidth) ** 2 / 8
    moved = math.erf(step / (2 * math.sqrt(2) * bandwidth)) / places
    return chord, chord + moved
