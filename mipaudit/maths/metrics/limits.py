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
at another prior, and keep their coverage at every size (tables in docs/metrics.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.class_limits.same_data_upper import effective_trials
from mipaudit.maths.intervals.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.metrics.floor import floored_test, observed_gain
from mipaudit.maths.metrics.form import OrdinaryForm, bisect_level, largest_level, ordinary_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.maths.metrics.best_of_class import MetricClass
    from mipaudit.maths.metrics.metric import Metric

_SCAN: Final = 1001


def metric_lower(
    metric: Metric, tpr: float, fpr: float, n_members: float, n_holdout: float, alpha: float
) -> float:
    """Return a lower limit of the optimum from the rates of sets that were fixed before.

    MOVER on Clopper-Pearson limits of both rates, for each m. Where the metric needs a floor,
    G_m must also be above 0 with what the sets lack of it made up for by a constant guess.
    Of the two tests only one can err, that on the side of the floor on which the sets lie,
    so the error is not shared.

    Args:
        metric: what the attackers maximise.
        tpr: weighted mean of the held-out TPR.
        fpr: weighted mean of the held-out FPR, over the same sets with the same weights.
        n_members: effective number of members; may be real.
        n_holdout: effective number of holdout records.
        alpha: one-sided error in (0, 1).

    Returns:
        A limit from `Metric.baseline` to `Metric.most`.
    """
    lowest, highest = metric.baseline, metric.most
    if min(n_members, n_holdout) <= 0 or lowest >= highest:
        return lowest
    box = _box(tpr, fpr, n_members, n_holdout, alpha)
    levels = np.linspace(lowest, highest, _SCAN)
    shown = _shown(metric, levels, tpr, fpr, box)
    if not shown[0]:
        return lowest
    if shown.all():
        return float(levels[-1])
    last = int(shown.argmin()) - 1
    return bisect_level(
        lambda m: bool(_shown(metric, np.asarray(m), tpr, fpr, box)),
        float(levels[last]),
        float(levels[last + 1]),
    )[0]


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
    variance allows, as for the advantage (`maths.oracle`).
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


def _shown(
    metric: Metric,
    levels: NDArray[np.float64],
    tpr: float,
    fpr: float,
    box: tuple[float, float, float, float],
) -> NDArray[np.bool_]:
    """Tell for each level whether G_m is above 0, and so with what is missing at the floor.

    Attackers whose rate R is below the floor reach it by guessing the constant that has
    R = 1 now and then; then G_m of the mixture is at most 0, which is
    G_m <= (floor - R) |G_m(constant)| / (1 - floor).
    """
    c0, c1, c2 = metric.linear(levels)
    shown = _linear_lower(c0, c1, c2, tpr, fpr, box) > 0
    least = metric.least
    match metric.floor:
        case "recall":  # everybody a member: T = F = 1
            price = np.maximum(-(c0 + c1 - c2), 0.0) / (1 - least)
            shown &= _linear_lower(c0 - price * least, c1 + price, c2, tpr, fpr, box) > 0
        case "specificity":  # nobody: T = F = 0
            price = np.maximum(-c0, 0.0) / (1 - least)
            shift = c0 + price * (1 - least)
            shown &= _linear_lower(shift, c1, c2 + price, tpr, fpr, box) > 0
        case None:
            pass
    return np.asarray(shown)


def _linear_lower(
    c0: NDArray[np.float64],
    c1: NDArray[np.float64],
    c2: NDArray[np.float64],
    tpr: float,
    fpr: float,
    box: tuple[float, float, float, float],
) -> NDArray[np.float64]:
    """Return the lower limit of c0 + c1 T - c2 F for each level (Zou and Donner 2008)."""
    member_slack = c1 * np.where(c1 > 0, tpr - box[0], box[1] - tpr)
    holdout_slack = c2 * np.where(c2 > 0, box[3] - fpr, fpr - box[2])
    return np.asarray(c0 + c1 * tpr - c2 * fpr - np.hypot(member_slack, holdout_slack))


def _ordinary(metric: Metric) -> bool:
    """Tell whether the metric never falls with the TPR nor rises with the FPR."""
    forms = [ordinary_form(metric, level) for level in (metric.baseline, metric.most)]
    return all(form is not None and not form.swapped for form in forms)
