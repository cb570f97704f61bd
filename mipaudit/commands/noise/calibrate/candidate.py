"""One way of adding enough noise: mechanism, shape, scale, what they rest on, and the cost.

What noise costs is how large it is on each coordinate and altogether.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.calibrate.demand import Demand
from mipaudit.commands.noise.calibrate.direct_scale import (
    Aim,
    Basis,
    Shifts,
    estimate_gap,
    least_scale,
)
from mipaudit.commands.noise.calibrate.measurement import Measured
from mipaudit.commands.noise.measured import MeasuredGap, MeasuredMoment
from mipaudit.commands.noise.mechanisms.shape import NoiseShape
from mipaudit.commands.noise.noise_multiples import CalibrationKind, Protects
from mipaudit.maths import mip
from mipaudit.maths.mip import Mechanism, coordinate_error, expected_norm

Array = NDArray[np.float64]
ScaledBy = Literal["upper", "value"]


# Trapezoids of this width on the logarithmic axis: the integrand is analytic in a strip of
# half-width pi/2 (or more), so that the relative error is about exp(-pi^2 / step); beyond
# the reach lies about exp(-reach / 2).
_STEP: Final = 0.4
_REACH: Final = 52.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseCost:
    """The size of noise X, exact (not simulated).

    Attributes:
        coordinate_rms: (d,) root mean squares (E X_j^2)^(1/2), in the units of the release.
        expected_norm: E ||X||, Euclidean, in the units of the release.
        rms_norm: (E ||X||^2)^(1/2), in the units of the release.
        total: sum of E (X_j / u_j)^2 in the units u asked for: what a choice makes least.
    """

    coordinate_rms: Array
    expected_norm: float
    rms_norm: float
    total: float


def noise_cost(
    mechanism: Mechanism, scale: float, shape: NoiseShape, error_units: Array
) -> NoiseCost:
    """Return how large the noise of a mechanism is.

    Args:
        mechanism: the kind of noise.
        scale: above 0.
        shape: of the noise, d coordinates.
        error_units: (d,) positive units of the total.
    """
    factor = shape.factor
    dimension = shape.units.size
    lengths = np.asarray(
        np.abs(factor) if factor.ndim == 1 else np.linalg.norm(factor, axis=1), dtype=np.float64
    )
    spectrum = lengths
    if factor.ndim > 1:
        spectrum = np.asarray(np.linalg.svd(factor, compute_uv=False), dtype=np.float64)
    one = scale * coordinate_error(mechanism, dimension)
    # Every mechanism is a radius times a direction: it is Gaussian noise but for the radius.
    longer = expected_norm(mechanism, dimension) / expected_norm("gaussian", dimension)
    return NoiseCost(
        coordinate_rms=one * lengths,
        expected_norm=scale * longer * gaussian_norm(spectrum),
        rms_norm=one * _length(lengths),
        total=(one * _length(lengths / error_units)) ** 2,
    )


def gaussian_norm(spreads: Array) -> float:
    """Return E ||X|| of independent normal coordinates with these standard deviations.

    E sqrt(S) = integral of (1 - E exp(-t S)) t^(-3/2) dt / (2 sqrt(pi)), with t = e^x by
    the trapezoidal rule; relative error below 1e-10.
    """
    size = _length(spreads)
    if size == 0:
        return 0.0
    if float(spreads.min()) == float(spreads.max()):
        return float(spreads[0]) * expected_norm("gaussian", spreads.size)
    variances = (spreads / size) ** 2
    total = 0.0
    for x in np.arange(-_REACH, _REACH + _STEP, _STEP):
        exponent = -0.5 * float(np.log1p(2 * math.exp(x) * variances).sum())
        total -= math.expm1(exponent) * math.exp(-x / 2)
    return size * total * _STEP / (2 * math.sqrt(math.pi))


def _length(values: Array) -> float:
    """Return the Euclidean length, also where squares leave the floats."""
    size = float(np.abs(values).max())
    return size * float(np.linalg.norm(values / size)) if size > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """Noise that keeps the promise if what it was scaled by is right.

    Attributes:
        calibration: ``moment`` (of sigma_1), ``swap`` (of the mean swap distance),
            ``direct`` and ``direct-swap`` (of the law of these distances, without Jensen's
            inequality) or ``paper`` (Izzo et al. 2022, of sigma_k; for comparison).
        mechanism: the kind of noise.
        shape: of the noise; its ``n_splits`` were not used for the scale.
        protects: whose membership; ``tested-records`` are those that the pairs exchange.
        multiplier: scale for each unit of the moment; None for the direct calibrations.
        moment: in the norm of the shape; of the direct calibrations the mean distance, for
            information.
        gap: of the direct calibrations, the mean that must not exceed its limit; else None.
        scaled_by: which number of ``moment``, or of ``gap``, the scale rests on.
        scale: of the noise F g: s for ``gaussian``, b for the others.
        guaranteed: whether the limit it rests on holds at every sample size (strict mode);
            otherwise the promise is kept as far as the estimate is right.
        cost: size of the noise.
    """

    calibration: CalibrationKind
    mechanism: Mechanism
    shape: NoiseShape
    protects: Protects
    multiplier: float | None
    moment: MeasuredMoment
    gap: MeasuredGap | None
    scaled_by: ScaledBy
    scale: float
    guaranteed: bool
    cost: NoiseCost


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scaled:
    """A scale and what it came from."""

    scale: float
    scaled_by: ScaledBy
    guaranteed: bool
    multiplier: float | None = None
    gap: MeasuredGap | None = None


def make_candidate(
    measured: Measured, mechanism: Mechanism, demand: Demand, error_units: NDArray[np.float64]
) -> Candidate | None:
    """Scale a mechanism to what was measured; None where no positive finite scale results."""
    shifts = measured.shifts
    scaled = (
        _by_moment(measured, mechanism, demand)
        if shifts is None
        else _directly(measured, shifts, mechanism, demand)
    )
    if scaled is None or not 0 < scaled.scale < math.inf:
        return None
    return Candidate(
        calibration=measured.calibration,
        mechanism=mechanism,
        shape=measured.shape,
        protects=measured.protects,
        multiplier=scaled.multiplier,
        moment=measured.moment,
        gap=scaled.gap,
        scaled_by=scaled.scaled_by,
        scale=scaled.scale,
        guaranteed=scaled.guaranteed,
        cost=noise_cost(mechanism, scaled.scale, measured.shape, error_units),
    )


def _by_moment(measured: Measured, mechanism: Mechanism, demand: Demand) -> _Scaled:
    multiplier = _multiplier(measured.calibration, mechanism, demand)
    moment = measured.moment
    guaranteed = moment.validity == "finite-sample"
    by_limit = moment.upper is not None and (guaranteed or demand.scaled_by == "upper")
    size = moment.upper if by_limit and moment.upper is not None else moment.value
    return _Scaled(
        scale=multiplier * size,
        scaled_by="upper" if by_limit else "value",
        guaranteed=guaranteed,
        multiplier=multiplier,
    )


def _directly(
    measured: Measured, shifts: Shifts, mechanism: Mechanism, demand: Demand
) -> _Scaled | None:
    aim = Aim(
        at_most=_at_most(measured.calibration, demand),
        basis=_basis(shifts, demand),
        alpha=(1 - measured.confidence) / (1 if demand.sure else 2),
    )
    scale = least_scale(shifts, mechanism, aim)
    if not 0 < scale < math.inf:
        return None
    return _Scaled(
        scale=scale,
        scaled_by="value" if aim.basis == "value" else "upper",
        guaranteed=demand.sure,
        gap=estimate_gap(shifts, mechanism, scale, aim, measured.confidence),
    )


def _basis(shifts: Shifts, demand: Demand) -> Basis:
    if demand.sure:
        return "finite-sample"
    return "approximate" if demand.scaled_by == "upper" and shifts.has_limits else "value"


def _at_most(calibration: CalibrationKind, demand: Demand) -> float:
    """Return what the mean of h must not exceed: docs/mip-noise.md, section 4, remark (b).

    For distances from a centre that is eta itself, at every q.
    """
    if calibration == "direct":
        return demand.eta
    return mip.allowed_gap(demand.eta, demand.train_fraction)


def _multiplier(calibration: CalibrationKind, mechanism: Mechanism, demand: Demand) -> float:
    match calibration:
        case "moment" | "direct":
            return mip.scale_for_moment(mechanism, demand.eta, demand.train_fraction)
        case "swap" | "direct-swap":
            gap = mip.allowed_gap(demand.eta, demand.train_fraction)
            return mip.scale_for_distance(mechanism, gap)
        case "paper":
            return mip.paper_scale(demand.eta, demand.order)
        case _:
            assert_never(calibration)
