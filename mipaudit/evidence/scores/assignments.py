"""Rows in many assignments: which of them only train, in which block the others are, and cells.

An assignment says which rows are the burn-in and in which block every other row is scored.
Of rows in memory there are several draws, each turned by every eighth of a turn, so that every
row trains and counts as often as any other. Each assignment cuts the scores into cells by its
own burn-in. Of rows that were counted the cells are given, and one draw is turned.

Everything is counted in whole numbers, so that no processor and no batch moves an answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints, Places
from mipaudit.summaries.plan import burn_in_blocks
from mipaudit.summaries.rows import MICRO_BLOCKS

if TYPE_CHECKING:
    from mipaudit.summaries.counts import RankedRows

TURNS: Final = 8
BLOCKS: Final = 6
HALVES: Final = 2
HOLDOUT, MEMBER = 0, 1

Reals = NDArray[np.floating[Any]]

# The burn-in of one assignment is longer than where there is only one.
_LONGER: Final = 1.5
_MOST_CELLS: Final = 512
# With rows in so few cells each cell guesses and stays as it is. A learner's sets change with what
# it has learnt, so that its past is not that of its next set: of a score of two values, whose
# contents are few, the luck of that made limits miss in up to 2 times as many files as they say.
_FEW_CELLS: Final = 2
# Rows of either class in the burn-in of counted rows, a cell, so that it may be judged, too.
_ROWS_A_CELL: Final = 8
_FEWEST_CELLS: Final = 4
# Numbers of cells up to a power of two.
_STEPS: Final = 8
# The mass of a burn-in is below this power of two, in whole numbers.
_WHOLE_BITS: Final = 30
# Rows in so many assignments are in the processor's cache.
ROWS_AT_ONCE: Final = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Assigned:
    """Rows of both classes in S assignments.

    Attributes:
        member: shape (n,).
        times: how many rows stand for each, shape (n,).
        labels: 2 * micro-block + member of each row in each draw, shape (draws, n).
        lines: which line of `counts`, of the cells of a block and class, each label has in each
            turn of its draw, shape (draws, TURNS, 128).
        place: where each row is counted: an index of the flat `counts`, shape (S, n).
        counts: rows by half of the burn-in or block after it, class and cell, as whole
            numbers, shape (S, HALVES + BLOCKS, 2, K), K at least 4.
        even: the cells have equal mass, in order of the score.
    """

    member: Bools
    times: Floats
    labels: Places
    lines: NDArray[np.int32]
    place: NDArray[np.int32]
    counts: Reals
    even: bool

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the number of rows: holdout, members."""
        members = int(self.times[self.member].sum())
        return int(self.times.sum()) - members, members


def few_cells(counts: NDArray[Any]) -> Places | None:
    """Return the cells with rows where they are so few that each guesses as it is, else None."""
    seen = np.flatnonzero(counts.any(axis=(0, 1, 2)))
    return seen if 0 < seen.size <= _FEW_CELLS else None


def assigned(rows: RankedRows, prior: float) -> Assigned:
    """Return the rows in all their assignments.

    Args:
        rows: of both classes, fewer than 2^24.
        prior: p in (0, 1): the classes' weights where cells have equal mass.
    """
    labels = rows.micro_blocks.astype(np.intp) * 2
    labels += rows.member
    totals = [np.bincount(one, minlength=2 * MICRO_BLOCKS) for one in labels]
    sizes = totals[0].reshape(-1, 2).sum(axis=0)
    burn_in = math.ceil(_LONGER * burn_in_blocks(int(sizes[MEMBER]), int(sizes[HOLDOUT])))
    if rows.discrete:
        cells = _cells_of_values(int(rows.rank[-1]) + 1)
    else:
        cells = min(_power_of_two(rows.member.size * burn_in // MICRO_BLOCKS), _MOST_CELLS)
    weights = _weights(np.array(totals).reshape(-1, MICRO_BLOCKS, 2), burn_in, prior)
    values = _Values(rows.rank, each=rows.discrete)
    lines = _lines(len(labels), burn_in)
    place = np.empty((len(labels), TURNS, rows.member.size), dtype=np.int32)
    step = max(1, ROWS_AT_ONCE // rows.member.size)
    for draw, label in enumerate(labels):
        for first in range(0, TURNS, step):
            turns = slice(first, first + step)
            cell = values.cells(weights[draw, turns], label, cells)
            line = _looked_up(lines[draw, turns] * np.int32(cells), label)
            np.add(line, cell, out=place[draw, turns])
    shape = (len(labels) * TURNS, HALVES + BLOCKS, 2, cells)
    counts = np.bincount(place.ravel(), minlength=math.prod(shape))
    return Assigned(
        member=rows.member,
        times=np.ones(rows.member.size),
        labels=labels,
        lines=lines,
        place=place.reshape(shape[0], -1),
        counts=counts.astype(np.float32).reshape(shape),
        even=not rows.discrete,
    )


def assigned_blocks(blocks: Ints, burn_in: int) -> Assigned:
    """Return rows that were counted in several orders of the blocks after the burn-in.

    Args:
        blocks: int64, shape (64, K, 2), by micro-block, cell and (holdout, member).
        burn_in: micro-blocks that only train.
    """
    trained = blocks[:burn_in].sum(axis=(0, 1))
    few = few_cells(blocks.swapaxes(1, 2)[None]) is not None
    whole = few or bool(trained.min() >= _ROWS_A_CELL * blocks.shape[1])
    return _in_orders(blocks, _orders(burn_in, whole=whole))


def assigned_among(tables: Iterable[Ints], burn_in: int) -> Iterator[Assigned]:
    """Yield the same rows by each of several scores, as `assigned_blocks`.

    The burn-in only trains, in every order: scores are fitted on it, or chosen.
    """
    group = _orders(burn_in, whole=False)
    # One after the other: those of many cells are large.
    return (_in_orders(blocks, group) for blocks in tables)


def _in_orders(blocks: Ints, group: NDArray[np.int32]) -> Assigned:
    """Return counted rows in each order of their blocks, (TURNS, 64)."""
    table = _padded(blocks)
    cells = table.shape[-1]
    counts = _by_block(table, group)
    first = np.arange(TURNS)[:, None] * (HALVES + BLOCKS) + group
    lines = (first[..., None] * 2 + np.arange(2)).astype(np.int32).reshape(1, TURNS, -1)
    place = np.asarray((lines * cells)[..., None] + np.arange(cells), dtype=np.int32)
    return Assigned(
        member=np.tile(np.repeat([False, True], cells), MICRO_BLOCKS),
        times=table.ravel().astype(np.float64),
        labels=np.repeat(np.arange(2 * MICRO_BLOCKS), cells)[None],
        lines=lines,
        place=place.reshape(TURNS, -1),
        counts=counts,
        even=False,
    )


def in_one_order(blocks: Ints, burn_in: int) -> Reals:
    """Return rows by half of the burn-in or block after it, (1, HALVES + BLOCKS, 2, K).

    Args:
        blocks: as for `assigned_blocks`.
        burn_in: micro-blocks that only train; no other row may have cut the cells.
    """
    return _by_block(_padded(blocks), _grouped(burn_in)[None])


def _padded(blocks: Ints) -> Ints:
    """Return rows by micro-block, class and cell; further cells are empty."""
    table = np.zeros((MICRO_BLOCKS, 2, _cells_of_values(blocks.shape[1])), dtype=np.int64)
    table[..., : blocks.shape[1]] = blocks.swapaxes(1, 2)
    return table


def _by_block(table: Ints, groups: NDArray[np.int32]) -> Reals:
    """Return the rows of each block in each order, from those of each micro-block."""
    counts = np.zeros((len(groups), HALVES + BLOCKS, *table.shape[1:]))
    for turn, at in zip(counts, groups, strict=True):
        for one, block in zip(table, at, strict=True):
            turn[block] += one
    return counts


def _cells_of_values(count: int) -> int:
    """Return about as many cells as there are values: few numbers, so that audits are alike."""
    step = max(1, _power_of_two(2 * count - 1) // _STEPS)
    return max(_FEWEST_CELLS, -(-count // step) * step)


def _power_of_two(most: int) -> int:
    """Return the greatest power of two that is at most this, but no less than 4."""
    return max(_FEWEST_CELLS, (1 << most.bit_length()) >> 1)


def _turned(tables: NDArray[np.int32], first: int = 0) -> NDArray[np.int32]:
    """Return each table by micro-block, (..., 64, n), turned by each eighth from the first on."""
    kept, turning = np.split(tables, [first], axis=-2)
    steps = [turn * turning.shape[-2] // TURNS for turn in range(TURNS)]
    return np.stack(
        [np.concatenate([kept, np.roll(turning, -step, axis=-2)], axis=-2) for step in steps],
        axis=-3,
    )


def _looked_up(tables: NDArray[np.int32], label: Places) -> NDArray[np.int32]:
    """Return what the tables of some turns, (t, 128), say of each row, (t, n)."""
    # Every label is in range: to clip is quicker than to ask.
    return tables.take(label, axis=1, mode="clip")


@lru_cache(maxsize=64)
def _lines(draws: int, burn_in: int) -> NDArray[np.int32]:
    """Return the line of each label in each turn of each draw, shape (draws, TURNS, 128)."""
    table = _turned((_grouped(burn_in)[:, None] * 2 + np.arange(2)).astype(np.int32))
    first = np.arange(draws * TURNS, dtype=np.int32).reshape(draws, TURNS, 1)
    return table.reshape(TURNS, -1) + first * np.int32(2 * (HALVES + BLOCKS))


def _grouped(burn_in: int) -> NDArray[np.int32]:
    """Return the half of the burn-in, or the block after it, of each micro-block."""
    late = np.arange(MICRO_BLOCKS - burn_in)
    blocks = HALVES + late * BLOCKS // late.size
    return np.concatenate([np.arange(burn_in) % HALVES, blocks]).astype(np.int32)


def _orders(burn_in: int, *, whole: bool) -> NDArray[np.int32]:
    """Return the half, or the block, of each micro-block in each turn, shape (TURNS, 64).

    Args:
        burn_in: micro-blocks whose rows cut the cells.
        whole: they are turned with the others. A row that is a cut point would then be judged
            in a cell of its own making: at the null 6,000 members and 60 holdout records seem
            to differ by .027. So only where few rows are cut points, in either class.
    """
    first = 0 if whole else burn_in
    group = _grouped(math.ceil(_LONGER * burn_in) if whole else burn_in)
    return _turned(group[:, None], first)[..., 0]


def _weights(totals: Places, burn_in: int, prior: float) -> NDArray[np.int32]:
    """Return the mass of each row in whole numbers, by draw, turn and label.

    Rows of the burn-in alone have any; the classes have p and 1 - p of it.

    Args:
        totals: rows by draw, micro-block and class, shape (draws, 64, 2).
        burn_in: micro-blocks that only train.
        prior: p in (0, 1).
    """
    burned = _burned(burn_in)
    trained = (totals[:, None] * burned).sum(axis=2, keepdims=True)
    each = ((1 << _WHOLE_BITS) - 1) * np.array([1 - prior, prior]) / np.maximum(trained, 1)
    return np.asarray(each.astype(np.int32) * burned).reshape(len(totals), TURNS, -1)


@lru_cache(maxsize=64)
def _burned(burn_in: int) -> NDArray[np.int32]:
    """Return 1 for the micro-blocks that only train, by turn and class, else 0."""
    return _turned(
        np.repeat(np.arange(MICRO_BLOCKS)[:, None] < burn_in, 2, axis=1).astype(np.int32)
    )


class _Values:
    """The distinct values of rows in order, and the cells that assignments cut them into."""

    def __init__(self, rank: Ints, *, each: bool) -> None:
        """Take the rank of each row's value; ``each`` value may have a cell of its own."""
        self._rank, self._own = rank, rank.astype(np.int32) if each else None
        self._last = np.flatnonzero(np.diff(rank, append=-1))

    def cells(self, weights: NDArray[np.int32], label: Places, count: int) -> NDArray[np.int32]:
        """Return the cell of each row in some turns, shape (t, n), or (n,) where it is its own.

        A value's cell is the mass of the burn-in below it, with half of its own: cells of equal
        mass, and those of a frequent value hold nothing else.

        Args:
            weights: mass of a row of each label in these turns, shape (t, 128).
            label: of each row.
            count: cells that are wanted, a power of two.
        """
        if self._own is not None:
            return self._own
        mass = _looked_up(weights, label)
        up_to = np.cumsum(mass, axis=1, dtype=np.int32)
        tied = self._last.size < label.size
        if tied:
            up_to = up_to[:, self._last]
            mass = np.diff(up_to, axis=1, prepend=np.int32(0))
        mass >>= 1
        up_to -= mass
        up_to >>= _WHOLE_BITS - (count.bit_length() - 1)
        return up_to[:, self._rank] if tied else up_to
