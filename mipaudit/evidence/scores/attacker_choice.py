"""Who guesses in each block: the attacker that had gained most before, less standard errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from mipaudit.evidence.scores.assignments import BLOCKS, HALVES, HOLDOUT, MEMBER, Reals
from mipaudit.evidence.scores.attacker_families import Family, Lessons, families
from mipaudit.maths.arrays import Floats, Places

# Standard errors that the choice of an attacker takes off what it gained: for 1,000 rows,
# for ten times as many, and within what bounds.
_CAUTION: Final = (0.5, 1.5)
_CAUTION_WITHIN: Final = (0.5, 3.0)
CONSTANTS: Final = 2

# Gives who is best by rates and their variances, (Z, B, 2, E): a place of each, (Z, B).
Pick = Callable[[Floats, Floats], Places]
# The hits of a family, and its sums of h squared, which are None for sets.
Sums = tuple[Reals, Reals | None]


def caution_of(n_holdout: int, n_members: int) -> float:
    """Return how many standard errors the choice of an attacker takes off its gain."""
    rows = 4 / (1 / max(n_holdout, 1) + 1 / max(n_members, 1))
    start, growth = _CAUTION
    low, high = _CAUTION_WITHIN
    return min(max(start + growth * math.log10(rows / 1000), low), high)


def chosen(lessons: Lessons, caution: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the rows of each block, and what is guessed there.

    Returns:
        Rows by class, shape (Z, BLOCKS, 2); the chosen attacker's h in each cell, (Z, BLOCKS, K);
        sums of its squares over the rows, (Z, BLOCKS, 2); the block's weight, (Z, BLOCKS).
    """
    return followed(list(families(lessons)), lessons, by_gain(caution, lessons.prior))


def followed(
    found: list[Family], lessons: Lessons, pick: Pick
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return what those who are picked guess, as `chosen` does.

    Args:
        found: families, sets first.
        lessons: that they learned from.
        pick: who is best by the past.
    """
    sizes = lessons.rows.astype(np.float64)
    rates = [(family.hits, family.unsure) for family in found]
    best, squared, weights = learnt(rates, sizes, lessons.prior, pick)
    guesses = np.empty((len(best), BLOCKS, lessons.counts.shape[-1]))
    first = 0
    for family in found:
        first += write_guesses(family, best, first, guesses)
    return sizes[:, HALVES:], guesses, squared, weights


def write_guesses(family: Family, best: Places, first: int, guesses: Floats) -> int:
    """Write down the guesses of who is chosen of a family, and return how many it has."""
    count = int(family.hits.shape[-1])
    z, b = np.nonzero((best >= first) & (best < first + count))
    if z.size:
        guesses[z, b] = family.values(best[z, b] - first, z, b + HALVES)
    return count


def learnt(
    found: list[Sums], sizes: Floats, prior: float, pick: Pick
) -> tuple[Places, Floats, Floats]:
    """Return the chosen attacker of each block, its squares, and the block's weight.

    Args:
        found: of families, sets first.
        sizes: rows by block and class, shape (Z, HALVES + BLOCKS, 2).
        prior: p in (0, 1).
        pick: who is best by the past.
    """
    precision = _precision(sizes, prior)
    squares = np.concatenate(
        [hits if unsure is None else unsure for hits, unsure in found], axis=-1
    )
    best = pick(*_shown(found, squares, precision, sizes))[:, HALVES - 1 :]
    weights = precision[:, HALVES:] * ((np.arange(BLOCKS) + 0.5) / BLOCKS) ** 2
    total = weights.sum(axis=1, keepdims=True)
    weights /= np.where(total > 0, total, 1)
    return best, sums_of([squares], best), weights


def sums_of(sums: list[Reals], best: Places) -> Floats:
    """Return the sums of the chosen attackers, (Z, BLOCKS, 2)."""
    later = np.concatenate(sums, axis=-1)[:, HALVES:]
    return np.take_along_axis(later, best[:, :, None, None], axis=-1)[..., 0].astype(np.float64)


def _precision(sizes: Floats, prior: float) -> Floats:
    """Return the precision of each block, common to both classes; 0 where one is missing."""
    rows = np.maximum(sizes, 1)
    variance = prior**2 / rows[..., MEMBER] + (1 - prior) ** 2 / rows[..., HOLDOUT]
    return np.where((sizes > 0).all(axis=-1), 1 / variance, 0.0)


def by_gain(caution: Floats, prior: float) -> Pick:
    """Return who picks the largest gain, less standard errors.

    A constant attacker, of the first two, is taken only where no other has gained more than it.

    Args:
        caution: standard errors that the choice takes off a gain, shape (Z,).
        prior: p in (0, 1).
    """

    def pick(rates: Floats, spread: Floats) -> Places:
        doubt = spread[:, :, HOLDOUT] * (1 - prior) ** 2 + spread[:, :, MEMBER] * prior**2
        gain = prior * rates[:, :, MEMBER] - (1 - prior) * rates[:, :, HOLDOUT]
        careful = gain - caution[:, None, None] * np.sqrt(doubt, out=doubt)
        picked = careful[..., CONSTANTS:].argmax(axis=-1) + CONSTANTS
        gained = np.take_along_axis(gain, picked[..., None], axis=-1)[..., 0]
        constant = gain[..., :CONSTANTS]
        best = np.where(gained < constant.max(axis=-1), constant.argmax(axis=-1), picked)
        return np.asarray(best)

    return pick


def _shown(
    found: list[Sums], squares: Reals, precision: Floats, sizes: Floats
) -> tuple[Floats, Floats]:
    """Return what all attackers had shown up to each block but the last, and its variance."""
    # Of the last block nothing is learnt.
    precision, rows = precision[:, :-1], np.maximum(sizes[:, :-1], 1)[..., None]
    weight = precision[..., None, None] / rows
    total = np.maximum(_running(precision.copy()), 1e-12)[..., None, None]

    def past(sums: Reals) -> Floats:
        running = _running(weight * sums[:, :-1])
        running /= total
        return running

    sets = sum(hits.shape[-1] for hits, unsure in found if unsure is None)
    rates = past(np.concatenate([hits for hits, _ in found], axis=-1))
    spread = rates * rates
    np.subtract(rates[..., :sets], spread[..., :sets], out=spread[..., :sets])
    np.subtract(past(squares[..., sets:]), spread[..., sets:], out=spread[..., sets:])
    rows = _running(rows.copy())
    np.maximum(spread, 0, out=spread)
    spread += 0.5 / rows
    spread /= rows
    return rates, spread


def _running(blocks: Floats) -> Floats:
    """Return the sums up to and with each block, in place: along the second axis."""
    for block in range(1, blocks.shape[1]):
        blocks[:, block] += blocks[:, block - 1]
    return blocks
