"""The moments, distances and shifts that a calibration scales its noise by."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.demand import Demand
from mipaudit.commands.noise.calibrate.direct_scale import Shifts
from mipaudit.commands.noise.calibrate.split_halves import Share, Workbench, may_choose
from mipaudit.commands.noise.calibrate.swap import (
    SwapDistance,
    SwapPairs,
    estimate_swap_distance,
    swap_limit,
    swap_shifts,
)
from mipaudit.commands.noise.measured import MeasuredMoment
from mipaudit.commands.noise.mechanisms.clipping import clip, half_distances, half_moment_limit
from mipaudit.commands.noise.mechanisms.moments import (
    distances_from_median,
    estimate_moment,
    mean_distance,
)
from mipaudit.commands.noise.mechanisms.shape import NoiseShape, isotropic_shape
from mipaudit.commands.noise.noise_multiples import CalibrationKind, Protects

Array = NDArray[np.float64]


# Izzo et al. 2022 prove their theorem for half of the records.
PAPER_FRACTION: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
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
    protects: Protects
    moment: MeasuredMoment
    shifts: Shifts | None = None
    confidence: float


def measure(
    bench: Workbench, demand: Demand, pairs: SwapPairs | None, rng: np.random.Generator
) -> Iterator[Measured]:
    """Yield what every shape can be scaled by, and the paper's moment.

    In strict mode that is only what may be chosen, and all its limits hold together at the
    demanded confidence (Bonferroni).
    """
    share = Share.of(demand, bench.splits.shape[1], pairs)
    kinds = tuple(shape.kind for shape in bench.shapes)
    confidence = 1 - share.alpha(kinds) if demand.sure else demand.confidence
    for shape in bench.shapes:
        rows = _sure(bench, shape, demand, confidence) if demand.sure else None
        yield from rows or _estimated(bench, shape, confidence, rng)
        if pairs is not None:
            yield from _swaps(pairs, shape, demand, confidence)
    if demand.train_fraction == PAPER_FRACTION:
        shape = isotropic_shape(bench.given_units)
        yield Measured(
            calibration="paper",
            shape=shape,
            protects="every-record",
            moment=estimate_moment(_points(bench, shape), demand.order, rng, demand.confidence),
            confidence=demand.confidence,
        )


def _points(bench: Workbench, shape: NoiseShape) -> Array:
    points = bench.second if shape.n_splits else bench.splits
    # Differences first: a small spread about a large number would be lost in the division.
    return shape.whiten(points - points[0])


def _estimated(
    bench: Workbench, shape: NoiseShape, confidence: float, rng: np.random.Generator
) -> Iterator[Measured]:
    distances = distances_from_median(_points(bench, shape), rng)
    moment = mean_distance(distances, confidence)
    shifts = Shifts(lengths=distances.left_out, estimator="left-out")
    yield _row("moment", shape, moment, confidence)
    yield _row("direct", shape, moment, confidence, shifts)


def _sure(
    bench: Workbench, shape: NoiseShape, demand: Demand, confidence: float
) -> Iterator[Measured]:
    """Yield what the second half says about a centre and shape of the first half."""
    first, second, ball = bench.first, bench.second, demand.ball
    if ball is not None and may_choose("moment", "every-record", demand):
        limit = half_moment_limit(first, second, shape, ball, confidence)
        yield _row("moment", shape, limit, confidence)
    if may_choose("direct", "every-record", demand):
        if ball is not None:
            first, second = clip(first, ball), clip(second, ball)
        origin = np.median(first, axis=0)
        _, lengths = half_distances(first, second, shape, origin)
        shifts = Shifts(lengths=lengths, estimator="betting")
        yield _row("direct", shape, _mean(lengths, confidence), confidence, shifts)


def _mean(lengths: Array, confidence: float) -> MeasuredMoment:
    return MeasuredMoment(
        order=1.0,
        value=float(lengths.mean()),
        lower=None,
        upper=None,
        estimator="other-half",
        validity="not-an-interval",
        confidence=confidence,
        n_splits=lengths.size,
    )


def _row(
    calibration: CalibrationKind,
    shape: NoiseShape,
    moment: MeasuredMoment,
    confidence: float,
    shifts: Shifts | None = None,
) -> Measured:
    return Measured(
        calibration=calibration,
        shape=shape,
        protects="every-record",
        moment=moment,
        shifts=shifts,
        confidence=confidence,
    )


def _swaps(
    pairs: SwapPairs, shape: NoiseShape, demand: Demand, confidence: float
) -> Iterator[Measured]:
    """Yield the largest and the mean distance of swaps, as far as they may be of use."""
    if demand.ball is not None:
        distance = swap_limit(pairs, demand.ball, confidence, shape)
    else:
        distance = estimate_swap_distance(pairs, demand.confidence, shape)
    shifts = swap_shifts(pairs, shape, "betting" if demand.sure else "mean-swap", demand.ball)
    for moment, lengths in zip(_estimates(distance), shifts, strict=True):
        whose: Protects = "tested-records" if lengths.every_record else "average-record"
        for calibration in _of_swaps(demand, whose):
            direct = calibration == "direct-swap"
            yield Measured(
                calibration=calibration,
                shape=shape,
                protects=whose,
                moment=moment,
                shifts=lengths if direct else None,
                confidence=confidence,
            )


def _of_swaps(demand: Demand, whose: Protects) -> Iterator[CalibrationKind]:
    every: tuple[CalibrationKind, ...] = ("swap", "direct-swap")
    for calibration in every:
        # A mean distance has a sure limit only in a ball.
        limited = calibration == "direct-swap" or demand.ball is not None
        if not demand.sure or (limited and may_choose(calibration, whose, demand)):
            yield calibration


def _estimates(distance: SwapDistance) -> tuple[MeasuredMoment, ...]:
    average = distance.average_record
    return (average,) if distance.every_record is None else (distance.every_record, average)
