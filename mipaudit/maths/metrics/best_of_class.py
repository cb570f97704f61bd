"""The best attacker of a class on the data, for any weighing of the two rates.

A class is known by one function: the largest observed v(p) = (1-2p) + 2 (p T - (1-p) F) at any
prior p, which is its advantage there. Every linear gain u T - v F is that at some prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.arrays import Floats, Ints
from mipaudit.maths.class_limits.roc_counts import Ladder

if TYPE_CHECKING:
    from mipaudit.maths.metrics.metric import FloorKind

# Ladders are merged to about so many steps: a supremum is asked for many times.
MOST_STEPS: Final = 1 << 15
MOST_LISTED_STEPS: Final = 128
# Steps in the log-odds at which a least recall is priced; any price is valid.
_STEP: Final = 1 / 128
_LOG_ODDS: Final = 20.0
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricClass:
    """A class of attackers on the data; it holds the constant guesses, and coin tosses.

    Attributes:
        advantage: the best observed advantage at any prior in (0, 1).
        n_members: members behind it.
        n_holdout: holdout records behind it.
        rates: the observed (TPR, FPR) of attackers whose mixtures are all that the class
            can gain, shape (A, 2), where they are few enough to list; None otherwise.
    """

    advantage: Callable[[float], float]
    n_members: int
    n_holdout: int
    rates: Floats | None = None
    _known: dict[float, float] = field(default_factory=dict)

    def support(self, u: float, v: float) -> float:
        """Return the largest observed u T - v F, for u and v at least 0."""
        if u <= 0 or v <= 0:
            return max(u, 0.0)
        return (u + v) * self._unit_gain(u / (u + v))

    def banded(self, u: float, v: float, *, floor: FloorKind, low: float, high: float) -> float:
        """Return the largest observed gain of the attackers inside a band.

        Those who toss coins count too: to keep a floor, or to stay just inside a band, a
        mixture of two sets can be better than any set.

        Args:
            u: weight of the rate that has the floor (TPR, or TNR), at least 0.
            v: weight of the rate that goes against it (FPR, or FNR), above 0.
            floor: which rates these are.
            low: the first rate must be at least this.
            high: and at most this.

        Returns:
            sup of u R - v S. Where the attackers are not listed a little more at most,
            because the prices of the two constraints are tried on a grid, and by duality
            every price gives an upper bound.
        """
        if self.rates is not None:
            return _best_mixed(self._edges[floor], u, v, low, high)

        def dual(index: int) -> float:
            odds = math.exp(index * _STEP)
            prior = odds / (1 + odds)
            price = v * odds - u
            gain = v * (1 + odds) * self._gain_of(prior, floor)
            return gain - price * (low if price > 0 else high)

        ends = round(_LOG_ODDS / _STEP)
        return min(_least(dual, -ends, ends), u * high)

    @cached_property
    def _edges(self) -> dict[FloorKind, tuple[Floats, Floats]]:
        assert self.rates is not None  # noqa: S101 - asked for by `banded` only
        tpr, fpr = np.append(self.rates, [[0.0, 0.0], [1.0, 1.0]], axis=0).T
        return {"recall": lower_edge(tpr, fpr), "specificity": lower_edge(1 - fpr, 1 - tpr)}

    def _gain_of(self, prior: float, floor: FloorKind) -> float:
        """Return the largest p R - (1-p) S; what TNR gains is what is left of T and F."""
        if floor == "recall":
            return self._unit_gain(prior)
        return 2 * prior - 1 + self._unit_gain(1 - prior)

    def _unit_gain(self, prior: float) -> float:
        """Return the largest observed p T - (1-p) F."""
        known = self._known.get(prior)
        if known is None:
            known = (self.advantage(prior) - 1 + 2 * prior) / 2
            self._known[prior] = known
        return known


def coarsened(ladder: Ladder, most: int = MOST_STEPS) -> Ladder:
    """Return the ladder with neighbours merged into cells, at most about ``most`` of them.

    Suprema over cells are bracketed from above, so upper limits stay valid.
    """
    rows = ladder.members + ladder.holdout
    if rows.size <= most:
        return ladder
    run = (np.cumsum(rows) - rows) * most // max(1, int(rows.sum()))
    starts = np.flatnonzero(np.diff(run, prepend=-1))
    alone = np.diff(starts, append=rows.size) == 1
    return Ladder(
        members=np.add.reduceat(ladder.members, starts),
        holdout=np.add.reduceat(ladder.holdout, starts),
        single=ladder.single[starts] & alone,
    )


def threshold_rates(ladder: Ladder) -> Floats:
    """Return the rates of every threshold in either direction, shape (A, 2).

    A threshold inside a cell may have all the cell's members and none of its holdout
    records on its side; that bracket is listed too.
    """
    members = np.append(0, np.cumsum(ladder.members)) / max(1, ladder.n_members)
    holdout = np.append(0, np.cumsum(ladder.holdout)) / max(1, ladder.n_holdout)
    inside = np.flatnonzero(~ladder.single)
    tpr = [members, 1 - members, members[inside + 1], 1 - members[inside]]
    fpr = [holdout, 1 - holdout, holdout[inside], 1 - holdout[inside + 1]]
    return np.stack([np.concatenate(tpr), np.concatenate(fpr)], axis=1)


def interval_rates(ladder: Ladder) -> Floats | None:
    """Return the rates of every interval of steps and its complement; None if too many."""
    occupied = (ladder.members + ladder.holdout) > 0
    if not ladder.exact or int(occupied.sum()) > MOST_LISTED_STEPS:
        return None
    ends = np.stack(
        [
            np.append(0, np.cumsum(ladder.members[occupied])) / max(1, ladder.n_members),
            np.append(0, np.cumsum(ladder.holdout[occupied])) / max(1, ladder.n_holdout),
        ],
        axis=1,
    )
    inside = (ends[None] - ends[:, None])[np.triu_indices(len(ends))]
    return np.concatenate([inside, 1 - inside])


def set_rates(table: Ints) -> Floats:
    """Return the rates of the best sets of rows of a (K, 2) table, shape (K + 1, 2).

    They take the rows by falling likelihood ratio; no other set, and no mixture of sets,
    has a higher TPR than mixtures of these at the same FPR (Neyman and Pearson).
    """
    order = np.argsort(np.arctan2(table[:, 0], table[:, 1]), kind="stable")
    taken = np.cumsum(table[order], axis=0) / np.maximum(table.sum(axis=0), 1)
    return np.concatenate([np.zeros((1, 2)), np.minimum(taken[:, ::-1], 1.0)])


def lower_edge(picked: Floats, against: Floats) -> tuple[Floats, Floats]:
    """Return the corners of the least ``against`` that mixtures reach for each ``picked``.

    Args:
        picked: of the points that are mixed.
        against: of the same points.

    Returns:
        The corners of the convex curve, by growing ``picked``.
    """
    order = np.lexsort((against, picked))
    corners: list[tuple[float, float]] = []
    for x, y in zip(picked[order].tolist(), against[order].tolist(), strict=True):
        if corners and x == corners[-1][0]:
            continue  # the first of the same x is the least
        while len(corners) > 1 and not _turns(corners[-2], corners[-1], (x, y)):
            corners.pop()
        corners.append((x, y))
    edge = np.array(corners)
    return edge[:, 0], edge[:, 1]


def _turns(
    first: tuple[float, float], second: tuple[float, float], third: tuple[float, float]
) -> bool:
    """Tell whether the second point is below the line from the first to the third."""
    rise = (second[0] - first[0]) * (third[1] - first[1])
    return rise > (second[1] - first[1]) * (third[0] - first[0])


def _best_mixed(edge: tuple[Floats, Floats], u: float, v: float, low: float, high: float) -> float:
    """Return the largest u R - v S between two values of R: at a corner, or at an end."""
    inside = (edge[0] > low) & (edge[0] < high)
    picked = np.append(edge[0][inside], [low, high])
    return float((u * picked - v * np.interp(picked, *edge)).max())


def _least(function: Callable[[int], float], first: int, last: int) -> float:
    """Return the least of a convex function of whole numbers (golden section)."""
    found = math.inf
    while last - first > 3:  # noqa: PLR2004 - so few are tried one by one
        width = max(1, round((last - first) * (1 - _GOLDEN)))
        left, right = function(first + width), function(last - width)
        found = min(found, left, right)
        if left <= right:
            last -= width
        else:
            first += width
    return min([found, *(function(index) for index in range(first, last + 1))])
