"""Where the sets of a class lie on the data: boxes of observed TPR and FPR that hold them all.

An upper limit of a class is the largest of each set's own (`set_upper`). Those limits rise with
the TPR and fall with the FPR, so that only sets count which no other dominates, and a box stands
for the sets in it by its best corner. Thresholds, and the sets of not too many values, are
listed one by one; unions of intervals are held by tangents: the set with the best
l TPR - (1-l) FPR is known for any l, and all others lie behind that line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.advantage import advantage
from mipaudit.maths.class_limits.best_attackers import best_ordered
from mipaudit.maths.class_limits.roc_counts import Ladder

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
