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
    guesses = [
        np.full_like(differences, majority, dtype=bool),
        np.full_like(differences, not majority, dtype=bool),
        *_thresholds(differences),
        _interval(differences),
        ~_interval(-differences),
        *(_merged(differences, mass, count) for count in _MERGED if count < mass.size),
        differences > 0,
        *(_confident(differences, errors, scale, majority=majority) for scale in _STANDARD_ERRORS),
    ]
    return np.stack(guesses, axis=1)


def _thresholds(differences: Differences) -> tuple[Sets, Sets]:
    """Return the best prefix and the best suffix of cells."""
    below = np.cumsum(differences, axis=1)
    cells = np.arange(differences.shape[1])
    prefix = cells <= below.argmax(axis=1)[:, None]
    suffix = cells > below.argmin(axis=1)[:, None]
    return prefix, suffix


def _interval(differences: Differences) -> Sets:
    """Return the best single interval of cells (Kadane)."""
    after = np.cumsum(differences, axis=1)
    before = after - differences
    least = np.minimum.accumulate(before, axis=1)
    stop = (after - least).argmax(axis=1)
    cells = np.arange(differences.shape[1])
    reached = cells <= stop[:, None]
    start = np.where(reached, before, np.inf).argmin(axis=1)
    return np.asarray(reached & (cells >= start[:, None]))


def equal_mass_starts(mass: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the first cell of each of at most ``count`` runs of about equal mass.

    Args:
        mass: share of each cell, total 1, shape (K,).
        count: runs wanted, at least 1.
    """
    run = np.minimum((np.cumsum(mass) - mass / 2) * count, count - 1).astype(np.intp)
    return np.flatnonzero(np.diff(run, prepend=-1))


def _merged(differences: Differences, mass: NDArray[np.float64], count: int) -> Sets:
    """Return the sign of the likelihood ratio on ``count`` runs of about equal mass."""
    starts = equal_mass_starts(mass, count)
    totals = np.add.reduceat(differences, starts, axis=1)
    return np.asarray(np.repeat(totals > 0, np.diff(starts, append=mass.size), axis=1))


def _confident(
    differences: Differences, errors: Differences, scale: float, *, majority: bool
) -> Sets:
    """Return the sign where it is clear, the majority guess elsewhere."""
    clear = np.abs(differences) > scale * errors
    return np.where(clear, differences > 0, majority)
