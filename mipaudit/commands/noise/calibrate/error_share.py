"""Which limits strict mode takes, how they share the error, and how many splits that needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.commands.noise.calibrate.betting import fewest_terms
from mipaudit.commands.noise.calibrate.split_halves import shape_kinds

if TYPE_CHECKING:
    from mipaudit.commands.noise.calibrate.demand import Demand
    from mipaudit.commands.noise.calibrate.swap import SwapPairs
    from mipaudit.commands.noise.choices import CalibrationKind, Protects, ShapeKind
    from mipaudit.maths.mip import Mechanism

# From the strongest protection to the weakest.
_ORDER: Final[tuple[Protects, ...]] = ("every-record", "tested-records", "average-record")


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
    def of(demand: Demand, dimension: int, pairs: SwapPairs | None) -> Share:
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
