"""Samplers of the noise mechanisms, as pure functions of a source of uniforms.

Uniforms are the operating system's bytes, or of a seeded generator.
"""

from collections.abc import Callable
from typing import Final, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.noise_scales import Mechanism

Array = NDArray[np.float64]


# A published number keeps so many binary digits below the scale of its noise.
_GRID_BITS: Final = 20
_LEAST_STEP: Final = 5e-324
# Gives n independent uniforms in the open interval (0, 1).
UniformSource: TypeAlias = Callable[[int], NDArray[np.float64]]
_BITS: Final = 53
_WORD: Final = 8


def sample_noise(
    mechanism: Mechanism,
    scale: float,
    dimension: int,
    uniforms: UniformSource,
    shape_factor: Array | None = None,
) -> Array:
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
    match mechanism:
        case "laplace":
            if dimension != 1:
                raise ValueError("Laplace noise is for one coordinate")
            noise = _standard_laplace(uniforms)
        case "norm-exponential":
            noise = _standard_norm_exponential(dimension, uniforms)
        case "gaussian":
            noise = _standard_gaussian(dimension, uniforms)
        case _:
            assert_never(mechanism)
    return scale * _shaped(noise, shape_factor)


def _standard_laplace(uniforms: UniformSource) -> Array:
    u = uniforms(1)
    return np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u)))  # noqa: PLR2004 - the median


def _standard_gaussian(dimension: int, uniforms: UniformSource) -> Array:
    from scipy.special import ndtri

    return np.asarray(ndtri(uniforms(dimension)))


def _standard_norm_exponential(dimension: int, uniforms: UniformSource) -> Array:
    """Gamma(d) radius, relative error below 1e-7 up to ten million coordinates."""
    from scipy.special import gammaincinv

    radius = gammaincinv(float(dimension), uniforms(1))
    direction = _standard_gaussian(dimension, uniforms)
    while not direction.any():  # all uniforms 1/2: no direction
        direction = _standard_gaussian(dimension, uniforms)
    return np.asarray(radius * direction / np.linalg.norm(direction))


def _shaped(noise: Array, factor: Array | None) -> Array:
    if factor is None:
        return noise
    return np.asarray(factor * noise if factor.ndim == 1 else factor @ noise)


def round_to_grid(values: Array, scale: float | Array) -> Array:
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
    steps = np.maximum(np.ldexp(1.0, exponents - 1 - _GRID_BITS), _LEAST_STEP)
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

    def draw(count: int) -> NDArray[np.float64]:
        words = np.frombuffer(random_bytes(_WORD * count), dtype="<u8") >> np.uint64(64 - _BITS)
        uniforms = np.ldexp(words.astype(np.float64), -_BITS)
        zeros = np.flatnonzero(words == 0)
        if zeros.size:
            uniforms[zeros] = draw(zeros.size)
        return uniforms

    return draw


def uniforms_from(rng: np.random.Generator) -> UniformSource:
    """Return a source that a seed repeats: for experiments, never for a real release."""
    return uniforms_from_bytes(rng.bytes)
