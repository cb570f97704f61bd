"""The best threshold on a file: what it would be judged by on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class BestThreshold:
    """A threshold attacker, with its rates on the rows that it was chosen on.

    Attributes:
        cut: "member" is said at or below it (``low_side``) or above it.
        low_side: which of the two.
        tpr: share of the members called members.
        fpr: share of the holdout called members.
        advantage: of this attacker on these rows; above the truth on average.
    """

    cut: float
    low_side: bool
    tpr: float
    fpr: float
    advantage: float


def best_threshold(
    member: NDArray[np.bool_], score: NDArray[np.float64], prior: float
) -> BestThreshold:
    """Return the threshold, in either direction, with the greatest advantage on the rows.

    Args:
        member: bool, shape (n,), both classes present.
        score: float64, shape (n,), no NaN.
        prior: p in (0, 1).
    """
    order = np.argsort(score, kind="stable")
    values, called = score[order], member[order]
    # Equal scores are on the same side of every threshold; -inf calls nobody.
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    below = np.append(0, np.cumsum(called)[ends]) / called.sum()
    below_holdout = np.append(0, np.cumsum(~called)[ends]) / (~called).sum()
    gain = prior * below - (1 - prior) * below_holdout
    total = 2 * prior - 1
    low_side = bool(gain.max() >= total - gain.min())
    best = int(gain.argmax() if low_side else gain.argmin())
    tpr, fpr = float(below[best]), float(below_holdout[best])
    if not low_side:
        tpr, fpr = 1 - tpr, 1 - fpr
    return BestThreshold(
        cut=float(values[ends[best - 1]]) if best else -np.inf,
        low_side=low_side,
        tpr=tpr,
        fpr=fpr,
        advantage=1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr),
    )
