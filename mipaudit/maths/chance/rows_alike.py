"""Whether two groups have counts alike: an exact rank test by permutation.

Under the hypothesis that the labels are exchangeable the p-value (1 + #) / (1 + B) is valid
whatever the law of the counts and however many are tied (Phipson and Smyth 2010). Ties make the
permutation of labels a draw of how many of each distinct count get one label, which is
multivariate hypergeometric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS: Final = 999
# Counts above are one level: few draws of many levels cost as much as many of few.
_LEVELS: Final = 256


def counts_alike(
    first: NDArray[np.int64], second: NDArray[np.int64], rng: np.random.Generator
) -> float:
    """Return the p-value of the hypothesis that both groups have counts of the same law.

    The statistic is the larger of Wilcoxon's rank sum and of that of the distances from the
    middle rank, both standardized: it sees a shift and a difference in spread.

    Args:
        first: counts of one group, shape (n,), n at least 0.
        second: counts of the other, shape (m,).
        rng: draws the labels.
    """
    if not first.size or not second.size:
        return 1.0
    _, level = np.unique(np.concatenate((first, second)), return_inverse=True)
    level = np.minimum(level, _LEVELS - 1)
    everyone = np.bincount(level)
    if everyone.size == 1:
        return 1.0
    seen = np.bincount(level[: first.size], minlength=everyone.size)
    drawn = rng.multivariate_hypergeometric(everyone, first.size, size=DRAWS, method="marginals")
    weights = _scores(everyone, first.size)
    found = np.abs(np.vstack((seen, drawn)) @ weights).max(axis=1)
    # Equal statistics are equal but for rounding.
    return float((1 + np.count_nonzero(found[1:] >= found[0] * (1 - 1e-9))) / (1 + DRAWS))


def _scores(everyone: NDArray[np.int64], drawn: int) -> NDArray[np.float64]:
    """Return the weight of every level in both statistics, centred and scaled, shape (L, 2)."""
    total = int(everyone.sum())
    ends = np.cumsum(everyone)
    middle = (ends - everyone / 2) / total - 1 / 2
    weights = np.column_stack((middle, np.abs(middle)))
    weights -= everyone @ weights / total
    spread = np.sqrt(everyone @ weights**2 * drawn * (total - drawn) / total**2)
    scaled: NDArray[np.float64] = weights / np.where(spread > 0, spread, np.inf)
    return scaled
