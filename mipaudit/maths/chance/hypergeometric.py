"""Exact tests of whether a cell holds more of one class than chance would have it.

Given how many rows a cell holds, the number of members among them is hypergeometric if
membership has nothing to do with the cell. That is the permutation test, in closed form:
it holds at every sample size, with ties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Floats = NDArray[np.float64]

_TERMS: Final = 64
# Logarithms of factorials of 10^9 are good to a few parts in 10^6: never to our favour.
_ROUNDING: Final = 1 + 1e-5


def independence_p(inside: Counts, cell: Counts, members: int, rows: int) -> Floats:
    """Return the two-sided p-value of each cell: twice the smaller tail, at most 1.

    The first 64 terms of a tail are added up; the rest is bounded from above by a
    geometric sum, since the ratios of the terms fall. So a small sample's p-value is
    exact, and a large one's never too small.

    Args:
        inside: members in each cell, any shape.
        cell: rows in each cell, of the same shape.
        members: members in all.
        rows: rows in all.
    """
    inside, cell = np.broadcast_arrays(np.asarray(inside, np.int64), np.asarray(cell, np.int64))
    above = _upper_tail(inside, cell, members, rows)
    # The holdout records of the cell: as many more as members are fewer.
    below = _upper_tail(cell - inside, cell, rows - members, rows)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(above, below)))


def _upper_tail(seen: Counts, cell: Counts, marked: int, rows: int) -> Floats:
    """Return an upper limit, nearly always the value, of the chance of so many or more."""
    from scipy.special import gammaln

    def log_choose(n: Floats, k: Floats) -> Floats:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    x, k = seen.astype(np.float64), cell.astype(np.float64)
    m, n = float(marked), float(rows)
    term = np.exp(
        log_choose(np.asarray(m), x)
        + log_choose(np.asarray(n - m), k - x)
        - log_choose(np.asarray(n), k)
    )
    total = np.zeros_like(x)
    for step in range(_TERMS):
        total += term
        at = x + step
        ratio = (m - at) * (k - at) / ((at + 1) * (n - m - k + at + 1))
        term = term * np.maximum(ratio, 0.0)
    at = x + _TERMS
    ratio = np.maximum((m - at) * (k - at) / ((at + 1) * (n - m - k + at + 1)), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(term > 0, np.where(ratio < 1, term / (1 - ratio), 1.0), 0.0)
    return np.asarray(np.minimum(1.0, (total + rest) * _ROUNDING))


def holm(p_values: Floats) -> Floats:
    """Return p-values adjusted for their number (Holm 1979), whatever their dependence.

    Args:
        p_values: in [0, 1], shape (m,).

    Returns:
        Shape (m,): rejecting what is at most alpha errs at all with probability alpha.
    """
    order = np.argsort(p_values, kind="stable")
    left = np.arange(p_values.size, 0, -1)
    adjusted = np.empty(p_values.size)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * left))
    return adjusted
