"""The moments, distances and shifts that noise is scaled by, from splits and from pairs."""

from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.direct_scale import GapEstimator, Shifts
from mipaudit.commands.noise.calibrate.interval import mean_limits
from mipaudit.commands.noise.measured import MeasuredMoment
from mipaudit.commands.noise.mechanisms.moments import (
    distances_from_median,
    estimate_moment,
    half_distances,
    lengths_of,
    mean_distance,
    measured_moment,
)
from mipaudit.commands.noise.mechanisms.shape import NoiseShape
from mipaudit.commands.noise.options import CalibrationKind, NoiseOptions, Protects

Array = NDArray[np.float64]
# With fewer pairs of a record its limits are so wide that they say nothing.
FEWEST_PAIRS: Final = 8


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

    @property
    def protects(self) -> tuple[Protects, ...]:
        """Whom a calibration on swaps may be for: the largest and the mean, or the mean alone."""
        return ("average-record",) if self.record is None else ("tested-records", "average-record")


class Splits(NamedTuple):
    """The splits, divided at random.

    Attributes:
        every: (B, d) all rows.
        first: random half of the rows, for shapes and units.
        second: the other rows, for scales of these shapes.
    """

    every: Array
    first: Array
    second: Array

    def points(self, shape: NoiseShape) -> Array:
        """Return the rows that may scale a shape, in its norm."""
        points = self.second if shape.n_splits else self.every
        # Differences first: a small spread about a large number would be lost in the division.
        return shape.whiten(points - points[0])


class Yardstick(NamedTuple):
    """What scales noise of a shape.

    Attributes:
        moment: moment or mean distance.
        confidence: of a limit.
        shifts: for the direct calibrations: the distances themselves.
    """

    moment: MeasuredMoment
    confidence: float
    shifts: Shifts | None = None


Yardsticks: TypeAlias = dict[tuple[CalibrationKind, Protects], Yardstick]


def measure(
    splits: Splits,
    pairs: SwapPairs | None,
    shape: NoiseShape,
    asked: NoiseOptions,
    confidence: float,
    rng: np.random.Generator,
) -> Yardsticks:
    """Return what a shape can be scaled by.

    Args:
        splits: divided.
        pairs: releases before and after one record is exchanged.
        shape: made of the first half, or without data.
        asked: whether limits must hold at every sample size.
        confidence: of each limit; in strict mode its share of the error.
        rng: divides the splits once more.
    """
    found: Yardsticks = {}
    if asked.strict:
        # What the second half says about a centre and a shape of the first half.
        lengths = half_distances(splits.first, splits.second, shape)
        mean = float(lengths.mean())
        moment = measured_moment(mean, None, "other-half", lengths.size, confidence)
        shifts = Shifts(lengths=lengths, estimator="betting")
    else:
        distances = distances_from_median(splits.points(shape), rng)
        moment = mean_distance(distances, confidence)
        shifts = Shifts(lengths=distances.left_out, estimator="left-out")
        found["moment", "every-record"] = Yardstick(moment, confidence)
    found["direct", "every-record"] = Yardstick(moment, confidence, shifts)
    estimator: GapEstimator = "betting" if asked.strict else "mean-swap"
    for each in () if pairs is None else swap_shifts(pairs, shape, estimator):
        whose: Protects = "tested-records" if each.every_record else "average-record"
        moment = mean_swap(each, asked.confidence)
        if not asked.strict:  # a mean distance has no sure limit
            found["swap", whose] = Yardstick(moment, confidence)
        found["direct-swap", whose] = Yardstick(moment, confidence, each)
    return found


def published(
    splits: Splits, shape: NoiseShape, asked: NoiseOptions, rng: np.random.Generator
) -> Yardstick:
    """Return the moment of the paper."""
    moment = estimate_moment(splits.points(shape), asked.k, rng, asked.confidence)
    return Yardstick(moment, asked.confidence)


def swap_shifts(pairs: SwapPairs, shape: NoiseShape, estimator: GapEstimator) -> tuple[Shifts, ...]:
    """Return by how much pairs differ: for each record if they are named, and on average.

    Args:
        pairs: independent of each other.
        shape: made without these pairs.
        estimator: what the shifts will be used for.
    """
    lengths = lengths_of(shape.whiten(pairs.in_side - pairs.out_side))
    if pairs.record is None:
        return (Shifts(lengths=lengths, estimator=estimator),)
    _, index, counts = np.unique(pairs.record, return_inverse=True, return_counts=True)
    average = Shifts(
        lengths=lengths[np.argsort(index, kind="stable")],
        estimator=estimator,
        starts=np.cumsum(counts) - counts,
    )
    return replace(average, every_record=True, fewest=FEWEST_PAIRS), average


def mean_swap(shifts: Shifts, confidence: float) -> MeasuredMoment:
    """Estimate E ||theta_in - theta_out|| for the worst or for the average record.

    Limits of the worst allow for the choice (Bonferroni). The average is over the records
    tested, or over the law that the pairs were drawn from where records are not told apart.

    Args:
        shifts: of pairs, from :func:`swap_shifts`.
        confidence: in (0, 1): of both limits together.
    """
    groups = [part.by_record(part.lengths) for part in shifts.parts()]
    value, count = max(float(terms.mean()) for terms in groups), shifts.lengths.size
    share = (1 - confidence) / len(groups)
    limits = None
    if shifts.has_limits:
        lowers, uppers = zip(*(mean_limits(terms, share / 2) for terms in groups), strict=True)
        limits = max(lowers), max(uppers)
    return measured_moment(value, limits, "mean-swap", count, confidence)
