"""Lists of discoveries with a bounded share of false ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def discoveries(p_values: NDArray[np.float64], rate: float) -> NDArray[np.bool_]:
    """Return which hypotheses are rejected (Benjamini and Hochberg 1995).

    Args:
        p_values: in [0, 1], shape (m,).
        rate: false-discovery rate, in (0, 1).

    Returns:
        bool, shape (m,): the R smallest, R being the largest number for which the R-th
        smallest is at most R rate / m.
    """
    if not p_values.size:
        return np.zeros(0, dtype=np.bool_)
    ordered = np.sort(p_values)
    steps = rate * np.arange(1, p_values.size + 1) / p_values.size
    (kept,) = np.nonzero(ordered <= steps)
    if not kept.size:
        return np.zeros(p_values.size, dtype=np.bool_)
    return np.asarray(p_values <= ordered[kept[-1]])


def error_for_selected(alpha: float, selected: int, tested: int) -> float:
    """Return the error at which to make the interval of each selected parameter.

    So many of the intervals as alpha says miss, in expectation, among those that are made
    (Benjamini and Yekutieli 2005: the false-coverage rate).

    Args:
        alpha: false-coverage rate, in (0, 1).
        selected: parameters selected, at most ``tested``.
        tested: parameters in all, above 0.
    """
    return alpha * max(1, selected) / max(1, tested)
