"""How finely numbers were stored, and the same numbers stored more coarsely.

A model's outputs for members and for the holdout may come in files of different precision.
Their scores would then lie on different grids, and the storage would tell who is a member.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Precision = Literal["bfloat16", "half", "single", "double"]
# The coarsest first.
_ORDER: Final[tuple[Precision, ...]] = ("bfloat16", "half", "single", "double")
# Significant bits of a float64.
DOUBLE_BITS: Final = 53
# Significant bits of bfloat16, whose range is that of single precision.
_BRAIN_BITS: Final = 8
_ROWS: Final = 1 << 14


def precision_of(values: NDArray[np.float64]) -> Precision:
    """Return the coarsest precision that holds all of the numbers, finite, shape (n, c)."""
    return next(
        one for one in _ORDER if one == "double" or all(_held(part, one) for part in _parts(values))
    )


def coarsest(precisions: set[Precision]) -> Precision:
    """Return the coarsest of some precisions, at least one."""
    return next(one for one in _ORDER if one in precisions)


def rounded_to(values: NDArray[np.float64], precision: Precision) -> NDArray[np.float64]:
    """Return the numbers as that precision holds them; beyond its range, its largest."""
    if precision == "double":
        return values
    if precision == "bfloat16":
        return rounded_to_bits(values, _BRAIN_BITS)
    dtype = np.dtype("float16" if precision == "half" else "float32")
    most = float(np.finfo(dtype).max)
    return np.clip(values, -most, most).astype(dtype).astype(np.float64)


def rounded_to_bits(values: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    """Return the numbers with so many significant bits, and any exponent."""
    if bits == DOUBLE_BITS:
        return values
    fractions, exponents = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(fractions, bits)), exponents - bits))


def _held(values: NDArray[np.float64], precision: Precision) -> bool:
    return bool((rounded_to(values, precision) == values).all())


def _parts(values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    return [values[start : start + _ROWS] for start in range(0, len(values), _ROWS)]
