"""What noise costs: how large it is on each coordinate and altogether."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.mip import coordinate_error, expected_norm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.commands.noise.mechanisms.shape import NoiseShape
    from mipaudit.maths.mip import Mechanism

    Array = NDArray[np.float64]

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
