"""Splits made ready for a calibration, and the moments, distances and shifts that it scales by.

Which limits strict mode takes of them, how these share the error, and how many splits that needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.direct_scale import GapEstimator, Shifts
from mipaudit.commands.noise.calibrate.interval import fewest_terms, mean_limits
from mipaudit.commands.noise.measured import MeasuredMoment
from mipaudit.commands.noise.mechanisms.moments import (
    distances_from_median,
    estimate_moment,
    half_distances,
    lengths_of,
    mean_distance,
    measured_moment,
)
from mipaudit.commands.noise.mechanisms.shape import (
    FULL_SPLITS_PER_COORDINATE,
    NoiseShape,
    diagonal_shape,
    full_shape,
    isotropic_shape,
    standard_units,
)
from mipaudit.commands.noise.options import CalibrationKind, NoiseOptions, Protects, ShapeKind
from mipaudit.maths.noise_scales import Mechanism

Array = NDArray[np.float64]
# A half with fewer says nothing about the shape.
FEWEST_FOR_SHAPE: Final = 8
# Izzo et al. 2022 prove their theorem for half of the records.
PAPER_FRACTION: Final = 0.5
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How the limits of strict mode share its error (Bonferroni): the choice sees them all.

    Attributes:
        asked: what is asked.
        dimension: number of coordinates.
        swapped: records that a swap calibration may be for: one entry for each.
    """

    asked: NoiseOptions
    dimension: int
    swapped: tuple[Protects, ...] = ()

    def alpha(self, kinds: tuple[ShapeKind, ...]) -> float:
        """Return the error of one limit where these shapes are tried."""
        return (1 - self.asked.confidence) / max(1, sum(map(self._limits, kinds)))

    def fewest_splits(self, n_splits: int) -> int:
        """Return how many splits, at least ``n_splits``, may keep the promise directly.

        With fewer, the limit is above eta even if none of the second half differs from
        the centre: no noise is then enough. More splits allow more shapes, which take a
        share.
        """
        needed = 0
        while n_splits > needed:
            needed = n_splits
            kinds = shape_kinds(needed // 2, self.dimension, self.asked)
            n_splits = max(needed, 2 * fewest_terms(self.asked.eta, self.alpha(kinds)) - 1)
        return needed

    def _limits(self, kind: ShapeKind) -> int:
        """Return how many limits are taken for a shape."""
        may = self.asked.may_choose
        direct = may("direct", "every-record") + sum(
            may("direct-swap", one) for one in self.swapped
        )
        mechanisms = len(mechanisms_for(kind, self.dimension, self.asked))
        return mechanisms * direct


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workbench:
    """What a calibration works with.

    Attributes:
        asked: the promise, and what may be done to keep it.
        splits: (B, d) all rows.
        first: random half of the rows, for shapes and units.
        second: the other rows, for scales of these shapes.
        pairs: releases before and after one record is exchanged.
        error_units: (d,) units in which the total error counts.
        shapes: to be tried.
        constant: positions of the coordinates that are constant over all splits.
        share: of the error of strict mode.
    """

    asked: NoiseOptions
    splits: Array
    first: Array
    second: Array
    pairs: SwapPairs | None
    error_units: Array
    shapes: tuple[NoiseShape, ...]
    constant: tuple[int, ...]
    share: Share


def prepare(
    splits: Array,
    asked: NoiseOptions,
    rng: np.random.Generator,
    pairs: SwapPairs | None,
) -> Workbench:
    """Divide the splits at random and make the shapes that are asked for."""
    count, dimension = splits.shape
    order = rng.permutation(count)
    first, second = splits[order[: count // 2]], splits[order[count // 2 :]]
    constant = np.flatnonzero((splits == splits[0]).all(axis=0))
    units = _error_units(splits, first, asked)
    varying = len(first) if (first != first[0]).any() else 0
    swapped: tuple[Protects, ...] = () if pairs is None else ("average-record",)
    if pairs is not None and pairs.record is not None:
        swapped = ("tested-records", *swapped)
    return Workbench(
        asked=asked,
        splits=splits,
        first=first,
        second=second,
        pairs=pairs,
        error_units=units,
        shapes=tuple(_shape(kind, first, units) for kind in shape_kinds(varying, dimension, asked)),
        constant=tuple(constant.tolist()),
        share=Share(asked=asked, dimension=dimension, swapped=swapped),
    )


def _error_units(splits: Array, first: Array, asked: NoiseOptions) -> Array:
    units = None
    if asked.error_units == "standardised":
        units = standard_units(first) if len(first) >= FEWEST_FOR_SHAPE else None
        units = standard_units(splits) if units is None else units
    return np.ones(splits.shape[1]) if units is None else units


def shape_kinds(n_first: int, dimension: int, asked: NoiseOptions) -> tuple[ShapeKind, ...]:
    """Return the shapes to be tried, where so many splits that vary are there to learn from."""
    needed: dict[ShapeKind, int] = {"isotropic": 0}
    if dimension > 1:  # noise of one coordinate has no shape
        needed["diagonal"] = FEWEST_FOR_SHAPE
        needed["full"] = max(FEWEST_FOR_SHAPE, FULL_SPLITS_PER_COORDINATE * dimension)
    return tuple(
        kind for kind, count in needed.items() if asked.shape in {None, kind} and n_first >= count
    )


def _shape(kind: ShapeKind, first: Array, units: Array) -> NoiseShape:
    match kind:
        case "isotropic":
            return isotropic_shape(np.ones(units.size))
        case "diagonal":
            return diagonal_shape(first, units)
        case "full":
            return full_shape(first, units)
        case _:
            assert_never(kind)


def mechanisms_for(kind: ShapeKind, dimension: int, asked: NoiseOptions) -> tuple[Mechanism, ...]:
    """Return the mechanisms worth considering for a shape.

    In one dimension norm-exponential noise is Laplace noise, which needs a smaller scale;
    in more than one its radius makes it larger than Gaussian noise by a factor of about
    sqrt(d), so that a full covariance would be wasted on it.
    """
    every: tuple[Mechanism, ...] = ("gaussian", "norm-exponential")
    if dimension == 1:
        every = ("gaussian", "laplace")
    if kind == "full":
        every = ("gaussian",)
    return tuple(mechanism for mechanism in every if asked.mechanism in {None, mechanism})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Yardstick:
    """What scales noise of a shape, and whom that protects.

    Attributes:
        calibration: what the scale is made from.
        shape: whose norm everything is in.
        protects: whose membership.
        moment: moment or mean distance.
        shifts: for the direct calibrations: the distances themselves.
        confidence: of a limit.
    """

    calibration: CalibrationKind
    shape: NoiseShape
    protects: Protects = "every-record"
    moment: MeasuredMoment
    shifts: Shifts | None = None
    confidence: float


def measure(bench: Workbench, rng: np.random.Generator) -> Iterator[Yardstick]:
    """Yield what every shape can be scaled by, and the paper's moment.

    In strict mode that is only what may be chosen, and all its limits hold together at the
    confidence asked for (Bonferroni).
    """
    asked = bench.asked
    kinds = tuple(shape.kind for shape in bench.shapes)
    confidence = 1 - bench.share.alpha(kinds) if asked.strict else asked.confidence
    for shape in bench.shapes:
        yield from (
            _sure(bench, shape, confidence)
            if asked.strict
            else _estimated(bench, shape, confidence, rng)
        )
        if bench.pairs is not None:
            yield from _swaps(bench, bench.pairs, shape, confidence)
    if asked.train_fraction == PAPER_FRACTION:
        shape = isotropic_shape(np.ones(bench.splits.shape[1]))
        yield Yardstick(
            calibration="paper",
            shape=shape,
            moment=estimate_moment(_points(bench, shape), asked.k, rng, asked.confidence),
            confidence=asked.confidence,
        )


def _points(bench: Workbench, shape: NoiseShape) -> Array:
    points = bench.second if shape.n_splits else bench.splits
    # Differences first: a small spread about a large number would be lost in the division.
    return shape.whiten(points - points[0])


def _estimated(
    bench: Workbench, shape: NoiseShape, confidence: float, rng: np.random.Generator
) -> Iterator[Yardstick]:
    distances = distances_from_median(_points(bench, shape), rng)
    moment = Yardstick(
        calibration="moment",
        shape=shape,
        moment=mean_distance(distances, confidence),
        confidence=confidence,
    )
    shifts = Shifts(lengths=distances.left_out, estimator="left-out")
    yield from (moment, replace(moment, calibration="direct", shifts=shifts))


def _sure(bench: Workbench, shape: NoiseShape, confidence: float) -> Iterator[Yardstick]:
    """Yield what the second half says about a centre and shape of the first half."""
    if bench.asked.may_choose("direct", "every-record"):
        lengths = half_distances(bench.first, bench.second, shape)
        mean = float(lengths.mean())
        yield Yardstick(
            calibration="direct",
            shape=shape,
            moment=measured_moment(mean, None, "other-half", lengths.size, confidence),
            shifts=Shifts(lengths=lengths, estimator="betting"),
            confidence=confidence,
        )


def _swaps(
    bench: Workbench, pairs: SwapPairs, shape: NoiseShape, confidence: float
) -> Iterator[Yardstick]:
    """Yield the largest and the mean distance of swaps, as far as they may be of use."""
    asked = bench.asked
    every: tuple[CalibrationKind, ...] = ("swap", "direct-swap")
    for shifts in swap_shifts(pairs, shape, "betting" if asked.strict else "mean-swap"):
        whose: Protects = "tested-records" if shifts.every_record else "average-record"
        moment = mean_swap(shifts, asked.confidence)
        for calibration in every:
            direct = calibration == "direct-swap"
            # A mean distance has no sure limit.
            if asked.strict and not (direct and asked.may_choose(calibration, whose)):
                continue
            yield Yardstick(
                calibration=calibration,
                shape=shape,
                protects=whose,
                moment=moment,
                shifts=shifts if direct else None,
                confidence=confidence,
            )


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
