"""The moments and swap distances that a calibration multiplies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.noise.clipping import half_moment_limit
from mipaudit.noise.moments import estimate_moment
from mipaudit.noise.shape import isotropic_shape
from mipaudit.noise.swap import estimate_swap_distance, swap_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from mipaudit.noise.demand import CalibrationKind, Demand
    from mipaudit.noise.moments import MomentEstimate
    from mipaudit.noise.shape import NoiseShape
    from mipaudit.noise.swap import SwapDistance, SwapPairs
    from mipaudit.noise.workbench import Workbench

Protects = Literal["every-record", "tested-records", "average-record"]

# Izzo et al. 2022 prove their theorem for half of the records.
PAPER_FRACTION: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """A moment or distance in the norm of a shape, and whom a calibration by it protects."""

    calibration: CalibrationKind
    shape: NoiseShape
    protects: Protects
    moment: MomentEstimate


def measure(
    bench: Workbench, demand: Demand, pairs: SwapPairs | None, rng: np.random.Generator
) -> Iterator[Measured]:
    """Yield the moment and swap distances in the norm of every shape, and the paper's moment.

    In strict mode all limits hold together at the demanded confidence (Bonferroni).
    """
    of_pairs = 0 if pairs is None else 1 if pairs.record is None else 2
    n_limits = len(bench.shapes) * (1 + of_pairs)
    confidence = 1 - (1 - demand.confidence) / max(n_limits, 1)
    for shape in bench.shapes:
        moment = _moment(bench, shape, demand, confidence, rng)
        yield Measured(calibration="moment", shape=shape, protects="every-record", moment=moment)
        if pairs is not None:
            yield from _swaps(shape, _swap_distance(pairs, shape, demand, confidence))
    if demand.train_fraction == PAPER_FRACTION:
        shape = isotropic_shape(bench.given_units)
        moment = _estimated(bench, shape, demand.order, demand.confidence, rng)
        yield Measured(calibration="paper", shape=shape, protects="every-record", moment=moment)


def _moment(
    bench: Workbench,
    shape: NoiseShape,
    demand: Demand,
    confidence: float,
    rng: np.random.Generator,
) -> MomentEstimate:
    if demand.ball is not None:
        return half_moment_limit(bench.first, bench.second, shape, demand.ball, confidence)
    return _estimated(bench, shape, 1.0, demand.confidence, rng)


def _estimated(
    bench: Workbench, shape: NoiseShape, order: float, confidence: float, rng: np.random.Generator
) -> MomentEstimate:
    points = bench.second if shape.n_splits else bench.splits
    # Differences first: a small spread about a large number would be lost in the division.
    return estimate_moment(shape.whiten(points - points[0]), order, rng, confidence)


def _swap_distance(
    pairs: SwapPairs, shape: NoiseShape, demand: Demand, confidence: float
) -> SwapDistance:
    if demand.ball is not None:
        return swap_limit(pairs, demand.ball, confidence, shape)
    return estimate_swap_distance(pairs, demand.confidence, shape)


def _swaps(shape: NoiseShape, distance: SwapDistance) -> Iterator[Measured]:
    if distance.every_record is not None:
        worst = distance.every_record
        yield Measured(calibration="swap", shape=shape, protects="tested-records", moment=worst)
    average = distance.average_record
    yield Measured(calibration="swap", shape=shape, protects="average-record", moment=average)
