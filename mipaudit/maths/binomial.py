"""Confidence limits for proportions and for weighted differences of two of them."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.maths.advantage import advantage, baseline

if TYPE_CHECKING:
    from mipaudit.maths.arrays import Floats

_FOLDS: Final = 16
_FOLDED_CLOSE: Final = 1e-9


@cache
def _special() -> Any:  # noqa: ANN401 - a module without types
    """Return scipy's special functions, loaded when a limit is asked for and found once."""
    from scipy import special

    return special


def clopper_pearson_lower(
    successes: float | Floats, trials: float, alpha: float | Floats
) -> float | Floats:
    """Return the one-sided lower limit of a proportion (Clopper and Pearson 1934).

    Args:
        successes: count or counts in [0, trials]; real values are allowed, as the
            effective counts of a weighted mean are.
        trials: number of trials, above 0; may be real.
        alpha: one-sided error or errors in (0, 1).

    Returns:
        Limit or limits in [0, 1]; 0 where there are no successes.
    """
    if isinstance(successes, (int, float)):
        if successes <= 0:
            return 0.0
        return float(_special().betaincinv(successes, trials - successes + 1, alpha))
    import numpy as np

    safe = np.maximum(successes, 1e-300)
    limits = _special().betaincinv(safe, trials - safe + 1, alpha)
    return np.where(successes <= 0, 0.0, limits)


def clopper_pearson_upper(
    successes: float | Floats, trials: float, alpha: float | Floats
) -> float | Floats:
    """Return the one-sided upper limit of a proportion (Clopper and Pearson 1934).

    Args and returns as for `clopper_pearson_lower`; 1 where all trials succeed.
    """
    if isinstance(successes, (int, float)):
        # 1 - (1 - x) loses nothing here: limits are rounded outward at 4 digits.
        return 1.0 - clopper_pearson_lower(max(trials - successes, 0.0), trials, alpha)
    return 1.0 - clopper_pearson_lower(trials - successes, trials, alpha)


def least_lower(successes: Floats, trials: float, alpha: Floats) -> float:
    """Return the least of several lower limits of `clopper_pearson_lower`.

    To test whether a limit lies below a number is several times cheaper than to find
    it, so only those are found that lie below one of the smallest.

    Args:
        successes: counts in [0, trials], shape (n,), n at least 1.
        trials: number of trials, above 0.
        alpha: one-sided errors in (0, 1), shape (n,).
    """
    import numpy as np

    special = _special()
    if successes.min() <= 0:
        return 0.0
    # Of equal counts, as the ranks within a cell have, the least error has the least limit.
    first = np.flatnonzero(np.append(True, successes[1:] != successes[:-1]))
    successes, alpha = successes[first], np.minimum.reduceat(alpha, first)
    failures = trials - successes + 1
    guess = int(
        (successes + special.ndtri(alpha) * np.sqrt(successes * failures / trials)).argmin()
    )
    least = float(special.betaincinv(successes[guess], failures[guess], alpha[guess]))
    below = special.betainc(successes, failures, least) > alpha
    below[guess] = False
    if below.any():
        found = special.betaincinv(successes[below], failures[below], alpha[below])
        least = min(least, float(found.min()))
    return least


def jeffreys_lower(successes: float, trials: float, alpha: float) -> float:
    """Return the one-sided lower Jeffreys limit of a proportion; 0 without successes.

    A quantile of Beta(k + 1/2, n - k + 1/2). Its coverage is near nominal on average over
    proportions, and below it for some (Brown, Cai and DasGupta 2001).
    """
    if successes <= 0:
        return 0.0
    return float(_special().betaincinv(successes + 0.5, trials - successes + 0.5, alpha))


def jeffreys_upper(successes: float, trials: float, alpha: float) -> float:
    """Return the one-sided upper Jeffreys limit of a proportion; 1 without failures."""
    return 1.0 - jeffreys_lower(trials - successes, trials, alpha)


def mover_lower(
    tpr: float, fpr: float, n_members: float, n_holdout: float, *, prior: float, alpha: float
) -> float:
    """Return a lower limit of the advantage (1-2p) + 2(p TPR - (1-p) FPR).

    The method of variance estimates recovery (Zou and Donner 2008) on two
    Clopper-Pearson limits. Its minimum coverage over all (TPR, FPR), by exact
    enumeration, is stated in mipaudit help methods.

    Args:
        tpr: observed share of members guessed to be members.
        fpr: observed share of holdout records guessed to be members.
        n_members: effective number of members behind ``tpr``; may be real.
        n_holdout: effective number of holdout records behind ``fpr``.
        prior: p in (0, 1).
        alpha: one-sided error in (0, 1).

    Returns:
        A limit in [|2p-1|, 1]: no attacker does worse than the trivial one.
    """
    tpr_lower = clopper_pearson_lower(n_members * tpr, n_members, alpha)
    fpr_upper = clopper_pearson_upper(n_holdout * fpr, n_holdout, alpha)
    slack = math.hypot(prior * (tpr - tpr_lower), (1 - prior) * (fpr_upper - fpr))
    linear = prior * tpr - (1 - prior) * fpr - slack
    return max(baseline(prior), min(1.0, 1 - 2 * prior + 2 * linear))


class MeanRate(NamedTuple):
    """A rate in [0, 1] that is a weighted mean over rows.

    Attributes:
        value: of it.
        variance: of it, at least 0.
        squares: sum of the squared weights, whose sum is 1: 1/n for n equal ones; 0 for none.
    """

    value: float
    variance: float
    squares: float

    @property
    def cautious(self) -> float:
        """Return a variance that is above 0 at rates of 0 and 1, too."""
        return max(self.variance, self.squares**2 / 2) if self.squares else 1.0

    def falls(self, z: float, error: float) -> float:
        """Return how far the rate may lie below its value: the score limit.

        Args:
            z: normal quantile of the one-sided error.
            error: the one-sided error.
        """
        slope = self.value * self.squares * max(1.0, 1.06 * math.log(1 / error) / (z * z))
        half = slope * z / 2
        return min(self.value, half * z + z * math.sqrt(self.variance + half * half))

    def rises(self, z: float, error: float) -> float:
        """Return how far the rate may lie above its value."""
        return self._replace(value=1 - self.value).falls(z, error)


def folded_lower(
    tpr: MeanRate, fpr: MeanRate, *, prior: float, alpha: float, anywhere: bool = False
) -> float:
    """Return a lower limit of the advantage of attackers who were chosen by its sign.

    Where next to nothing leaks, an attacker and its opposite are equally likely to be chosen,
    and a mean over many choices is as large on either side: the limit is the truth that would
    have shown so much, on either side, with probability alpha.

    Args:
        tpr: of members.
        fpr: of holdout records.
        prior: p in (0, 1).
        alpha: one-sided error in (0, 1/2).
        anywhere: two attackers may gain as much and err where the other does not, so that the
            mean is folded about what they gain, and not about the baseline alone.

    Returns:
        A limit in [|2p-1|, 1].
    """
    guessing = baseline(prior)
    excess = advantage(tpr.value, fpr.value, prior) - guessing
    if excess <= 0 or not (tpr.squares and fpr.squares):
        return guessing
    special = _special()
    limit, error = 0.0, alpha / 2
    for _ in range(_FOLDS):
        z = -float(special.ndtri(error))
        slack = 2 * math.hypot(prior * tpr.falls(z, error), (1 - prior) * fpr.rises(z, error))
        higher = excess - slack
        if higher <= limit + _FOLDED_CLOSE:
            break
        limit = higher
        if anywhere:
            break
        error = alpha - float(special.ndtr(-z * (excess + limit) / slack))
    return min(1.0, guessing + limit)
