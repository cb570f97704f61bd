"""How far a release moves when one record is exchanged for another one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.direct_scale import GapEstimator, Shifts
from mipaudit.commands.noise.calibrate.interval import empirical_bernstein_upper, mean_limits
from mipaudit.commands.noise.measured import MeasuredMoment
from mipaudit.commands.noise.mechanisms.clipping import Ball, clip
from mipaudit.commands.noise.mechanisms.moments import Estimator, Validity
from mipaudit.commands.noise.mechanisms.shape import NoiseShape, isotropic_shape

Array = NDArray[np.float64]


# With fewer pairs of a record its limits are so wide that they say nothing.
FEWEST_PAIRS: Final = 8
_FEWEST_TERMS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwapPairs:
    """Releases in pairs: one trained with a record, one with another in its place.

    Attributes:
        in_side: (P, d) releases with the record.
        out_side: (P, d) releases with a random record from outside in its place, and the
            same training randomness.
        record: (P,) which record, of any type that sorts; None where not known.
    """

    in_side: Array
    out_side: Array
    record: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapDistance:
    """Mean distances between the two sides of a pair.

    Attributes:
        every_record: the largest over the records tested, whose limits allow for the
            choice (Bonferroni); None where records are not told apart. Its limits are None
            where a record has fewer than 8 pairs.
        average_record: the mean over records.
        n_records: records told apart; 0 where they are not.
        fewest_pairs: of a record; 0 where they are not told apart.
    """

    every_record: MeasuredMoment | None
    average_record: MeasuredMoment
    n_records: int
    fewest_pairs: int


def estimate_swap_distance(
    pairs: SwapPairs, confidence: float = 0.95, shape: NoiseShape | None = None
) -> SwapDistance:
    """Estimate E ||theta_in - theta_out|| for the worst and for the average record.

    Args:
        pairs: at least 2 of them.
        confidence: of the two limits of each estimate together, in (0, 1).
        shape: of the noise, made without these pairs; Euclidean norm unless given.
    """
    alpha = (1 - confidence) / 2
    distances = _lengths(pairs.in_side - pairs.out_side, shape)

    def limits(terms: Array, share: float) -> tuple[float | None, float | None]:
        if terms.size < _FEWEST_TERMS:
            return None, None
        lower, upper = mean_limits(terms, alpha * share)
        return lower, upper if np.isfinite(upper) else None

    return _summary(pairs.record, distances, limits, "mean-swap", confidence, fewest=FEWEST_PAIRS)


def swap_limit(
    pairs: SwapPairs, ball: Ball, confidence: float, shape: NoiseShape | None = None
) -> SwapDistance:
    """Return upper limits of the swap distances of the clipped release, valid at every size.

    As :func:`mipaudit.commands.noise.mechanisms.clipping.half_moment_limit`: the terms lie in
    [0, the diameter of the ball] in the norm of the noise, a constant; a record's share of the
    error is one over the number of records. The average is over the records tested, or over the
    law that the pairs were drawn from where records are not told apart.

    Args:
        pairs: independent of each other; of each record at least 2.
        ball: fixed without the data.
        confidence: in (0, 1), of each of the two.
        shape: made without these pairs; Euclidean norm unless given.
    """
    shape = shape or isotropic_shape(np.ones(pairs.in_side.shape[1]))
    distances = _lengths(clip(pairs.in_side, ball) - clip(pairs.out_side, ball), shape)
    ceiling = 2 * shape.reach(ball.radius)

    def limits(terms: Array, share: float) -> tuple[None, float]:
        if terms.size < _FEWEST_TERMS:
            return None, ceiling
        return None, empirical_bernstein_upper(terms, ceiling, (1 - confidence) * share)

    return _summary(pairs.record, distances, limits, "empirical-bernstein", confidence, fewest=1)


def swap_shifts(
    pairs: SwapPairs, shape: NoiseShape, estimator: GapEstimator, ball: Ball | None = None
) -> tuple[Shifts, ...]:
    """Return by how much pairs differ: for each record if they are named, and on average.

    Args:
        pairs: independent of each other.
        shape: made without these pairs.
        estimator: what the shifts will be used for.
        ball: clip both sides into it.
    """
    one, other = pairs.in_side, pairs.out_side
    if ball is not None:
        one, other = clip(one, ball), clip(other, ball)
    lengths = _lengths(one - other, shape)
    starts = None
    if pairs.record is not None:
        order, starts = _by_record(pairs.record)
        lengths = lengths[order]
    average = Shifts(lengths=lengths, estimator=estimator, starts=starts)
    if starts is None:
        return (average,)
    return replace(average, every_record=True, fewest=FEWEST_PAIRS), average


def _lengths(steps: Array, shape: NoiseShape | None) -> Array:
    if shape is not None:
        steps = shape.whiten(steps)
    size = float(np.abs(steps).max(initial=0.0))
    distances: Array = np.linalg.norm(steps / size, axis=1) if size > 0 else np.zeros(len(steps))
    return size * distances


def _summary(
    record: NDArray[Any] | None,
    distances: Array,
    limits: Callable[[Array, float], tuple[float | None, float | None]],
    estimator: Estimator,
    confidence: float,
    *,
    fewest: int,
) -> SwapDistance:
    def estimate(value: float, bounds: tuple[float | None, float | None]) -> MeasuredMoment:
        validity: Validity = "approximate"
        if estimator == "empirical-bernstein":
            validity = "finite-sample"
        elif bounds == (None, None):
            validity = "not-an-interval"
        return MeasuredMoment(
            order=1.0,
            value=value,
            lower=bounds[0],
            upper=bounds[1],
            estimator=estimator,
            validity=validity,
            confidence=confidence,
            n_splits=distances.size,
        )

    if record is None:
        average = estimate(float(distances.mean()), limits(distances, 1.0))
        return SwapDistance(every_record=None, average_record=average, n_records=0, fewest_pairs=0)
    groups = list(_groups(record, distances))
    means = np.array([terms.mean() for terms in groups])
    smallest = min(terms.size for terms in groups)
    bounds: tuple[float | None, float | None] = (None, None)
    if smallest >= fewest:
        lowers, uppers = zip(*(limits(terms, 1 / len(groups)) for terms in groups), strict=True)
        bounds = _largest(lowers), _largest(uppers)
    return SwapDistance(
        every_record=estimate(float(means.max()), bounds),
        average_record=estimate(float(means.mean()), limits(means, 1.0)),
        n_records=len(groups),
        fewest_pairs=smallest,
    )


def _groups(record: NDArray[Any], distances: Array) -> Iterator[Array]:
    """Yield the distances of one record after the other."""
    order, starts = _by_record(record)
    yield from np.split(distances[order], starts[1:])


def _by_record(record: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return an order that brings the pairs of a record together, and where each begins."""
    _, index, counts = np.unique(record, return_inverse=True, return_counts=True)
    return np.argsort(index, kind="stable"), np.cumsum(counts) - counts


def _largest(values: Iterable[float | None]) -> float | None:
    """Return the largest, None where one is missing: the largest is then not known."""
    known = list(values)
    return None if None in known else max(value for value in known if value is not None)
