"""Upper limits for a class of attackers from the best of them on the same data.

If a class C is fixed before the data are seen, its best member A* is a fixed set,
and the best advantage *observed* over C is at least that observed for A*. So any
upper limit for A* that increases with its observed advantage stays valid at the
larger, same-data optimum: no union bound and no bias correction is needed.
"""

from __future__ import annotations

import math
from typing import Final

from mipaudit.maths.intervals.binomial import clopper_pearson_upper

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
    limit approximate (coverage in docs/methods.md).

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
    return min(1.0, max(abs(2 * prior - 1), 2 * limit - 1))


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
    return min(1.0, max(abs(2 * prior - 1), limit))
