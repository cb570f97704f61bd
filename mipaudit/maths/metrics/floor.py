"""Upper limits where attackers must keep a floor: PPV and its like.

The best attacker A* keeps the floor, but may be seen not to; and the error of G(A*) depends
on how many records he picks out, from hardly any to all. Both are settled by bands of the rate
R that has the floor. A* is a fixed attacker, so his R* lies in one fixed band: it is enough
that, for this band, he is seen inside it (widened by the sampling error) and the test of
G(A*) = 0 holds for the rates in the band. Nobody need know which band it is, because a level is
rejected only if all bands reject it, and no error is shared among them.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.metrics.form import ordinary_form

if TYPE_CHECKING:
    from collections.abc import Callable

    from mipaudit.maths.metrics.best_of_class import MetricClass
    from mipaudit.maths.metrics.form import OrdinaryForm
    from mipaudit.maths.metrics.metric import Metric

# Of the error, for observing A* outside his widened band.
_BAND_SHARE: Final = 0.1
_BAND_RATIO: Final = 2.0
_RATES_TRIED: Final = 3
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
    below, above = 0, math.ceil(rows * rate) + 1
    while below < above:
        middle = (below + above + 1) // 2
        if float(_binomial_cdf(np.array([middle - 1.0]), rows, rate)[0]) <= alpha:
            below = middle
        else:
            above = middle - 1
    return below


def _binomial_cdf(
    successes: np.ndarray[tuple[int, ...], np.dtype[np.float64]], trials: int, rate: float
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return P(Bin(trials, rate) <= k) for whole k, 0 below 0 and 1 from ``trials`` on."""
    from scipy.special import betainc

    inside = np.clip(successes, 0, trials - 1)
    found = betainc(trials - inside, inside + 1, 1 - rate)
    return np.where(successes < 0, 0.0, np.where(successes >= trials, 1.0, found))
