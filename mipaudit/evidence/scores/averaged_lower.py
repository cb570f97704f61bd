"""The lower limit for any attacker: many assignments of the rows to blocks, averaged.

Attackers are fitted on the past and judged on the next block, so that the mean of each
assignment is at most the optimum (after Luedtke and van der Laan 2016). The answer must not
hang on one of them: it is the mean over all. Later blocks, whose attackers have seen more,
weigh more.

The mean is what each row adds to it: its variance is that of these shares, at least what one
attacker who was fixed beforehand and judged on all rows would have, and at most that of one
assignment. Of several scores of the same rows, where one attacker at a time is on whichever
score has gained most, the shares are not known, as nothing tells in which cells of two scores a
row is: the variance is that of one attacker drawn from all that were used, which is no less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.scores.assignments import (
    BLOCKS,
    HALVES,
    HOLDOUT,
    MEMBER,
    ROWS_AT_ONCE,
    TURNS,
    Assigned,
    Reals,
    assigned,
    assigned_among,
    assigned_blocks,
)
from mipaudit.evidence.scores.attacker_families import Floats, Lessons, Places, families
from mipaudit.maths.binomial import MeanRate, folded_lower

if TYPE_CHECKING:
    from mipaudit.summaries.ranked_rows import RankedRows

# Standard errors that the choice of an attacker takes off what it gained: for 1,000 rows,
# for ten times as many, and within what bounds.
_CAUTION: Final = (0.5, 1.5)
_CAUTION_WITHIN: Final = (0.5, 3.0)
_CONSTANTS: Final = 2
# Cells of audits that learn together: tables of a megabyte.
_CELLS_AT_ONCE: Final = 1 << 9
# Assignments that learn together, and cells of all of them: tables of one audit with many
# values would leave the cache.
_FEWEST_AT_ONCE: Final = 8
_MOST_AT_ONCE: Final = 1 << 13
_KEPT_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaged:
    """Rates of attackers fixed before the rows that they are judged on, over all assignments.

    Attributes:
        tpr: share of members guessed to be members.
        fpr: likewise of holdout records.
        prior: p in (0, 1).
        assignments: how many the rates are means of.
        n_members: that are judged in any of them.
        n_holdout: likewise.
    """

    tpr: MeanRate
    fpr: MeanRate
    prior: float
    assignments: int
    n_members: int
    n_holdout: int

    @property
    def method(self) -> str:
        """Name the method of the lower limit."""
        return f"prequential, {self.assignments} assignments averaged, folded score limit"

    @property
    def value(self) -> float:
        """Return the estimate, clipped at the baseline: biased downward."""
        p = self.prior
        value = 1 - 2 * p + 2 * (p * self.tpr.value - (1 - p) * self.fpr.value)
        return max(abs(2 * p - 1), value)

    @property
    def standard_error(self) -> float:
        """Return the standard error of the value; above 0 at rates of 0 and 1, too."""
        p = self.prior
        spread = (p * p * self.tpr.cautious, (1 - p) ** 2 * self.fpr.cautious)
        return min(1.0, 2 * math.sqrt(sum(spread)))

    def lower(self, alpha: float) -> float:
        """Return the lower limit at one-sided error alpha, at least the baseline."""
        return folded_lower(self.tpr, self.fpr, prior=self.prior, alpha=alpha)


def averaged(rows: RankedRows, prior: float) -> Averaged:
    """Return the mean held-out rates over all assignments.

    Args:
        rows: of both classes.
        prior: p in (0, 1).
    """
    return averaged_each([rows], prior)[0]


def averaged_blocks(blocks: NDArray[np.int64], burn_in: int, prior: float) -> Averaged:
    """Return the mean held-out rates over several orders of blocks of counted rows.

    Args:
        blocks: int64, shape (64, K, 2), by micro-block, cell and (holdout, member).
        burn_in: micro-blocks that only train.
        prior: p in (0, 1).
    """
    return _together([assigned_blocks(blocks, burn_in)], prior)[0]


def averaged_among(tables: Iterable[NDArray[np.int64]], burn_in: int, prior: float) -> Averaged:
    """Return the mean held-out rates of one attacker at a time, chosen among several scores.

    A lower limit of the advantage of all the scores seen together, and of the largest of their
    advantages, without a share of the error for the choice.

    Args:
        tables: as for `averaged_blocks`, one for each score of the *same rows*; K may differ.
        burn_in: micro-blocks that only train, in every order.
        prior: p in (0, 1).
    """
    scores = assigned_among(tables, burn_in)
    run = next(scores)
    found = _counted(run, prior)
    for one in scores:
        found += _counted(one, prior)[1:]  # the constant attackers are the same on any score
    found.sort(key=lambda one: one[0] is not one[1])
    sizes = run.counts.sum(axis=-1)
    best, squared, weights = _learnt(found, sizes, np.full(TURNS, _caution(run)), prior)
    hits = _of_chosen([one for one, _ in found], best)
    each = weights[..., None] / np.maximum(sizes[:, HALVES:], 1) / len(weights)
    share, rates, judged = _share(run, each), [], []
    for side, rows in ((MEMBER, run.member), (HOLDOUT, ~run.member)):
        part, times = share[rows], run.times[rows]
        value = min(float((each * hits)[..., side].sum()), 1.0)
        within = max(float((each * squared)[..., side].sum()) - value * value, 0.0)
        weight = float(part * part @ times)
        rates.append(MeanRate(value=value, variance=within * weight, squares=weight))
        judged.append(int(times @ (part > 0)))
    return Averaged(
        tpr=rates[0],
        fpr=rates[1],
        prior=prior,
        assignments=TURNS,
        n_members=judged[0],
        n_holdout=judged[1],
    )


def _counted(run: Assigned, prior: float) -> list[tuple[Reals, Reals]]:
    """Return the hits of each family, and their squares."""
    lessons = Lessons(counts=run.counts, prior=prior, even=run.even)
    return [(one.hits, one.squares) for one in families(lessons)]


def averaged_each(audits: Sequence[RankedRows], prior: float) -> list[Averaged]:
    """Return the mean held-out rates of many audits, each as if it were alone.

    Audits that have as many cells learn together: one call does for all.
    """
    # What glibc has freed once in one piece it keeps from then on, and does not return and
    # fetch again, page by page, the tables of every call. No page of this is touched.
    np.empty(_KEPT_BYTES, dtype=np.uint8)
    runs = [assigned(rows, prior) for rows in audits]
    alike: dict[tuple[int, bool], list[int]] = {}
    for index, run in enumerate(runs):
        alike.setdefault((run.counts.shape[-1], run.even), []).append(index)
    found: dict[int, Averaged] = {}
    for (cells, _), indices in alike.items():
        for together in _stacks(indices, cells):
            stacked = [runs[index] for index in together]
            means = _together(stacked, prior)
            found.update(zip(together, means, strict=True))
    return [found[index] for index in range(len(audits))]


def _stacks(indices: list[int], cells: int) -> Iterator[list[int]]:
    """Yield as many at once as stay in the processor's cache."""
    step = max(1, _CELLS_AT_ONCE // cells)
    for first in range(0, len(indices), step):
        yield indices[first : first + step]


def _together(runs: list[Assigned], prior: float) -> list[Averaged]:
    counts = np.concatenate([run.counts for run in runs])
    caution = np.repeat([_caution(run) for run in runs], [len(run.counts) for run in runs])
    step = max(_FEWEST_AT_ONCE, _MOST_AT_ONCE // counts.shape[-1])
    few = [slice(first, first + step) for first in range(0, len(counts), step)]
    learnt = [
        _chosen(Lessons(counts=counts[at], prior=prior, even=runs[0].even), caution[at])
        for at in few
    ]
    ends = np.cumsum([len(run.counts) for run in runs])[:-1]
    split = (np.split(np.concatenate(one), ends) for one in zip(*learnt, strict=True))
    return [_mean(run, *found, prior=prior) for run, *found in zip(runs, *split, strict=True)]


def _caution(run: Assigned) -> float:
    """Return how many standard errors the choice of an attacker takes off its gain."""
    n_holdout, n_members = run.sizes
    rows = 4 / (1 / max(n_holdout, 1) + 1 / max(n_members, 1))
    start, growth = _CAUTION
    low, high = _CAUTION_WITHIN
    return min(max(start + growth * math.log10(rows / 1000), low), high)


def _chosen(lessons: Lessons, caution: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the rows of each block, and what is guessed there.

    Returns:
        Rows by class, shape (Z, BLOCKS, 2); the chosen attacker's h in each cell, (Z, BLOCKS, K);
        sums of its squares over the rows, (Z, BLOCKS, 2); the block's weight, (Z, BLOCKS).
    """
    found, sizes = list(families(lessons)), lessons.rows.astype(np.float64)
    rates = [(family.hits, family.squares) for family in found]
    best, squared, weights = _learnt(rates, sizes, caution, lessons.prior)
    guesses = np.empty((len(best), BLOCKS, lessons.counts.shape[-1]))
    first = 0
    for family in found:
        count = family.hits.shape[-1]
        z, b = np.nonzero((best >= first) & (best < first + count))
        if z.size:
            guesses[z, b] = family.values(best[z, b] - first, z, b + HALVES)
        first += count
    return sizes[:, HALVES:], guesses, squared, weights


def _learnt(
    found: list[tuple[Reals, Reals]], sizes: Floats, caution: Floats, prior: float
) -> tuple[Places, Floats, Floats]:
    """Return the chosen attacker of each block, its squares, and the block's weight.

    Args:
        found: hits and squares of families, sets first; the first two attackers are constant.
        sizes: rows by block and class, shape (Z, HALVES + BLOCKS, 2).
        caution: standard errors that the choice takes off a gain, shape (Z,).
        prior: p in (0, 1).
    """
    precision = _precision(sizes, prior)
    squares = np.concatenate([one for _, one in found], axis=-1)
    best = _best(found, squares, precision, sizes, caution, prior)
    weights = precision[:, HALVES:] * ((np.arange(BLOCKS) + 0.5) / BLOCKS) ** 2
    total = weights.sum(axis=1, keepdims=True)
    weights /= np.where(total > 0, total, 1)
    return best, _of_chosen([squares], best), weights


def _of_chosen(sums: list[Reals], best: Places) -> Floats:
    """Return the sums of the chosen attackers, (Z, BLOCKS, 2)."""
    later = np.concatenate(sums, axis=-1)[:, HALVES:]
    return np.take_along_axis(later, best[:, :, None, None], axis=-1)[..., 0].astype(np.float64)


def _precision(sizes: Floats, prior: float) -> Floats:
    """Return the precision of each block, common to both classes; 0 where one is missing."""
    rows = np.maximum(sizes, 1)
    variance = prior**2 / rows[..., MEMBER] + (1 - prior) ** 2 / rows[..., HOLDOUT]
    return np.where((sizes > 0).all(axis=-1), 1 / variance, 0.0)


def _best(
    found: list[tuple[Reals, Reals]],
    squares: Reals,
    precision: Floats,
    sizes: Floats,
    caution: Floats,
    prior: float,
) -> Places:
    """Return which attacker had the best past before each block: gain less standard errors.

    A constant one is taken only where no other has gained more than it.
    """
    # Of the last block nothing is learnt.
    precision, rows = precision[:, :-1], np.maximum(sizes[:, :-1], 1)[..., None]
    weight = precision[..., None, None] / rows
    total = np.maximum(_running(precision.copy()), 1e-12)[..., None, None]

    def past(sums: Reals) -> Floats:
        running = _running(weight * sums[:, :-1])
        running /= total
        return running

    sets = sum(hits.shape[-1] for hits, squares in found if squares is hits)
    rates = past(np.concatenate([hits for hits, _ in found], axis=-1))
    spread = rates * rates
    np.subtract(rates[..., :sets], spread[..., :sets], out=spread[..., :sets])
    np.subtract(past(squares[..., sets:]), spread[..., sets:], out=spread[..., sets:])
    rows = _running(rows.copy())
    np.maximum(spread, 0, out=spread)
    spread += 0.5 / rows
    spread /= rows
    doubt = spread[:, :, HOLDOUT] * (1 - prior) ** 2 + spread[:, :, MEMBER] * prior**2
    gain = prior * rates[:, :, MEMBER] - (1 - prior) * rates[:, :, HOLDOUT]
    careful = gain - caution[:, None, None] * np.sqrt(doubt, out=doubt)
    picked = careful[..., _CONSTANTS:].argmax(axis=-1) + _CONSTANTS
    gained = np.take_along_axis(gain, picked[..., None], axis=-1)[..., 0]
    constant = gain[..., :_CONSTANTS]
    best = np.where(gained < constant.max(axis=-1), constant.argmax(axis=-1), picked)
    return np.asarray(best[:, HALVES - 1 :])


def _running(blocks: Floats) -> Floats:
    """Return the sums up to and with each block, in place: along the second axis."""
    for block in range(1, blocks.shape[1]):
        blocks[:, block] += blocks[:, block - 1]
    return blocks


def _mean(
    run: Assigned, sizes: Floats, guesses: Floats, squared: Floats, weights: Floats, *, prior: float
) -> Averaged:
    """Return the mean rates, from what each row adds to them."""
    each = weights[..., None] / np.maximum(sizes, 1) / len(weights)
    table = np.zeros(run.counts.shape)
    np.multiply(guesses[:, :, None], each[..., None], out=table[:, HALVES:])
    # Of many rows one assignment after the other, within the cache; the sum is the same.
    whole = run.place.size <= ROWS_AT_ONCE
    flat, added = table.ravel(), np.zeros(run.member.size)
    for place in run.place[None] if whole else run.place[:, None]:
        added += flat.take(place, mode="clip").sum(axis=0)
    counted = _share(run, each)
    squares = (each * squared).sum(axis=(0, 1))
    one = (weights[..., None] ** 2 / np.maximum(sizes, 1)).sum(axis=1).mean(axis=0)
    rates, judged = [], []
    for side, rows in ((MEMBER, run.member), (HOLDOUT, ~run.member)):
        at = np.flatnonzero(rows)
        share, part, times = added.take(at), counted.take(at), run.times.take(at)
        judged.append(int(times @ (part > 0)))
        value = min(float(share @ times), 1.0)
        left = share - part * value
        size = max(judged[-1], 1)
        seen = size / max(size - 1, 1) * float(left * left @ times)
        within = max(float(squares[side]) - value * value, 0.0)
        variance = min(max(seen, within / size), within * float(one[side]))
        weight = float(part * part @ times)
        rates.append(MeanRate(value=value, variance=variance, squares=weight))
    return Averaged(
        tpr=rates[0],
        fpr=rates[1],
        prior=prior,
        assignments=len(weights),
        n_members=judged[0],
        n_holdout=judged[1],
    )


def _share(run: Assigned, each: Floats) -> Floats:
    """Return what each row would add to the mean if it were always guessed, shape (n,).

    Args:
        run: the rows.
        each: what one row of a block and class adds, shape (S, BLOCKS, 2).
    """
    lines = np.zeros(run.counts.shape[:-1])
    lines[:, HALVES:] = each
    by_label = lines.ravel()[run.lines].sum(axis=1)
    looked_up = [one.take(label) for one, label in zip(by_label, run.labels, strict=True)]
    return np.asarray(np.sum(looked_up, axis=0))
