"""Cells of the score axis, cut on the burn-in, and the map from scores to cells.

Several numbers are one discrete score, too: cells of a grid, or the combinations that are seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints, Places
from mipaudit.summaries.rows import splitmix64

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

    A grid of equal-width buckets locates scores in cells without a search.

    Bucket 0 and the last one collect the tails.
    """

    low: float
    scale: float

    def locate(self, scores: Floats) -> Ints:
        """Return the bucket of each score before clipping to [0, last], shape (n,).

        What is too large for an integer becomes the smallest one, and so lands in
        bucket 0: a tail, where it is searched for.
        """
        place = np.empty(scores.shape, dtype=np.int64)
        self.locate_into(scores, np.empty(scores.shape), place)
        return place

    def locate_into(self, scores: Floats, scaled: Floats, place: Ints) -> None:
        """Do what `locate` does in memory that is there, of the same shape."""
        with np.errstate(invalid="ignore", over="ignore"):
            np.subtract(scores, self.low, out=scaled)
            np.multiply(scaled, self.scale, out=scaled)
            np.copyto(place, scaled, casting="unsafe")

    def clipped(self, edges: Floats) -> Ints:
        """Return the bucket of each edge in [0, last], increasing for any floats."""
        with np.errstate(over="ignore"):
            scaled = (edges - self.low) * self.scale
        return np.clip(scaled, 0, _LAST).astype(np.int64)

    def snap(self, edges: Floats) -> Floats:
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

    def _nudge(self, moved: Floats, bucket: Ints) -> None:
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

    def divided(self, edges: Floats) -> Bools:
        """Tell which buckets are tails or crowded with edges, shape (buckets,)."""
        bucket = self.clipped(edges)
        divided = np.bincount(bucket, minlength=_LAST + 1) >= _CROWD
        divided[0] = divided[_LAST] = True
        return divided

    def table(self, edges: Floats) -> NDArray[np.int32]:
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


def choose_buckets(values: Floats, edges: Floats) -> Buckets | None:
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

    edges: Floats
    single: Bools
    coarse: Places
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
    def coarse_single(self) -> Bools:
        """Tell which coarse cells hold one value: those that are one cell, an atom."""
        single = np.zeros(self.coarse_count, dtype=bool)
        single[self.coarse[self.single]] = True
        return np.asarray(single & (np.bincount(self.coarse) == 1))


def atoms(values: Floats, *, all_values: bool) -> Floats:
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


def distinct_values(values: Floats) -> tuple[Floats, Places]:
    """Return the distinct values of a sorted sample, and how often each occurs."""
    (starts,) = _new(values).nonzero()
    ends = np.append(starts[1:], values.size)
    return values[starts], ends - starts


def quantile_edges(values: Floats, weights: Floats, count: int) -> Floats:
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
    members: Floats,
    holdout: Floats,
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


def divide(points: Floats, coarse: Floats, fine: Floats, *, buckets: Buckets | None) -> Cells:
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


def fences(points: Floats) -> Floats:
    """Return the edges that shut atoms off from their neighbours, increasing."""
    fence = np.unique(np.concatenate([_float_below(points), points]))
    return fence[fence < np.inf]


def _new(values: NDArray[np.generic]) -> Bools:
    """Tell which of some sorted values differ from the one before."""
    new = np.ones(values.size, dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def _stable_order(values: Floats) -> Places:
    """Return the stable sorting permutation; without ties there is only one."""
    order = np.argsort(values)
    if not _new(values[order]).all():
        order = np.argsort(values, kind="stable")
    return order


def _coarse_of(fine: Floats, coarse: Floats) -> Places:
    """Return the coarse cell of each fine one; the coarse edges are among the fine."""
    if fine.size == coarse.size:
        return np.arange(fine.size + 1)
    return np.concatenate([[0], np.cumsum(np.isin(fine, coarse))])


def _float_below(values: Floats) -> Floats:
    """Return the next smaller float of each value."""
    with np.errstate(over="ignore"):
        return np.nextafter(values, -np.inf)


def _weights(n_members: int, n_holdout: int, prior: float) -> Floats:
    """Return the mass of each of the members, then of each holdout record."""
    return np.concatenate(
        [
            np.full(n_members, prior / max(n_members, 1)),
            np.full(n_holdout, (1 - prior) / max(n_holdout, 1)),
        ]
    )


def _single(edges: Floats, points: Floats) -> Bools:
    """Tell which cells hold exactly one float: an atom between its two fences."""
    single = np.zeros(edges.size + 1, dtype=bool)
    if points.size:
        upper = np.concatenate([edges, [np.inf]])
        below = np.concatenate([[-np.inf], edges])
        single = np.isin(upper, points) & (below == _float_below(upper))
    if edges.size and edges[0] == -np.inf:
        single[0] = True
    return np.asarray(single)


MOST_GRIDDED: Final = 3
_ROWS_PER_CELL: Final = 16
_MOST_CELLS: Final = 1024
MOST_PATTERNS: Final = 2048
MOST_PATTERNS_ASKED: Final = 8192
_ONCE_SHARE: Final = 0.1
_FRACTION: Final = 2.0**-53


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProductGrid:
    """Cells (e[i-1], e[i]] of each coordinate, and a number for each product of them.

    Every point of the space lies in a cell, so that no value outside the known ones
    can occur, whatever is read later.

    Attributes:
        edges: strictly increasing cut points of each coordinate; the end cells are open.
        codes: the number of each cell, in row-major order of the coordinates' cells, a
            permutation of 0 to K-1.
    """

    edges: tuple[Floats, ...]
    codes: Ints

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return int(self.codes.size)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of cells along each coordinate."""
        return tuple(edges.size + 1 for edges in self.edges)

    def score(self, columns: Sequence[Floats]) -> Floats:
        """Return the code of each row's cell, shape (n,); infinities lie in the end cells."""
        place = np.zeros(columns[0].size, dtype=np.int64)
        for edges, column in zip(self.edges, columns, strict=True):
            place *= edges.size + 1
            place += np.searchsorted(edges, column, side="left")
        return self.codes[place].astype(np.float64)

    def ranked(self, columns: Sequence[Floats], member: Bools) -> ProductGrid:
        """Return the grid with its cells numbered by their share of members in these rows.

        Attackers with thresholds and intervals on the code then mean something. A cell
        without rows takes a middle number: half a row of each class stands in every cell.
        """
        rank = rank_by_share(self.score(columns).astype(np.int64), member, self.count)
        return replace(self, codes=rank[self.codes])


def rank_by_share(code: Ints, member: Bools, count: int) -> Ints:
    """Return the place of each of ``count`` codes by its share of members, shape (count,)."""
    members = np.bincount(code[member], minlength=count)
    holdout = np.bincount(code[~member], minlength=count)
    share = (members + 0.5) / (int(members.sum()) + 0.5 * count)
    against = (holdout + 0.5) / (int(holdout.sum()) + 0.5 * count)
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(share / against, kind="stable")] = np.arange(count)
    return rank


def make_grid(columns: Sequence[Floats]) -> ProductGrid:
    """Return a grid with about 16 burn-in rows or more in a cell, at most 1,024 cells.

    Args:
        columns: burn-in values of at most 3 coordinates, each of shape (n,).
    """
    most = min(max(columns[0].size // _ROWS_PER_CELL, 2 ** len(columns)), _MOST_CELLS)
    per_axis = 2
    while (2 * per_axis) ** len(columns) <= most:
        per_axis *= 2
    edges = tuple(_axis_edges(column, per_axis) for column in columns)
    count = int(np.prod([one.size + 1 for one in edges]))
    return ProductGrid(edges=edges, codes=np.arange(count, dtype=np.int64))


def _axis_edges(values: Floats, count: int) -> Floats:
    """Return cut points that leave at most ``count`` cells of about equal mass.

    The end of a run of equal values is a cut only at a value of the data; a value so
    frequent that a quantile falls on it twice gets a cut on both of its sides.
    """
    if not values.size:
        return values
    ordered = np.sort(values)
    distinct = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    if distinct.size <= count:
        return np.asarray(distinct[:-1])
    at = (np.arange(1, count) * ordered.size) // count
    # The first of a quantile's equals: everything below it is cut off there.
    first = np.searchsorted(ordered, ordered[at], side="left")
    last = np.searchsorted(ordered, ordered[at], side="right")
    repeated = np.concatenate([[False], at[1:] < last[:-1]]) | np.concatenate(
        [at[1:] < last[:-1], [False]]
    )
    below = np.where(repeated, first, at)
    cuts = [ordered[i - 1] for i in below.tolist() if i > 0]
    cuts += [
        ordered[i - 1] for i, again in zip(last.tolist(), repeated.tolist(), strict=True) if again
    ]
    edges = np.unique(np.array(cuts))
    edges = edges[edges < distinct[-1]]
    while edges.size >= count:  # cells beyond the count go, those of least mass first
        mass = np.diff(np.searchsorted(ordered, edges, side="right"), prepend=0)
        edges = np.delete(edges, int(mass.argmin()))
    return edges


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointAlphabet:
    """Known combinations by their hash, and the number of each.

    Attributes:
        hashes: uint64, increasing, shape (K,).
        codes: float64, shape (K,), a permutation of 0 to K-1.
    """

    hashes: NDArray[np.uint64]
    codes: Floats

    @property
    def count(self) -> int:
        """Return the number of known combinations."""
        return int(self.codes.size)

    @property
    def cells(self) -> Cells:
        """Return a cell for each known combination, and one for all that the burn-in lacks."""
        known = np.arange(self.count, dtype=np.float64)
        return build_cells(known, known, prior=0.5, coarse=0, fine=0, discrete=True, grid=False)

    def score(self, columns: Sequence[Floats]) -> Floats:
        """Return the number of each row's combination, shape (n,).

        One that the burn-in lacks gets a number of its own above K - 1/2.
        """
        found = row_hashes(columns)
        at = np.minimum(np.searchsorted(self.hashes, found), self.count - 1)
        fraction = (found >> np.uint64(11)).astype(np.float64) * _FRACTION
        return np.where(self.hashes[at] == found, self.codes[at], self.count - 0.5 + fraction)


def row_hashes(columns: Sequence[Floats]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each row's values; equal rows have equal hashes."""
    mixed = np.zeros(columns[0].size, dtype=np.uint64)
    for index, column in enumerate(columns):
        bits = (column + 0.0).view(np.uint64)  # + 0.0: a zero has no sign
        mixed = splitmix64(mixed ^ bits, index + 1)
    return mixed


def joint_alphabet(
    columns: Sequence[Floats], member: Bools, *, most: int, asked: bool
) -> JointAlphabet | None:
    """Return the alphabet of discrete coordinates, or None where it is not small.

    Args:
        columns: burn-in values, each of shape (n,).
        member: shape (n,), for the order of the numbers alone.
        most: combinations allowed.
        asked: the user says that the alphabet is small: none need recur.
    """
    found = row_hashes(columns)
    hashes, place, times = np.unique(found, return_inverse=True, return_counts=True)
    once = int(np.count_nonzero(times == 1))
    if not hashes.size or hashes.size > most:
        return None
    if not asked and once > _ONCE_SHARE * found.size:
        return None
    rank = rank_by_share(place, member, hashes.size)
    return JointAlphabet(hashes=hashes, codes=rank.astype(np.float64))
