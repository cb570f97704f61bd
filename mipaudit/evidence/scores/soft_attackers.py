"""Attackers of many assignments of rows at once: what they learn, guess and get right.

An attacker is a function h of the score with values in [0, 1]: how likely it guesses
'member'. One that is not sure everywhere has less variance than a set, and its advantage
E_P h - E_Q h is at most that of the best set. Each is fitted on earlier blocks alone.

Attackers of one form are a family. Of each the rows that it guesses to be members are
counted, and its values in the cells are written down only where it is chosen. Guesses are
whole `SURE`ths and counts whole numbers, so that sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.scores.assignments import HALVES, HOLDOUT, MEMBER, Reals

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

SURE: Final = 16
_FEWEST_MERGED: Final = 4
_STANDARD_ERRORS: Final = (0.0, 0.5, 1.0, 2.0, 3.0, 4.5)
_TAIL_ERRORS: Final = (0.0, 2.0, 4.0)
# Cells on which smooth attackers are fitted, and half the widths of their windows as shares.
_SMOOTH_CELLS: Final = 128
_WINDOWS: Final = (0.01, 0.03, 0.1)
_SLOPES: Final = (1.0, 1.5, 2.0, 3.0, 5.0)
_POSTERIOR_SLOPE: Final = 3.0
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Family:
    """Attackers of one form, and how they fare in each block.

    Attributes:
        hits: rows of the block guessed to be members, by class, shape (Z, G, E, 2).
        squares: sums of h squared over the same rows; the hits again for sets.
        values: gives h in the cells, shape (n, K), of one attacker of n blocks.
    """

    hits: Reals
    squares: Reals
    values: Callable[[Places, Places, Places], Floats]


@dataclass(frozen=True, kw_only=True, eq=False)
class Lessons:
    """What was learnt before each block, and the block itself.

    Attributes:
        counts: rows by block, class and cell; the first two blocks are the halves of the
            burn-in, each of which learns from the other. Shape (Z, G, 2, K).
        prior: p in (0, 1).
        even: the cells have equal mass, in order of the score.
    """

    counts: Reals
    prior: float
    even: bool

    @cached_property
    def trained(self) -> Reals:
        """Return the rows of earlier blocks, likewise."""
        return _past(self.counts)

    @cached_property
    def sizes(self) -> Reals:
        """Return the number of earlier rows, at least 1, shape (Z, G, 2, 1)."""
        return np.asarray(np.maximum(self.trained.sum(axis=-1, keepdims=True), 1))

    @cached_property
    def shares(self) -> tuple[Reals, Reals]:
        """Return the weights' shares of each cell as learnt: holdout, members; (Z, G, K)."""
        return self.weighed(self.trained)

    @cached_property
    def below(self) -> Reals:
        """Return the rows of the block up to and with each cell, likewise."""
        return np.cumsum(self.counts, axis=-1)

    @cached_property
    def gains(self) -> Reals:
        """Return p P_j - (1-p) Q_j as learnt, shape (Z, G, K)."""
        holdout, members = self.shares
        return members - holdout

    def weighed(self, rows: Reals) -> tuple[Reals, Reals]:
        """Return (1-p) and p times the shares of these earlier rows of each class."""
        weights = np.array([1 - self.prior, self.prior], dtype=np.float32)[:, None]
        found = rows * (weights / self.sizes)
        return found[:, :, HOLDOUT], found[:, :, MEMBER]

    def error(self, holdout: Reals, members: Reals) -> Reals:
        """Return the standard error of the difference of these weighed shares."""
        variance = holdout * (np.float32(1 - self.prior) - holdout)
        variance /= self.sizes[:, :, HOLDOUT]
        other = members * (np.float32(self.prior) - members)
        other /= self.sizes[:, :, MEMBER]
        variance += other
        return np.sqrt(np.maximum(variance, 0, out=variance), out=variance)


def families(lessons: Lessons) -> Iterator[Family]:
    """Yield every attacker; the first two are constant, the majority's guess first."""
    yield _constant(lessons)
    yield _spans(lessons)
    yield _signs(lessons)
    yield from _merged(lessons)
    yield _smoothed(lessons)
    yield _linear(lessons)


def _constant(lessons: Lessons) -> Family:
    """Return those who say the same of every record."""
    sizes = lessons.below[..., -1]
    always = np.array([lessons.prior > _HALF, lessons.prior <= _HALF])
    hits = sizes[:, :, None, :] * always[:, None]
    cells = lessons.counts.shape[-1]
    return Family(
        hits=hits,
        squares=hits,
        values=lambda e, _z, _g: np.repeat(always[e].astype(np.float64)[:, None], cells, axis=1),
    )


def _spans(lessons: Lessons) -> Family:
    """Return the best prefix, suffix, interval and complement, and the clearest tails."""
    gains = lessons.gains
    after = np.cumsum(gains, axis=-1)
    before = after - gains
    error = lessons.error(*lessons.weighed(_past(lessons.below)))
    spans = [
        (*_interval(after, before), False),
        (*_interval(-after, -before), True),
    ]
    for scale in _TAIL_ERRORS:
        doubt = np.float32(scale) * error
        first = np.zeros(after.shape[:2], dtype=np.intp)
        spans.append((first, (after - doubt).argmax(axis=-1), False))
        spans.append((first, (-after - doubt).argmax(axis=-1), True))
    start, stop = (np.stack([span[side] for span in spans], axis=-1) for side in (0, 1))
    outside = np.array([span[2] for span in spans])
    return _of_spans(lessons.below, start, stop, outside)


def _interval(after: Reals, before: Reals) -> tuple[Places, Places]:
    """Return the first and the last cell of the best interval (Kadane), each (Z, G)."""
    least = np.fmin.accumulate(before, axis=-1)
    stop = (after - least).argmax(axis=-1)
    lowest = np.take_along_axis(least, stop[..., None], axis=-1)
    return (before == lowest).argmax(axis=-1), stop


def _of_spans(below: Reals, start: Places, stop: Places, outside: NDArray[np.bool_]) -> Family:
    """Return who guesses 'member' from one cell up to and with another, or outside; (Z, G, E)."""
    within = np.take_along_axis(below, stop[:, :, None], axis=-1)
    before = np.take_along_axis(below, np.maximum(start - 1, 0)[:, :, None], axis=-1)
    within -= np.where(start[:, :, None] > 0, before, 0)
    hits = np.where(outside, below[..., -1:] - within, within).swapaxes(-1, -2)
    cells = np.arange(below.shape[-1])

    def values(e: Places, z: Places, g: Places) -> Floats:
        inside = (cells >= start[z, g, e][:, None]) & (cells <= stop[z, g, e][:, None])
        return np.asarray(inside != outside[e][:, None], dtype=np.float64)

    return Family(hits=hits, squares=hits, values=values)


def _signs(lessons: Lessons) -> Family:
    """Return the signs of the differences, and those that are clear: few cells, where few leak."""
    gains, error = lessons.gains, lessons.error(*lessons.shares)
    majority = lessons.prior > _HALF
    guess = np.empty((*gains.shape[:2], len(_STANDARD_ERRORS), gains.shape[-1]), dtype=np.float32)
    for index, scale in enumerate(_STANDARD_ERRORS):
        if majority:
            np.greater_equal(gains, np.float32(-scale) * error, out=guess[:, :, index])
        else:
            np.greater(gains, np.float32(scale) * error, out=guess[:, :, index])
    return _of_cells(guess, lessons.counts)


def _merged(lessons: Lessons) -> Iterator[Family]:
    """Yield the signs of the differences of runs of 2, 4, ... cells."""
    gains, counts = lessons.gains, lessons.counts
    cells = counts.shape[-1]
    while gains.shape[-1] >= 2 * _FEWEST_MERGED:
        gains, counts = (_runs(one, one.shape[-1] // 2) for one in (gains, counts))
        yield _of_cells((gains > 0)[:, :, None].astype(np.float32), counts, cells)


def _of_cells(guess: Reals, counts: Reals, cells: int = 0) -> Family:
    """Return who guesses 'member' in some of the cells, or runs of cells; (Z, G, E, K')."""
    hits = np.matmul(guess, counts.swapaxes(-1, -2))
    run = max(1, cells // counts.shape[-1])
    return Family(
        hits=hits,
        squares=hits,
        values=lambda e, z, g: np.repeat(guess[z, g, e], run, axis=-1).astype(np.float64),
    )


def _smoothed(lessons: Lessons) -> Family:
    """Return the signs of smoothed differences, and the posteriors that they are part of."""
    cells = lessons.counts.shape[-1]
    few = min(max(cells // 2, _FEWEST_MERGED), _SMOOTH_CELLS)
    counts, trained = (_runs(one, few) for one in (lessons.counts, lessons.trained))
    flat = trained.reshape(len(trained), -1, few)
    near = np.matmul(flat, _kernel(few).astype(flat.dtype))
    weights = np.array([1 - lessons.prior, lessons.prior], flat.dtype)[:, None] / lessons.sizes
    near = near.reshape(*trained.shape[:3], -1)
    near *= weights
    holdout, members = near[:, :, HOLDOUT], near[:, :, MEMBER]
    gains = members - holdout
    members += holdout
    np.maximum(members, np.finfo(np.float32).tiny, out=members)
    guess = np.empty((*gains.shape[:2], 2, gains.shape[-1]), dtype=gains.dtype)
    np.multiply(gains > 0, SURE, out=guess[:, :, 0])
    gains *= _POSTERIOR_SLOPE * SURE
    gains /= members
    gains += _HALF * SURE
    np.rint(np.clip(gains, 0, SURE, out=gains), out=guess[:, :, 1])
    return _unsure(guess.reshape(*gains.shape[:2], -1, few), counts, cells)


@lru_cache(maxsize=16)
def _kernel(cells: int) -> Places:
    """Return triangular windows for sums over neighbouring cells, shape (K', windows * K')."""
    apart = np.abs(np.arange(cells)[:, None] - np.arange(cells))
    halves = [max(1, round(share * cells)) for share in _WINDOWS]
    return np.concatenate([np.maximum(half + 1 - apart, 0) for half in halves], axis=1)


def _linear(lessons: Lessons) -> Family:
    """Return clipped linear functions of the rank, and of its distance from the middle."""
    counts = lessons.counts
    if lessons.even:
        rank = ((np.arange(counts.shape[-1]) + _HALF) / counts.shape[-1])[None, None]
    else:
        holdout, members = (one[:, HALVES, None] for one in lessons.shares)
        mass = (holdout + members).astype(np.float64)
        rank = np.cumsum(mass, axis=-1) - mass / 2
    rising = np.concatenate(
        [
            _HALF + slope * (measure - _HALF)
            for measure in (rank, 2 * np.abs(rank - _HALF))
            for slope in _SLOPES
        ],
        axis=1,
    )
    rising = np.rint(np.clip(rising, 0, 1) * SURE).astype(counts.dtype)
    return _unsure(np.concatenate([rising, SURE - rising], axis=1)[:, None], counts, 0)


def _unsure(guess: Reals, counts: Reals, cells: int) -> Family:
    """Return who guesses 'member' with these chances, in `SURE`ths, shape (Z, G, E, K')."""
    seen = counts.swapaxes(-1, -2)
    run = max(1, cells // counts.shape[-1])
    shape = (*counts.shape[:2], *guess.shape[2:])
    every = np.broadcast_to(guess, shape)
    return Family(
        hits=np.matmul(guess, seen) / SURE,
        squares=np.matmul(guess * guess, seen) / SURE**2,
        values=lambda e, z, g: np.repeat(every[z, g, e] / SURE, run, axis=-1),
    )


def _runs(counts: Reals, few: int) -> Reals:
    """Return the sums over runs of neighbouring cells, shape (..., few)."""
    while counts.shape[-1] > few:
        counts = counts[..., ::2] + counts[..., 1::2]
    return counts


def _past(blocks: Reals) -> Reals:
    """Return the sum of all earlier blocks; either half of the burn-in has the other."""
    found = np.empty_like(blocks)
    found[:, 0] = blocks[:, 1]
    found[:, 1] = blocks[:, 0]
    for block in range(HALVES, blocks.shape[1]):
        np.add(found[:, block - 1], blocks[:, block - 1], out=found[:, block])
    return found
