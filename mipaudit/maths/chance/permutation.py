"""An exact test of whether members and holdout records differ at all along one score.

If membership tells nothing, every way to hand out the labels over the rows is as likely as
the one that was seen. Which rows share a cell does not depend on labels, so what is drawn is
the members in each cell: a multivariate hypergeometric law, at the same cost for 10^3 and
for 10^8 rows. A p-value from such draws is exact at every size, ties included (Pitman 1937;
Phipson and Smyth 2010 on the +1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.maths.class_limits.roc_counts import Ladder

# Draws of the first stage, and those with which more of them exceed than it lets pass.
DRAWS: Final = (99, 999)
_PASSING: Final = 9
# What the sampler of the hypergeometric law can count.
MOST_ROWS: Final = 10**9 - 1
# Shares of all rows at which cells end: 32 of one size, finer at both ends.
_TAIL: Final = (1 / 512, 1 / 256, 1 / 128, 1 / 64)
_EVEN: Final = 32
_COARSE: Final = 16
# Shares at either end whose members are counted.
_ENDS: Final = (1 / 64, 1 / 32)


def difference_p_value(ladder: Ladder, *, seed: Sequence[int], ordered: bool = True) -> float:
    """Return a p-value of 'membership tells nothing about this score'.

    The observed statistic is the least of the approximate p-values of several tests: ranks
    (Wilcoxon), scale (Mood), both tails (Savage, and the members among the last 1/64 and
    1/32 of all rows) and chi-squared on 16 and on up to 40 cells. The draws make it exact.
    In the first stage 99 labellings are drawn. Where more than 9 do as well, the p-value is
    (1 + those) / 100; else 999 are drawn.

    Args:
        ladder: counts along the score; its steps must not depend on the labels of the rows
            that it counts. At most ``MOST_ROWS`` rows.
        seed: of the draws.
        ordered: whether a larger score means anything; else chi-squared alone.

    Returns:
        p in (0, 1]; below any t with probability at most t where nothing differs.
    """
    members, pooled = _cells(ladder)
    if pooled.size < 2 or not 0 < ladder.n_members < int(pooled.sum()):  # noqa: PLR2004
        return 1.0
    rng = np.random.default_rng(list(seed))
    observed = _least(members[None], pooled, ordered=ordered)[0]
    exceeding = drawn = 0
    for draws in DRAWS:
        labelled = rng.multivariate_hypergeometric(
            pooled, ladder.n_members, size=draws - drawn, method="marginals"
        )
        # Equal statistics differ in their last digits.
        found = _least(labelled, pooled, ordered=ordered) <= observed * (1 + 1e-9)
        exceeding += int(np.count_nonzero(found))
        drawn = draws
        if exceeding > _PASSING:
            break
    return (1 + exceeding) / (1 + drawn)


def _cells(ladder: Ladder) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return members and all rows of cells cut at fixed shares of all rows."""
    pooled = ladder.members + ladder.holdout
    below = pooled.cumsum()
    rows = int(below[-1])
    ends = np.array([*_TAIL, *(np.arange(1, _EVEN) / _EVEN), *(1 - share for share in _TAIL[::-1])])
    # A step is in the cell that holds its middle row; doubled, to stay with whole numbers.
    middle = 2 * below - pooled
    last = np.searchsorted(middle, np.ceil(2 * rows * ends).astype(np.int64)) - 1
    last = np.append(last, pooled.size - 1)
    members, everyone = (
        np.diff(np.where(last < 0, 0, sums[last]), prepend=0)
        for sums in (ladder.members.cumsum(), below)
    )
    occupied = everyone > 0
    return members[occupied], everyone[occupied]


def _least(
    members: NDArray[np.int64], pooled: NDArray[np.int64], *, ordered: bool
) -> NDArray[np.float64]:
    """Return the least approximate p-value of the tests for each row of ``members``."""
    from scipy.special import ndtr

    deviates = [_chi_squared(members, pooled)]
    if ordered:
        rows = pooled.sum()
        rank = (pooled.cumsum() - pooled / 2) / rows
        coarse = np.unique((rank * _COARSE).astype(np.intp), return_index=True)[1]
        deviates.append(
            _chi_squared(np.add.reduceat(members, coarse, axis=1), np.add.reduceat(pooled, coarse))
        )
        ends = [end for share in _ENDS for end in (rank < share, rank > 1 - share)]
        scores = np.stack([rank, (rank - 0.5) ** 2, -np.log(rank), -np.log1p(-rank), *ends])
        linear = np.abs(_standardised(members, pooled, scores))
        # Two-sided: as far out as a one-sided deviate of half the p-value would be.
        two_sided = 2 * ndtr(-linear)
        one_sided = ndtr(-np.stack(deviates, axis=1))
        return np.asarray(np.concatenate([two_sided, one_sided], axis=1).min(axis=1))
    return np.asarray(ndtr(-deviates[0]))


def _standardised(
    members: NDArray[np.int64], pooled: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return linear rank statistics less their mean, in standard deviations over labellings."""
    rows, drawn = int(pooled.sum()), members.sum(axis=1)[:, None]
    mean = scores @ pooled / rows
    centred = scores - mean[:, None]
    spread = (centred**2) @ pooled
    deviation = np.sqrt(spread * drawn * (rows - drawn) / (rows * (rows - 1.0)))
    total = members @ centred.T
    return np.asarray(np.divide(total, deviation, out=np.zeros_like(total), where=deviation > 0))


def _chi_squared(members: NDArray[np.int64], pooled: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a normal deviate of chi-squared (Wilson and Hilferty 1931); 0 for one cell."""
    freedom = pooled.size - 1
    if freedom == 0:
        return np.zeros(len(members))
    rows, drawn = int(pooled.sum()), members.sum(axis=1)[:, None]
    expected = pooled * (drawn / rows)
    statistic = ((members - expected) ** 2 / expected).sum(axis=1) / (1 - drawn[:, 0] / rows)
    scale = 2 / (9 * freedom)
    return np.asarray((np.cbrt(statistic / freedom) - (1 - scale)) / np.sqrt(scale))
