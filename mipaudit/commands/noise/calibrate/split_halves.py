"""Splits made ready for a calibration: their halves, units, and the shapes to try.

Which limits strict mode takes of them, how these share the error, and how many splits that needs.
"""

from dataclasses import dataclass
from typing import Any, Final, assert_never

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.interval import fewest_terms
from mipaudit.commands.noise.mechanisms.shape import (
    FULL_SPLITS_PER_COORDINATE,
    Ball,
    NoiseShape,
    diagonal_shape,
    full_shape,
    isotropic_shape,
    standard_units,
)
from mipaudit.commands.noise.options import NoiseOptions, Protects, ShapeKind
from mipaudit.maths.mip import Mechanism

Array = NDArray[np.float64]
# A half with fewer says nothing about the shape.
FEWEST_FOR_SHAPE: Final = 8


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
        moments = may("moment", "every-record") + sum(may("swap", one) for one in self.swapped)
        direct = may("direct", "every-record") + sum(
            may("direct-swap", one) for one in self.swapped
        )
        mechanisms = len(mechanisms_for(kind, self.dimension, self.asked))
        return mechanisms * direct + (moments if self.asked.clip_radius is not None else 0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workbench:
    """What a calibration works with.

    Attributes:
        asked: the promise, and what may be done to keep it.
        splits: (B, d) all rows.
        first: random half of the rows, for shapes and units.
        second: the other rows, for scales of these shapes.
        pairs: releases before and after one record is exchanged.
        ball: strict mode clips the release into it; fixed without the data.
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
    ball: Ball | None
    error_units: Array
    shapes: tuple[NoiseShape, ...]
    constant: tuple[int, ...]
    share: Share


def prepare(
    splits: Array,
    asked: NoiseOptions,
    rng: np.random.Generator,
    pairs: SwapPairs | None,
    ball: Ball | None,
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
        ball=ball,
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
