"""The centre of a cloud of points, and how far each point lies from the centre of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

# Up to so many points each is left out by itself; above, in that many groups.
MOST_FOLDS: Final = 32
# Any centre serves a calibration (the best one makes the noise least), so that the
# centre of each fold may stop short of convergence.
_FOLD_STEPS: Final = 20
_MOST_STEPS: Final = 1000
_TOLERANCE: Final = 1e-12
# Relative distance below which a point is taken to be the centre itself.
_TOUCHING: Final = 1e-14


def spatial_median(points: Points, *, steps: int = _MOST_STEPS) -> NDArray[np.float64]:
    """Return the point with the least total Euclidean distance to ``points``.

    Weiszfeld's iteration as Vardi and Zhang (2000) mended it: it neither divides by zero
    nor stalls where the centre falls on a point. In one dimension the ordinary median.

    Args:
        points: (n, d) finite numbers, n at least 1.
        steps: at most so many iterations, from the mean.

    Returns:
        (d,) centre.
    """
    if points.shape[1] == 1:
        median: NDArray[np.float64] = np.median(points, axis=0)
        return median
    origin: NDArray[np.float64] = points[0]
    offsets = points - origin
    size = float(np.abs(offsets).max(initial=0.0))
    if size == 0:
        return origin.copy()
    offsets /= size
    centre: NDArray[np.float64] = offsets.mean(axis=0)
    for _ in range(steps):
        moved = _step(offsets, centre)
        done = np.linalg.norm(moved - centre) <= _TOLERANCE
        centre = moved
        if done:
            break
    return origin + size * centre


def _step(points: Points, centre: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the next iterate; the same one where the centre is the median."""
    distances = np.linalg.norm(points - centre, axis=1)
    away = distances > _TOUCHING * distances.max()
    if not away.any():
        return centre
    weights = 1 / distances[away]
    target: NDArray[np.float64] = weights @ points[away] / weights.sum()
    touching = distances.size - int(away.sum())
    if touching == 0:
        return target
    pull = float(np.linalg.norm(target - centre) * weights.sum())
    if pull <= touching:
        return centre
    held: NDArray[np.float64] = target + (touching / pull) * (centre - target)
    return held


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distances:
    """How far points lie from their centre, measured in two ways.

    Attributes:
        left_out: (n,) each from the spatial median of points without it. Their mean is on
            average not low, because no centre that is fixed beforehand does better than
            the median of the law; it is high by about half of one in n.
        plain: (n,) each from the spatial median of all. Their mean is on average low.
    """

    left_out: NDArray[np.float64]
    plain: NDArray[np.float64]


def distances_from_median(points: Points, rng: np.random.Generator) -> Distances:
    """Return the distances of points from their spatial median.

    With up to 32 points each is left out by itself, with more they are left out in 32
    random groups.

    Args:
        points: (n, d) finite numbers, n at least 2.
        rng: divides the points into groups.
    """
    count = len(points)
    offsets = points - points[0]
    size = float(np.abs(offsets).max(initial=0.0))
    if size == 0:
        return Distances(left_out=np.zeros(count), plain=np.zeros(count))
    offsets = _isometric(offsets / size)
    folds = np.arange(count) % MOST_FOLDS
    if count > MOST_FOLDS:
        folds = rng.permutation(folds)
    left_out = np.empty(count)
    for fold in range(min(count, MOST_FOLDS)):
        inside = folds == fold
        centre = spatial_median(offsets[~inside], steps=_FOLD_STEPS)
        left_out[inside] = np.linalg.norm(offsets[inside] - centre, axis=1)
    plain = np.linalg.norm(offsets - spatial_median(offsets), axis=1)
    return Distances(left_out=size * left_out, plain=size * plain)


def _isometric(points: Points) -> Points:
    """Return points at the same mutual distances, in no more dimensions than points."""
    count, dimension = points.shape
    if dimension <= count:
        return points
    triangle = np.asarray(np.linalg.qr(points.T, mode="r"), dtype=np.float64)
    return np.ascontiguousarray(triangle.T)
