"""The limit ``T@F``: a true-positive rate at a false-positive rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def operating_point(given: str | Sequence[float]) -> tuple[float, float]:
    """Return (TPR, FPR) from ``"0.02@0.001"``, or from a pair of numbers.

    Raises:
        ValueError: it is neither.
    """
    parts = given.split("@") if isinstance(given, str) else given
    try:
        tpr, fpr = (float(part) for part in parts)
    except (TypeError, ValueError):
        raise ValueError(
            "takes a true-positive rate and a false-positive rate, with @ between where typed",
            "For example 0.02@0.001: at most 2% of members at a false-positive rate of 0.1%.",
        ) from None
    return tpr, fpr
