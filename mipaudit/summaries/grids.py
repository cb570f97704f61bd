"""Counts in bins of equal width: for kernel densities, and MACE's for reproduction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.maths.kernel_density import (
    Grid,
    held_out_multiple,
    improved_sheather_jones,
    rounded,
    silverman,
    spread,
)
from mipaudit.summaries.cells import atoms
from mipaudit.summaries.rows import (
    MICRO_BLOCKS,
    Rows,
    ScoreKind,
    micro_blocks,
    rank_bytes,
    splitmix64,
)

if TYPE_CHECKING:
    from mipaudit.summaries.plan import BurnInSample, ClassSample, Plan, ScoreRange

_INSIDE: Final = (1 << 16) - 3
# Fine enough for an error below 1e-4 of a kernel's peak: step^2/8 of its curvature.
_STEPS: Final = 40
_FEWEST_STEPS: Final = 8
_MARGIN: Final = 4.0
_LEAST_RESIDUE: Final = 20
_LEAST_SPREAD: Final = 1e-290  # the reciprocal of a far smaller step is no float
_LARGEST: Final = 1e306  # so that differences of scores are floats
_WIDEST_RATIO: Final = 100.0
_ISJ_EXTENT: Final = 20.0
_SELECTORS: Final = ("silverman", "isj", "held-out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """A bandwidth in units of the score, and the selectors that chose it."""

    width: float
    selectors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridPlan:
    """How one score column is counted for kernel densities.

    Attributes:
        grid: the nodes.
        bandwidths: common to both classes, for statements about noise; all different.
        common: Silverman's for both classes together, of all records.
        own: Silverman's for members, and for holdout records, or None where a class has
            no spread in the burn-in, or a hundredth of the other's.
        atoms: increasing values that recur in the burn-in, shape (a,).
    """

    grid: Grid
    bandwidths: tuple[Bandwidth, ...]
    common: float
    own: tuple[float, float] | None
    atoms: Floats


def make_grid_plans(
    sample: BurnInSample, plan: Plan, kinds: Sequence[ScoreKind], *, prior: float
) -> tuple[GridPlan | None, ...]:
    """Return the grid of each score column, or None for one that has no spread or order.

    Only burn-in rows decide, so that statements about the others stay valid.

    Args:
        sample: settled.
        plan: of the counts.
        kinds: of each column.
        prior: p in (0, 1).
    """
    sides = sample.members, sample.holdout
    records = sum(one.rows for one in sides)
    plans: list[GridPlan | None] = []
    for index, kind in enumerate(kinds):
        parts = [_split(one, index, plan.burn_in) for one in sides]
        sizes = sample.members.rows, sample.holdout.rows
        ordered = kind in {"float", "integer"}
        late = records * (MICRO_BLOCKS - plan.burn_in) / MICRO_BLOCKS
        plans.append(_grid_plan(parts, sizes, late, prior) if ordered else None)
    return tuple(plans)


_Halves = tuple["Floats", "Floats"]


def _split(one: ClassSample, index: int, burn_in: int) -> _Halves:
    """Return the finite burn-in scores of a class in even and in odd micro-blocks."""
    block = one.ranks >> np.uint64(58)
    scores = one.scores[:, index]
    usable = (block < burn_in) & np.isfinite(scores)
    odd = (block & np.uint64(1)) == 1
    return scores[usable & ~odd], scores[usable & odd]


def _grid_plan(
    parts: Sequence[_Halves], sizes: tuple[int, int], late: float, prior: float
) -> GridPlan | None:
    classes = [np.concatenate(part) for part in parts]
    everything = np.sort(np.concatenate(classes))
    recurring = atoms(everything, all_values=False)
    smooth = everything[~_among(everything, recurring)]
    if smooth.size < _LEAST_RESIDUE or spread(smooth) <= 0:
        smooth = everything
    width = spread(smooth)
    if width < _LEAST_SPREAD or not max(map(abs, everything[[0, -1]].tolist())) < _LARGEST:
        return None
    chosen = _bandwidths(parts, smooth, width, late, prior)
    own = tuple(
        rounded(silverman(spread(one), size)) for one, size in zip(classes, sizes, strict=True)
    )
    common = rounded(silverman(width, sum(sizes)))
    return GridPlan(
        grid=_grid(everything, min(one.width for one in chosen)),
        bandwidths=chosen,
        common=common,
        own=(own[0], own[1]) if 0 < max(own) <= _WIDEST_RATIO * min(own) else None,
        atoms=recurring,
    )


def _among(scores: Floats, values: Floats) -> Bools:
    """Tell which scores are among some increasing values."""
    if not values.size:
        return np.zeros(scores.size, dtype=bool)
    at = np.minimum(np.searchsorted(values, scores), values.size - 1)
    return np.asarray(values[at] == scores)


def _bandwidths(
    parts: Sequence[_Halves], smooth: Floats, width: float, late: float, prior: float
) -> tuple[Bandwidth, ...]:
    """Return what the three selectors choose for the rows outside the burn-in."""
    base = silverman(width, late)
    middle = float(np.median(smooth))
    near = smooth[np.abs(smooth - middle) <= _ISJ_EXTENT * width]
    (members_even, members_odd), (holdout_even, holdout_odd) = parts
    halves = [(members_even, holdout_even), (members_odd, holdout_odd)]
    found: dict[float, list[str]] = {}
    for name, value in zip(
        _SELECTORS,
        (base, improved_sheather_jones(near, late), base * held_out_multiple(halves, prior)),
        strict=True,
    ):
        # Far below Silverman's it follows single values, which no grid resolves.
        if value is not None and value >= base / 100:
            found.setdefault(rounded(value), []).append(name)
    return tuple(
        Bandwidth(width=value, selectors=tuple(names)) for value, names in sorted(found.items())
    )


def _grid(scores: Floats, bandwidth: float) -> Grid:
    """Return nodes for burn-in scores: all of them, or as many as fine nodes reach.

    Heavy tails are left out: what falls there is counted, and held to be told apart.
    """
    low, high = float(scores[0]), float(scores[-1])
    floor, ceiling = _ends(low, high, _MARGIN * bandwidth)
    low = low - _MARGIN * bandwidth if floor is None else floor
    high = high + _MARGIN * bandwidth if ceiling is None else ceiling
    step = bandwidth / _STEPS
    # Idle nodes cost little, and a row outside the grid counts as told apart.
    idle = max(0.0, min(high - low, (_INSIDE * step - (high - low)) / 2 - step))
    low = low - idle if floor is None else floor
    high = high + idle if ceiling is None else ceiling
    if not (high - low) / step <= _INSIDE:
        step = min((high - low) / _INSIDE, bandwidth / _FEWEST_STEPS)
    if not (high - low) / step <= _INSIDE * (1 + 1e-9):
        low = _fullest(scores, _INSIDE * step)
        high, floor, ceiling = low + _INSIDE * step, None, None
    inside = math.ceil((high - low) / step - 1e-9)
    if floor is not None and ceiling is not None:
        step = (high - low) / inside
    elif ceiling is not None:
        low = high - inside * step
    return Grid(
        low=low - step,
        step=step,
        nodes=inside + 3,
        floor=None if floor is None else 1,
        ceiling=None if ceiling is None else inside + 1,
    )


def _ends(low: float, high: float, near: float) -> tuple[float | None, float | None]:
    """Return where the range of the score seems to end: 0 below or above, 1 above."""
    floor = 0.0 if 0 <= low <= near else None
    ceiling = 1.0 if low >= 0 and 1 - near <= high <= 1 else None
    return floor, 0.0 if -near <= high <= 0 and floor is None else ceiling


def _fullest(scores: Floats, extent: float) -> float:
    """Return where an interval of this extent starts that holds the most sorted scores."""
    ends = np.searchsorted(scores, scores + extent, side="right")
    best = int((ends - np.arange(scores.size)).argmax())
    last = float(scores[ends[best] - 1])
    return float(scores[best] - (extent - (last - scores[best])) / 2)


# A score gives its two nearest nodes shares that are multiples of 1/PLACES: sums of
# them are whole numbers, whatever the order of the parts.
_PLACES_LOG2: Final = 10
PLACES: Final = 1 << _PLACES_LOG2
_FLAGS: Final = 4
# Codes are gathered and counted this many at a time: each count walks the whole table.
_GATHERED: Final = 1 << 18
HOLDOUT: Final = 0
MEMBER: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridSide:
    """One class on a grid.

    Attributes:
        records: rows in all.
        nodes: rows at each node, shared between neighbours, shape (nodes,).
        outside: finite rows beyond either end.
        infinite: rows at minus and plus infinity, shape (2,).
        atoms: rows at each recurring value, shape (a,).
    """

    records: int
    nodes: Floats
    outside: int
    infinite: Ints
    atoms: Ints


def gains_of(
    of_members: Floats, of_holdout: Floats, members: GridSide, holdout: GridSide, prior: float
) -> Floats:
    """Return p P - (1-p) Q of rows of both classes."""
    return np.asarray(
        prior / max(1, members.records) * of_members
        - (1 - prior) / max(1, holdout.records) * of_holdout
    )


def beyond(members: GridSide, holdout: GridSide, prior: float) -> float:
    """Return what rows off the grid may add: all of the outlying, the gain of infinities."""
    n1, n2 = max(1, members.records), max(1, holdout.records)
    infinite = np.abs(prior * members.infinite / n1 - (1 - prior) * holdout.infinite / n2)
    outside = prior * members.outside / n1 + (1 - prior) * holdout.outside / n2
    return float(infinite.sum() + outside)


class GridColumn:
    """What the kernel densities of one score column are made from, as it grows.

    The last axis of every array is (holdout, member) outside the burn-in, then within.

    Attributes:
        plan: the grid and what else the burn-in decided.
        cells: int64, shape (nodes + 1, 4): rows below the grid, in each of its intervals, and
            above it.
        parts: int64, shape (nodes + 1, 4): by how much they lie towards the upper node
            of their interval, in units of 1/PLACES of the interval.
        infinite: int64, shape (2, 4): rows at minus and at plus infinity, which the first and
            the last cell hold too.
        atoms: int64, shape (a, 4): rows at each recurring value, which the cells hold too.
    """

    __slots__ = ("_codes", "_shares", "_waiting", "atoms", "cells", "infinite", "parts", "plan")

    def __init__(self, plan: GridPlan) -> None:
        """Start empty."""
        self.plan = plan
        self.cells, self.parts = np.zeros((2, plan.grid.nodes + 1, _FLAGS), dtype=np.int64)
        self.infinite = np.zeros((2, _FLAGS), dtype=np.int64)
        self.atoms = np.zeros((plan.atoms.size, _FLAGS), dtype=np.int64)
        self._codes: list[NDArray[np.int32]] = []
        self._shares: list[NDArray[np.int16]] = []
        self._waiting = 0

    def add(self, scores: Floats, flags: NDArray[np.uint8]) -> None:
        """Count rows; a flag is 2 * in the burn-in + member."""
        grid = self.plan.grid
        with np.errstate(over="ignore", invalid="ignore"):
            place = scores - grid.low
            doubtful = not np.isfinite(scores.sum())  # cheaper than a test of every row
            place *= PLACES / grid.step
        # Whole numbers of shares from one interval below the grid, rounded by the cast.
        place += PLACES + 0.5
        np.clip(place, 0.0, float(grid.nodes * PLACES), out=place)
        fixed = place.astype(np.int32)
        self._shares.append((fixed & np.int32(PLACES - 1)).astype(np.int16))
        fixed >>= _PLACES_LOG2
        fixed <<= 2
        fixed += flags
        self._codes.append(fixed)
        self._waiting += fixed.size
        if self._waiting >= _GATHERED:
            self.settle()
        if doubtful:
            for row, value in enumerate((-np.inf, np.inf)):
                self.infinite[row] += np.bincount(flags[scores == value], minlength=_FLAGS)
        if self.plan.atoms.size:
            self._count_atoms(scores, flags)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        other.settle()
        self.cells += other.cells
        self.parts += other.parts
        self.infinite += other.infinite
        self.atoms += other.atoms

    def settle(self) -> None:
        """Count the rows that wait."""
        if not self._codes:
            return
        codes, shares = np.concatenate(self._codes), np.concatenate(self._shares)
        self._codes.clear()
        self._shares.clear()
        self._waiting = 0
        size, shape = self.cells.size, self.cells.shape
        self.cells += np.bincount(codes, minlength=size).reshape(shape)
        # Sums of whole numbers far below 2^53: exact as floats.
        parts = np.bincount(codes, weights=shares, minlength=size)
        self.parts += parts.astype(np.int64).reshape(shape)

    def _count_atoms(self, scores: Floats, flags: NDArray[np.uint8]) -> None:
        values = self.plan.atoms
        at = np.searchsorted(values, scores)
        np.minimum(at, values.size - 1, out=at)
        hit = values[at] == scores
        counts = np.bincount(at[hit] * _FLAGS + flags[hit], minlength=self.atoms.size)
        self.atoms += counts.reshape(self.atoms.shape)

    def side(self, member: int, *, everyone: bool) -> GridSide:
        """Return one class: its rows outside the burn-in, or all of them."""
        flags = [member, member + 2] if everyone else [member]
        cells, parts, infinite, atoms = (
            one[:, flags].sum(axis=1) for one in (self.cells, self.parts, self.infinite, self.atoms)
        )
        whole = np.zeros(cells.size - 1, dtype=np.int64)
        whole[:-1] = cells[1:-1] * PLACES - parts[1:-1]
        whole[1:] += parts[1:-1]
        return GridSide(
            records=int(cells.sum()),
            nodes=whole / PLACES,
            outside=int(cells[0] + cells[-1] - infinite.sum()),
            infinite=infinite,
            atoms=atoms,
        )


class GridCounts:
    """Counts of all score columns on their grids as they grow; a column may have none."""

    __slots__ = ("_burn_in", "_columns", "_seed")

    def __init__(self, plans: Sequence[GridPlan | None], *, burn_in: int, seed: int) -> None:
        """Start empty.

        Args:
            plans: one for each score column, or None where it is not counted.
            burn_in: micro-blocks that only train.
            seed: of the row assignment.
        """
        self._burn_in = burn_in
        self._seed = seed
        self._columns = tuple(None if plan is None else GridColumn(plan) for plan in plans)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        burned = micro_blocks(rank_bytes(rows, self._seed)) < self._burn_in
        flags = burned.view(np.uint8) << np.uint8(1)
        flags |= rows.member.view(np.uint8)
        for column, scores in zip(self._columns, rows.scores, strict=True):
            if column is not None:
                column.add(scores, flags)

    def merge(self, other: Self) -> None:
        """Add the counts of another part; exactly associative and commutative."""
        for mine, theirs in zip(self._columns, other._columns, strict=True):
            if mine is not None and theirs is not None:
                mine.merge(theirs)

    def columns(self) -> tuple[GridColumn | None, ...]:
        """Return the finished counts, in the order of the plans."""
        for one in self._columns:
            if one is not None:
                one.settle()
        return self._columns


MOST_OCCUPIED: Final = 1 << 23
_CODES_AT_ONCE: Final = 1 << 20
_EXACT_CODES: Final = 2.0**63


class EqualWidthCounts:
    """Counts per column, bin and class. Infinite scores go to the end bins.

    Attributes:
        counts: int64, shape (columns, bins, 2), the last axis (holdout, member).
    """

    __slots__ = ("_extent", "counts")

    def __init__(self, extent: ScoreRange, bins: int) -> None:
        """Start empty."""
        self._extent = extent
        self.counts: Ints = np.zeros((extent.low.size, bins, 2), dtype=np.int64)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        for index, scores in enumerate(rows.scores):
            low, high = float(self._extent.low[index]), float(self._extent.high[index])
            bins = self.counts.shape[1]
            self.counts[index] += equal_width_counts(scores, rows.member, low, high, bins)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.counts += other.counts


def equal_width_counts(scores: Floats, member: Bools, low: float, high: float, bins: int) -> Ints:
    """Return counts per bin and class, shape (bins, 2), the last axis (holdout, member).

    Args:
        scores: float64, shape (n,); those outside [low, high] go to the end bins.
        member: bool, shape (n,).
        low: lower end of the first bin; above ``high`` where no score is finite.
        high: upper end of the last bin.
        bins: number of bins, at least 1.
    """
    cell = _places(scores, low, high, bins).astype(np.int64)
    return np.bincount(cell * 2 + member, minlength=2 * bins).reshape(bins, 2)


class SparseBins:
    """Counts of the occupied bins of one vector score.

    Bins are told apart by their number where bins^d fits into 64 bits, otherwise by a
    64-bit hash of it: among 10^6 bins two share one with probability 3e-8.
    """

    __slots__ = ("_bins", "_codes", "_columns", "_counts", "_high", "_low", "_pending", "_waiting")

    def __init__(self, columns: tuple[int, ...], low: Floats, high: Floats, bins: int) -> None:
        """Start empty, for these columns of the rows, cut between their finite extremes."""
        self._columns = columns
        self._low, self._high = low, high
        self._bins = bins
        self._codes = np.empty(0, dtype=np.uint64)
        self._counts = np.empty((0, 2), dtype=np.int64)
        self._pending: list[tuple[NDArray[np.uint64], Bools]] = []
        self._waiting = 0

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        codes = bin_codes(
            [rows.scores[at] for at in self._columns], self._low, self._high, self._bins
        )
        self._pending.append((codes, rows.member))
        self._waiting += codes.size
        if self._waiting >= _CODES_AT_ONCE:
            self._fold()

    def merge(self, other: Self) -> None:
        """Add the counts of another part; exactly associative and commutative."""
        other._fold()
        self._fold()
        self._include(other._codes, other._counts)

    def counts(self) -> Ints:
        """Return the counts of the occupied bins, shape (K, 2), (holdout, member)."""
        self._fold()
        return self._counts

    def _fold(self) -> None:
        if not self._pending:
            return
        codes = np.concatenate([part for part, _ in self._pending])
        member = np.concatenate([part for _, part in self._pending])
        self._pending.clear()
        self._waiting = 0
        self._include(codes, np.stack([~member, member], axis=1).astype(np.int64))

    def _include(self, codes: NDArray[np.uint64], counts: Ints) -> None:
        codes = np.concatenate([self._codes, codes])
        counts = np.concatenate([self._counts, counts])
        if not codes.size:
            return
        order = np.argsort(codes)
        ordered = codes[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        if starts.size > MOST_OCCUPIED:
            raise InputError(
                "too_many_bins",
                f"`method` mace: a vector score occupies more than {MOST_OCCUPIED:,} bins.",
                "Leave `method` mace out, or audit a part of the rows with `where`.",
            )
        self._codes = ordered[starts]
        self._counts = np.add.reduceat(counts[order], starts, axis=0)


def bin_codes(columns: list[Floats], low: Floats, high: Floats, bins: int) -> NDArray[np.uint64]:
    """Return the number of each row's bin, or a hash of it, shape (n,).

    Args:
        columns: coordinates, each of shape (n,); infinities go to the end bins.
        low: lower end of the first bin of each coordinate; above ``high`` where no value
            is finite.
        high: upper end of the last bin.
        bins: bins of each coordinate, at least 1.
    """
    small = bins ** len(columns) < _EXACT_CODES
    codes = np.zeros(columns[0].size, dtype=np.uint64)
    for index, column in enumerate(columns):
        place = _places(column, float(low[index]), float(high[index]), bins)
        codes = codes * np.uint64(bins) + place if small else splitmix64(codes ^ place, index + 1)
    return codes


def _places(values: Floats, low: float, high: float, bins: int) -> NDArray[np.uint64]:
    if low > high:  # no finite value
        low = high = 0.0
    # Halves, so that the width of the widest range is still a float.
    width = max(high / 2 - low / 2, np.finfo(float).tiny)
    place = (np.clip(values, low, high) / 2 - low / 2) / width
    return np.minimum((place * bins).astype(np.uint64), np.uint64(bins - 1))


def shuffled_counts(counts: Ints, rng: np.random.Generator) -> Ints:
    """Return the counts that the bins would have with membership shuffled among the rows.

    Given the rows in each bin, shuffling deals the members out without replacement.

    Args:
        counts: shape (K, 2), (holdout, member).
        rng: deals.
    """
    rows = counts.sum(axis=1)
    members = rng.multivariate_hypergeometric(rows, int(counts[:, 1].sum()), method="marginals")
    return np.stack([rows - members, members], axis=1)
