"""Splits made ready for a calibration: their halves, units, and the shapes to try.

Which limits strict mode takes of them, how these share the error, and how many splits that needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, assert_never

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.demand import Demand
from mipaudit.commands.noise.calibrate.interval import fewest_terms
from mipaudit.commands.noise.calibrate.swap import SwapPairs
from mipaudit.commands.noise.mechanisms.shape import (
    FULL_SPLITS_PER_COORDINATE,
    NoiseShape,
    diagonal_shape,
    full_shape,
    isotropic_shape,
    standard_units,
)
from mipaudit.commands.noise.noise_multiples import CalibrationKind, Protects, ShapeKind
from mipaudit.maths.mip import Mechanism
from mipaudit.statements.estimate import Finding

Array = NDArray[np.float64]


FEWEST_SPLITS: Final = 4
# A half with fewer says nothing about the shape.
_FEWEST_FOR_SHAPE: Final = 8
# The coverage of the approximate limits was measured from here on.
_FEW_SPLITS: Final = 20
# From the strongest protection to the weakest.
_ORDER: Final[tuple[Protects, ...]] = ("every-record", "tested-records", "average-record")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workbench:
    """What a calibration works with.

    Attributes:
        splits: (B, d) all rows.
        first: random half of the rows, for shapes and units.
        second: the other rows, for scales of these shapes.
        given_units: (d,) units fixed without the data: in these isotropic noise is equal.
        error_units: (d,) units in which the total error counts.
        shapes: to be tried.
        constant: positions of the coordinates that are constant over all splits.
        findings: about the splits.
    """

    splits: Array
    first: Array
    second: Array
    given_units: Array
    error_units: Array
    shapes: tuple[NoiseShape, ...]
    constant: tuple[int, ...]
    findings: tuple[Finding, ...]


def prepare(splits: Array, demand: Demand, rng: np.random.Generator) -> Workbench:
    """Divide the splits at random and make the shapes that the demand allows."""
    count, dimension = splits.shape
    order = rng.permutation(count)
    first, second = splits[order[: count // 2]], splits[order[count // 2 :]]
    constant = np.flatnonzero((splits == splits[0]).all(axis=0))
    given = np.ones(dimension) if isinstance(demand.error_units, str) else demand.error_units
    units = _error_units(splits, first, given, demand)
    varying = len(first) if (first != first[0]).any() else 0
    kinds = shape_kinds(varying, dimension, demand)
    return Workbench(
        splits=splits,
        first=first,
        second=second,
        given_units=given,
        error_units=units,
        shapes=tuple(_shape(kind, first, given, units) for kind in kinds),
        constant=tuple(int(position) for position in constant),
        findings=tuple(_findings(splits, first, constant.size, demand)),
    )


def _error_units(splits: Array, first: Array, given: Array, demand: Demand) -> Array:
    if not isinstance(demand.error_units, str) or demand.error_units == "given":
        return given
    units = standard_units(first) if len(first) >= _FEWEST_FOR_SHAPE else None
    if units is None:
        units = standard_units(splits)
    return given if units is None else units


def shape_kinds(n_first: int, dimension: int, demand: Demand) -> tuple[ShapeKind, ...]:
    """Return the shapes to be tried, where so many splits that vary are there to learn from."""
    needed: dict[ShapeKind, int] = {"isotropic": 0}
    if dimension > 1:  # noise of one coordinate has no shape
        needed["diagonal"] = _FEWEST_FOR_SHAPE
        needed["full"] = max(_FEWEST_FOR_SHAPE, FULL_SPLITS_PER_COORDINATE * dimension)
    return tuple(
        kind for kind, count in needed.items() if kind in demand.shapes and n_first >= count
    )


def _shape(kind: ShapeKind, first: Array, given: Array, units: Array) -> NoiseShape:
    match kind:
        case "isotropic":
            return isotropic_shape(given)
        case "diagonal":
            return diagonal_shape(first, units)
        case "full":
            return full_shape(first, units)
        case _:
            assert_never(kind)


def _findings(splits: Array, first: Array, constant: int, demand: Demand) -> Iterator[Finding]:
    count, dimension = splits.shape
    if count < _FEW_SPLITS:
        yield Finding(
            code="few_splits",
            text=f"There are only {count} splits: the limits of the moments are unreliable.",
        )
    if constant:
        yield Finding(
            code="constant_coordinates",
            text=f"{constant} of {dimension} coordinates are the same in all {count} splits."
            " Nothing is known of how they could vary; shaped noise gives them a floor"
            " in the median unit of the others.",
        )
    if count < dimension:
        yield Finding(
            code="fewer_splits_than_coordinates",
            text=f"There are {count} splits of {dimension} coordinates: noise of full"
            " covariance is not considered.",
        )
    needed = 2 * FULL_SPLITS_PER_COORDINATE * dimension
    if count >= dimension > 1 and len(first) * 2 < needed and "full" in demand.shapes:
        yield Finding(
            code="full_shape_needs_splits",
            text=f"Noise of full covariance needs {needed} splits; there are {count}.",
        )
    if dimension > 1 and len(first) < _FEWEST_FOR_SHAPE:
        yield Finding(
            code="shapes_need_splits",
            text=f"Noise that differs by coordinate needs {2 * _FEWEST_FOR_SHAPE} splits;"
            f" there are {count}.",
        )


def may_choose(calibration: CalibrationKind, protects: Protects, demand: Demand) -> bool:
    """Return whether noise of this kind, and for these records, is what was demanded.

    Whatever protects more records is admitted as well.
    """
    enough = _ORDER.index(protects) <= _ORDER.index(demand.protect)
    return enough and calibration in demand.allow


def mechanisms_for(kind: ShapeKind, dimension: int, demand: Demand) -> tuple[Mechanism, ...]:
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
    return tuple(mechanism for mechanism in every if mechanism in demand.mechanisms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How the limits of strict mode share its error (Bonferroni): the choice sees them all.

    Attributes:
        demand: what is asked.
        dimension: number of coordinates.
        swapped: records that a swap calibration may be for: one entry for each.
    """

    demand: Demand
    dimension: int
    swapped: tuple[Protects, ...]

    @staticmethod
    def of(demand: Demand, dimension: int, pairs: SwapPairs | None) -> "Share":
        """Return the share for splits of so many coordinates, and pairs if there are any."""
        swapped: tuple[Protects, ...] = ()
        if pairs is not None:
            named: tuple[Protects, ...] = () if pairs.record is None else ("tested-records",)
            swapped = (*named, "average-record")
        return Share(demand=demand, dimension=dimension, swapped=swapped)

    def alpha(self, kinds: tuple[ShapeKind, ...]) -> float:
        """Return the error of one limit where these shapes are tried."""
        return (1 - self.demand.confidence) / max(1, sum(map(self._limits, kinds)))

    def fewest_splits(self, n_splits: int) -> int:
        """Return how many splits, at least ``n_splits``, may keep the promise directly.

        With fewer, the limit is above eta even if none of the second half differs from
        the centre: no noise is then enough. More splits allow more shapes, which take a
        share.
        """
        needed = 0
        while n_splits > needed:
            needed = n_splits
            kinds = shape_kinds(needed // 2, self.dimension, self.demand)
            n_splits = max(needed, 2 * fewest_terms(self.demand.eta, self.alpha(kinds)) - 1)
        return needed

    def _limits(self, kind: ShapeKind) -> int:
        """Return how many limits are taken for a shape."""
        demand = self.demand
        swaps = sum(may_choose("swap", whose, demand) for whose in self.swapped)
        direct = sum(may_choose("direct-swap", whose, demand) for whose in self.swapped)
        moments = may_choose("moment", "every-record", demand) + swaps
        direct += may_choose("direct", "every-record", demand)
        mechanisms = len(mechanisms_for(kind, self.dimension, demand))
        return mechanisms * direct + (moments if demand.ball is not None else 0)
