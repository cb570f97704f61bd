"""Risks of single records: the published plug-in, cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.reproductions.reproduction import Array


def plug_in_risks(members: Array, holdout: Array, bins: int = 100) -> Array:
    """Return each member's |f| at p = 1/2 from equal-width bins, shape (n,)."""
    low = min(members.min(), holdout.min())
    high = max(members.max(), holdout.max())
    width = (high - low) or 1.0
    own, other = (_places(side, low, width, bins) for side in (members, holdout))
    first = np.bincount(own, minlength=bins) / len(members)
    second = np.bincount(other, minlength=bins) / len(holdout)
    total = np.where(first + second > 0, first + second, 1.0)
    return np.asarray((np.abs(first - second) / total)[own])


def _places(scores: Array, low: float, width: float, bins: int) -> NDArray[np.intp]:
    return np.minimum((bins * (scores - low) / width).astype(np.intp), bins - 1)
