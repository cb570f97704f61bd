"""Memory that is claimed before an input takes the rest."""

from __future__ import annotations

from typing import Final

import numpy as np

# So large that the product is no longer computed without a buffer: with AVX-512, smaller ones
# than 101 are.
_SIDE: Final = 128


def claim_buffers() -> None:
    """Let OpenBLAS take its buffer now, of which it touches little.

    Where it finds no memory later on it ends the process with 1, which says not met.
    """
    ones = np.ones((_SIDE, _SIDE))
    np.matmul(ones, ones)
