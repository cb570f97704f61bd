"""Limits of a metric's optimum, each by inverting a limit of the linear G_m for every m.

Lower: any average of sets fixed beforehand, with the same weights for both classes, is an
attacker who tosses a coin between them. For m at or above the optimum his G_m has a mean of
at most 0, as each set's has. So the least m whose lower limit of G_m is not above 0 is at
most the optimum, but for the error of that one limit.

Upper: let A* be the best attacker of a class fixed beforehand and m* its metric, so that its
G at m* is 0. The largest observed G over the class is at least A*'s own; so the largest m that
is not rejected, by a test of G(A*) = 0 whose p-value grows with the observed G, is at least m*,
but for the error of that one test. No union over the class, no correction for the choice.

Where c1, c2 > 0 the linear form is the accuracy a = (c1 T + c2 (1-F)) / (c1 + c2) at the prior
c1/(c1 + c2), and G_m >= 0 is a >= (c2 - c0)/(c1 + c2): both limits are those of the advantage
at another prior, and keep their coverage at every size (tables in mipaudit help validation).

Where attackers must keep a floor (PPV and its like) A* keeps it, but may be seen not to; and the
error of G(A*) depends on how many records he picks out. Both are settled by bands of the rate
R that has the floor. A* is a fixed attacker, so his R* lies in one fixed band: it is enough
that, for this band, he is seen inside it (widened by the sampling error) and the test of
G(A*) = 0 holds for the rates in the band. Nobody need know which band it is, because a level is
rejected only if all bands reject it, and no error is shared among them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.arrays import Floats
from mipaudit.maths.binomial import MeanRate, clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.class_limits.class_upper import effective_trials
from mipaudit.maths.metrics.metric import (
    Metric,
    OrdinaryForm,
    bisect_level,
    largest_level,
    ordinary_form,
)
from mipaudit.maths.normal import cdf, quantile

if TYPE_CHECKING:
    from mipaudit.maths.metrics.best_of_class import MetricClass

# Of the error, for observing A* outside his widened band.
_BAND_SHARE: Final = 0.25
_BAND_RATIO: Final = 1.5
_RATES_TRIED: Final = 3
# The error of a folded test is found where it grows by less.
_GROWS: Final = 1 + 1e-6
_STRATA: Final = 48
_DEVIATES: Final = 4.5


def floored_test(
    metric: Metric, attackers: MetricClass, alpha: float, *, strict: bool
) -> Callable[[float], bool]:
    """Return the test of a level: whether the best of the class may reach it.

    Args:
        metric: with a floor.
        attackers: the class on the data.
        alpha: one-sided error in (0, 1).
        strict: one band and Hoeffding's inequality, valid at every sample size.
    """
    picked, against = _sizes(metric, attackers)
    share = _BAND_SHARE * alpha
    if strict:
        slack = math.sqrt(math.log(1 / share) / (2 * picked))
        bands = [(metric.least, 1.0, max(metric.least - slack, 0.0), 1.0)]
    else:
        bands = [
            (low, high, *_seen(picked, low, high, share / 2)) for low, high in _bands(metric.least)
        ]

    def possible(level: float) -> bool:
        form = ordinary_form(metric, level)
        if form is None or form.swapped:
            return True  # no metric of interest; nothing is claimed
        return any(
            _band_keeps(metric, attackers, form, band, (picked, against), alpha - share, strict)
            for band in bands
        )

    return possible


def observed_gain(
    metric: Metric, attackers: MetricClass, form: OrdinaryForm, low: float, high: float
) -> float:
    """Return the largest observed G of attackers seen to have a rate in a band."""
    if form.swapped:  # the rates of the form are those of the opposite guesses
        low, high = 1 - high, 1 - low
    if metric.floor == "recall":
        u, v, constant = form.c1, form.c2, form.c0
    else:
        u, v, constant = form.c2, form.c1, form.c0 + form.c1 - form.c2
    if v <= 0:
        return constant + u * high
    return constant + attackers.banded(u, v, floor=metric.floor or "recall", low=low, high=high)


def tail(
    gain: float, u: float, v: float, rates: tuple[float, float], sizes: tuple[int, int]
) -> float:
    """Return an upper bound of P(u X/n - v Y/m <= gain), close to it.

    X ~ Bin(n, R) and Y ~ Bin(m, S) are independent. X is cut into strata, and the least of
    each stands for it: so the bound holds whatever the strata.

    Args:
        gain: the observed difference.
        u: at least 0.
        v: above 0.
        rates: (R, S), each in [0, 1].
        sizes: (n, m).
    """
    (n, m), (rate, other) = sizes, rates
    middle, spread = n * rate, math.sqrt(n * rate * (1 - rate)) + 1
    cuts = middle + spread * np.linspace(-_DEVIATES, _DEVIATES, _STRATA)
    ends = np.unique(np.clip(np.floor(cuts), 0, n))
    ends = np.unique(np.append(ends, n))  # a stratum is (previous end, end]
    mass = np.diff(_binomial_cdf(ends, n, rate), prepend=0.0)
    least = np.concatenate([[0.0], ends[:-1] + 1])
    needed = np.ceil(m * (u * least / n - gain) / v - 1e-9)
    return float((mass * (1 - _binomial_cdf(needed - 1, m, other))).sum())


def _band_keeps(
    metric: Metric,
    attackers: MetricClass,
    form: OrdinaryForm,
    band: tuple[float, float, float, float],
    sizes: tuple[int, int],
    alpha: float,
    strict: bool,  # noqa: FBT001
) -> bool:
    low, high, seen_low, seen_high = band
    best = observed_gain(metric, attackers, form, seen_low, seen_high)
    if best >= 0:
        return True
    if metric.floor == "recall":
        u, v, constant = form.c1, form.c2, form.c0
    else:
        u, v, constant = form.c2, form.c1, form.c0 + form.c1 - form.c2
    if strict:
        spread = u * u / sizes[0] + v * v / sizes[1]
        return best >= -math.sqrt(math.log(1 / alpha) / 2 * spread)
    if v <= 0:
        return True
    for rate in np.geomspace(low, high, _RATES_TRIED):
        other = (constant + u * float(rate)) / v  # G = 0
        if other < 0:
            continue
        rates = (float(rate), min(other, 1.0))
        if tail(best - constant, u, v, rates, sizes) > alpha:
            return True
    return False


def _sizes(metric: Metric, attackers: MetricClass) -> tuple[int, int]:
    """Return the rows behind the rate with the floor, and behind the other."""
    if metric.floor == "recall":
        return attackers.n_members, attackers.n_holdout
    return attackers.n_holdout, attackers.n_members


def _bands(least: float) -> list[tuple[float, float]]:
    count = max(1, math.ceil(math.log(1 / least) / math.log(_BAND_RATIO)))
    edges = np.geomspace(least, 1.0, count + 1).tolist()
    edges[0], edges[-1] = least, 1.0
    return list(pairwise(edges))


def _seen(rows: int, low: float, high: float, alpha: float) -> tuple[float, float]:
    """Return where a rate in [low, high] is seen, but for an error of alpha on each side."""
    return _quantile(rows, low, alpha) / rows, 1 - _quantile(rows, 1 - high, alpha) / rows


def _quantile(rows: int, rate: float, alpha: float) -> int:
    """Return the largest k with P(Bin(rows, rate) < k) <= alpha."""

    def surpassed(k: int) -> bool:
        return float(_binomial_cdf(np.array([k - 1.0]), rows, rate)[0]) > alpha

    return bisect_left(range(1, math.ceil(rows * rate) + 2), x=True, key=surpassed)


def _binomial_cdf(successes: Floats, trials: int, rate: float) -> Floats:
    """Return P(Bin(trials, rate) <= k) for whole k, 0 below 0 and 1 from ``trials`` on."""
    from scipy.special import betainc

    inside = np.clip(successes, 0, trials - 1)
    found = betainc(trials - inside, inside + 1, 1 - rate)
    return np.where(successes < 0, 0.0, np.where(successes >= trials, 1.0, found))


def metric_lower(metric: Metric, tpr: MeanRate, fpr: MeanRate, alpha: float) -> float:
    """Return a lower limit of the optimum from mean rates of attackers who were fixed before.

    Where the metric needs a floor, G_m must also be above 0 with what the attackers lack of it
    made up for by a constant guess. Of the two tests only one can err, that on the side of the
    floor on which they lie, so the error is not shared.

    Args:
        metric: what the attackers maximise.
        tpr: mean of the held-out TPR.
        fpr: mean of the held-out FPR, over the same attackers with the same weights.
        alpha: one-sided error in (0, 1/2).

    Returns:
        A limit from `Metric.baseline` to `Metric.most`.
    """
    lowest, highest = metric.baseline, metric.most
    shown = partial(_shown, metric, tpr, fpr, alpha)
    if not (tpr.squares and fpr.squares) or lowest >= highest or not shown(lowest):
        return lowest
    # G_m less its error is concave in m at any one error, so those above 0 are one range.
    return highest if shown(highest) else bisect_level(shown, lowest, highest)[0]


def metric_lower_strict(
    metric: Metric, tpr: float, fpr: float, n_members: int, n_holdout: int, alpha: float
) -> float:
    """Return a finite-sample lower limit, for one set fixed before its rows were seen.

    Both rates lie in a box of Clopper-Pearson limits, and M is quasi-linear, so that it is
    least at a corner.
    """
    if min(n_members, n_holdout) <= 0:
        return metric.baseline
    if _ordinary(metric):  # M rises with T and falls with F: one corner, one side each
        box = _box(tpr, fpr, n_members, n_holdout, alpha / 2)
        corners = [(box[0], box[3])]
    else:
        box = _box(tpr, fpr, n_members, n_holdout, alpha / 4)
        corners = [(t, f) for t in box[:2] for f in box[2:]]
    if not _keeps_floor(metric, box):
        return metric.baseline
    return max(metric.baseline, min(metric.value(t, f) for t, f in corners))


def metric_upper(
    metric: Metric, attackers: MetricClass, alpha: float, *, strict: bool = False
) -> float:
    """Return an upper limit of a class's optimum from the best observed of the class.

    Args:
        metric: what the attackers maximise.
        attackers: the class on the data; fixed before its rows were seen.
        alpha: one-sided error in (0, 1).
        strict: by Hoeffding's inequality, valid at every sample size.

    Returns:
        A limit from `Metric.baseline` to `Metric.most`.
    """
    lowest, highest = metric.baseline, metric.most
    if lowest >= highest or min(attackers.n_members, attackers.n_holdout) <= 0:
        return highest
    if metric.floor is not None:
        return largest_level(floored_test(metric, attackers, alpha, strict=strict), lowest, highest)
    sizes = (attackers.n_members, attackers.n_holdout)
    keeps = _hoeffding_keeps if strict else _oracle_keeps

    def possible(level: float) -> bool:
        form = ordinary_form(metric, level)
        if form is None:
            return False  # a constant guess is best there, and stays at the baseline
        best = form.c0 + attackers.support(form.c1, form.c2)
        return best >= 0 or keeps(form, best, sizes, alpha)

    return largest_level(possible, lowest, highest)


def observed_metric(metric: Metric, attackers: MetricClass) -> float:
    """Return the best observed value over the class: biased upward."""

    def reached(level: float) -> bool:
        form = ordinary_form(metric, level)
        if form is None:
            return False
        if metric.floor is None:
            return form.c0 + attackers.support(form.c1, form.c2) >= 0
        return observed_gain(metric, attackers, form, metric.least, 1.0) >= 0

    return largest_level(reached, metric.baseline, metric.most)


def _oracle_keeps(form: OrdinaryForm, best: float, sizes: tuple[int, int], alpha: float) -> bool:
    """Tell whether an accuracy is compatible with the smaller one observed.

    The number of correct guesses is taken for binomial with the fewest trials that its
    variance allows, as for the advantage (`maths.class_limits.upper`).
    """
    from scipy.special import betainc

    true, seen = form.accuracy(0.0), form.accuracy(best)
    if true >= 1:
        return False  # best < 0: somebody was guessed wrong
    if true <= 0:
        return True
    trials = effective_trials(true, *sizes, form.prior)
    correct = trials * max(seen, 0.0)
    # P(Bin(trials, true) <= correct), both real
    return bool(betainc(trials - correct, correct + 1, 1 - true) > alpha)


def _hoeffding_keeps(form: OrdinaryForm, best: float, sizes: tuple[int, int], alpha: float) -> bool:
    spread = form.c1**2 / sizes[0] + form.c2**2 / sizes[1]
    return best >= -math.sqrt(math.log(1 / alpha) / 2 * spread)


def _box(
    tpr: float, fpr: float, n_members: float, n_holdout: float, alpha: float
) -> tuple[float, float, float, float]:
    """Return Clopper-Pearson limits: TPR lower and upper, FPR lower and upper."""
    return (
        float(clopper_pearson_lower(n_members * tpr, n_members, alpha)),
        float(clopper_pearson_upper(n_members * tpr, n_members, alpha)),
        float(clopper_pearson_lower(n_holdout * fpr, n_holdout, alpha)),
        float(clopper_pearson_upper(n_holdout * fpr, n_holdout, alpha)),
    )


def _keeps_floor(metric: Metric, box: tuple[float, float, float, float]) -> bool:
    match metric.floor:
        case "recall":
            return box[0] >= metric.least
        case "specificity":
            return 1 - box[3] >= metric.least
        case None:
            return True


def _shown(metric: Metric, tpr: MeanRate, fpr: MeanRate, alpha: float, level: float) -> bool:
    """Tell whether G_m is surely above 0, and so with what is missing at the floor.

    Attackers whose rate R is below the floor reach it by guessing the constant that has
    R = 1 now and then; then G_m of the mixture is at most 0, which is
    G_m <= (floor - R) |G_m(constant)| / (1 - floor).
    """
    c0, c1, c2 = (float(part) for part in metric.linear(level))
    least, forms = metric.least, [(c0, c1, c2)]
    match metric.floor:
        case "recall":  # everybody a member: T = F = 1
            price = max(-(c0 + c1 - c2), 0.0) / (1 - least)
            forms.append((c0 - price * least, c1 + price, c2))
        case "specificity":  # nobody: T = F = 0
            price = max(-c0, 0.0) / (1 - least)
            forms.append((c0 + price * (1 - least), c1, c2 + price))
        case None:
            pass
    # An attacker and its opposite together have what the two constant ones have.
    apart = max(-(2 * c0 + c1 - c2), 0.0)
    return all(_above(form, tpr, fpr, alpha, apart) for form in forms)


def _above(
    form: tuple[float, float, float], tpr: MeanRate, fpr: MeanRate, alpha: float, apart: float
) -> bool:
    """Tell whether c0 + c1 T - c2 F is surely above 0, by score limits of both rates.

    The mean over assignments is folded (`maths.binomial.folded_lower`): where G_m is 0 that of the
    opposite guesses is ``apart`` below it, and to show as much they must err by so much more.
    """
    c0, c1, c2 = form
    gain = c0 + c1 * tpr.value - c2 * fpr.value
    error = alpha / 2
    while gain > 0:
        z = -quantile(error)
        slack = math.hypot(
            c1 * (tpr.falls if c1 > 0 else tpr.rises)(z, error),
            c2 * (fpr.rises if c2 > 0 else fpr.falls)(z, error),
        )
        left = alpha - cdf(-z * (gain + apart) / slack) if slack else alpha
        if gain > slack or left <= error * _GROWS:
            return gain > slack
        error = left
    return False


def _ordinary(metric: Metric) -> bool:
    """Tell whether the metric never falls with the TPR nor rises with the FPR."""
    forms = [ordinary_form(metric, level) for level in (metric.baseline, metric.most)]
    return all(form is not None and not form.swapped for form in forms)
