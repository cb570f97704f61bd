"""Cells of the score axis, cut on the burn-in, and the map from scores to cells.

A grid of equal-width buckets: locates scores in cells without a search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_BITS: Final = 18
_LAST: Final = (1 << _BITS) - 1
# Shares of the sample left to the tails, from light-tailed to heavy-tailed scores.
_TAIL_SHARES: Final = (5e-4, 5e-3, 2e-2)
_CROWD: Final = 4
_WORTHWHILE: Final = 0.5
_MAX_NUDGES: Final = 64
ATOM_SHARE: Final = 0.005
ATOM_COUNT: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """The map floor((score - low) * scale): monotone in the score, in floating point too.

    Bucket 0 and the last one collect the tails.
    """

    low: float
    scale: float

    def locate(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the bucket of each score before clipping to [0, last], shape (n,).

        What is too large for an integer becomes the smallest one, and so lands in
        bucket 0: a tail, where it is searched for.
        """
        place = np.empty(scores.shape, dtype=np.int64)
        self.locate_into(scores, np.empty(scores.shape), place)
        return place

    def locate_into(
        self, scores: NDArray[np.float64], scaled: NDArray[np.float64], place: NDArray[np.int64]
    ) -> None:
        """Do what `locate` does in memory that is there, of the same shape."""
        with np.errstate(invalid="ignore", over="ignore"):
            np.subtract(scores, self.low, out=scaled)
            np.multiply(scaled, self.scale, out=scaled)
            np.copyto(place, scaled, casting="unsafe")

    def clipped(self, edges: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the bucket of each edge in [0, last], increasing for any floats."""
        with np.errstate(over="ignore"):
            scaled = (edges - self.low) * self.scale
        return np.clip(scaled, 0, _LAST).astype(np.int64)

    def snap(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move each edge inside the grid up to the end of its bucket; drop repeats.

        Edges in the tails, and in buckets that hold many of them, stay as they are:
        resolution is not traded away where the scores are concentrated.
        """
        bucket = self.clipped(edges)
        inside = ~self.divided(edges)[bucket]
        bucket = bucket[inside]
        moved = (bucket + 1) / self.scale + self.low
        self._nudge(moved, bucket)
        return np.unique(np.concatenate([edges[~inside], moved]))

    def _nudge(self, moved: NDArray[np.float64], bucket: NDArray[np.int64]) -> None:
        """Move each point to the last float of its bucket, one float at a time, in place."""
        left = np.arange(moved.size)
        for _ in range(_MAX_NUDGES):
            left = left[self.locate(moved[left]) > bucket[left]]
            if not left.size:
                break
            moved[left] = np.nextafter(moved[left], -np.inf)
        left = np.arange(moved.size)
        for _ in range(_MAX_NUDGES):
            following = np.nextafter(moved[left], np.inf)
            short = self.locate(following) <= bucket[left]
            left = left[short]
            if not left.size:
                break
            moved[left] = following[short]

    def divided(self, edges: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which buckets are tails or crowded with edges, shape (buckets,)."""
        bucket = self.clipped(edges)
        divided = np.bincount(bucket, minlength=_LAST + 1) >= _CROWD
        divided[0] = divided[_LAST] = True
        return divided

    def table(self, edges: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the cell of each bucket, or -1 where an edge may divide it."""
        bucket = self.clipped(edges)
        cells = np.cumsum(np.bincount(bucket, minlength=_LAST + 1), dtype=np.int64)
        with np.errstate(over="ignore"):
            ends = self.clipped(np.nextafter(edges, np.inf)) > bucket
        cells_below = np.searchsorted(edges, edges[ends], side="left")
        table = cells.astype(np.int32)
        table[bucket] = -1
        at_end = bucket[ends]
        # A bucket whose only edge is its own end lies whole below that edge.
        lone = np.bincount(bucket, minlength=_LAST + 1)[at_end] == 1
        table[at_end[lone]] = cells_below[lone]
        table[0] = table[_LAST] = -1
        return table


def choose_buckets(values: NDArray[np.float64], edges: NDArray[np.float64]) -> Buckets | None:
    """Return the grid that leaves the fewest rows to a search, or None if most remain.

    Args:
        values: sorted sample, shape (n,).
        edges: cut points wanted, shape (m,).
    """
    best, fewest = None, _WORTHWHILE
    for share in _TAIL_SHARES:
        tail = int(values.size * share)
        grid = _grid(float(values[tail]), float(values[-1 - tail]))
        if grid is None:
            continue
        located = grid.clipped(values)
        searched = float(grid.divided(edges)[located].mean())
        if searched < fewest:
            best, fewest = grid, searched
    return best


def _grid(low: float, high: float) -> Buckets | None:
    """Return the grid whose inner buckets span [low, high], if floats can carry it."""
    width = high - low
    if not 0 < width < float("inf"):
        return None
    scale = (_LAST - 1) / width
    start = low - 1 / scale
    return Buckets(low=start, scale=scale) if scale < float("inf") and start < low else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Consecutive half-open cells (e[i-1], e[i]] of the score axis.

    Attributes:
        edges: strictly increasing float64, shape (m-1,); the last cell is open above.
        single: bool, shape (m,), True where the cell holds one float value (an atom).
        coarse: intp, shape (m,), the cell of a coarser division that holds it, used
            for the lower limit's tables; increasing from 0.
        buckets: the grid that the cut points were moved to, or None.
    """

    edges: NDArray[np.float64]
    single: NDArray[np.bool_]
    coarse: NDArray[np.intp]
    buckets: Buckets | None

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return int(self.single.size)

    @property
    def coarse_count(self) -> int:
        """Return the number of coarse cells."""
        return int(self.coarse[-1]) + 1

    @property
    def coarse_single(self) -> NDArray[np.bool_]:
        """Tell which coarse cells hold one value: those that are one cell, an atom."""
        single = np.zeros(self.coarse_count, dtype=bool)
        single[self.coarse[self.single]] = True
        return np.asarray(single & (np.bincount(self.coarse) == 1))


def atoms(values: NDArray[np.float64], *, all_values: bool) -> NDArray[np.float64]:
    """Return the values that get a cell of their own.

    Args:
        values: sorted burn-in scores, both classes, shape (n,).
        all_values: every distinct value is one (a discrete score); otherwise those
            repeated at least max(3, 0.5%) times.
    """
    distinct, counts = distinct_values(values)
    if all_values:
        return distinct
    return distinct[counts >= max(ATOM_COUNT, ATOM_SHARE * values.size)]


def distinct_values(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the distinct values of a sorted sample, and how often each occurs."""
    (starts,) = _new(values).nonzero()
    ends = np.append(starts[1:], values.size)
    return values[starts], ends - starts


def quantile_edges(
    values: NDArray[np.float64], weights: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """Return at most ``count - 1`` values that cut the sample into cells of equal mass.

    Values, not points between them: the cells are then the same for every strictly
    increasing map of the score.

    Args:
        values: sorted, shape (n,).
        weights: mass of each value, shape (n,), total 1.
        count: cells wanted, at least 1.
    """
    if not values.size:
        return values
    targets = np.arange(1, count) / count
    at = np.searchsorted(np.cumsum(weights), targets, side="left")
    cut = values[np.minimum(at, values.size - 1)]
    # Cells are closed above, so a value that many rows share may end one.
    cut = cut[_new(cut)]
    return np.asarray(cut[cut < values[-1]])


def build_cells(
    members: NDArray[np.float64],
    holdout: NDArray[np.float64],
    *,
    prior: float,
    coarse: int,
    fine: int,
    discrete: bool,
    grid: bool,
) -> Cells:
    """Return cells of equal prior-weighted mass in the burn-in, atoms apart.

    Args:
        members: burn-in scores, shape (b1,).
        holdout: burn-in scores, shape (b2,).
        prior: p in (0, 1), the weight of the members' law.
        coarse: cells wanted for the lower limit's tables.
        fine: cells wanted for threshold statistics, or 0 for none but the coarse ones;
            they halve the weight between the classes, whatever the prior.
        discrete: every distinct burn-in value is an atom.
        grid: move cut points, but no atom's fences, to a grid of equal-width buckets
            where one resolves them: many rows are then located without a search.
    """
    values = np.concatenate([members, holdout])
    order = _stable_order(values)
    values = values[order]
    points = atoms(values, all_values=discrete)
    buckets = None
    if discrete:
        coarse_edges = fine_edges = values[:0]
    else:
        weights = _weights(members.size, holdout.size, prior)[order]
        coarse_edges = quantile_edges(values, weights, coarse)
        fine_edges = coarse_edges
        if fine:
            even = _weights(members.size, holdout.size, 0.5)[order]
            fine_edges = quantile_edges(values, even, fine)
        buckets = choose_buckets(values, fine_edges) if grid else None
    return divide(points, coarse_edges, fine_edges, buckets=buckets)


def divide(
    points: NDArray[np.float64],
    coarse: NDArray[np.float64],
    fine: NDArray[np.float64],
    *,
    buckets: Buckets | None,
) -> Cells:
    """Return the cells that atoms and cut points make.

    Args:
        points: the atoms, increasing, shape (a,).
        coarse: cut points of the coarse cells, increasing.
        fine: cut points of the fine cells, increasing.
        buckets: the grid that cut points, but no atom's fences, are moved to, or None.
    """
    if buckets is not None:
        coarse, fine = buckets.snap(coarse), buckets.snap(fine)
    fence = fences(points)
    if fence.size:
        coarse = np.union1d(coarse, fence)
    edges = np.union1d(fine, coarse)
    return Cells(
        edges=edges,
        single=_single(edges, points),
        coarse=_coarse_of(edges, coarse),
        buckets=buckets,
    )


def fences(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the edges that shut atoms off from their neighbours, increasing."""
    fence = np.unique(np.concatenate([_float_below(points), points]))
    return fence[fence < np.inf]


def _new(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Tell which of some sorted values differ from the one before."""
    new = np.ones(values.size, dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def _stable_order(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the stable sorting permutation; without ties there is only one."""
    order = np.argsort(values)
    if not _new(values[order]).all():
        order = np.argsort(values, kind="stable")
    return order


def _coarse_of(fine: NDArray[np.float64], coarse: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the coarse cell of each fine one; the coarse edges are among the fine."""
    if fine.size == coarse.size:
        return np.arange(fine.size + 1)
    return np.concatenate([[0], np.cumsum(np.isin(fine, coarse))])


def _float_below(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the next smaller float of each value."""
    with np.errstate(over="ignore"):
        return np.nextafter(values, -np.inf)


def _weights(n_members: int, n_holdout: int, prior: float) -> NDArray[np.float64]:
    """Return the mass of each of the members, then of each holdout record."""
    return np.concatenate(
        [
            np.full(n_members, prior / max(n_members, 1)),
            np.full(n_holdout, (1 - prior) / max(n_holdout, 1)),
        ]
    )


def _single(edges: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which cells hold exactly one float: an atom between its two fences."""
    single = np.zeros(edges.size + 1, dtype=bool)
    if points.size:
        upper = np.concatenate([edges, [np.inf]])
        below = np.concatenate([[-np.inf], edges])
        single = np.isin(upper, points) & (below == _float_below(upper))
    if edges.size and edges[0] == -np.inf:
        single[0] = True
    return np.asarray(single)
