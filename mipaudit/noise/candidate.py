"""One way of adding enough noise: mechanism, shape, scale, and what they rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mipaudit.maths import mip
from mipaudit.noise.cost import noise_cost

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.maths.mip import Mechanism
    from mipaudit.noise.cost import NoiseCost
    from mipaudit.noise.demand import CalibrationKind, Demand
    from mipaudit.noise.measurement import Measured, Protects
    from mipaudit.noise.moments import MomentEstimate
    from mipaudit.noise.shape import NoiseShape


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """Noise that keeps the promise if its moment is right.

    Attributes:
        calibration: ``moment`` (of sigma_1), ``swap`` (of the mean swap distance) or
            ``paper`` (Izzo et al. 2022, of sigma_k; for comparison).
        mechanism: the kind of noise.
        shape: of the noise; its ``n_splits`` were not used for ``moment``.
        protects: whose membership; ``tested-records`` are those that the pairs exchange.
        multiplier: scale for each unit of the moment.
        moment: in the norm of the shape.
        scaled_by: which number of ``moment`` was multiplied.
        scale: of the noise F g: s for ``gaussian``, b for the others.
        guaranteed: whether the moment's limit holds at every sample size (strict mode);
            otherwise the promise is kept as far as the estimate is right.
        cost: size of the noise.
    """

    calibration: CalibrationKind
    mechanism: Mechanism
    shape: NoiseShape
    protects: Protects
    multiplier: float
    moment: MomentEstimate
    scaled_by: Literal["upper", "value"]
    scale: float
    guaranteed: bool
    cost: NoiseCost


def make_candidate(
    measured: Measured, mechanism: Mechanism, demand: Demand, error_units: NDArray[np.float64]
) -> Candidate | None:
    """Scale a mechanism to a measured moment; None where no positive finite scale results."""
    multiplier = _multiplier(measured, mechanism, demand)
    moment = measured.moment
    guaranteed = moment.validity == "finite-sample"
    by_limit = moment.upper is not None and (guaranteed or demand.scaled_by == "upper")
    size = moment.upper if by_limit and moment.upper is not None else moment.value
    scale = multiplier * size
    if not 0 < scale < math.inf:
        return None
    return Candidate(
        calibration=measured.calibration,
        mechanism=mechanism,
        shape=measured.shape,
        protects=measured.protects,
        multiplier=multiplier,
        moment=moment,
        scaled_by="upper" if by_limit else "value",
        scale=scale,
        guaranteed=guaranteed,
        cost=noise_cost(mechanism, scale, measured.shape, error_units),
    )


def _multiplier(measured: Measured, mechanism: Mechanism, demand: Demand) -> float:
    match measured.calibration:
        case "moment":
            return mip.scale_for_moment(mechanism, demand.eta, demand.train_fraction)
        case "swap":
            gap = mip.allowed_gap(demand.eta, demand.train_fraction)
            return mip.scale_for_distance(mechanism, gap)
        case "paper":
            return mip.paper_scale(demand.eta, demand.order)
