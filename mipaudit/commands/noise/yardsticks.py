"""What scales noise, from splits and from pairs: moments, distances, and shifts.

The direct calibrations find the least scale by the mean of h itself, without Jensen's inequality:
h is how much of two shifted copies of noise does not overlap.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.measured import MeasuredMean
from mipaudit.commands.noise.mechanism import NoiseShape
from mipaudit.commands.noise.moments import (
    distances_from_median,
    half_distances,
    is_below,
    lengths_of,
    mean_distance,
    mean_limits,
    measured_moment,
)
from mipaudit.commands.noise.options import CalibrationKind, NoiseOptions, Protects
from mipaudit.maths.arrays import Floats, Places
from mipaudit.maths.bisection import crossing
from mipaudit.maths.noise_scales import Mechanism

GapEstimator = Literal[
    "left-out",  # shifts from the spatial median of other splits
    "mean-swap",  # shifts of a pair that differs in one exchanged record
    "betting",  # shifts of the second half, or of pairs: the limit holds at every size
]
Basis = Literal["value", "approximate", "finite-sample"]
# Noise is never less than this part of the least shift seen. It binds only where most
# splits gave one and the same output: then any noise would do.
_FLOOR: Final = 0.1
# Beyond so many times the largest shift no limit is worth having.
_FARTHEST: Final = 2.0**60
_FEWEST_TERMS: Final = 2


def shift_gaps(mechanism: Mechanism, ratios: Floats) -> Floats:
    """Return h: the most that the total variation of noise and shifted noise can be.

    Exact for ``laplace`` and ``gaussian``; for ``norm-exponential`` noise in more than one
    dimension the bound of mipaudit help methods, section 28.4, remark (a). Each h is increasing
    and concave with h(0) = 0, and at most 1.

    Args:
        mechanism: the kind of noise.
        ratios: lengths of the shifts in units of the scale, at least 0, perhaps infinite.
    """
    match mechanism:
        case "laplace" | "norm-exponential":
            return -np.expm1(-ratios / 2)
        case "gaussian":
            from scipy.special import erf

            return np.asarray(erf(ratios / math.sqrt(8)))
        case _:
            assert_never(mechanism)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shifts:
    """Lengths of random shifts, in the norm of the noise.

    Attributes:
        lengths: (n,) at least 0; those of one record after the other.
        estimator: where the shifts come from.
        starts: (G,) position of the first of each record; None where none are told apart.
        every_record: whether the mean of each record must be small, or that over records.
        fewest: shorter parts have no approximate limit.
    """

    lengths: Floats
    estimator: GapEstimator
    starts: Places | None = None
    every_record: bool = False
    fewest: int = _FEWEST_TERMS

    @property
    def has_limits(self) -> bool:
        """Whether there are enough shifts for approximate limits."""
        if self.starts is None:
            return self.lengths.size >= self.fewest
        counts = np.diff(np.append(self.starts, self.lengths.size))
        return int(counts.min() if self.every_record else counts.size) >= self.fewest

    def parts(self) -> "tuple[Shifts, ...]":
        """Return shifts such that the mean of each must be small."""
        if self.starts is None or not self.every_record:
            return (self,)
        return tuple(
            Shifts(lengths=one, estimator=self.estimator)
            for one in np.split(self.lengths, self.starts[1:])
        )

    def gaps(self, mechanism: Mechanism, scale: float) -> Floats:
        """Return independent terms with the mean that must be small, in [0, 1]."""
        return self.by_record(shift_gaps(mechanism, self.lengths / scale))

    def by_record(self, values: Floats) -> Floats:
        """Return the mean of each record's values; the values where none are told apart."""
        if self.starts is None:
            return values
        counts = np.diff(np.append(self.starts, values.size))
        return np.asarray(np.add.reduceat(values, self.starts) / counts)


# What the mean of h must not exceed, in (0, 1); how sure that is to be: ``value``: the sample mean
# does not; ``approximate``: an approximate upper limit does not (at least ``fewest`` terms);
# ``finite-sample``: a limit that holds at every sample size does not; the limit's error in (0, 1).
Aim: TypeAlias = tuple[float, Basis, float]


def reached(aim: Aim, terms: Floats) -> bool:
    """Return whether these terms say that the mean is small enough."""
    at_most, basis, alpha = aim
    if basis == "finite-sample":
        return is_below(terms, at_most, alpha)
    found = mean_limits(terms, alpha)[1] if basis == "approximate" else float(terms.mean())
    return found <= at_most


def least_scale(shifts: Shifts, mechanism: Mechanism, aim: Aim) -> float:
    """Return the infimum s of the scales such that the aim is met at every larger one.

    Why it may look at the data (Bates, Angelopoulos, Lei, Malik and Jordan 2021, Theorem
    1). Let R(s) be the true mean of h(r/s), the largest of any record where each must be
    small. R is continuous and falls to 0, so that a scale is too small, R(s) > at_most,
    exactly below some s*. Let s_1 < s_2 < ... tend to s*, none of them random, and z_k a
    record whose mean at s_k is R(s_k). If the scale found is below s*, it is below some
    s_k, and the limit of the mean of z_k at s_k is at most at_most, though R(s_k) is
    more: this one limit errs. For each k that has a probability of at most alpha; the
    events grow with k, so that their union has too. So no allowance is needed for the
    search over scales, nor for the number of records, all of which must pass.

    With ``finite-sample`` the capital of :mod:`mipaudit.commands.noise.moments` grows
    with s, term by term, so that bisection finds the infimum. Other limits may wobble; they are
    followed downwards from where they are proportional to 1/s, in halves.

    Args:
        shifts: their law is that of the shifts to be limited, at least one length.
        mechanism: the kind of noise.
        aim: what is to be reached, for each record with its whole error.

    Returns:
        The scale, at least a tenth of the least positive shift (more noise is as good);
        0 if there is none, infinity if no scale will do.
    """
    size = float(shifts.lengths.max())
    if size == 0:
        return 0.0
    scale = _FLOOR * float(shifts.lengths[shifts.lengths > 0].min()) / size
    # The largest first: for most of the rest its scale is then seen to be enough.
    for part in sorted(shifts.parts(), key=lambda one: -float((one.lengths / size).mean())):
        scale = _raised(scale, part, mechanism, aim, size)
        if scale == math.inf:
            break
    return size * scale


def _raised(scale: float, part: Shifts, mechanism: Mechanism, aim: Aim, size: float) -> float:
    """Return ``scale``, or what this part asks for where that is more; in units of ``size``."""

    def holds(candidate: float) -> bool:
        return candidate >= scale and reached(aim, part.gaps(mechanism, candidate * size))

    # There h is close to its tangent at 0.
    at_most, basis, _ = aim
    straight = 8 / at_most
    above = [scale]
    while basis != "finite-sample" and above[-1] < straight:
        above.append(2 * above[-1])
    if all(map(holds, above)):
        return scale
    return crossing(holds, start=straight, limit=_FARTHEST)


def estimate_gap(
    shifts: Shifts, mechanism: Mechanism, scale: float, aim: Aim, confidence: float
) -> MeasuredMean:
    """Return the mean of h at a scale, the largest over records where each must be small."""
    parts = [part.gaps(mechanism, scale) for part in shifts.parts()]
    at_most, basis, alpha = aim
    upper: float | None = None
    if basis == "finite-sample":
        upper = at_most
    elif basis == "approximate":
        upper = min(1.0, max(mean_limits(terms, alpha)[1] for terms in parts))
    return MeasuredMean(
        value=max(float(terms.mean()) for terms in parts),
        upper=upper,
        at_most=at_most,
        estimator=shifts.estimator,
        validity="not-an-interval" if basis == "value" else basis,
        confidence=confidence,
        n_splits=shifts.lengths.size,
    )


# With fewer pairs of a record its limits are so wide that they say nothing.
FEWEST_PAIRS: Final = 8


# Releases with a record, shape (P, d); with a random record from outside in its place and the same
# training randomness, shape (P, d); and which record, of any type that sorts, shape (P,), None
# where that is not known.
SwapPairs: TypeAlias = tuple[Floats, Floats, NDArray[Any] | None]


def protectable(pairs: SwapPairs | None) -> tuple[Protects, ...]:
    """Return whom a calibration on swaps may be for: the largest and the mean, or the mean."""
    if pairs is None:
        return ()
    return ("average-record",) if pairs[2] is None else ("tested-records", "average-record")


class Splits(NamedTuple):
    """The splits, divided at random.

    Attributes:
        every: (B, d) all rows.
        first: random half of the rows, for shapes and units.
        second: the other rows, for scales of these shapes.
    """

    every: Floats
    first: Floats
    second: Floats

    def points(self, shape: NoiseShape) -> Floats:
        """Return the rows that may scale a shape, in its norm."""
        points = self.second if shape.n_splits else self.every
        # Differences first: a small spread about a large number would be lost in the division.
        return shape.whiten(points - points[0])


# What scales noise of a shape, by calibration and whom it protects: a moment or mean distance, and,
# for the direct calibrations, the distances themselves.
Yardsticks: TypeAlias = dict[tuple[CalibrationKind, Protects], tuple[MeasuredMean, Shifts | None]]


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
        left_out, plain = distances_from_median(splits.points(shape), rng)
        moment = mean_distance(left_out, plain, confidence)
        shifts = Shifts(lengths=left_out, estimator="left-out")
        found["moment", "every-record"] = moment, None
    found["direct", "every-record"] = moment, shifts
    estimator: GapEstimator = "betting" if asked.strict else "mean-swap"
    for each in () if pairs is None else swap_shifts(pairs, shape, estimator):
        whose: Protects = "tested-records" if each.every_record else "average-record"
        moment = mean_swap(each, asked.confidence)
        if not asked.strict:  # a mean distance has no sure limit
            found["swap", whose] = moment, None
        found["direct-swap", whose] = moment, each
    return found


def swap_shifts(pairs: SwapPairs, shape: NoiseShape, estimator: GapEstimator) -> tuple[Shifts, ...]:
    """Return by how much pairs differ: for each record if they are named, and on average.

    Args:
        pairs: independent of each other.
        shape: made without these pairs.
        estimator: what the shifts will be used for.
    """
    one, other, records = pairs
    lengths = lengths_of(shape.whiten(one - other))
    if records is None:
        return (Shifts(lengths=lengths, estimator=estimator),)
    _, index, counts = np.unique(records, return_inverse=True, return_counts=True)
    average = Shifts(
        lengths=lengths[np.argsort(index, kind="stable")],
        estimator=estimator,
        starts=np.cumsum(counts) - counts,
    )
    return replace(average, every_record=True, fewest=FEWEST_PAIRS), average


def mean_swap(shifts: Shifts, confidence: float) -> MeasuredMean:
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
