"""The ranges of options."""

from __future__ import annotations

from math import isfinite
from typing import Final

from mipaudit.options.declare import Range

FINITE: Final = Range(isfinite, "finite")
NOT_NEGATIVE: Final = Range(lambda x: x >= 0 and isfinite(x), "at least 0 and finite")
PROBABILITY: Final = Range(lambda p: 0 < p < 1, "above 0 and below 1")
SHARE: Final = Range(lambda p: 0 <= p <= 1, "from 0 to 1")
ABOVE_NOTHING: Final = Range(lambda p: 0 < p <= 1, "above 0 and at most 1")
BELOW_ONE: Final = Range(lambda p: 0 <= p < 1, "at least 0 and below 1")
# Below it, limits would be wrong more often than right.
_LEAST_CONFIDENCE: Final = 0.5
CONFIDENCE: Final = Range(lambda c: _LEAST_CONFIDENCE <= c < 1, "at least 0.5 and below 1")


def swapped(point: tuple[float, float]) -> str | None:
    """Return how to write two rates of which the smaller came first."""
    tpr, fpr = point
    if not 0 < tpr < fpr < 1:
        return None
    return (
        f"If the two are swapped, write {fpr:.15g}@{tpr:.15g}: at most {100 * fpr:.15g}% of "
        f"members at a false-positive rate of {100 * tpr:.15g}%."
    )


# Random guessing reaches TPR = FPR.
OPERATING_POINT: Final = Range(
    lambda point: 0 < point[1] < point[0] < 1,
    "a true-positive rate above the false-positive rate, both above 0 and below 1",
    meant=swapped,
)


def above(least: float) -> Range:
    """Return the finite numbers above one."""
    return Range(lambda x: least < x and isfinite(x), f"above {least:g} and finite")


def at_least(least: float) -> Range:
    """Return the numbers from one on, without infinity."""
    return Range(lambda x: least <= x and isfinite(x), f"at least {least:g}")


def between(least: int, most: int) -> Range:
    """Return the numbers from one to another, both among them."""
    return Range(lambda x: least <= x <= most, f"from {least} to {most:,}")
