"""The best attacker of a class, where what it gains is a sum over cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, assert_never

import numpy as np

from mipaudit.maths.class_limits.interval_attackers import best_union

if TYPE_CHECKING:
    from numpy.typing import NDArray

RivalClass = Literal["any", "thresholds", "intervals-1", "intervals-4"]

_FEW_CELLS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListedRivals:
    """Every attacker of a class, by the rows that it takes.

    Attributes:
        taken: shape (2, 2, n): mass by class, by the challenger's guess and by attacker.
        part: shape (2, 2, n): the cell of which the attacker may take a part more; None
            where no cell holds several values.
    """

    taken: NDArray[np.float64]
    part: NDArray[np.float64] | None


def listed_rivals(
    rates: NDArray[np.float64], single: NDArray[np.bool_], rivals: RivalClass
) -> ListedRivals | None:
    """Return all attackers of the class, or None where they are too many.

    Args:
        rates: mass by class, by the challenger's guess and by cell, shape (2, 2, K).
        single: bool, shape (K,).
        rivals: the class.
    """
    cells = rates.shape[2]
    if rivals == "any" and cells <= _FEW_CELLS and single.all():
        sets = (np.arange(1 << cells)[:, None] >> np.arange(cells)) & 1
        return ListedRivals(taken=rates @ sets.T.astype(np.float64), part=None)
    if rivals != "thresholds":
        return None
    upward = np.concatenate([np.zeros((2, 2, 1)), np.cumsum(rates, axis=2)], axis=2)
    downward = upward[:, :, -1:] - upward
    taken = np.concatenate([upward, downward], axis=2)
    if single.all():
        return ListedRivals(taken=taken, part=None)
    # After cells 0..i-1 comes a part of cell i; before cells i..K-1, a part of cell i-1.
    several = np.where(single, 0.0, rates)
    nothing = np.zeros((2, 2, 1))
    part = np.concatenate([several, nothing, nothing, several], axis=2)
    return ListedRivals(taken=taken, part=part)


def best_rival(
    gains: NDArray[np.float64], single: NDArray[np.bool_], rivals: RivalClass
) -> tuple[float, NDArray[np.float64]]:
    """Return the supremum of what an attacker of the class gains, and about who it is.

    Where a cell holds several values, an attacker may take a part of it: at most what
    the groups of its rows that gain would add up to, which brackets the supremum.

    Args:
        gains: what guessing 'member' adds, by group of rows and cell, shape (g, K).
        single: bool, shape (K,), cells that hold one value.
        rivals: the class; ``any`` takes each value for itself.

    Returns:
        The supremum, at least 0 (never 'member'), and the share of each cell that the
        best attacker takes, shape (K,); for unions of intervals that of thresholds.
    """
    whole = gains.sum(axis=0)
    inside = np.where(single, np.maximum(whole, 0.0), np.maximum(gains, 0.0).sum(axis=0))
    match rivals:
        case "any":
            return float(inside.sum()), np.asarray(whole > 0, dtype=np.float64)
        case "thresholds":
            return _threshold(whole, inside)
        case "intervals-1" | "intervals-4":
            count = int(rivals[-1])
            outside = np.where(single, np.maximum(-whole, 0.0), np.maximum(-gains, 0.0).sum(axis=0))
            most = best_union(whole, inside, count)
            most = max(most, float(whole.sum()) + best_union(-whole, outside, count))
            return most, _threshold(whole, inside)[1]
        case _:
            assert_never(rivals)


def _threshold(
    whole: NDArray[np.float64], inside: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the best prefix or suffix of the cells, a part of one cell included."""
    below = np.concatenate([[0.0], np.cumsum(whole)])
    above = below[-1] - below
    upward, downward = below[:-1] + inside, above[1:] + inside
    cells = np.arange(whole.size)
    rows = (
        (float(upward.max()), _up_to(cells, int(upward.argmax()), whole)),
        (float(downward.max()), _up_to(-cells, -int(downward.argmax()), whole)),
        (float(below[-1]), cells >= 0),
        (0.0, cells < 0),
    )
    most, taken = max(rows, key=lambda row: row[0])
    return most, taken.astype(np.float64)


def _up_to(cells: NDArray[np.intp], last: int, whole: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell the cells before one, and that one if it gains as a whole."""
    return np.asarray((cells < last) | ((cells == last) & (whole > 0)))
