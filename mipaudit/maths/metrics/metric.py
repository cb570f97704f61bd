"""Metrics of an attacker's guesses: ratios of two linear functions of his rates.

M = (a0 + a11 TP + a10 FP + a01 FN + a00 TN) / (b0 + b11 TP + b10 FP + b01 FN + b00 TN) with
TP = p T, FN = p (1-T), FP = (1-p) F and TN = (1-p)(1-F): the family of Koyejo et al. (2014)
and of MACE (Liu et al., equation 4). The index is (guess, truth): a10 weighs the false
positives. A larger value is a better attacker.

Everything here rests on one fact. Where the denominator D is positive, M >= m is the same
as G_m = N - m D >= 0, which is linear in (T, F). So M is quasi-linear: on a segment it is
largest at an end, attackers who toss coins gain nothing over the best of the sets that
they choose from (but for a least recall, which a coin may help to meet), and a bound of
G_m for each m is a bound of M.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

import numpy as np

from mipaudit.maths.arrays import Floats

FloorKind = Literal["recall", "specificity"]
# (constant, true positives, false positives, false negatives, true negatives)
Weights = tuple[float, float, float, float, float]
# (constant, times T, times F)
Affine = tuple[float, float, float]
_ZERO: Final = 1e-12
# Weights further apart than this cannot be computed with; nor are they meant.
_LARGEST: Final = 1e30
_LARGEST_VALUE: Final = 1e15
_COARSE: Final = 33
_HALVINGS: Final = 30
_TINY_PRIOR: Final = 1e-9
_ROUNDING: Final = 1e-12


class MetricShapeError(ValueError):
    """These weights define no metric that a best attacker maximises."""


class MetricScaleError(ValueError):
    """These weights are too large or too small to compute with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric at a prior.

    Attributes:
        name: as the user wrote it, tidied.
        prior: p in (0, 1).
        a: weights of the numerator, as `Weights`.
        b: weights of the denominator.
        top: the numerator as a function of (T, F).
        bottom: the denominator, above 0 wherever the floor is kept.
        floor: what an attacker must reach where the denominator would vanish: a least
            TPR (``recall``) or a least TNR (``specificity``); None where it never does.
        least: that least rate, in (0, 1); 0 without a floor.
    """

    name: str
    prior: float
    a: Weights
    b: Weights
    top: Affine
    bottom: Affine
    floor: FloorKind | None
    least: float

    def value(self, tpr: float, fpr: float) -> float:
        """Return the metric at these rates; NaN where it is 0/0."""
        top, bottom = at(self.top, tpr, fpr), at(self.bottom, tpr, fpr)
        return top / bottom if bottom > 0 else float("nan")

    def linear(self, level: float | Floats) -> tuple[Floats, ...]:
        """Return (c0, c1, c2): M >= level exactly where c0 + c1 T - c2 F >= 0.

        Args:
            level: any number or numbers; so are the results.
        """
        level = np.asarray(level, dtype=np.float64)
        c0, c1, minus_c2 = (n - level * d for n, d in zip(self.top, self.bottom, strict=True))
        return c0, c1, -minus_c2

    @property
    def baseline(self) -> float:
        """Return what the best attacker reaches who does not look at the score."""
        ends = {
            None: (0.0, 1.0),
            "recall": (self.least, 1.0),
            "specificity": (0.0, 1.0 - self.least),
        }[self.floor]
        return max(self.value(end, end) for end in ends)

    @property
    def most(self) -> float:
        """Return the largest value at any rates that keep the floor."""
        return max(self.value(tpr, fpr) for tpr, fpr in self._corners)

    @property
    def trivial(self) -> bool:
        """Tell whether a guess without looking reaches the largest value already."""
        return self.most - self.baseline <= _ZERO * self.largest_size

    @property
    def largest_size(self) -> float:
        """Return the largest absolute value at any rates that keep the floor."""
        return float(np.max(np.abs([self.value(tpr, fpr) for tpr, fpr in self._corners])))

    def lifted(self, tpr: float, fpr: float) -> tuple[float, float, float]:
        """Return the rates with what they lack of the floor made up for by a constant guess.

        Args:
            tpr: of an attacker who may be below the floor.
            fpr: of the same attacker.

        Returns:
            The TPR and the FPR, on the floor at least, and the share of constant guesses.
        """
        rate, end = (1 - fpr, 0.0) if self.floor == "specificity" else (tpr, 1.0)
        if self.floor is None or rate >= self.least:
            return tpr, fpr, 0.0
        share = (self.least - rate) / (1 - rate)
        mixed = tpr + share * (end - tpr), fpr + share * (end - fpr)
        if self.floor == "recall":
            return self.least, mixed[1], share
        return mixed[0], 1 - self.least, share

    @property
    def _corners(self) -> list[tuple[float, float]]:
        tprs = (self.least if self.floor == "recall" else 0.0, 1.0)
        fprs = (0.0, 1.0 - self.least if self.floor == "specificity" else 1.0)
        return list(product(tprs, fprs))


def make_metric(name: str, a: Weights, b: Weights, *, prior: float, least: float = 0.01) -> Metric:
    """Return the metric of these weights.

    Args:
        name: shown in reports.
        a: weights of the numerator: constant, TP, FP, FN, TN.
        b: weights of the denominator.
        prior: p in (0, 1).
        least: the floor, in (0, 1), used only if the denominator can be 0.

    Raises:
        MetricShapeError: the denominator changes its sign, is 0 throughout, or vanishes
            where no floor on the TPR or the TNR keeps away.
        MetricScaleError: a weight other than 0 is beyond 1e30, or below 1e-30, or a value
            is beyond 1e15.
    """
    if not all(weight == 0 or 1 / _LARGEST <= abs(weight) <= _LARGEST for weight in (*a, *b)):
        raise MetricScaleError(
            f"weights other than 0 lie between {1 / _LARGEST:g} and {_LARGEST:g}"
        )
    top, bottom = _rates(a, prior), _rates(b, prior)
    corners = {(t, f): at(bottom, t, f) for t, f in product((0.0, 1.0), (0.0, 1.0))}
    scale = max(abs(value) for value in corners.values())
    if scale == 0:
        raise MetricShapeError("its denominator is 0 for every attacker")
    if all(value <= _ZERO * scale for value in corners.values()):
        # The same metric with both signs turned.
        a, b = (-a[0], -a[1], -a[2], -a[3], -a[4]), (-b[0], -b[1], -b[2], -b[3], -b[4])
        top, bottom = _rates(a, prior), _rates(b, prior)
        corners = {rates: -value for rates, value in corners.items()}
    if min(corners.values()) < -_ZERO * scale:
        raise MetricShapeError(
            "its denominator is positive for some attackers, negative for others"
        )
    floor = _floor([rates for rates, value in corners.items() if value <= _ZERO * scale])
    found = Metric(
        name=name,
        prior=prior,
        a=a,
        b=b,
        top=top,
        bottom=bottom,
        floor=floor,
        least=least if floor else 0.0,
    )
    if not found.largest_size <= _LARGEST_VALUE:  # NaN too
        raise MetricScaleError(f"it takes values beyond {_LARGEST_VALUE:g}")
    return found


def posterior_threshold(metric: Metric, level: float) -> float | None:
    """Return t: the best attacker guesses 'member' where P(member | score) >= t.

    At the optimum M* he does so where
    eta >= [a00 - a10 - M*(b00 - b10)] / [a11 - a10 - a01 + a00 - M*(b11 - b10 - b01 + b00)]
    (Koyejo et al. 2014, Theorem 2). Where b11 = b01 and b10 = b00 the level cancels: MACE's
    Theorem 1, whose proof prints the inequality the wrong way round. A floor on the
    recall, where it binds, lowers the threshold further.

    Args:
        metric: what is maximised.
        level: the optimum, or an estimate of it.

    Returns:
        t, in [0, 1] unless a constant guess is best; None where a higher posterior is
        never a reason to guess 'member'.
    """
    _, a11, a10, a01, a00 = metric.a
    _, b11, b10, b01, b00 = metric.b
    below = a11 - a10 - a01 + a00 - level * (b11 - b10 - b01 + b00)
    if below <= 0:
        return None
    return (a00 - a10 - level * (b00 - b10)) / below


def closed_threshold(metric: Metric) -> float | None:
    """Return the threshold where it does not depend on the optimum (MACE, Theorem 1)."""
    _, b11, b10, b01, b00 = metric.b
    return posterior_threshold(metric, 0.0) if b11 == b01 and b10 == b00 else None


def at(function: Affine, tpr: float, fpr: float) -> float:
    """Return c0 + c1 T + c2 F."""
    return function[0] + function[1] * tpr + function[2] * fpr


def _rates(weights: Weights, prior: float) -> Affine:
    constant, tp, fp, fn, tn = weights
    holdout = 1 - prior
    return constant + prior * fn + holdout * tn, prior * (tp - fn), holdout * (fp - tn)


def _floor(zeros: list[tuple[float, float]]) -> FloorKind | None:
    """Return the floor that keeps away from all corners where the denominator is 0."""
    if not zeros:
        return None
    if all(tpr == 0 for tpr, _ in zeros):
        return "recall"
    if all(fpr == 1 for _, fpr in zeros):
        return "specificity"
    raise MetricShapeError("its denominator is 0 for an attacker with a high TPR and TNR")


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
