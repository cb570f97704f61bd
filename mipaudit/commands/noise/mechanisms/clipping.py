"""Clipping a release into a ball that was fixed without the data, and what that makes sure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.interval import empirical_bernstein_upper
from mipaudit.commands.noise.measured import MeasuredMoment
from mipaudit.commands.noise.mechanisms.moments import spatial_median
from mipaudit.commands.noise.mechanisms.shape import NoiseShape, isotropic_shape

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ball:
    """Where a release is clipped to; it must not depend on the data.

    Attributes:
        centre: (d,) numbers.
        radius: above 0; or (d,) semi-axes of an ellipsoid, for coordinates in unlike units.
    """

    centre: Array
    radius: float | Array


def clip(points: Array, ball: Ball) -> Array:
    """Return (n, d) points, those outside pulled to the surface, straight to the centre."""
    offsets = (points - ball.centre) / ball.radius
    lengths = np.linalg.norm(offsets, axis=-1, keepdims=True)
    clipped = ball.centre + offsets / np.maximum(lengths, 1.0) * ball.radius
    return np.where(lengths > 1, clipped, points)


def count_outside(points: Array, ball: Ball) -> int:
    """Return how many of (n, d) points lie outside."""
    return int((np.linalg.norm((points - ball.centre) / ball.radius, axis=1) > 1).sum())


def moment_limit(
    points: Array,
    radius: float | Array,
    confidence: float,
    rng: np.random.Generator,
    centre: Array | None = None,
) -> MeasuredMoment:
    """Return an upper limit of sigma_1 of the clipped release, valid at every sample size.

    Half of the splits, drawn at random, give the centre m; see :func:`half_moment_limit`
    for the rest and the proof.

    Args:
        points: (B, d) splits, independent of each other, B at least 4.
        radius: of the ball (or semi-axes), fixed without the data.
        confidence: in (0, 1), all of it spent on this one limit.
        rng: draws the half.
        centre: (d,) of the ball, fixed without the data; the origin unless given.
    """
    count, dimension = points.shape
    ball = Ball(centre=np.zeros(dimension) if centre is None else centre, radius=radius)
    order = rng.permutation(count)
    first, second = points[order[: count // 2]], points[order[count // 2 :]]
    return half_moment_limit(first, second, isotropic_shape(np.ones(dimension)), ball, confidence)


def half_moment_limit(
    first: Array, second: Array, shape: NoiseShape, ball: Ball, confidence: float
) -> MeasuredMoment:
    """Return an upper limit of E ||F^-1 (clip(theta) - m)||, m and F from the first half.

    Why it holds. Given the first half, m and F are constants, and the terms r_i =
    ||F^-1 (clip(theta_i) - m)|| of the second half are independent with the mean to be
    limited. With c the centre of the ball, the triangle inequality puts them in
    [0, ||F^-1 (m - c)|| + sup ||F^-1 (x - c)||], the supremum over the ball; that end is
    a constant too (in the Euclidean norm it is R + ||m - c||, at most 2R). Maurer and
    Pontil's empirical Bernstein inequality therefore errs with probability at most
    1 - confidence given the first half, hence also without that condition. The moment
    about this m, or any m, is all that the calibration needs.

    Args:
        first: (A, d) splits that ``shape`` may have been made from, A at least 1.
        second: (B, d) other splits, B at least 2.
        shape: of the noise.
        ball: fixed without the data; the release must be clipped into it as well.
        confidence: in (0, 1).
    """
    centre, terms = half_distances(clip(first, ball), clip(second, ball), shape, ball.centre)
    ceiling = float(np.linalg.norm(centre)) + shape.reach(ball.radius)
    return MeasuredMoment(
        order=1.0,
        value=float(terms.mean()),
        lower=None,
        upper=empirical_bernstein_upper(terms, ceiling, 1 - confidence),
        estimator="empirical-bernstein",
        validity="finite-sample",
        confidence=confidence,
        n_splits=len(second),
    )


def half_distances(
    first: Array, second: Array, shape: NoiseShape, origin: Array
) -> tuple[Array, Array]:
    """Return m, from the first half, and ||F^-1 (theta - m)|| of the second.

    Given the first half m and F are constants, and the distances are independent of each
    other.

    Args:
        first: (A, d) splits, A at least 1.
        second: (B, d) other splits.
        shape: of the noise.
        origin: (d,) to measure from, which keeps large offsets out of the sums.

    Returns:
        (d,) F^-1 (m - origin), and (B,) distances.
    """
    centre = spatial_median(shape.whiten(first - origin))
    offsets = shape.whiten(second - origin) - centre
    size = float(np.abs(offsets).max(initial=0.0))
    lengths = np.linalg.norm(offsets / size, axis=1) if size > 0 else np.zeros(len(offsets))
    return centre, size * lengths
