"""Trade-off curves known at some points only, such as an accountant's table or privacy profile.

Between two points the curve is taken to be as high as its concavity allows, so that data
refute it only if they refute every concave curve through the points. Standard library only.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mipaudit.maths.arrays import Floats
from mipaudit.maths.privacy.tradeoff import TradeOff, exp

Point = tuple[float, float]

_NOBODY: Final = (0.0, 1.0)
_EVERYBODY: Final = (1.0, 0.0)
_ROUNDING: Final = 1e-12
# Points of a substituted curve, and golden sections of the search for each: to 1e-8 of the
# range, so 1e-16 in delta.
_POINTS: Final = 8192
_SEARCHES: Final = 40
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
# Below this a delta counts as the curve's end: it is what accountants cut off.
_NOTHING: Final = 1e-14
_LARGEST_POWER: Final = 700.0


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Accounted(TradeOff):
    """A symmetric trade-off curve given by upper limits of delta at many epsilons.

    Everything read off it is an upper limit too: each point says TPR <= delta +
    e^epsilon FPR, and by symmetry FNR >= e^-epsilon (1 - delta - FPR). Between two points
    delta is a chord in e^epsilon, above the true curve, which is convex there.

    Attributes:
        epsilon: ascending, the first 0; shape (n,).
        delta: falling, in [0, 1]; shape (n,). The last holds from there to ``loss``.
        loss: the largest privacy loss; may be infinite.
        excess_of_grid: an estimate of how much of delta(0) is owed to rounding privacy
            losses up to a grid, in [0, 1]. 0 where there was no rounding.
    """

    epsilon: Floats
    delta: Floats
    loss: float
    excess_of_grid: float = 0.0

    def profile(self, epsilon: float) -> float:
        """Return an upper limit of delta(epsilon), for ``epsilon`` at least 0."""
        return float(self.profiles(np.array([epsilon], dtype=np.float64))[0])

    def profiles(self, epsilons: Floats) -> Floats:
        """Return upper limits of delta at many epsilons of any sign, vectorised.

        By symmetry delta(-e) = 1 - e^-e + e^-e delta(e).
        """
        size = np.abs(epsilons)
        forward = self._forward(size)
        mirrored = np.exp(-size) * forward - np.expm1(-size)
        return np.where(epsilons < 0, mirrored, forward)

    def tpr(self, fpr: float) -> float:
        """Return an upper limit of the true positives at a false-positive rate."""
        if fpr >= 1:
            return 1.0
        line, mirrored = self._best_line(fpr), self._best_mirrored(fpr)
        over = 1 - float(np.exp(-self.epsilon[mirrored]) * (1 - fpr - self.delta[mirrored]))
        return min(1.0, float(self.delta[line]) + self._rise(line, fpr), over)

    def fnr(self, fpr: float) -> float:
        """Return a lower limit of the false negatives at a false-positive rate."""
        if fpr >= 1:
            return 0.0
        line, mirrored = self._best_line(fpr), self._best_mirrored(fpr)
        under = float(np.exp(-self.epsilon[mirrored]) * (1 - fpr - self.delta[mirrored]))
        return max(0.0, 1 - float(self.delta[line]) - self._rise(line, fpr), under)

    def _forward(self, epsilons: Floats) -> Floats:
        """Return delta at epsilons of 0 or more."""
        # An endless loss is never reached: then the last delta holds for good.
        ended = epsilons >= (self.loss if math.isfinite(self.loss) else np.nan)
        if self.epsilon.size == 1:
            return np.where(ended, 0.0, self.delta[0])
        left = np.searchsorted(self.epsilon, epsilons, side="right") - 1
        left = np.minimum(left, self.epsilon.size - 2)
        start, gap = self.epsilon[left], self.epsilon[left + 1] - self.epsilon[left]
        along = np.minimum(epsilons - start, gap)
        # expm1(along) / expm1(gap), which would overflow in a long gap.
        share = np.exp(along - gap) * np.expm1(-along) / np.expm1(-gap)
        between = self.delta[left] + share * (self.delta[left + 1] - self.delta[left])
        return np.where(ended, 0.0, between)

    def _rise(self, point: int, fpr: float) -> float:
        """Return e^epsilon FPR at a point; infinite where it leaves the floats."""
        if fpr <= 0:
            return 0.0
        power = float(self.epsilon[point]) + math.log(fpr)
        return math.exp(power) if power < _LARGEST_POWER else math.inf

    def _best_line(self, fpr: float) -> int:
        """Return the point whose line is least at ``fpr``: convex in e^epsilon."""
        return self._lowest(lambda point: float(self.delta[point]) + self._rise(point, fpr))

    def _best_mirrored(self, fpr: float) -> int:
        """Return the point whose mirrored line is least at ``fpr``: convex in e^-epsilon."""
        rest = 1 - fpr
        return self._lowest(
            lambda point: -math.exp(-self.epsilon[point]) * (rest - float(self.delta[point]))
        )

    def _lowest(self, height: Callable[[int], float]) -> int:
        """Return the point with the least height, which falls and then rises.

        Any point gives a valid limit; a rounding can only cost a rounding.
        """
        points = range(self.epsilon.size - 1)
        return bisect_left(points, x=True, key=lambda at: height(at + 1) >= height(at))


def substituted(step: Accounted) -> Accounted:
    """Return the curve of a substitution made of a removal and an addition.

    The attacker's ROC is at most T(T(FPR)), T being that of one step (Dong, Roth and Su
    2022, Theorem 2.14). In profiles: for every real e1, delta(e1) + e^e1 delta(epsilon -
    e1) limits delta(epsilon) of two steps. That is convex in e^e1; the least value found
    is a valid limit however well the search went.

    Args:
        step: the curve for adding or removing one record.
    """
    if not step.delta[0] > 0:
        return step
    longest = _end(step)
    epsilons = 2 * longest * np.linspace(0, 1, _POINTS) ** 1.5
    deltas = np.minimum.accumulate(np.minimum(_least_split(step, epsilons, longest), 1))
    loss = 2 * step.loss
    if math.isfinite(loss):
        inside = epsilons < loss
        epsilons, deltas = np.append(epsilons[inside], loss), np.append(deltas[inside], 0.0)
    # Both steps' errors add up, the first one's through a slope of about 1.
    grid = min(1.0, 2 * step.excess_of_grid)
    return Accounted(epsilon=epsilons, delta=deltas, loss=loss, excess_of_grid=grid)


def _end(step: Accounted) -> float:
    """Return the epsilon from which delta is hardly above its last value."""
    if math.isfinite(step.loss):
        return float(step.loss)
    last = step.delta[-1]
    above = np.flatnonzero(step.delta > last * (1 + _NOTHING) + _NOTHING)
    end = above[-1] + 1 if above.size else 0
    # A curve that never falls has no end: any range will do.
    return float(step.epsilon[min(end, step.epsilon.size - 1)]) or 1.0


def _least_split(step: Accounted, epsilons: Floats, longest: float) -> Floats:
    """Return the least of delta(e1) + e^e1 delta(epsilon - e1) by golden sections."""

    def height(first: Floats) -> Floats:
        with np.errstate(divide="ignore", over="ignore"):
            rest = np.exp(first + np.log(step.profiles(epsilons - first)))
        return step.profiles(first) + rest

    low, high = np.full_like(epsilons, -longest), epsilons + longest
    # The plain halves are tried as well: exact where both steps reach a common end.
    best = np.minimum(height(epsilons / 2), height(np.minimum(epsilons, longest)))
    for _ in range(_SEARCHES):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = height(left), height(right)
        best = np.minimum(best, np.minimum(at_left, at_right))
        falls = at_right < at_left
        low, high = np.where(falls, left, low), np.where(falls, high, right)
    return best
