"""Pass two: rows become counts per micro-block, cell and class, mergeable, also beside pass one.

Up to `plan.EXACT_ROWS` rows the scores themselves are held for the threshold statistics, which
are then exact, and counted once all of them are there. Of more rows fine cells are counted as the
rows go by, and the statistics are bracketed. Either way groups of rows may be told apart: how many
rows each has, and which of them are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints, Places
from mipaudit.maths.class_limits.roc_counts import Ladder
from mipaudit.summaries.cells import Buckets, Cells
from mipaudit.summaries.counts import ScoreCounts, counts_of_rows, filled, further_blocks
from mipaudit.summaries.plan import BurnInSample, ColumnPlan, Plan
from mipaudit.summaries.rows import MICRO_BLOCKS, Rows, micro_labels, rank_bytes

_BITS: Final = 18
LAST: Final = (1 << _BITS) - 1
_SIGN: Final = 63
_MAGNITUDE: Final = (1 << _SIGN) - 1
# One edge in so many is left to either tail.
_TAIL: Final = 1000
# Room below a fine cell for two flags, once its coarse cell is shifted out.
_LEAST_SHIFT: Final = 2
_INT64: Final = np.dtype(np.int64)
_FLOAT64: Final = np.dtype(np.float64)
# A bucket with more edges is searched: others are walked through, which is faster.
_MOST_WALKED: Final = 8
_SEARCHED: Final = -1
_BEGIN: Final = -2
_SIDES: Final = ("left", "right")
_LARGEST_INT32: Final = (1 << 31) - 1
# No counter can pass 2^31 before it is emptied.
_MOST_IN_NARROW: Final = 1 << 30
NumberT = TypeVar("NumberT", bound=np.generic)


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatGrid:
    """The map order(score) >> shift, less ``base``: monotone in the score.

    On the order of floats the grid is finer towards zero, for scores of many magnitudes.

    Attributes:
        shift: bits of a float's order that a bucket spans.
        base: place of the first bucket; it and the last one collect the tails.
    """

    shift: int
    base: int

    def locate_into(self, scores: Floats, scaled: Floats, place: Ints) -> None:
        """Put the bucket of each score, before clipping to [0, LAST], into ``place``.

        The order of a float is its bits as an integer, those of negative ones turned
        around. Adding zero makes both zeros one. ``scaled`` is room of the same shape.
        """
        np.add(scores, 0.0, out=scaled)
        bits = scaled.view(np.int64)
        np.right_shift(bits, _SIGN, out=place)
        place &= _MAGNITUDE
        place ^= bits
        place >>= self.shift
        place -= self.base

    def clipped(self, edges: Floats) -> Ints:
        """Return the bucket of each edge in [0, LAST]."""
        place = np.empty(edges.size, dtype=np.int64)
        self.locate_into(edges, np.empty(edges.size), place)
        return np.clip(place, 0, LAST)


def float_grid(edges: Floats, *, most: int) -> FloatGrid | None:
    """Return the finest grid that spans the edges but for the tails.

    Args:
        edges: increasing, shape (m,).
        most: edges that a bucket may hold to be of use.

    Returns:
        The grid, or None where more than half of the edges lie in buckets that hold more.
    """
    if edges.size < _TAIL:
        return None
    tail = edges.size // _TAIL
    order = np.empty(2, dtype=np.int64)
    ends = edges[[tail, -1 - tail]]
    FloatGrid(shift=0, base=0).locate_into(ends, np.empty(2), order)
    low, high = (int(end) for end in order)
    shift = max(0, (high - low).bit_length() - _BITS)
    while (high >> shift) - (low >> shift) > LAST - 2:
        shift += 1
    grid = FloatGrid(shift=shift, base=(low >> shift) - 1)
    bucket = grid.clipped(edges)
    held = np.bincount(bucket, minlength=LAST + 1)
    held[[0, LAST]] = most + 1
    return grid if 2 * np.count_nonzero(held[bucket] <= most) >= edges.size else None


class CellCodes:
    """Finds ``fine << shift | coarse`` of each score: always the answer of a search.

    What this takes is made when the first scores come: counts that travelled back need none of it.

    Attributes:
        shift: bits that the coarse cell takes.
    """

    def __init__(self, cells: Cells) -> None:
        """Make nothing yet."""
        self._cells = cells
        self.shift = max((cells.coarse_count - 1).bit_length(), _LEAST_SHIFT)

    @cached_property
    def _of_cell(self) -> NDArray[np.signedinteger[Any]]:
        cells = self._cells
        fits = cells.count << self.shift <= _LARGEST_INT32
        dtype = np.dtype(np.int32 if fits else np.int64)
        fine: NDArray[np.signedinteger[Any]] = np.arange(cells.count, dtype=dtype) << self.shift
        return fine | cells.coarse.astype(dtype)

    @cached_property
    def _edges(self) -> Floats:
        # No score lies above the last: a walk ends there.
        return np.append(self._cells.edges, np.inf)

    @cached_property
    def _grid(self) -> Buckets | FloatGrid | None:
        return self._cells.buckets or float_grid(self._cells.edges, most=_MOST_WALKED)

    @cached_property
    def _table(self) -> NDArray[np.signedinteger[Any]] | None:
        return None if self._grid is None else self._coded(self._grid)

    def _coded(self, grid: Buckets | FloatGrid) -> NDArray[np.signedinteger[Any]]:
        """Return the code of each bucket, or where to begin if edges divide it.

        A monotone map of floats to buckets leaves all edges of lower buckets below a
        score, so a walk may begin at the first edge of its own. It is coded as -2 less
        its index; -1 calls for a search.
        """
        edges = self._cells.edges
        bucket = grid.clipped(edges)
        if isinstance(grid, Buckets):
            cell = grid.table(edges)
        else:
            held = np.bincount(bucket, minlength=LAST + 1)
            cell = np.where(held > 0, -1, np.cumsum(held)).astype(np.int32)
        # The tails: what is too large for an integer is in the first bucket, whatever its size.
        tails = np.append(grid.clipped(np.array([-np.inf, np.inf])), [0, cell.size - 1])
        cell[tails] = -1
        table = self._of_cell[cell]
        (divided,) = np.nonzero(cell < 0)
        first, last = (np.searchsorted(bucket, divided, side=side) for side in _SIDES)
        begin = _BEGIN - first
        begin[last - first > _MOST_WALKED] = _SEARCHED
        table[divided] = begin
        table[tails] = _SEARCHED
        return table

    def __reduce__(self) -> tuple[type[CellCodes], tuple[Cells]]:
        """Travel to another process without what can be made again there."""
        return CellCodes, (self._cells,)

    def __call__(
        self, scores: Floats, room: Workspace
    ) -> tuple[NDArray[np.signedinteger[Any]], Floats]:
        """Return the codes, shape (n,), and the scores that were searched for.

        All infinite scores are among those. The codes last until the next call with ``room``.
        """
        grid, table = self._grid, self._table
        if grid is None or table is None:
            return self._of_cell.take(self._searched(scores)), scores
        size = scores.size
        place = room.array("place", size, _INT64)
        grid.locate_into(scores, room.array("scaled", size, _FLOAT64), place)
        codes = room.array("codes", size, table.dtype)
        table.take(place, mode="clip", out=codes)
        divided = np.flatnonzero(codes < 0)
        found, searched = self._found(_BEGIN - codes[divided], scores[divided])
        codes[divided] = self._of_cell.take(found)
        return codes, searched

    def _found(self, cell: NDArray[np.signedinteger[Any]], scores: Floats) -> tuple[Places, Floats]:
        """Return the cells of scores, given where to begin, and the scores searched for."""
        at = cell.astype(np.intp)
        tails = np.flatnonzero(at < 0)
        searched = scores[tails]
        at[tails] = self._searched(searched)
        while (above := self._edges.take(at) < scores).any():
            at += above
        return at, searched

    def _searched(self, scores: Floats) -> Places:
        return np.searchsorted(self._cells.edges, scores, side="left")


class CodeCounter:
    """Counts codes in [0, size), many at a time.

    The counts in progress are narrow, so that they stay in a core's cache, and are
    added to in place: a table of its own for every batch costs more than the batch.
    """

    __slots__ = ("_counts", "_narrow", "_waiting")

    def __init__(self, size: int) -> None:
        """Start at zero."""
        self._counts: Ints = np.zeros(size, dtype=np.int64)
        self._narrow: NDArray[np.int32] = np.zeros(size, dtype=np.int32)
        self._waiting = 0

    def add(self, codes: NDArray[np.signedinteger[Any]]) -> None:
        """Count codes, shape (n,), n at most 2^30."""
        if self._waiting + codes.size > _MOST_IN_NARROW:
            self._flush()
        self._waiting += codes.size
        np.add.at(self._narrow, codes, np.int32(1))

    def merge(self, other: Self) -> None:
        """Add the counts of another counter of the same size."""
        self._counts += other.counts()

    def counts(self) -> Ints:
        """Return the counts so far, shape (size,)."""
        self._flush()
        return self._counts

    def _flush(self) -> None:
        self._counts += self._narrow
        self._narrow[:] = 0
        self._waiting = 0


class Workspace:
    """Arrays by name; what one held is gone when it is asked for again.

    Memory is used again for every batch, so that none has to be asked for.

    Not thread-safe: one per worker. To another process it travels empty.
    """

    __slots__ = ("_arrays",)

    def __init__(self) -> None:
        """Start without memory."""
        self._arrays: dict[tuple[str, np.dtype[Any]], NDArray[Any]] = {}

    def __reduce__(self) -> tuple[type[Workspace], tuple[()]]:
        """Travel empty."""
        return Workspace, ()

    def array(self, name: str, size: int, dtype: np.dtype[NumberT]) -> NDArray[NumberT]:
        """Return the array ``name`` of this size; its contents are arbitrary."""
        kept = self._arrays.get((name, dtype))
        if kept is None or kept.size < size:
            kept = self._arrays[name, dtype] = np.empty(size, dtype=dtype)
        return kept[:size]


class GroupCensus:
    """The number of members and holdout records of every group; mergeable."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        """Start empty."""
        self._rows: dict[bool, Counter[int]] = {False: Counter(), True: Counter()}

    def add(self, rows: Rows) -> None:
        """Count a batch, read with groups."""
        assert rows.groups is not None  # noqa: S101 - read with group columns
        for side, counter in self._rows.items():
            found, times = np.unique(rows.groups[rows.member == side], return_counts=True)
            counter.update(dict(zip(found.tolist(), times.tolist(), strict=True)))

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        for side, counter in self._rows.items():
            counter.update(other._rows[side])

    @property
    def sizes(self) -> dict[int, tuple[int, int]]:
        """Return (members, holdout) by the hash of the group, in order."""
        holdout, members = self._rows[False], self._rows[True]
        return {group: (members[group], holdout[group]) for group in sorted(holdout | members)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouping:
    """Which groups are told apart, and which are taken together or left out.

    Attributes:
        kept: hashes of the groups, increasing, uint64, shape (g,); group i is number i.
        merged: hashes of the groups that are taken together as number g, increasing.
    """

    kept: NDArray[np.uint64]
    merged: NDArray[np.uint64]

    @property
    def count(self) -> int:
        """Return the number of groups, the merged one included."""
        return int(self.kept.size) + bool(self.merged.size)

    def numbers(self, rows: Rows) -> Places:
        """Return the group's number of each row, read with groups; -1 for one that is left out."""
        assert rows.groups is not None  # noqa: S101 - read with group columns
        at = _position(self.kept, rows.groups)
        if self.merged.size:
            other = (at < 0) & (_position(self.merged, rows.groups) >= 0)
            at[other] = self.kept.size
        return at


def _position(known: NDArray[np.uint64], groups: NDArray[np.uint64]) -> Places:
    """Return where each value is in a sorted array, -1 where it is not."""
    if not known.size:
        return np.full(groups.size, -1, dtype=np.intp)
    at = np.minimum(np.searchsorted(known, groups), known.size - 1)
    return np.where(known[at] == groups, at, -1)


class _Held(NamedTuple):
    """A batch in memory: for each row its label, further micro-blocks and group's number."""

    scores: tuple[Floats, ...]
    labels: NDArray[np.uint8]
    further: NDArray[np.uint8]
    number: Places | None


class Tally:
    """Counts of every score column, or of every group along the only one, as rows come in.

    Not thread-safe: one per worker, then merged.
    """

    __slots__ = ("_grouping", "_held", "_plan", "_streamed")

    def __init__(self, plan: Plan, grouping: Grouping | None = None) -> None:
        """Start empty; with a grouping the rows must have groups."""
        self._plan, self._grouping = plan, grouping
        self._held: list[_Held] = []
        room = Workspace()
        groups = 1 if grouping is None else grouping.count
        self._streamed = tuple(
            _Streamed(one, plan.burn_in, room)
            for _ in range(0 if plan.exact else groups)
            for one in plan.columns
        )

    def add(self, rows: Rows) -> None:
        """Count a batch; its arrays must not change afterwards."""
        self.take(rows, rank_bytes(rows, self._plan.seed))

    def take(self, rows: Rows, top: NDArray[np.uint8]) -> None:
        """Count a batch, given the rows' top rank bytes."""
        labels = micro_labels(top)
        labels |= rows.member.view(np.uint8)
        number = None if self._grouping is None else self._grouping.numbers(rows)
        if self._plan.exact:
            held = _Held(rows.scores, labels, further_blocks(rows, self._plan), number)
            self._held.append(held if number is None else _among(held, number >= 0))
        elif number is None:
            for column, scores in zip(self._streamed, rows.scores, strict=True):
                column.add(scores, labels)
        else:
            order = np.argsort(number, kind="stable")
            ends = np.searchsorted(number[order], np.arange(len(self._streamed) + 1))
            for group, (first, end) in zip(self._streamed, pairwise(ends.tolist()), strict=True):
                if end > first:
                    at = order[first:end]
                    group.add(rows.scores[0][at], labels[at])

    def merge(self, other: Self) -> None:
        """Add the rows of another part; exactly associative and commutative."""
        self._held += other._held
        for mine, theirs in zip(self._streamed, other._streamed, strict=True):
            mine.merge(theirs)

    def counts(self) -> tuple[ScoreCounts, ...]:
        """Return the finished counts, by column or by group; held rows are let go.

        Nothing may be added afterwards.
        """
        if not self._plan.exact:
            return tuple(one.counts() for one in self._streamed)
        held, self._held = self._held, []
        labels = _joined([part.labels for part in held])
        further = _joined([part.further for part in held])
        numbers = [part.number for part in held if part.number is not None]
        found: list[ScoreCounts] = []
        for place, plan in enumerate(self._plan.columns):
            scores = _joined([part.scores[place] for part in held])
            number = _joined(numbers) if numbers else None
            found += self._counted(_Held((scores,), labels, further, number), plan)
        return tuple(found)

    def _counted(self, rows: _Held, plan: ColumnPlan) -> list[ScoreCounts]:
        """Return the counts of one score of all rows, or those of each group.

        One sort serves the cells and both ladders: rows in order of score are cut into cells by
        looking up the edges, not the rows.
        """
        rows = _in_order(rows)
        (scores,) = rows.scores
        cells = plan.cells
        size = np.append(np.searchsorted(scores, cells.edges, side="right"), scores.size)
        size[1:] -= size[:-1].copy()
        cell = np.repeat(cells.coarse.astype(np.int32), size)
        burn_in = self._plan.burn_in
        if self._grouping is None or rows.number is None:
            # One draw hardly moves the answer of many rows.
            often = rows.further.shape[1] > 0
            labels, further = rows.labels, rows.further
            return [counts_of_rows(scores, labels, further, cell, plan, burn_in, assigned=often)]
        count = self._grouping.count
        # Numbers of few bytes are sorted by their digits.
        order = np.argsort(rows.number.astype(np.min_scalar_type(count)), kind="stable")
        ends = np.searchsorted(rows.number[order], np.arange(count + 1))
        found = []
        for first, end in pairwise(ends.tolist()):
            at = order[first:end]
            labels, further = rows.labels[at], rows.further[at]
            found.append(
                counts_of_rows(scores[at], labels, further, cell[at], plan, burn_in, assigned=True)
            )
        return found


def _joined(parts: list[NDArray[NumberT]]) -> NDArray[NumberT]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _among(rows: _Held, chosen: Bools | Places) -> _Held:
    """Return some of the rows, or all in another order."""
    return _Held(
        scores=tuple(one[chosen] for one in rows.scores),
        labels=rows.labels[chosen],
        further=rows.further[chosen],
        number=None if rows.number is None else rows.number[chosen],
    )


def _in_order(rows: _Held) -> _Held:
    """Return rows of one score in increasing order of it."""
    (scores,) = rows.scores
    if (scores[1:] >= scores[:-1]).all():  # as rows in canonical order are
        return rows
    # Of one group rows stay in their order where they tie.
    return _among(rows, np.argsort(scores, kind=None if rows.number is None else "stable"))


class _Streamed:
    """Rows of one column, or of one group, as counts per fine cell that grow."""

    __slots__ = ("_blocks", "_burn_in", "_codes", "_fine", "_infinite", "_plan", "_room")

    def __init__(self, plan: ColumnPlan, burn_in: int, room: Workspace) -> None:
        """Start empty; all of one worker may share ``room``."""
        cells = plan.cells
        self._plan, self._burn_in, self._room = plan, burn_in, room
        self._codes = CellCodes(cells)
        self._blocks = CodeCounter(2 * MICRO_BLOCKS * cells.coarse_count)
        self._fine = CodeCounter(cells.count * 4)
        self._infinite = 0

    def add(self, scores: Floats, labels: NDArray[np.uint8]) -> None:
        """Count rows; a label is 2 * micro-block + member."""
        codes, searched = self._codes(scores, self._room)
        shift = self._codes.shift
        index = self._room.array("place", scores.size, _INT64)
        block = self._room.array("block", scores.size, codes.dtype)
        other = self._room.array("other", scores.size, codes.dtype)
        np.copyto(block, labels)
        block *= self._plan.cells.coarse_count
        block += np.bitwise_and(codes, (1 << shift) - 1, out=other)
        np.copyto(index, block)
        self._blocks.add(index)
        codes >>= shift - 2
        codes &= ~3
        codes += _flags(labels, self._burn_in)
        np.copyto(index, codes)
        self._fine.add(index)
        self._infinite += int(np.count_nonzero(np.isinf(searched)))

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self._blocks.merge(other._blocks)
        self._fine.merge(other._fine)
        self._infinite += other._infinite

    def counts(self) -> ScoreCounts:
        """Return the finished counts."""
        cells = self._plan.cells
        fine = self._fine.counts().reshape(-1, 4)
        everyone = fine[:, :2] + fine[:, 2:]
        places, times = filled(self._blocks.counts())
        return ScoreCounts(
            places=places,
            times=times,
            burn_in=self._burn_in,
            single=cells.coarse_single,
            everyone=Ladder(members=everyone[:, 1], holdout=everyone[:, 0], single=cells.single),
            evaluated=Ladder(members=fine[:, 1], holdout=fine[:, 0], single=cells.single),
            infinite=self._infinite,
            discrete=self._plan.discrete,
        )


def _flags(labels: NDArray[np.uint8], burn_in: int) -> NDArray[np.uint8]:
    """Return 2 * in burn-in + member."""
    flags = (labels < 2 * burn_in).view(np.uint8)
    flags += flags  # a shift of bytes is several times slower
    flags |= labels & np.uint8(1)
    return flags


class Survey:
    """A burn-in sample, and a tally if a plan is at hand."""

    __slots__ = ("_seed", "sample", "tally")

    def __init__(self, columns: int, seed: int, plan: Plan | None) -> None:
        """Start empty."""
        self._seed = seed
        self.sample = BurnInSample(columns, seed)
        self.tally = None if plan is None else Tally(plan)

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        top = rank_bytes(rows, self._seed)
        self.sample.take(rows, top)
        if self.tally is not None:
            self.tally.take(rows, top)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        self.sample.merge(other.sample)
        if self.tally is not None and other.tally is not None:
            self.tally.merge(other.tally)
