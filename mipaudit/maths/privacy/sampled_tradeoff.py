"""A trade-off curve known at some points only, such as an accountant's table.

Between two points the curve is taken to be as high as its concavity allows, so that data
refute it only if they refute every concave curve through the points. Standard library only.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.maths.privacy.tradeoff import TradeOff, exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Point = tuple[float, float]


_NOBODY: Final = (0.0, 1.0)
_EVERYBODY: Final = (1.0, 0.0)
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledTradeOff(TradeOff):
    """A concave, symmetric polygon that no attacker's ROC exceeds; see `sampled_tradeoff`.

    Attributes:
        fprs: of its corners, increasing from 0 to 1.
        fnrs: 1 - TPR at them, decreasing to 0.
    """

    fprs: tuple[float, ...]
    fnrs: tuple[float, ...]

    @property
    def loss(self) -> float:
        """The logarithm of the steepest side; infinite where TPR is above 0 at FPR 0."""
        if self.fnrs[0] < 1:
            return math.inf
        return max(0.0, math.log((self.fnrs[0] - self.fnrs[1]) / (self.fprs[1] - self.fprs[0])))

    def profile(self, epsilon: float) -> float:
        """Return delta(epsilon), reached at a corner."""
        ratio = exp(epsilon)
        corners = zip(self.fprs, self.fnrs, strict=True)
        return max(0.0, *((1 - fnr) - (ratio * fpr if fpr else 0.0) for fpr, fnr in corners))

    def tpr(self, fpr: float) -> float:
        """Return the most true positives at a false-positive rate."""
        return 1 - self.fnr(fpr)

    def fnr(self, fpr: float) -> float:
        """Return the least false negatives at a false-positive rate."""
        after = bisect_right(self.fprs, fpr)
        if after == len(self.fprs):
            return self.fnrs[-1]
        left, right = self.fprs[after - 1], self.fprs[after]
        share = (fpr - left) / (right - left)
        return self.fnrs[after - 1] * (1 - share) + self.fnrs[after] * share


def sampled_tradeoff(fprs: Sequence[float], tprs: Sequence[float]) -> SampledTradeOff:
    """Return the least polygon above every symmetric concave curve through the points.

    Points below the others' hull say nothing: a mixture of the others' attacks is above
    them. A claim about neighbours holds both ways round, so every point is mirrored too.

    Args:
        fprs: false-positive rates in [0, 1], at least one point in all.
        tprs: the most true positives at each, in [0, 1].
    """
    # TPR and FPR are mirrored into each other's complement.
    corners = [(float(x), 1 - float(y)) for x, y in zip(fprs, tprs, strict=True)]
    hull = _hull([*corners, *((y, x) for x, y in corners), _NOBODY, _EVERYBODY])
    outer = _corners(_hull(_extended(hull)))
    return SampledTradeOff(fprs=tuple(fpr for fpr, _ in outer), fnrs=tuple(fnr for _, fnr in outer))


def _hull(points: Iterable[Point]) -> list[Point]:
    """Return the points on the lower convex hull of (FPR, FNR), from left to right."""
    hull: list[Point] = []
    for point in sorted(set(points)):
        if hull and hull[-1][0] == point[0]:
            continue  # the lower one came first
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) < 0:
            hull.pop()
        hull.append(point)
    return hull


def _corners(hull: list[Point]) -> list[Point]:
    """Leave out the points within a side."""
    inner = [
        point
        for before, point, after in zip(hull, hull[1:], hull[2:], strict=False)
        if _turn(before, point, after) > 0
    ]
    return [hull[0], *inner, hull[-1]]


def _turn(first: Point, second: Point, third: Point) -> float:
    return (second[0] - first[0]) * (third[1] - first[1]) - (second[1] - first[1]) * (
        third[0] - first[0]
    )


def _extended(hull: list[Point]) -> list[Point]:
    """Return the hull, and where each pair of sides meets that has one side between them."""
    found = [_EVERYBODY, *hull]
    for at in range(len(hull) - 1):
        before = (hull[at - 1], hull[at]) if at else None
        after = (hull[at + 1], hull[at + 2]) if at + 2 < len(hull) else None
        if before and after:
            met = _meeting(before, after)
            found.append(met if hull[at][0] <= met[0] <= hull[at + 1][0] else hull[at])
        elif after:
            found.append((0.0, max(0.0, _snapped(_line(after, 0.0)))))
        elif before:
            # The mirror image of the line above, down to where nobody is missed.
            (x0, y0), (x1, y1) = before
            found.append((_snapped(x1 + y1 * (x1 - x0) / (y0 - y1)), 0.0) if y0 > y1 else hull[-1])
        else:
            found.append((0.0, 0.0))  # nothing was said
    return found


def _snapped(share: float) -> float:
    """Return 1 for what rounding left next to it: a TPR of 1e-17 would be an infinite loss."""
    return 1.0 if abs(share - 1) < _ROUNDING else share


def _line(side: tuple[Point, Point], x: float) -> float:
    (x0, y0), (x1, y1) = side
    return y0 + (y1 - y0) / (x1 - x0) * (x - x0)


def _meeting(before: tuple[Point, Point], after: tuple[Point, Point]) -> Point:
    (x0, y0), (x1, y1) = before
    (x2, y2), (x3, y3) = after
    steep, flat = (y1 - y0) / (x1 - x0), (y3 - y2) / (x3 - x2)
    if steep == flat:
        return x1, y1
    x = (y2 - y1 + steep * x1 - flat * x2) / (steep - flat)
    return x, max(0.0, y1 + steep * (x - x1))
