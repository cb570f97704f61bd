"""Noise: shapes, costs and samplers.

Samplers are pure functions of a source of uniforms: the operating system's bytes, or a seed's.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

import numpy as np

from mipaudit.commands.noise.options import ShapeKind
from mipaudit.maths.arrays import Floats
from mipaudit.maths.noise_scales import Mechanism, coordinate_error, expected_norm

# Every eigenvalue of a shape gets so much of the mean one: a direction in which the
# splits seen do not vary must not be left without noise.
FLOOR: Final = 0.01
# A covariance matrix needs so many splits for each coordinate.
FULL_SPLITS_PER_COORDINATE: Final = 10
# Trapezoids of this width on the logarithmic axis: the integrand is analytic in a strip of
# half-width pi/2 (or more), so that the relative error is about exp(-pi^2 / step); beyond
# the reach lies about exp(-reach / 2).
_TRAPEZOID: Final = 0.4
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
    units: Floats
    roots: Floats
    axes: Floats | None
    n_splits: int

    @property
    def factor(self) -> Floats:
        """(d,) or, for ``full``, (d, d): F of the noise F g."""
        if self.axes is None:
            return self.units * self.roots
        return np.asarray(self.units[:, None] * self.axes * self.roots)

    def whiten(self, points: Floats) -> Floats:
        """Return F^-1 of every row of (n, d) ``points``."""
        if self.axes is None:
            return points / (self.units * self.roots)
        return (points / self.units) @ self.axes / self.roots


def coordinate_spreads(points: Floats) -> Floats:
    """Return the standard deviation of every column of (n, d) points, n at least 2.

    In the unit of each column's largest deviation: units may lie anywhere in the floats.
    """
    offsets = points - points[0]
    sizes = np.abs(offsets).max(axis=0)
    offsets /= np.where(sizes > 0, sizes, 1.0)
    return np.asarray(sizes * offsets.std(axis=0, ddof=1))


def standard_units(points: Floats) -> Floats | None:
    """Return (d,) units: each column's standard deviation over the rows.

    A constant column says nothing of its unit and gets the median of the others; None
    where all are constant.
    """
    spreads = coordinate_spreads(points)
    varying = spreads > 0
    if not varying.any():
        return None
    return np.where(varying, spreads, np.median(spreads[varying]))


def isotropic_shape(units: Floats) -> NoiseShape:
    """Return the shape of equal noise, in (d,) ``units``, on every coordinate."""
    return NoiseShape(
        kind="isotropic", units=units, roots=np.ones(units.size), axes=None, n_splits=0
    )


def diagonal_shape(points: Floats, units: Floats) -> NoiseShape:
    """Return independent noise with variances proportional to the standard deviations.

    The diagonal case of :func:`full_shape`: total variance (sum of s.d.)^2 in place of
    d (sum of variances), at equal second moment of the release.

    Args:
        points: (n, d) splits, n at least 2, not to be used for the scale as well.
        units: (d,) positive units in which the total error is to be small.
    """
    roots = _floored(coordinate_spreads(points) / units)
    return NoiseShape(kind="diagonal", units=units, roots=roots, axes=None, n_splits=len(points))


def full_shape(points: Floats, units: Floats) -> NoiseShape:
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


def _floored(spreads: Floats) -> Floats:
    """Return roots of eigenvalues proportional to ``spreads`` plus the floor, mean 1."""
    eigenvalues = spreads / spreads.mean()
    return np.asarray(np.sqrt((eigenvalues + FLOOR) / (1 + FLOOR)))


def coordinate_rms(mechanism: Mechanism, scale: float, shape: NoiseShape) -> Floats:
    """Return (d,) exact root mean squares (E X_j^2)^(1/2) of noise X, in the release's units."""
    return scale * coordinate_error(mechanism, shape.units.size) * _lengths(shape.factor)


def _lengths(factor: Floats) -> Floats:
    size = np.abs(factor) if factor.ndim == 1 else np.linalg.norm(factor, axis=1)
    return np.asarray(size, dtype=np.float64)


def noise_cost(
    mechanism: Mechanism, scale: float, shape: NoiseShape, error_units: Floats
) -> tuple[float, float, float]:
    """Return how large the noise X of a mechanism is, exactly (not simulated).

    Args:
        mechanism: the kind of noise.
        scale: above 0.
        shape: of the noise, d coordinates.
        error_units: (d,) positive units u of the total.

    Returns:
        The sum of E (X_j / u_j)^2, which a choice makes least; and in the units of the release
        (E ||X||^2)^(1/2) and E ||X||, Euclidean.
    """
    factor, dimension = shape.factor, shape.units.size
    lengths = spectrum = _lengths(factor)
    if factor.ndim > 1:
        spectrum = np.asarray(np.linalg.svd(factor, compute_uv=False), dtype=np.float64)
    one = scale * coordinate_error(mechanism, dimension)
    # Every mechanism is a radius times a direction: it is Gaussian noise but for the radius.
    longer = expected_norm(mechanism, dimension) / expected_norm("gaussian", dimension)
    total = (one * _length(lengths / error_units)) ** 2
    return total, one * _length(lengths), scale * longer * gaussian_norm(spectrum)


def gaussian_norm(spreads: Floats) -> float:
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
    for x in np.arange(-_REACH, _REACH + _TRAPEZOID, _TRAPEZOID):
        exponent = -0.5 * float(np.log1p(2 * math.exp(x) * variances).sum())
        total -= math.expm1(exponent) * math.exp(-x / 2)
    return size * total * _TRAPEZOID / (2 * math.sqrt(math.pi))


def _length(values: Floats) -> float:
    """Return the Euclidean length, also where squares leave the floats."""
    size = float(np.abs(values).max())
    return size * float(np.linalg.norm(values / size)) if size > 0 else 0.0


# A published number keeps so many binary digits below the scale of its noise.
_GRID_BITS: Final = 20
_LEAST_TRAPEZOID: Final = 5e-324
# Gives n independent uniforms in the open interval (0, 1).
UniformSource: TypeAlias = Callable[[int], Floats]
_BITS: Final = 53
_WORD: Final = 8


def sample_noise(
    mechanism: Mechanism,
    scale: float,
    dimension: int,
    uniforms: UniformSource,
    shape_factor: Floats | None = None,
) -> Floats:
    """Draw one vector of noise.

    With F the shape factor (the identity unless given): ``norm-exponential`` has a density
    proportional to exp(-||F^-1 x|| / scale), that is, F times a uniform direction times a
    radius of law Gamma(d, scale); ``gaussian`` is F times independent normal numbers of
    standard deviation ``scale``. (A Laplace law for the radius, as in Izzo et al. 2022,
    Corollary 8, gives another density for d > 1, and no guarantee.)

    Args:
        mechanism: ``laplace`` is for one coordinate.
        scale: above 0.
        dimension: d, at least 1; 1 for ``laplace``.
        uniforms: source of uniforms in (0, 1); one number for each coordinate is drawn, and
            one more for the radius.
        shape_factor: (d,) positive factors of the coordinates, or a (d, d) matrix.

    Returns:
        (d,) noise.

    Raises:
        ValueError: ``laplace`` in more than one dimension.
    """
    from scipy.special import gammaincinv, ndtri

    match mechanism:
        case "laplace":
            if dimension != 1:
                raise ValueError("Laplace noise is for one coordinate")
            u = uniforms(1)
            noise = np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u)))  # noqa: PLR2004 - the median
        case "norm-exponential":
            # The relative error of the radius is below 1e-7 up to ten million coordinates.
            radius = gammaincinv(float(dimension), uniforms(1))
            direction = np.zeros(dimension)
            while not direction.any():  # all uniforms 1/2: no direction
                direction = ndtri(uniforms(dimension))
            noise = radius * direction / np.linalg.norm(direction)
        case "gaussian":
            noise = ndtri(uniforms(dimension))
        case _:
            assert_never(mechanism)
    if shape_factor is not None:
        noise = shape_factor * noise if shape_factor.ndim == 1 else shape_factor @ noise
    return np.asarray(scale * noise)


def round_to_grid(values: Floats, scale: float | Floats) -> Floats:
    """Round published numbers to a grid far finer than their noise.

    The step is the largest power of two that is at most scale / 2^20. Applied to the sum
    of release and noise it gives nothing away (it is post-processing). It hampers attacks
    that read the release from the low-order bits of floating-point noise (Mironov 2012);
    it proves nothing against them.

    Args:
        values: (d,) release with its noise.
        scale: size of the noise, above 0; one number, or (d,) of them.

    Returns:
        (d,) multiples of the step. Where the step is below the spacing of the floats at a
        value, that value is unchanged.
    """
    _, exponents = np.frexp(np.asarray(scale, dtype=np.float64))
    # Not below the least float, where the scale is.
    steps = np.maximum(np.ldexp(1.0, exponents - 1 - _GRID_BITS), _LEAST_TRAPEZOID)
    with np.errstate(over="ignore"):
        multiples = values / steps
    kept = ~np.isfinite(multiples)  # beyond the floats: far coarser than the grid already
    return np.where(kept, values, np.round(np.where(kept, 0.0, multiples)) * steps)


def uniforms_from_bytes(random_bytes: Callable[[int], bytes]) -> UniformSource:
    """Return a source of uniforms k / 2^53, k from 1 to 2^53 - 1, all equally likely.

    Zero is drawn again, so that the values are symmetric about 1/2 and inside the open
    interval: a quantile function of them is finite.

    Args:
        random_bytes: gives so many random bytes, as ``os.urandom`` does.
    """

    def draw(count: int) -> Floats:
        words = np.frombuffer(random_bytes(_WORD * count), dtype="<u8") >> np.uint64(64 - _BITS)
        uniforms = np.ldexp(words.astype(np.float64), -_BITS)
        zeros = np.flatnonzero(words == 0)
        if zeros.size:
            uniforms[zeros] = draw(zeros.size)
        return uniforms

    return draw
