"""Where the sets of a class lie on the data: boxes of observed TPR and FPR that hold them all.

An upper limit of a class is the largest of each set's own (`set_upper`). Those limits rise with
the TPR and fall with the FPR, so that only sets count which no other dominates, and a box stands
for the sets in it by its best corner. Thresholds, and the sets of not too many values, are
listed one by one; unions of intervals are held by tangents: the set with the best
l TPR - (1-l) FPR is known for any l, and all others lie behind that line.

Gains of the best attackers on the data are in units of p TPR - (1-p) FPR. Where a step of the
ladder is a cell of several values, an interval may end inside it; the most that this could gain is
the cell's own members (all of them on the better side), and the supremum is bracketed from above by
letting it.

Where no step hides an order the gain is a curve: p F(s) - (1-p) G(s), of the empirical
distribution functions of members and holdout, is known by its turning points. A threshold gains
a value of it, an interval the difference of two, and no best interval ends between two turning
points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, assert_never

import numpy as np

from mipaudit.maths.advantage import advantage
from mipaudit.maths.arrays import Bools, Floats, Ints, Places
from mipaudit.maths.class_limits.roc_counts import Ladder, weighted_differences

# Curves with fewer turning points than this are not worth smoothing.
_SHORT: Final = 1024
_MOST_ROUNDS: Final = 24
# A ripple is at most this many times the mean rise, or the mean fall if that is less.
_RIPPLE: Final = 4.0
RivalClass = Literal["any", "thresholds", "intervals-1", "intervals-4"]
_FEW_CELLS: Final = 16


def turning_points(ladder: Ladder, prior: float) -> Floats:
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


def thresholds_on(curve: Floats, prior: float) -> float:
    """Return the advantage of the best threshold, either direction, or constant guess."""
    best = max(float(curve.max()), float(curve[-1] - curve.min()))
    return 1 - 2 * prior + 2 * best


def intervals_on(curve: Floats, prior: float, count: int) -> list[float]:
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


def without_ripples(curve: Floats, count: int) -> Floats:
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


def best_union(gains: Floats, ends: Floats, count: int) -> float:
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


def _parts(ladder: Ladder, prior: float) -> tuple[Floats, ...]:
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListedRivals:
    """Every attacker of a class, by the rows that it takes.

    Attributes:
        taken: shape (2, 2, n): mass by class, by the challenger's guess and by attacker.
        part: shape (2, 2, n): the cell of which the attacker may take a part more; None
            where no cell holds several values.
    """

    taken: Floats
    part: Floats | None


def listed_rivals(rates: Floats, single: Bools, rivals: RivalClass) -> ListedRivals | None:
    """Return all attackers of the class, or None where they are too many.

    Args:
        rates: mass by class, by the challenger's guess and by cell, shape (2, 2, K).
        single: bool, shape (K,).
        rivals: the class.
    """
    cells = rates.shape[2]
    if rivals == "any" and cells <= _FEW_CELLS and single.all():
        sets = (np.arange(1 << cells)[:, None] >> np.arange(cells)) & 1
        return ListedRivals(taken=rates @ sets.T.astype(np.float64), part=None)
    if rivals != "thresholds":
        return None
    upward = np.concatenate([np.zeros((2, 2, 1)), np.cumsum(rates, axis=2)], axis=2)
    downward = upward[:, :, -1:] - upward
    taken = np.concatenate([upward, downward], axis=2)
    if single.all():
        return ListedRivals(taken=taken, part=None)
    # After cells 0..i-1 comes a part of cell i; before cells i..K-1, a part of cell i-1.
    several = np.where(single, 0.0, rates)
    nothing = np.zeros((2, 2, 1))
    part = np.concatenate([several, nothing, nothing, several], axis=2)
    return ListedRivals(taken=taken, part=part)


def best_rival(gains: Floats, single: Bools, rivals: RivalClass) -> tuple[float, Floats]:
    """Return the supremum of what an attacker of the class gains, and about who it is.

    Where a cell holds several values, an attacker may take a part of it: at most what
    the groups of its rows that gain would add up to, which brackets the supremum.

    Args:
        gains: what guessing 'member' adds, by group of rows and cell, shape (g, K).
        single: bool, shape (K,), cells that hold one value.
        rivals: the class; ``any`` takes each value for itself.

    Returns:
        The supremum, at least 0 (never 'member'), and the share of each cell that the
        best attacker takes, shape (K,); for unions of intervals that of thresholds.
    """
    whole = gains.sum(axis=0)
    inside = np.where(single, np.maximum(whole, 0.0), np.maximum(gains, 0.0).sum(axis=0))
    match rivals:
        case "any":
            return float(inside.sum()), np.asarray(whole > 0, dtype=np.float64)
        case "thresholds":
            return _threshold(whole, inside)
        case "intervals-1" | "intervals-4":
            count = int(rivals[-1])
            outside = np.where(single, np.maximum(-whole, 0.0), np.maximum(-gains, 0.0).sum(axis=0))
            most = best_union(whole, inside, count)
            most = max(most, float(whole.sum()) + best_union(-whole, outside, count))
            return most, _threshold(whole, inside)[1]
        case _:
            assert_never(rivals)


def _threshold(whole: Floats, inside: Floats) -> tuple[float, Floats]:
    """Return the best prefix or suffix of the cells, a part of one cell included."""
    below = np.concatenate([[0.0], np.cumsum(whole)])
    above = below[-1] - below
    upward, downward = below[:-1] + inside, above[1:] + inside
    cells = np.arange(whole.size)
    rows = (
        (float(upward.max()), _up_to(cells, int(upward.argmax()), whole)),
        (float(downward.max()), _up_to(-cells, -int(downward.argmax()), whole)),
        (float(below[-1]), cells >= 0),
        (0.0, cells < 0),
    )
    most, taken = max(rows, key=lambda row: row[0])
    return most, taken.astype(np.float64)


def _up_to(cells: Places, last: int, whole: Floats) -> Bools:
    """Tell the cells before one, and that one if it gains as a whole."""
    return np.asarray((cells < last) | ((cells == last) & (whole > 0)))


# Thresholds are put together in runs so that there are no more boxes than this.
_MOST_BOXES: Final = 1 << 12
# Steps of a knapsack: values times rows of the smaller class.
_MOST_STEPS: Final = 1 << 23
_LARGE_VALUES: Final = 8
# Tangents are at priors whose log odds are the prior's and so far from it.
_TANGENTS: Final = (-2.0, -1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0, 2.0)
_PIECES: Final = 64
# Tangents of long ladders, but that at the prior itself, are those of this many cells.
_LONG: Final = 1 << 14
_CELLS: Final = 1 << 13


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassSets:
    """Boxes in which all sets of a class lie, or sets that dominate them.

    Attributes:
        tpr: least and largest observed TPR of a box, shape (2, b).
        fpr: likewise FPR.
        advantage: at least the largest advantage in the box, shape (b,).
        best: observed advantage of the best set.
        n_members: rows behind the TPR.
        n_holdout: rows behind the FPR.
        prior: p in (0, 1).
    """

    tpr: Floats
    fpr: Floats
    advantage: Floats
    best: float
    n_members: int
    n_holdout: int
    prior: float


def threshold_sets(ladder: Ladder, prior: float) -> ClassSets:
    """Return the thresholds, either direction, and the constant guesses.

    Args:
        ladder: counts along the score. A threshold inside a cell of several values takes all
            members of the cell, or all its holdout records, first.
        prior: p in (0, 1).
    """
    members, holdout = (
        np.concatenate([[0], one.cumsum()]) for one in (ladder.members, ladder.holdout)
    )
    n1, n2 = ladder.n_members, ladder.n_holdout
    taken, passed = members * (prior / max(1, n1)), holdout * ((1 - prior) / max(1, n2))
    # Each cut, and each cell of several values from the cut before it to the one behind.
    first = behind = np.arange(members.size)
    most = least = taken - passed
    if not ladder.exact:
        cells = np.flatnonzero(~ladder.single)
        first = np.sort(np.concatenate([first, cells]))
        behind = np.sort(np.concatenate([behind, cells + 1]))
        most, least = taken[behind] - passed[first], taken[first] - passed[behind]
    starts = np.arange(0, most.size, -(-most.size // _MOST_BOXES))
    last = np.append(starts[1:], most.size) - 1
    ends = [[one[first[starts]], one[behind[last]]] for one in (members, holdout)]
    tpr, fpr = (np.stack(one) / max(1, n) for one, n in zip(ends, (n1, n2), strict=True))
    upward = 1 - 2 * prior + 2 * np.maximum.reduceat(most, starts)
    downward = 2 * prior - 1 - 2 * np.minimum.reduceat(least, starts)
    reached = np.concatenate([upward, downward])
    return ClassSets(
        tpr=np.concatenate([tpr, 1 - tpr[::-1]], axis=1),
        fpr=np.concatenate([fpr, 1 - fpr[::-1]], axis=1),
        advantage=reached,
        best=float(reached.max()),
        n_members=n1,
        n_holdout=n2,
        prior=prior,
    )


def value_sets(ladder: Ladder, prior: float) -> ClassSets:
    """Return the sets of score values that no other set dominates.

    With up to 2^23 values times rows of the smaller class they are found one by one (a knapsack:
    the most members for each number of holdout records). Else those of the largest values are,
    and each is followed by the others in the order of their likelihood ratios, in boxes.

    Args:
        ladder: counts by value. In a cell of several values the classes are taken to share none.
        prior: p in (0, 1).
    """
    members, holdout = _apart(ladder)
    n1, n2 = ladder.n_members, ladder.n_holdout
    if members.size * (min(n1, n2) + 1) <= _MOST_STEPS:
        tpr, fpr = (np.stack([one, one]) for one in _rates(*_undominated(members, holdout), n1, n2))
        reached = advantage(tpr[0], fpr[0], prior)
    else:
        tpr, fpr, reached = _followed(*_rates(members, holdout, n1, n2), prior)
    return ClassSets(
        tpr=tpr,
        fpr=fpr,
        advantage=reached,
        best=float(reached.max()),
        n_members=n1,
        n_holdout=n2,
        prior=prior,
    )


def interval_sets(ladder: Ladder, prior: float, counts: Sequence[int]) -> list[ClassSets]:
    """Return the unions of at most so many intervals, and their complements, for each count.

    Args:
        ladder: counts along the score.
        prior: p in (0, 1).
        counts: increasing, each at least 1.
    """
    odds = math.log(prior / (1 - prior))
    priors = np.array([1 / (1 + math.exp(-odds - step)) for step in _TANGENTS])
    priors[_TANGENTS.index(0.0)] = prior
    rough = ladder if ladder.members.size <= _LONG else _in_cells(ladder)
    best = [
        best_ordered(ladder if one == prior else rough, float(one), counts)[1:] for one in priors
    ]
    return [_behind(priors, np.array(found), ladder, prior) for found in zip(*best, strict=True)]


def _behind(priors: Floats, best: Floats, ladder: Ladder, prior: float) -> ClassSets:
    """Return the sets behind the tangents at given priors, shape (n,), increasing."""
    # l T - (1-l) F <= h, with F >= 0 and T <= 1 before and after.
    slope = np.concatenate([[0.0], priors, [1.0]])
    height = np.concatenate([[0.0], (best - 1 + 2 * priors) / 2, [1.0]])
    wide = np.diff(slope)
    corner_tpr = (height[1:] * (1 - slope[:-1]) - height[:-1] * (1 - slope[1:])) / wide
    corner_fpr = (slope[:-1] * height[1:] - slope[1:] * height[:-1]) / wide
    # Brackets need not touch: what lies beyond the unit square, or turns back, is cut to it.
    corner_tpr = np.maximum.accumulate(np.clip(corner_tpr, 0, 1))
    corner_fpr = np.minimum.accumulate(np.clip(corner_fpr, 0, 1)[::-1])[::-1]
    steps = np.linspace(0, corner_tpr.size - 1, _PIECES * (corner_tpr.size - 1) + 1)
    places = np.arange(corner_tpr.size)
    at_tpr, at_fpr = (np.interp(steps, places, one) for one in (corner_tpr, corner_fpr))
    tpr, fpr = (np.stack([one[:-1], one[1:]]) for one in (at_tpr, at_fpr))
    own = float(best[priors == prior][0])
    return ClassSets(
        tpr=tpr,
        fpr=fpr,
        advantage=np.minimum(advantage(tpr, fpr, prior).max(axis=0), own),
        best=own,
        n_members=ladder.n_members,
        n_holdout=ladder.n_holdout,
        prior=prior,
    )


def _rates(members: Ints, holdout: Ints, n1: int, n2: int) -> tuple[Floats, Floats]:
    return members / max(1, n1), holdout / max(1, n2)


def _apart(ladder: Ladder) -> tuple[Ints, Ints]:
    """Return the counts of values; a cell of several values has one for each class."""
    single = ladder.single
    mixed = ~single
    nothing = np.zeros(int(mixed.sum()), dtype=np.int64)
    members = np.concatenate([ladder.members[single], ladder.members[mixed], nothing])
    holdout = np.concatenate([ladder.holdout[single], nothing, ladder.holdout[mixed]])
    seen = members + holdout > 0
    return members[seen], holdout[seen]


def _undominated(members: Ints, holdout: Ints) -> tuple[Ints, Ints]:
    """Return the counts of the sets of values that have the most members for their holdout."""
    if holdout.sum() > members.sum():
        # The least holdout for each number of members, as complements of the same problem.
        kept_out, left = _undominated(holdout, members)
        return members.sum() - left, holdout.sum() - kept_out
    most = np.full(int(holdout.sum()) + 1, -1, dtype=np.int64)
    most[0] = members[holdout == 0].sum()
    top = 0
    for gain, cost in zip(members[holdout > 0], holdout[holdout > 0], strict=True):
        if gain == 0:
            continue
        before = most[: top + 1].copy()
        top += int(cost)
        reached = most[cost : top + 1]
        np.maximum(reached, np.where(before >= 0, before + gain, -1), out=reached)
    best = np.maximum.accumulate(most)
    rises = np.flatnonzero(np.diff(best, prepend=-1) > 0)
    return best[rises], rises


def _followed(tpr: Floats, fpr: Floats, prior: float) -> tuple[Floats, Floats, Floats]:
    """Return boxes of the sets of many values: ends of TPR and FPR, (2, b), and advantages."""
    by_size = np.argsort(-(tpr + fpr), kind="stable")
    large, small = np.split(by_size, [_LARGE_VALUES])
    sets = (np.arange(1 << large.size)[:, None] >> np.arange(large.size)) & 1
    # The best of what is left, by the likelihood ratio: the upper hull.
    order = small[np.argsort(fpr[small] / np.maximum(tpr[small] + fpr[small], 1e-300))]
    step = max(1, -(-order.size * (1 << large.size) // (_MOST_BOXES * 4)))
    starts = np.arange(0, max(1, order.size), step)
    stops = np.minimum(starts + step, order.size)

    def corners(rates: Floats) -> tuple[Floats, Floats]:
        return (sets @ rates[large])[:, None], np.concatenate([[0.0], np.cumsum(rates[order])])

    found = []
    for whole, hull in (corners(tpr), corners(fpr)):
        ends = np.stack([(whole + hull[at]).ravel() for at in (starts, stops)])
        found.append(np.minimum(ends, 1.0))
    # A box holds all corners from its first to its last, and mixtures of neighbours, or worse.
    whole, hull = corners(advantage(tpr, fpr, prior) - (1 - 2 * prior))
    most = np.maximum(np.maximum.reduceat(hull, starts), hull[stops])
    return found[0], found[1], np.minimum(1 - 2 * prior + whole + most, 1.0).ravel()


def _in_cells(ladder: Ladder) -> Ladder:
    """Return a long ladder as one of few cells of several values each."""
    starts = np.arange(0, ladder.members.size, -(-ladder.members.size // _CELLS))
    return Ladder(
        members=np.add.reduceat(ladder.members, starts),
        holdout=np.add.reduceat(ladder.holdout, starts),
        single=np.zeros(starts.size, dtype=bool),
    )
