"""Central moments of a release over random splits, estimated from some of the splits.

They rest on the centre of a cloud of points, and how far each point lies from that of the rest.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.interval import mean_limits
from mipaudit.commands.noise.measured import MeasuredMoment
from mipaudit.commands.noise.mechanisms.shape import NoiseShape

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
Estimator = Literal[
    "left-out",  # mean distance from the spatial median of other splits: not low
    "unbiased-square",  # root of the unbiased second moment about the mean
    "plug-in",  # about the mean of the same splits: biased low
    "maximum",  # largest distance seen: low
    "mean-swap",  # mean distance of a pair that differs in one exchanged record
    "other-half",  # mean of the second half about a centre from the first: no limit
]
_SECOND = 2.0


def lengths_of(steps: Points) -> Points:
    """Return the Euclidean length of each of (n, d) rows, also where squares leave the floats."""
    size = float(np.abs(steps).max(initial=0.0)) or 1.0
    return np.asarray(size * np.linalg.norm(steps / size, axis=1))


def measured_moment(
    value: float,
    limits: tuple[float, float] | None,
    estimator: Estimator,
    n_splits: int,
    confidence: float,
    order: float = 1.0,
) -> MeasuredMoment:
    """Return a moment as the report has it; an infinite upper limit is none."""
    lower, upper = limits or (None, math.inf)
    return MeasuredMoment(
        order=order if math.isfinite(order) else None,
        value=value,
        lower=lower,
        upper=upper if math.isfinite(upper) else None,
        estimator=estimator,
        validity="approximate" if limits else "not-an-interval",
        confidence=confidence,
        n_splits=n_splits,
    )


def spatial_median(points: Points, *, steps: int = _MOST_STEPS) -> Points:
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
        return np.asarray(np.median(points, axis=0))
    origin: Points = points[0]
    offsets = points - origin
    size = float(np.abs(offsets).max(initial=0.0))
    if size == 0:
        return origin.copy()
    offsets /= size
    centre: Points = offsets.mean(axis=0)
    for _ in range(steps):
        moved = _step(offsets, centre)
        done = np.linalg.norm(moved - centre) <= _TOLERANCE
        centre = moved
        if done:
            break
    return origin + size * centre


def _step(points: Points, centre: Points) -> Points:
    """Return the next iterate; the same one where the centre is the median."""
    distances = np.linalg.norm(points - centre, axis=1)
    away = distances > _TOUCHING * distances.max()
    if not away.any():
        return centre
    weights = 1 / distances[away]
    target: Points = weights @ points[away] / weights.sum()
    touching = distances.size - int(away.sum())
    if touching == 0:
        return target
    pull = float(np.linalg.norm(target - centre) * weights.sum())
    if pull <= touching:
        return centre
    return np.asarray(target + (touching / pull) * (centre - target))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distances:
    """How far points lie from their centre, measured in two ways.

    Attributes:
        left_out: (n,) each from the spatial median of points without it. Their mean is on
            average not low, because no centre that is fixed beforehand does better than
            the median of the law; it is high by about half of one in n.
        plain: (n,) each from the spatial median of all. Their mean is on average low.
    """

    left_out: Points
    plain: Points


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


def estimate_moment(
    points: Points, order: float, rng: np.random.Generator, confidence: float = 0.95
) -> MeasuredMoment:
    """Estimate sigma_k of a release in the Euclidean norm from outputs over random splits.

    The first moment is taken about the spatial median, where it is least and where, to
    first order, it does not matter that the centre is estimated: every point is measured
    from a centre made without it (2.5% of normal outputs' upper limits should be low; 2.2%
    and 0.5% were for 8 splits in 1 and 10 dimensions, 1.0% and 2.8% for 100). Others are
    about the mean, as Izzo et al. 2022 define them; of these only the second has an
    unbiased square, and the limits of all are worse (8.0% and 4.3%, 3.2% and 3.6%).

    Args:
        points: (B, d) finite numbers, one row a split, B at least 2.
        order: k, at least 1; may be infinite.
        rng: divides many splits into groups; used for ``order`` 1 only.
        confidence: of the two limits together, in (0, 1).

    Returns:
        The estimate. An infinite order has no limits.
    """
    if order == 1:
        return mean_distance(distances_from_median(points, rng), confidence)
    count, estimator = len(points), _estimator(order)
    radii = _from_mean(points)
    largest = float(radii.max())
    if math.isinf(order):
        return measured_moment(largest, None, estimator, count, confidence, order)
    if largest == 0:
        return measured_moment(0.0, (0.0, 0.0), estimator, count, confidence, order)
    # In the unit of the largest one, so that no power leaves the floats.
    terms = (radii / largest) ** order
    if order == _SECOND:
        terms *= count / (count - 1)
    limits = mean_limits(terms, (1 - confidence) / 2)
    value, lower, upper = (
        largest * float(bound) ** (1 / order) for bound in (terms.mean(), *limits)
    )
    return measured_moment(value, (lower, upper), estimator, count, confidence, order)


def _estimator(order: float) -> Estimator:
    if math.isinf(order):
        return "maximum"
    return "unbiased-square" if order == _SECOND else "plug-in"


def _from_mean(points: Points) -> Points:
    offsets = points - points[0]
    size = float(np.abs(offsets).max(initial=0.0)) or 1.0
    offsets /= size
    distances: Points = np.linalg.norm(offsets - offsets.mean(axis=0), axis=1)
    return size * distances


def mean_distance(distances: Distances, confidence: float = 0.95) -> MeasuredMoment:
    """Estimate sigma_1 from distances to the spatial median; as :func:`estimate_moment`."""
    alpha = (1 - confidence) / 2
    # Each limit from the terms that lean its way.
    limits = mean_limits(distances.plain, alpha)[0], mean_limits(distances.left_out, alpha)[1]
    value = float(distances.left_out.mean())
    return measured_moment(value, limits, "left-out", distances.left_out.size, confidence)


def half_distances(first: Points, second: Points, shape: NoiseShape) -> Points:
    """Return ||F^-1 (theta - m)|| of the second half, shape (B,), with m from the first.

    Given the first half m and F are constants, and the distances are independent of each
    other.

    Args:
        first: (A, d) splits, A at least 1.
        second: (B, d) other splits.
        shape: of the noise.
    """
    # Measured from here, large offsets stay out of the sums.
    origin = np.median(first, axis=0)
    centre = spatial_median(shape.whiten(first - origin))
    return lengths_of(shape.whiten(second - origin) - centre)
