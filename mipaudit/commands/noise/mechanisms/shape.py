"""The shape of noise: which directions of a release get how much of it."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.noise.noise_multiples import ShapeKind

Array = NDArray[np.float64]


# Every eigenvalue of a shape gets so much of the mean one: a direction in which the
# splits seen do not vary must not be left without noise.
FLOOR: Final = 0.01
# A covariance matrix needs so many splits for each coordinate.
FULL_SPLITS_PER_COORDINATE: Final = 10


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
        factor: Array = self.units[:, None] * self.axes * self.roots
        return factor

    def whiten(self, points: Array) -> Array:
        """Return F^-1 of every row of (n, d) ``points``."""
        if self.axes is None:
            return points / (self.units * self.roots)
        return (points / self.units) @ self.axes / self.roots

    def reach(self, radius: float | Array) -> float:
        """Return the greatest ||F^-1 x|| in a ball (or ellipsoid of these semi-axes) about 0."""
        semi_axes = np.broadcast_to(np.asarray(radius, dtype=np.float64), self.units.shape)
        if self.axes is None:
            return float((semi_axes / (self.units * self.roots)).max())
        return float(np.linalg.norm(self.whiten(np.diag(semi_axes)), ord=2))


def coordinate_spreads(points: Array) -> Array:
    """Return the standard deviation of every column of (n, d) points, n at least 2.

    In the unit of each column's largest deviation: units may lie anywhere in the floats.
    """
    offsets = points - points[0]
    sizes = np.abs(offsets).max(axis=0)
    offsets /= np.where(sizes > 0, sizes, 1.0)
    spreads: Array = sizes * offsets.std(axis=0, ddof=1)
    return spreads


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
    roots: Array = np.sqrt((eigenvalues + FLOOR) / (1 + FLOOR))
    return roots
