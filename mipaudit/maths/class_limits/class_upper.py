"""Upper limits that hold for every attacker of a class.

From the best attacker of the class on the same data: if a class C is fixed before the data are
seen, its best member A* is a fixed set, and the best advantage *observed* over C is at least
that observed for A*. So any upper limit for A* that increases with its observed advantage stays
valid at the larger, same-data optimum: no union bound and no bias correction is needed.

From a weighted chi-square distance, for any attacker: total variation is at most half the root
of sum (P_j - Q_j)^2 / w_j for any fixed weights w that sum to 1 (Cauchy and Schwarz). The
right-hand side is a noncentrality parameter; it has an unbiased estimate, whose error does not
grow with the number of cells as the bias of the plug-in does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Floats, Ints
from mipaudit.maths.binomial import clopper_pearson_upper

_TOLERANCE: Final = 1e-13
_SAME_TRIALS: Final = 1e-14
_MAX_STEPS: Final = 500


def effective_trials(accuracy: float, n_members: int, n_holdout: int, prior: float) -> float:
    """Return the binomial sample size whose variance no attacker exceeds.

    An attacker of this accuracy errs most variably at one split of its accuracy
    between the classes; that variance, inverted, is the effective sample size.
    It is N itself when the classes are in proportion to the prior.
    """
    p, q = prior, 1 - prior
    low = max(0.0, (accuracy - q) / p)
    high = min(1.0, accuracy / p)
    tpr = p / n_members - (q - 2 * accuracy) / n_holdout
    tpr /= 2 * p * (1 / n_members + 1 / n_holdout)
    tpr = min(max(tpr, low), high)
    tnr = (accuracy - p * tpr) / q
    variance = p**2 * tpr * (1 - tpr) / n_members + q**2 * tnr * (1 - tnr) / n_holdout
    return accuracy * (1 - accuracy) / variance if variance > 0 else float(n_members + n_holdout)


def oracle_upper(
    observed: float, n_members: int, n_holdout: int, *, prior: float, alpha: float
) -> float:
    """Return an upper limit of a class's best advantage, given its best observed one.

    When the classes are in proportion to the prior, the number of correct guesses of a
    fixed attacker is less dispersed than a binomial one (Hoeffding 1956), and the
    limit is Clopper-Pearson's; otherwise the effective sample size makes the same
    limit approximate (coverage in mipaudit help methods).

    Args:
        observed: best advantage over the class on the data, in [-1, 1].
        n_members: members behind it; with none nothing is known.
        n_holdout: holdout records behind it.
        prior: p in (0, 1).
        alpha: one-sided error in (0, 1).

    Returns:
        A limit in [|2p-1|, 1].
    """
    accuracy = (1 + observed) / 2
    if accuracy >= 1 or min(n_members, n_holdout) <= 0:
        return 1.0
    limit = min(max(accuracy, 1e-9), 1 - 1e-9)
    used = math.nan
    for _ in range(_MAX_STEPS):
        trials = effective_trials(limit, n_members, n_holdout, prior)
        if abs(trials - used) <= _SAME_TRIALS * trials:
            break
        used = trials
        updated = min(float(clopper_pearson_upper(trials * accuracy, trials, alpha)), 1 - 1e-15)
        if abs(updated - limit) < _TOLERANCE:
            break
        limit = updated
    return min(1.0, max(baseline(prior), 2 * limit - 1))


def oracle_upper_strict(
    observed: float, n_members: int, n_holdout: int, *, prior: float, alpha: float
) -> float:
    """Return the finite-sample form of `oracle_upper`.

    Valid when n_members = prior * (n_members + n_holdout) exactly. The error is
    1 - e^-alpha, which covers the corner of one wrong guess that Hoeffding's (1956)
    comparison leaves out.
    """
    trials = float(n_members + n_holdout)
    if trials <= 0:
        return 1.0
    correct = trials * (1 + observed) / 2
    limit = 2 * float(clopper_pearson_upper(correct, trials, -math.expm1(-alpha))) - 1
    return min(1.0, max(baseline(prior), limit))


@dataclass(frozen=True, slots=True, kw_only=True)
class Noncentrality:
    """The estimate, the terms of its variance and the limits derived from it.

    The variance is taken to be ``null_variance`` + 4 ``slope`` times the noncentrality.
    """

    estimate: float
    null_variance: float
    slope: float
    upper: float | None
    total_variation_upper: float


def noncentrality_weights(pooled: Ints) -> Floats:
    """Return cell weights that sum to 1 from counts that the estimate does not use.

    Half follows the counts, half is even: members may gather on cells that hardly any
    holdout record fills, and a weight near 0 there would let few rows decide.
    """
    weights = (pooled + 1.0) ** (2 / 3)
    return np.asarray(weights / weights.sum() + 1 / pooled.size) / 2


def noncentrality_upper(
    members: Ints, holdout: Ints, weights: Floats, *, alpha: float
) -> Noncentrality:
    """Return an upper limit of the total variation between two multinomials.

    Args:
        members: counts per cell, shape (K,), total at least 2.
        holdout: counts per cell, shape (K,), total at least 2.
        weights: positive, sum 1, shape (K,), fixed without looking at these counts:
            weights or cells chosen from the same counts make the limit invalid.
        alpha: one-sided error in (0, 1). A normal approximation: see mipaudit help methods
            for its measured coverage.

    Returns:
        The limit in ``total_variation_upper``, 1 where the equation has no root.
    """
    n1, n2 = int(members.sum()), int(holdout.sum())
    p_hat, q_hat = members / n1, holdout / n2
    pooled = (members + holdout) / (n1 + n2)
    noise = p_hat * (1 - p_hat) / (n1 - 1) + q_hat * (1 - q_hat) / (n2 - 1)
    estimate = float((((p_hat - q_hat) ** 2 - noise) / weights).sum())
    spread = 1 / n1 + 1 / n2
    cell_variance = pooled * spread
    slope = float((cell_variance / weights).max())
    squared = np.maximum(cell_variance**2 - pooled * spread**2 / (n1 + n2), 0)
    null_variance = 2 * max(float((squared / weights**2).sum()), slope**2 / 2)
    # With unequal classes the pooled counts are those of the larger one, and the variance
    # at a noncentrality L is (1 + L) times this one where the cells are even.
    slope += null_variance / 4
    upper = _largest_noncentrality(estimate, null_variance, slope, alpha)
    return Noncentrality(
        estimate=estimate,
        null_variance=null_variance,
        slope=slope,
        upper=upper,
        total_variation_upper=1.0 if upper is None else min(1.0, 0.5 * math.sqrt(upper)),
    )


def _largest_noncentrality(
    estimate: float, null_variance: float, slope: float, alpha: float
) -> float | None:
    """Solve L - estimate = z sqrt(null_variance + 4 slope L) for the larger root L."""
    z = NormalDist().inv_cdf(1 - alpha)
    inside = null_variance + 4 * slope * estimate + 4 * slope**2 * z**2
    if inside < 0:
        return None
    root = estimate + 2 * slope * z**2 + z * math.sqrt(inside)
    return root if root >= 0 else None
