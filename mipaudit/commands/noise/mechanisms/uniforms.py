"""Sources of uniform random numbers: the operating system's bytes, or a seeded generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing import TypeAlias

UniformSource: TypeAlias = Callable[[int], NDArray[np.float64]]
"""Gives n independent uniforms in the open interval (0, 1)."""

_BITS: Final = 53
_WORD: Final = 8


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
