"""The shape of noise: which directions of a release get how much of it, and what that costs."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.options import ShapeKind
from mipaudit.maths.noise_scales import Mechanism, coordinate_error, expected_norm

Array = NDArray[np.float64]


# Every eigenvalue of a shape gets so much of the mean one: a direction in which the
# splits seen do not vary must not be left without noise.
FLOOR: Final = 0.01
# A covariance matrix needs so many splits for each coordinate.
FULL_SPLITS_PER_COORDINATE: Final = 10
# Trapezoids of this width on the logarithmic axis: the integrand is analytic in a strip of
# half-width pi/2 (or more), so that the relative error is about exp(-pi^2 / step); beyond
# the reach lies about exp(-reach / 2).
_STEP: Final = 0.4
_REACH: Final = 52.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseShape:
    """Noise F g, for noise g that is alike in all directions.

    F = diag(units) Q diag(roots), Q the identity for ``isotropic`` and ``diagonal``. The
    noise lives in the norm ||F^-1 x||; at ``roots`` of mean square 1, ``scale`` is the
    root mean square over coordinates, in ``units``, of Gaussian noise.

    Attributes:
        kind: which directions may differ.
        units: (d,) positive units of the coordinates.
        roots: (d,) positive square roots of the eigenvalues of N, in these units.
        axes: (d, d) orthonormal eigenvectors in columns, or None for the coordinates.
        n_splits: splits that it was learnt from; 0 where it was fixed without data.
    """

    kind: ShapeKind
    units: Array
    roots: Array
    axes: Array | None
    n_splits: int

    @property
    def factor(self) -> Array:
        """(d,) or, for ``full``, (d, d): F of the noise F g."""
        if self.axes is None:
            return self.units * self.roots
        return np.asarray(self.units[:, None] * self.axes * self.roots)

    def whiten(self, points: Array) -> Array:
        """Return F^-1 of every row of (n, d) ``points``."""
        if self.axes is None:
            return points / (self.units * self.roots)
        return (points / self.units) @ self.axes / self.roots


def coordinate_spreads(points: Array) -> Array:
    """Return the standard deviation of every column of (n, d) points, n at least 2.

    In the unit of each column's largest deviation: units may lie anywhere in the floats.
    """
    offsets = points - points[0]
    sizes = np.abs(offsets).max(axis=0)
    offsets /= np.where(sizes > 0, sizes, 1.0)
    return np.asarray(sizes * offsets.std(axis=0, ddof=1))


def standard_units(points: Array) -> Array | None:
    """Return (d,) units: each column's standard deviation over the rows.

    A constant column says nothing of its unit and gets the median of the others; None
    where all are constant.
    """
    spreads = coordinate_spreads(points)
    varying = spreads > 0
    if not varying.any():
        return None
    return np.where(varying, spreads, np.median(spreads[varying]))


def isotropic_shape(units: Array) -> NoiseShape:
    """Return the shape of equal noise, in (d,) ``units``, on every coordinate."""
    return NoiseShape(
        kind="isotropic", units=units, roots=np.ones(units.size), axes=None, n_splits=0
    )


def diagonal_shape(points: Array, units: Array) -> NoiseShape:
    """Return independent noise with variances proportional to the standard deviations.

    The diagonal case of :func:`full_shape`: total variance (sum of s.d.)^2 in place of
    d (sum of variances), at equal second moment of the release.

    Args:
        points: (n, d) splits, n at least 2, not to be used for the scale as well.
        units: (d,) positive units in which the total error is to be small.
    """
    roots = _floored(coordinate_spreads(points) / units)
    return NoiseShape(kind="diagonal", units=units, roots=roots, axes=None, n_splits=len(points))


def full_shape(points: Array, units: Array) -> NoiseShape:
    """Return noise with covariance N proportional to Sigma^(1/2).

    Sigma is the covariance of the release in these units. Gaussian noise of covariance
    s^2 N is calibrated by E ||N^(-1/2) (theta - m)||, at most (tr N^-1 Sigma)^(1/2); at
    given tr N that is least for N proportional to Sigma^(1/2) (Cauchy-Schwarz).

    Args:
        points: (n, d) splits, not to be used for the scale as well; n at least 10 d.
        units: (d,) positive units in which the total error is to be small.
    """
    offsets = (points - points[0]) / units
    offsets -= offsets.mean(axis=0)
    # Singular values keep the small eigenvalues that a covariance matrix would round off.
    _, spreads, rows = np.linalg.svd(offsets, full_matrices=False)
    return NoiseShape(
        kind="full", units=units, roots=_floored(spreads), axes=rows.T, n_splits=len(points)
    )


def _floored(spreads: Array) -> Array:
    """Return roots of eigenvalues proportional to ``spreads`` plus the floor, mean 1."""
    eigenvalues = spreads / spreads.mean()
    return np.asarray(np.sqrt((eigenvalues + FLOOR) / (1 + FLOOR)))


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
