"""Attackers of many assignments of rows at once: what they learn, guess and get right.

An attacker is a function h of the score with values in [0, 1]: how likely it guesses
'member'. One that is not sure everywhere has less variance than a set, and its advantage
E_P h - E_Q h is at most that of the best set. Each is fitted on earlier blocks alone.

Attackers of one form are a family. Of each the rows that it guesses to be members are
counted, and its values in the cells are written down only where it is chosen. Guesses are
whole `SURE`ths and counts whole numbers, so that sums are exact in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.evidence.scores.assignments import HALVES, HOLDOUT, MEMBER, Reals, few_cells
from mipaudit.maths.arrays import Bools, Floats, Places

if TYPE_CHECKING:
    from mipaudit.model.row import Attackers


SURE: Final = 16
_FEWEST_MERGED: Final = 4
_STANDARD_ERRORS: Final = (0.0, 0.5, 1.0, 2.0, 3.0, 4.5)
_TAIL_ERRORS: Final = (0.0, 2.0, 4.0)
# An interval and a complement come before the tails.
_INTERVALS: Final = 2
# Families of merged cells whose signs change at most as often as those of four intervals.
_FOUR_INTERVALS: Final = 2
# Cells on which smooth attackers are fitted, and half the widths of their windows as shares.
_SMOOTH_CELLS: Final = 128
_WINDOWS: Final = (0.01, 0.03, 0.1)
_SLOPES: Final = (1.0, 1.5, 2.0, 3.0, 5.0)
_POSTERIOR_SLOPE: Final = 3.0
_HALF: Final = 0.5
# Products of two tables above which OpenBLAS starts threads, and lines that every audit has.
_UNTHREADED: Final = 1 << 18
_LINES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Family:
    """Attackers of one form, and how they fare in each block.

    Attributes:
        hits: rows of the block guessed to be members, by class, shape (Z, G, 2, E).
        values: gives h in the cells, shape (n, K), of one attacker of n blocks.
        unsure: sums of h squared over the same rows; None for sets, whose h is 0 or 1.
    """

    hits: Reals
    values: Callable[[Places, Places, Places], Floats]
    unsure: Reals | None = None

    @property
    def squares(self) -> Reals:
        """Return the sums of h squared: of sets they are the hits."""
        return self.hits if self.unsure is None else self.unsure

    def sets_from(self, first: int) -> Family:
        """Return the family, one of sets, without those before some."""
        hits = self.hits[..., first:]
        return Family(hits=hits, values=lambda e, z, g: self.values(e + first, z, g))


@dataclass(frozen=True, kw_only=True, eq=False)
class Lessons:
    """What was learnt before each block, and the block itself.

    Attributes:
        counts: rows by block, class and cell; the first two blocks are the halves of the
            burn-in, each of which learns from the other. Shape (Z, G, 2, K).
        prior: p in (0, 1).
        even: the cells have equal mass, in order of the score.
        among: the class whose sets alone are fitted; None for all attackers, also unsure ones.
    """

    counts: Reals
    prior: float
    even: bool
    among: Attackers | None = None

    @property
    def whole(self) -> int:
        """Return the power of two at which runs of cells come out even; behind K is nothing."""
        return 1 << int(self.counts.shape[-1] - 1).bit_length()

    @cached_property
    def few(self) -> Places | None:
        """Return the cells with rows where they are few, else None."""
        return few_cells(self.counts)

    @cached_property
    def rows(self) -> Reals:
        """Return the rows of the block, shape (Z, G, 2)."""
        return np.asarray(self.counts.sum(axis=-1))

    @cached_property
    def trained(self) -> Reals:
        """Return the rows of earlier blocks, shape (Z, G, 2, K)."""
        return _past(self.counts)

    @cached_property
    def sizes(self) -> Reals:
        """Return the number of earlier rows, at least 1, shape (Z, G, 2, 1)."""
        return np.asarray(np.maximum(_past(self.rows), 1)[..., None])

    @cached_property
    def weights(self) -> Reals:
        """Return what an earlier row weighs: (1-p) and p over their number, likewise."""
        weights = np.array([1 - self.prior, self.prior], dtype=np.float32)[:, None]
        return np.asarray(weights / self.sizes)

    @cached_property
    def shares(self) -> tuple[Reals, Reals]:
        """Return the weights' shares of each cell as learnt: holdout, members; (Z, G, K)."""
        found = self.trained * self.weights
        return found[:, :, HOLDOUT], found[:, :, MEMBER]

    @cached_property
    def gains(self) -> Reals:
        """Return p P_j - (1-p) Q_j as learnt, shape (Z, G, K)."""
        holdout, members = self.shares
        return members - holdout

    def error(self, holdout: Reals, members: Reals) -> Reals:
        """Return the standard error of the difference of these weighed shares."""
        variance = np.float32(1 - self.prior) - holdout
        variance *= holdout
        variance /= self.sizes[:, :, HOLDOUT]
        other = np.float32(self.prior) - members
        other *= members
        other /= self.sizes[:, :, MEMBER]
        variance += other
        return np.asarray(np.sqrt(np.maximum(variance, 0, out=variance), out=variance))


def families(lessons: Lessons) -> Iterator[Family]:
    """Yield every attacker, sets first; the first two are constant, the majority's guess first."""
    yield _constant(lessons)
    if lessons.few is not None:
        yield _fixed(lessons, lessons.few)
        return
    spans = _spans(lessons)
    yield spans.sets_from(_INTERVALS) if lessons.among == "thresholds" else spans
    match lessons.among:
        case "thresholds" | "intervals-1":
            return
        case "intervals-4":
            yield from list(_merged(lessons))[-_FOUR_INTERVALS:]
        case among:
            yield _signs(lessons)
            yield from _merged(lessons)
            yield from islice(_smoothed(lessons), None if among is None else 1)
            if among is None:
                yield _linear(lessons)


def _constant(lessons: Lessons) -> Family:
    """Return those who say the same of every record."""
    always = np.array([lessons.prior > _HALF, lessons.prior <= _HALF])
    hits = lessons.rows[..., None] * always
    cells = lessons.counts.shape[-1]
    return Family(
        hits=hits,
        values=lambda e, _z, _g: np.repeat(always[e].astype(np.float64)[:, None], cells, axis=1),
    )


def _fixed(lessons: Lessons, seen: Places) -> Family:
    """Return those who guess one cell whatever was learnt."""
    guess = np.eye(lessons.counts.shape[-1])[seen]
    hits = lessons.counts[..., seen]
    return Family(hits=hits, values=lambda e, _z, _g: guess[e])


def _spans(lessons: Lessons) -> Family:
    """Return the best prefix, suffix, interval and complement, and the clearest tails."""
    gains = lessons.gains
    after = np.cumsum(gains, axis=-1)
    before = after - gains
    below = np.cumsum(lessons.counts, axis=-1)
    summed = _past(below)
    summed *= lessons.weights
    error = lessons.error(summed[:, :, HOLDOUT], summed[:, :, MEMBER])
    count = _INTERVALS + 2 * len(_TAIL_ERRORS)
    start, stop = np.zeros((2, *after.shape[:2], count), dtype=np.intp)
    start[..., 0], stop[..., 0] = _interval(after, before, np.fmin, np.argmax)
    # Where the complement gains most the interval loses most.
    start[..., 1], stop[..., 1] = _interval(after, before, np.fmax, np.argmin)
    doubt = np.empty_like(error)
    for index, scale in enumerate(_TAIL_ERRORS):
        np.multiply(error, np.float32(scale), out=doubt)
        at = _INTERVALS + 2 * index
        np.argmin(np.add(after, doubt, out=before), axis=-1, out=stop[..., at + 1])
        np.argmax(np.subtract(after, doubt, out=doubt), axis=-1, out=stop[..., at])
    return _of_spans(below, start, stop, np.arange(count) % 2 > 0)


def _interval(
    after: Reals, before: Reals, lowest: np.ufunc, highest: Callable[..., Places]
) -> tuple[Places, Places]:
    """Return the first and the last cell of the best interval (Kadane), each (Z, G)."""
    least = lowest.accumulate(before, axis=-1)
    stop = highest(after - least, axis=-1)
    at = least.ravel().take(_rows(stop.shape, least.shape[-1]) + stop)
    return (before == at[..., None]).argmax(axis=-1), stop


def _rows(shape: tuple[int, ...], cells: int) -> Places:
    """Return where each row of a table of so many cells begins."""
    return np.arange(0, math.prod(shape) * cells, cells).reshape(shape)


def _of_spans(below: Reals, start: Places, stop: Places, outside: Bools) -> Family:
    """Return who guesses 'member' from one cell up to and with another, or outside; (Z, G, E)."""
    rows, flat = _rows(below.shape[:-1], below.shape[-1])[..., None], below.ravel()
    hits = flat.take(rows + stop[:, :, None])
    inner = start[:, :, None, :_INTERVALS]
    before = flat.take(rows + np.maximum(inner - 1, 0))
    hits[..., :_INTERVALS] -= np.where(inner > 0, before, 0)
    np.subtract(below[..., -1:], hits, out=hits, where=outside)
    cells = np.arange(below.shape[-1])

    def values(e: Places, z: Places, g: Places) -> Floats:
        inside = (cells >= start[z, g, e][:, None]) & (cells <= stop[z, g, e][:, None])
        return np.asarray(inside != outside[e][:, None], dtype=np.float64)

    return Family(hits=hits, values=values)


def _signs(lessons: Lessons) -> Family:
    """Return the signs of the differences, and those that are clear: few cells, where few leak."""
    gains, error = lessons.gains, lessons.error(*lessons.shares)
    majority = lessons.prior > _HALF
    count = len(_STANDARD_ERRORS) + majority
    guess = np.empty((*gains.shape[:2], count, gains.shape[-1]), dtype=np.float32)
    doubt = np.empty_like(error)
    for index, scale in enumerate(_STANDARD_ERRORS):
        if majority:
            np.multiply(error, np.float32(-scale), out=doubt)
            np.greater_equal(gains, doubt, out=guess[:, :, index])
        else:
            np.multiply(error, np.float32(scale), out=doubt)
            np.greater(gains, doubt, out=guess[:, :, index])
    if majority:
        # Of cells where nothing was seen it says 'holdout', as below 1/2.
        np.greater(gains, 0, out=guess[:, :, -1])
    hits = _hits(lessons.counts, guess)
    return Family(hits=hits, values=_values(guess, lessons.counts.shape[-1], 1))


def _merged(lessons: Lessons) -> Iterator[Family]:
    """Yield the signs of the differences of runs of 2, 4, ... cells."""
    gains, counts, run = lessons.gains, lessons.counts, 1
    cells = counts.shape[-1]
    while lessons.whole // run >= 2 * _FEWEST_MERGED:
        gains, counts, run = _halved(gains), _halved(counts), 2 * run
        guess = (gains > 0).astype(np.float32)
        hits = np.einsum("zgck,zgk->zgc", counts, guess)[..., None]
        yield Family(hits=hits, values=_values(guess[:, :, None], cells, run))


def _smoothed(lessons: Lessons) -> Iterator[Family]:
    """Yield the signs of smoothed differences, and the posteriors that they are part of."""
    cells, counts, trained, run = lessons.counts.shape[-1], lessons.counts, lessons.trained, 1
    few = min(max(lessons.whole // 2, _FEWEST_MERGED), _SMOOTH_CELLS)
    while lessons.whole // run > few:
        counts, trained, run = _halved(counts), _halved(trained), 2 * run
    left = counts.shape[-1]
    near = _product(trained.reshape(1, -1, left), _kernel(few, left, trained.dtype)[None])
    near = near.reshape(*trained.shape[:3], -1)
    near *= np.array([1 - lessons.prior, lessons.prior], near.dtype)[:, None] / lessons.sizes
    holdout, members = near[:, :, HOLDOUT], near[:, :, MEMBER]
    gains = members - holdout
    members += holdout
    np.maximum(members, np.finfo(np.float32).tiny, out=members)
    shape = (*gains.shape[:2], len(_WINDOWS), left)
    guess = (gains > 0).astype(gains.dtype).reshape(shape)
    hits = _hits(counts, guess)
    yield Family(hits=hits, values=_values(guess, cells, run))
    gains *= _POSTERIOR_SLOPE * SURE
    gains /= members
    gains += _HALF * SURE
    np.minimum(np.maximum(gains, 0, out=gains), SURE, out=gains)
    unsure = np.rint(gains, out=gains).reshape(shape)
    yield Family(
        hits=_hits(counts, unsure) / SURE,
        unsure=_hits(counts, unsure * unsure) / SURE**2,
        values=_values(unsure, cells, run, SURE),
    )


@lru_cache(maxsize=16)
def _kernel(cells: int, left: int, kind: np.dtype[Any]) -> Reals:
    """Return triangular windows for sums over the cells that are left, (K', windows * K')."""
    apart = np.abs(np.arange(left)[:, None] - np.arange(left))
    halves = [max(1, round(share * cells)) for share in _WINDOWS]
    return np.concatenate([np.maximum(half + 1 - apart, 0) for half in halves], axis=1, dtype=kind)


def _linear(lessons: Lessons) -> Family:
    """Return clipped linear functions of the rank, and of its distance from the middle.

    And the opposite of each, whose hits are what the other leaves.
    """
    counts = lessons.counts
    if lessons.even:
        rising = _rising_evenly(counts.shape[-1], counts.dtype)
    else:
        holdout, members = (one[:, HALVES, None] for one in lessons.shares)
        mass = (holdout + members).astype(np.float64)
        rising = _rising(np.cumsum(mass, axis=-1) - mass / 2, counts.dtype)
    seen = counts.reshape(len(rising), -1, counts.shape[-1])
    found = _product(seen, np.concatenate([rising, rising * rising], axis=1).swapaxes(-1, -2))
    hits, squares = np.split(found.reshape(*counts.shape[:-1], -1), 2, axis=-1)
    rows = lessons.rows[..., None]
    other = SURE**2 * rows - 2 * SURE * hits + squares
    every, forms = np.broadcast_to(rising, (len(counts), *rising.shape[1:])), rising.shape[1]

    def values(e: Places, z: Places, _g: Places) -> Floats:
        found = every[z, e % forms] / np.float64(SURE)
        return np.asarray(np.where((e < forms)[:, None], found, 1 - found))

    return Family(
        hits=np.concatenate([hits, SURE * rows - hits], axis=-1) / SURE,
        unsure=np.concatenate([squares, other], axis=-1) / SURE**2,
        values=values,
    )


@lru_cache(maxsize=16)
def _rising_evenly(cells: int, kind: np.dtype[Any]) -> Reals:
    return _rising(((np.arange(cells) + _HALF) / cells)[None, None], kind)


def _rising(rank: Floats, kind: np.dtype[Any]) -> Reals:
    """Return the functions of these ranks that rise, in `SURE`ths; (Z, 1, K) to (Z, E, K)."""
    measures = np.concatenate([rank, 2 * np.abs(rank - _HALF)], axis=1)[:, :, None] - _HALF
    rising = SURE * np.array(_SLOPES)[:, None] * measures
    rising += SURE * _HALF
    np.minimum(np.maximum(rising, 0, out=rising), SURE, out=rising)
    return np.rint(rising, out=rising).reshape(len(rank), -1, rank.shape[-1]).astype(kind)


def _product(lines: Reals, tables: Reals) -> Reals:
    """Return products of lines of cells, (L, n, K), and tables, (L, K, N); n a multiple of 16.

    So few lines at once that BLAS starts no threads, which cost more than all the rest.
    """
    most = max(1, _UNTHREADED // tables[0].size)
    few = min(_LINES, 1 << (most.bit_length() - 1))
    rows = lines.reshape(len(lines), -1, few, lines.shape[-1])
    return np.asarray(np.matmul(rows, tables[:, None]).reshape(*lines.shape[:2], -1))


def _hits(counts: Reals, guess: Reals) -> Reals:
    """Return what guesses, (Z, G, E, K), find of each class, (Z, G, 2, E)."""
    return np.asarray(np.matmul(counts, guess.swapaxes(-1, -2)))


def _values(
    guess: Reals, cells: int, run: int, sure: int = 1
) -> Callable[[Places, Places, Places], Floats]:
    """Return how guesses in runs of so many cells are written down in all of them."""
    return lambda e, z, g: np.repeat(guess[z, g, e] / np.float64(sure), run, axis=-1)[:, :cells]


def _halved(counts: Reals) -> Reals:
    """Return the sums over pairs of neighbouring cells; the last may be alone."""
    if counts.shape[-1] % 2:
        counts = np.append(counts, np.zeros_like(counts[..., :1]), axis=-1)
    return np.asarray(counts[..., ::2] + counts[..., 1::2])


def _past(blocks: Reals) -> Reals:
    """Return the sum of all earlier blocks; either half of the burn-in has the other."""
    found = np.empty_like(blocks)
    found[:, 0] = blocks[:, 1]
    found[:, 1] = blocks[:, 0]
    for block in range(HALVES, blocks.shape[1]):
        np.add(found[:, block - 1], blocks[:, block - 1], out=found[:, block])
    return found
