"""Adding calibrated noise to the vector that is to be released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.noise.mechanisms.clipping import clip
from mipaudit.commands.noise.mechanisms.mechanism import round_to_grid, sample_noise
from mipaudit.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.commands.noise.calibrate.candidate import Candidate
    from mipaudit.commands.noise.mechanisms.clipping import Ball
    from mipaudit.commands.noise.mechanisms.uniforms import UniformSource


def noised(
    vector: NDArray[np.float64],
    candidate: Candidate,
    uniforms: UniformSource,
    ball: Ball | None = None,
    *,
    rounded: bool = True,
) -> NDArray[np.float64]:
    """Return what may be published in the place of ``vector``.

    Izzo et al. 2022, Algorithm 1, with the noise of a calibration.

    Args:
        vector: (d,) finite numbers, from a split that the calibration did not use.
        candidate: noise to add.
        uniforms: from the operating system for a real release.
        ball: that of the calibration, for one in strict mode.
        rounded: to a grid 2^-20 as fine as the noise of each coordinate.

    Returns:
        (d,) numbers.

    Raises:
        InputError: the vector has another number of coordinates than the splits.
    """
    shape = candidate.shape
    if vector.shape != shape.units.shape:
        raise InputError(
            "release_does_not_match",
            f"The release has {vector.size} coordinates; the splits have {shape.units.size}.",
        )
    if ball is not None:
        vector = clip(vector[None, :], ball)[0]
    noise = sample_noise(candidate.mechanism, candidate.scale, vector.size, uniforms, shape.factor)
    published = vector + noise
    return round_to_grid(published, candidate.cost.coordinate_rms) if rounded else published
