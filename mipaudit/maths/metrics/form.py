"""The linear form of a metric at one level, and the search for the level where it changes sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.maths.metrics.metric import Metric

_COARSE: Final = 33
_HALVINGS: Final = 30
_TINY_PRIOR: Final = 1e-9
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdinaryForm:
    """G_m = c0 + c1 T - c2 F with c1, c2 at least 0 and not both 0.

    Where ``swapped``, T and F stand for 1-T and 1-F: guesses the other way round.
    """

    c0: float
    c1: float
    c2: float
    swapped: bool

    @property
    def prior(self) -> float:
        """Return the prior at which G_m is an accuracy, kept off 0 and 1."""
        return min(max(self.c1 / (self.c1 + self.c2), _TINY_PRIOR), 1 - _TINY_PRIOR)

    def accuracy(self, gain: float) -> float:
        """Return the accuracy at which G_m has a value."""
        return min((gain - self.c0 + self.c2) / (self.c1 + self.c2), 1.0)


def ordinary_form(metric: Metric, level: float) -> OrdinaryForm | None:
    """Return G_m at a level; None where one rate is never worth raising.

    Then a constant guess is best, or one that only just keeps the floor.
    """
    c0, c1, c2 = (float(part) for part in metric.linear(level))
    c1 = _snapped(c1, metric.top[1], metric.bottom[1] * level)
    c2 = _snapped(c2, metric.top[2], metric.bottom[2] * level)
    if c1 < 0 and c2 < 0:
        return OrdinaryForm(c0=c0 + c1 - c2, c1=-c1, c2=-c2, swapped=True)
    if c1 >= 0 and c2 >= 0 and c1 + c2 > 0:
        return OrdinaryForm(c0=c0, c1=c1, c2=c2, swapped=False)
    return None


def _snapped(difference: float, first: float, second: float) -> float:
    """Return the difference of two numbers, 0 where it is only what rounding left of them."""
    return difference if abs(difference) > _ROUNDING * (abs(first) + abs(second)) else 0.0


def largest_level(possible: Callable[[float], bool], lowest: float, highest: float) -> float:
    """Return the largest level that is possible, from above; the lowest where none is."""
    step = (highest - lowest) / _COARSE
    for index in range(_COARSE):
        level = highest - index * step
        if possible(level):
            if index == 0:
                return highest
            return bisect_level(possible, level, level + step)[1]
    return bisect_level(possible, lowest, lowest + step)[1] if step > 0 else lowest


def bisect_level(
    holds: Callable[[float], bool], inside: float, outside: float
) -> tuple[float, float]:
    """Return the ends of a short range in which ``holds`` changes from true to false."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside, outside
