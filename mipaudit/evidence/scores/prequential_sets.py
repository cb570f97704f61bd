"""The lower limit of the advantage for any attacker: learn on the past, score the next.

Attackers are fitted on the burn-in and on all earlier blocks, and the one that has
done best so far is scored on the next block. Whatever they learn, each block's
mean is the advantage of a set fixed beforehand, hence at most the optimum
(after Luedtke and van der Laan 2016). Both classes are averaged over the same
sets with the same weights: without that the limit is not valid.

Every attacker takes the differences d = p P - (1-p) Q of several training sets at once and
returns one set of cells per training set. Any of them may be poor; the lower limit stays valid
because a set is judged only on rows it has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

Differences = NDArray[np.float64]
Sets = NDArray[np.bool_]

_MERGED: Final = (4, 8, 16, 32, 64, 128, 256)
_STANDARD_ERRORS: Final = (0.5, 1.0, 2.0)
# Half-widths of the windows of the smoothed attackers, as shares of the burn-in.
_WINDOWS: Final = (0.01, 0.03, 0.1)
EVALUATION_BLOCKS: Final = 15
_MEMBER, _HOLDOUT = 1, 0


def attacker_sets(
    differences: Differences, errors: Differences, mass: NDArray[np.float64], prior: float
) -> Sets:
    """Return the cells that each attacker guesses to be members.

    Args:
        differences: p P_j - (1-p) Q_j by training set and cell, shape (B, K).
        errors: their standard errors, shape (B, K).
        mass: share of the burn-in in each cell, shape (K,), for merging neighbours.
        prior: p in (0, 1): the majority guess where an attacker abstains.

    Returns:
        bool, shape (B, E, K). The first two attackers are constant.
    """
    majority = prior > 0.5  # noqa: PLR2004 - the even prior
    counts = [count for count in _MERGED if count < mass.size]
    merged = 6 + len(counts)
    batch, cells = differences.shape
    plain = merged + 1 + len(_STANDARD_ERRORS)
    sets = np.empty((batch, plain + len(_WINDOWS), cells), dtype=bool)
    sets[:, 0], sets[:, 1] = majority, not majority
    _prefixes_and_intervals(differences, sets[:, 2:6])
    if counts:
        sets[:, 6:merged] = _merged(differences, mass, counts)
    np.greater(differences, 0, out=sets[:, merged])
    for index, scale in enumerate(_STANDARD_ERRORS, merged + 1):
        # The sign where it is clear, the majority guess elsewhere.
        if majority:
            np.greater_equal(differences, -scale * errors, out=sets[:, index])
        else:
            np.greater(differences, scale * errors, out=sets[:, index])
    _smoothed(differences, mass, sets[:, plain:])
    return sets


def _smoothed(differences: Differences, mass: NDArray[np.float64], sets: Sets) -> None:
    """Set the signs of the differences smoothed with each window, (B, windows, K).

    The abscissa is the burn-in's cumulative mass, so an increasing map of the score
    changes nothing. Moving sums, taken twice: a triangular kernel, at a cost that does
    not depend on its width.
    """
    middle = np.cumsum(mass) - mass / 2
    totals = np.zeros((differences.shape[0], mass.size + 1))
    inner = totals[:, 1:]
    first = np.cumsum(differences, axis=1)
    for index, half in enumerate(_WINDOWS):
        # A cell that holds a whole window by itself is not smoothed.
        start = np.searchsorted(middle, middle - half, side="left")
        end = np.searchsorted(middle, middle + half, side="right")
        inner[:] = first
        np.cumsum(totals.take(end, axis=1) - totals.take(start, axis=1), axis=1, out=inner)
        np.greater(totals.take(end, axis=1), totals.take(start, axis=1), out=sets[:, index])


def _prefixes_and_intervals(differences: Differences, sets: Sets) -> None:
    """Set the best prefix, suffix, interval and complement of an interval, (B, 4, K)."""
    after = np.cumsum(differences, axis=1)
    before = after - differences
    cells = np.arange(differences.shape[1], dtype=np.int32)
    np.less_equal(cells, _column(after.argmax(axis=1)), out=sets[:, 0])
    np.greater(cells, _column(after.argmin(axis=1)), out=sets[:, 1])
    _interval(after, before, cells, sets[:, 2])
    np.negative(after, out=after)
    np.negative(before, out=before)
    _interval(after, before, cells, sets[:, 3])
    np.logical_not(sets[:, 3], out=sets[:, 3])


def _interval(
    after: Differences, before: Differences, cells: NDArray[np.int32], chosen: Sets
) -> None:
    """Set the best single interval of cells, from the running totals (Kadane)."""
    least = np.fmin.accumulate(before, axis=1)
    stop = (after - least).argmax(axis=1)
    lowest = least[np.arange(stop.size), stop]
    start = (before == lowest[:, None]).argmax(axis=1)
    np.less_equal(cells, _column(stop), out=chosen)
    chosen &= cells >= _column(start)


def _column(cells: NDArray[np.intp]) -> NDArray[np.int32]:
    """Return cell numbers, one per training set, for comparing all cells with them."""
    return cells.astype(np.int32)[:, None]


def equal_mass_starts(mass: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the first cell of each of at most ``count`` runs of about equal mass.

    Args:
        mass: share of each cell, total 1, shape (K,).
        count: runs wanted, at least 1.
    """
    return _starts(mass, [count])[0]


def _starts(mass: NDArray[np.float64], counts: list[int]) -> list[NDArray[np.intp]]:
    """Return `equal_mass_starts` for each count."""
    wanted = np.array(counts)[:, None]
    run = np.minimum((np.cumsum(mass) - mass / 2) * wanted, wanted - 1).astype(np.intp)
    new = np.ones(run.shape, dtype=bool)
    np.not_equal(run[:, 1:], run[:, :-1], out=new[:, 1:])
    return [np.flatnonzero(one) for one in new]


def _merged(differences: Differences, mass: NDArray[np.float64], counts: list[int]) -> Sets:
    """Return the signs of the likelihood ratio on runs of about equal mass, (B, counts, K).

    All runs are summed in one call. Each count ends at a zero behind the data, or its
    last run would be one cell.
    """
    batch, cells = differences.shape
    padded = np.zeros((batch, cells + 1))
    padded[:, :cells] = differences
    starts = np.concatenate([part for one in _starts(mass, counts) for part in (one, [cells])])
    lengths = np.maximum(np.diff(starts, append=0), 0)
    positive = np.add.reduceat(padded, starts, axis=1) > 0
    return np.repeat(positive, lengths, axis=1).reshape(batch, len(counts), cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Weighted means over the blocks of sets that were fixed before them.

    Attributes:
        tpr: share of members guessed to be members, in [0, 1].
        fpr: share of holdout records guessed to be members, in [0, 1].
        n_members: effective number of members behind it, at least 0.
        n_holdout: effective number of holdout records.
        prior: p in (0, 1).
    """

    tpr: float
    fpr: float
    n_members: float
    n_holdout: float
    prior: float


def evaluation_blocks(blocks: NDArray[np.int64], burn_in: int) -> NDArray[np.int64]:
    """Return the counts of the 15 evaluation blocks, shape (15, K, 2)."""
    late = np.arange(burn_in, blocks.shape[0])
    group = (late - burn_in) * EVALUATION_BLOCKS // late.size
    ends = np.searchsorted(group, np.arange(EVALUATION_BLOCKS + 1)) + burn_in
    sums = _tables(EVALUATION_BLOCKS, blocks.shape[1])
    # Sums of whole slices: several times faster than one reduceat along the first axis.
    for index, (first, end) in enumerate(pairwise(ends.tolist())):
        np.add.reduce(blocks[first:end], axis=0, out=sums[index])
    return sums


def burn_in_halves(blocks: NDArray[np.int64], burn_in: int) -> NDArray[np.int64]:
    """Return the counts of the even and the odd burn-in micro-blocks, shape (2, K, 2)."""
    sums = _tables(2, blocks.shape[1])
    for first in (0, 1):
        np.add.reduce(blocks[first:burn_in:2], axis=0, out=sums[first])
    return sums


def _tables(count: int, cells: int) -> NDArray[np.int64]:
    """Return an array to fill, of shape (count, K, 2), each class contiguous in memory."""
    return np.empty((count, 2, cells), dtype=np.int64).transpose(0, 2, 1)


def fit(trained: NDArray[np.int64], mass: NDArray[np.float64], prior: float) -> NDArray[np.bool_]:
    """Return the attackers' sets for each training table.

    Args:
        trained: int64, shape (B, K, 2).
        mass: share of the burn-in per cell, shape (K,).
        prior: p in (0, 1).

    Returns:
        bool, shape (B, E, K).
    """
    # In place throughout: new arrays of this size cost more than the arithmetic.
    differences, variance = _share(trained[..., _MEMBER], prior)
    holdout, holdout_variance = _share(trained[..., _HOLDOUT], 1 - prior)
    differences *= prior
    holdout *= 1 - prior
    differences -= holdout
    variance += holdout_variance
    return attacker_sets(differences, np.sqrt(variance, out=variance), mass, prior)


def _share(
    counts: NDArray[np.int64], weight: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares of one class, shape (B, K), and the variances of weight * share."""
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1).astype(np.float64)
    share = counts / totals
    variance = share * (weight * weight)
    variance *= 1 - share
    variance /= totals
    return share, variance


def pool(
    hits: NDArray[np.float64],
    sizes: NDArray[np.int64],
    prior: float,
    weight: NDArray[np.float64],
) -> HeldOut:
    """Average both classes over the blocks with the same weights.

    Args:
        hits: rows guessed 'member' by block and (holdout, member), shape (B, 2).
        sizes: rows by block and class, all above 0, shape (B, 2).
        prior: p in (0, 1).
        weight: of each block, shape (B,).
    """
    if not sizes.size:
        return HeldOut(tpr=0.0, fpr=0.0, n_members=0.0, n_holdout=0.0, prior=prior)
    weight = (weight / weight.sum())[:, None]
    rates = np.minimum((weight * hits / sizes).sum(axis=0), 1.0)
    effective = 1 / (weight**2 / sizes).sum(axis=0)
    return HeldOut(
        tpr=float(rates[_MEMBER]),
        fpr=float(rates[_HOLDOUT]),
        n_members=float(effective[_MEMBER]),
        n_holdout=float(effective[_HOLDOUT]),
        prior=prior,
    )
