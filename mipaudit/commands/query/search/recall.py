"""How often an approximate search found what an exact one finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Of a sample of records, how many had all of their k nearest neighbours found.

    Attributes:
        neighbours: k.
        records: of the sample.
        right: those whose k nearest were all found.
        excess_mean: of the distance to number k over the exact one, as a share of that;
            over the records whose exact distance is above 0.
        excess_95: its 95% quantile.
        copies_missed: records at distance 0 for which something farther was found.
    """

    neighbours: int
    records: int
    right: int
    excess_mean: float
    excess_95: float
    copies_missed: int


def recall(neighbours: int, found: NDArray[np.float64], exact: NDArray[np.float64]) -> Recall:
    """Return the recall of number k.

    Args:
        neighbours: k.
        found: distances to number k of what was found, shape (n,), n at least 1: never
            below the exact ones, and equal just where the k nearest, or others as near,
            were found.
        exact: the exact ones.
    """
    apart = exact > 0
    excess = found[apart] / exact[apart] - 1.0 if apart.any() else np.zeros(1)
    return Recall(
        neighbours=neighbours,
        records=exact.size,
        right=int(np.count_nonzero(found <= exact)),
        excess_mean=float(excess.mean()),
        excess_95=float(np.quantile(excess, 0.95)),
        copies_missed=int(np.count_nonzero(found[~apart] > 0)),
    )
