"""Bins of cells that hold about as many rows of the burn-in each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def equal_mass_starts(mass: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the first cell of each of at most ``count`` runs of about equal mass.

    Args:
        mass: share of each cell, total 1, shape (K,).
        count: runs wanted, at least 1.
    """
    run = np.minimum((np.cumsum(mass) - mass / 2) * count, count - 1).astype(np.intp)
    return np.flatnonzero(np.diff(run, prepend=-1))
