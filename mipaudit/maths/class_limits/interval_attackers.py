"""The best attackers of named classes on the data: thresholds and unions of intervals.

All gains are in units of p TPR - (1-p) FPR. Where a step of the ladder is a cell
of several values, an interval may end inside it; the most that this could gain is
the cell's own members (all of them on the better side), and the supremum is
bracketed from above by letting it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mipaudit.maths.class_limits.gain_curve import intervals_on, thresholds_on, turning_points
from mipaudit.maths.class_limits.roc_counts import weighted_differences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.maths.class_limits.roc_counts import Ladder


def best_union(gains: NDArray[np.float64], ends: NDArray[np.float64], count: int) -> float:
    """Return the largest total over unions of at most ``count`` intervals of steps.

    A dynamic program over prefix sums, one pass of running maxima per interval,
    O(count * m).

    Args:
        gains: what a whole step adds, shape (m,).
        ends: the most that a part of a step can add, shape (m,), at least
            max(gains, 0).
        count: number of intervals, at least 1.

    Returns:
        The supremum, at least 0 (the empty union).
    """
    prefix = np.cumsum(gains)
    # Best totals before each step, with no interval open and with one open.
    closed = np.zeros(gains.size + 1)
    opened = np.full(gains.size + 1, -np.inf)
    for _ in range(count):
        opening = np.maximum(closed[:-1], opened[:-1])
        opening += ends
        opening -= prefix
        np.maximum.accumulate(opening, out=opening)
        opening += prefix
        closing = closed[:-1].copy()
        np.maximum(closing[1:], opening[:-1], out=closing[1:])
        closing += ends
        np.maximum.accumulate(closing, out=closing)
        np.maximum(closed[1:], closing, out=closed[1:])
        opened[1:] = opening
    return float(closed[-1])


def _parts(ladder: Ladder, prior: float) -> tuple[NDArray[np.float64], ...]:
    """Return whole-step gains, and the most a part gains for and against membership."""
    gains = weighted_differences(ladder, prior)
    members = prior * ladder.members / max(1, ladder.n_members)
    holdout = (1 - prior) * ladder.holdout / max(1, ladder.n_holdout)
    gain_end = np.where(ladder.single, np.maximum(gains, 0), members)
    loss_end = np.where(ladder.single, np.maximum(-gains, 0), holdout)
    return gains, gain_end, loss_end


def best_thresholds(ladder: Ladder, prior: float) -> float:
    """Return the observed advantage of the best threshold rule, either direction.

    The constant rules (guess all, guess none) belong to the class.

    Args:
        ladder: counts along the score, both classes present.
        prior: p in (0, 1).

    Returns:
        sup of (1-2p) + 2(p TPR - (1-p) FPR), in [|2p-1|, 1]; an upper bracket
        where the ladder has cells.
    """
    if ladder.exact:
        return thresholds_on(turning_points(ladder, prior), prior)
    gains, ends, _ = _parts(ladder, prior)
    below = np.concatenate([[0.0], np.cumsum(gains)])
    above = below[-1] - below
    best = max(0.0, float(below[-1]), float((below[:-1] + ends).max()))
    best = max(best, float((above[1:] + ends).max()))
    return 1 - 2 * prior + 2 * best


def best_intervals(ladder: Ladder, prior: float, count: int) -> float:
    """Return the observed advantage of the best union of intervals or its complement.

    Args:
        ladder: counts along the score, both classes present.
        prior: p in (0, 1).
        count: at most this many intervals, at least 1.

    Returns:
        The supremum, in [|2p-1|, 1]; an upper bracket where the ladder has cells.
    """
    if ladder.exact:
        return intervals_on(turning_points(ladder, prior), prior, count)[-1]
    gains, gain_end, loss_end = _parts(ladder, prior)
    inside = best_union(gains, gain_end, count)
    outside = float(gains.sum()) + best_union(-gains, loss_end, count)
    return 1 - 2 * prior + 2 * max(inside, outside)


def best_ordered(ladder: Ladder, prior: float, counts: Sequence[int]) -> tuple[float, ...]:
    """Return `best_thresholds`, then `best_intervals` for each of the increasing counts."""
    if not ladder.exact:
        unions = [best_intervals(ladder, prior, count) for count in counts]
        return best_thresholds(ladder, prior), *unions
    curve = turning_points(ladder, prior)
    up_to = intervals_on(curve, prior, counts[-1])
    return thresholds_on(curve, prior), *(up_to[count - 1] for count in counts)


def best_sets(ladder: Ladder, prior: float) -> float:
    """Return the observed advantage of the best set of score values: MACE's W_N.

    Where the ladder has cells, the two classes are taken to share no value within
    a cell: an upper bracket of the sum over values.

    Returns:
        sum_j |p P_j - (1-p) Q_j|, in [|2p-1|, 1] (Liu et al., MACE, Theorem 2).
    """
    if ladder.exact:
        return float(np.abs(weighted_differences(ladder, prior)).sum())
    _, gain_end, loss_end = _parts(ladder, prior)
    return float((gain_end + loss_end).sum())
