"""What guessing 'member' up to a score gains, as a curve, where no step hides an order.

The curve p F(s) - (1-p) G(s), of the empirical distribution functions of members and
holdout, is known by its turning points. A threshold gains a value of it, an interval
the difference of two, and no best interval ends between two turning points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.maths.class_limits.roc_counts import Ladder

# Curves with fewer turning points than this are not worth smoothing.
_SHORT: Final = 1024
_MOST_ROUNDS: Final = 24
# A ripple is at most this many times the mean rise, or the mean fall if that is less.
_RIPPLE: Final = 4.0


def turning_points(ladder: Ladder, prior: float) -> NDArray[np.float64]:
    """Return the curve at its ends and wherever it turns, shape (t,), from 0.

    Args:
        ladder: counts along the score, exact. Without a row the curve stays at 0.
        prior: p in (0, 1).
    """
    per_member = prior / max(1, ladder.n_members)
    per_holdout = (1 - prior) / max(1, ladder.n_holdout)
    rising = ladder.members * per_member > ladder.holdout * per_holdout
    last = np.append((rising[1:] != rising[:-1]).nonzero()[0], rising.size - 1)[: rising.size]
    members, holdout = ladder.members.cumsum()[last], ladder.holdout.cumsum()[last]
    curve = np.zeros(last.size + 1)
    curve[1:] = prior * members / max(1, ladder.n_members)
    curve[1:] -= (1 - prior) * holdout / max(1, ladder.n_holdout)
    return curve


def thresholds_on(curve: NDArray[np.float64], prior: float) -> float:
    """Return the advantage of the best threshold, either direction, or constant guess."""
    best = max(float(curve.max()), float(curve[-1] - curve.min()))
    return 1 - 2 * prior + 2 * best


def intervals_on(curve: NDArray[np.float64], prior: float, count: int) -> list[float]:
    """Return the advantages of the best unions of at most 1, 2, ... ``count`` intervals.

    Complements of such unions count as well. A dynamic program, one pass of running
    maxima per interval.

    Args:
        curve: from `turning_points`.
        prior: p in (0, 1).
        count: at least 1.
    """
    curve = without_ripples(curve, count)
    # Both at once: the gain of the intervals, and what leaving them out saves.
    curve = np.stack([curve, -curve])
    total = np.zeros_like(curve)
    best = []
    for _ in range(count):
        # fmax: there is no NaN, and not looking for one is faster.
        total -= curve
        np.fmax.accumulate(total, axis=1, out=total)
        total += curve
        np.fmax.accumulate(total, axis=1, out=total)
        inside, outside = total[:, -1].tolist()
        best.append(1 - 2 * prior + 2 * max(inside, float(curve[0, -1]) + outside))
    return best


def without_ripples(curve: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the curve without rises and falls that few intervals do not profit from.

    To go on through a ripple, at most as high as what lies on either side of it, costs
    its height and saves an interval. Once no ripple is left, the rises and falls above the
    limit are neighbours, and alternate; where they are more than the 2 ``count`` ends of the
    intervals can separate, a saved interval gains more at one of them than the ripple costs.
    So the best union passes over every ripple. Otherwise the curve is returned whole.
    """
    if curve.size < _SHORT:
        return curve
    heights = np.abs(curve[1:] - curve[:-1])
    limit = _RIPPLE * float(min(heights[::2].mean(), heights[1::2].mean()))
    smooth = curve
    for _ in range(_MOST_ROUNDS):
        inner = heights[1:-1]
        ripple = inner < heights[:-2]
        ripple &= inner <= heights[2:]
        ripple &= inner <= limit
        (at,) = ripple.nonzero()
        if not at.size:
            break
        # Its two ends go; no two of these ripples are neighbours.
        stays = np.ones(smooth.size, dtype=bool)
        stays[at + 1] = stays[at + 2] = False
        smooth = smooth[stays.nonzero()[0]]
        heights = np.abs(smooth[1:] - smooth[:-1])
    else:
        # Small ones may still stand between higher ones, which then need not alternate.
        return curve
    enough = np.count_nonzero(heights > limit) >= 2 * count + 4
    return smooth if enough else curve
