"""The attackers that learn on past blocks: which cells each would call 'member'.

Every function takes the differences d = p P - (1-p) Q of several training sets at
once and returns one set of cells per training set. Any of them may be poor; the
lower limit stays valid because a set is judged only on rows it has not seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Differences = NDArray[np.float64]
    Sets = NDArray[np.bool_]

_MERGED: Final = (4, 8, 16, 32, 64, 128, 256)
_STANDARD_ERRORS: Final = (0.5, 1.0, 2.0)
# Half-widths of the windows of the smoothed attackers, as shares of the burn-in.
_WINDOWS: Final = (0.01, 0.03, 0.1)


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
    # fmin: there is no NaN, and not looking for one is faster.
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
