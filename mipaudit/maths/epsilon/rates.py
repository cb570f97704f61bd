"""Epsilon from limits on two rates, and from their posterior, and mu from both at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.privacy.tradeoff import refuted_epsilon

if TYPE_CHECKING:
    from mipaudit.maths.arrays import Floats

_NODES: Final = 512
# No Beta(k + 1/2, .) has noticeable mass where the ratio of rates is e^800.
_LARGEST_EPSILON: Final = 800.0
_TOLERANCE: Final = 1e-7
_LARGEST_MU: Final = 100.0
# Places of a normal variable that carry all its mass; sums over them are exact to rounding.
_PLACES: Final = (-9.0, 9.0, 181)


def clopper_pearson_epsilon(
    tp: int, fn: int, fp: int, tn: int, *, delta: float, alpha: float
) -> float:
    """Return the lower limit of epsilon of one attack that was fixed beforehand.

    Two Clopper-Pearson limits, each at alpha / 2, put into both inequalities of
    (epsilon, delta)-DP.

    Args:
        tp: members guessed to be members.
        fn: members guessed to be holdout; tp + fn above 0.
        fp: holdout records guessed to be members.
        tn: holdout records guessed to be holdout; fp + tn above 0.
        delta: in [0, 1].
        alpha: one-sided error in (0, 1).

    Returns:
        At least 0, finite.
    """
    return refuted_epsilon(*rate_limits(tp, fn, fp, tn, alpha=alpha), delta)


def rate_limits(tp: int, fn: int, fp: int, tn: int, *, alpha: float) -> tuple[float, float]:
    """Return the lower limit of TPR and the upper limit of FPR, each at alpha / 2."""
    return (
        float(clopper_pearson_lower(tp, tp + fn, alpha / 2)),
        float(clopper_pearson_upper(fp, fp + tn, alpha / 2)),
    )


def credible_epsilon(tp: int, fn: int, fp: int, tn: int, *, delta: float, alpha: float) -> float:
    """Return the alpha quantile of the posterior of epsilon, under Jeffreys' priors.

    The two rates have independent beta posteriors; epsilon is the least one that both
    inequalities allow. One integral over quantiles of the false-positive rate, whose
    integrand is a distribution function, so neither zero nor huge counts are special.

    Args and returns as for `clopper_pearson_epsilon`.
    """
    import numpy as np
    from scipy.special import betaincinv

    shares = (np.arange(_NODES) + 0.5) / _NODES
    fpr = betaincinv(fp + 0.5, tn + 0.5, shares)

    def below(epsilon: float) -> float:
        return _posterior_below(epsilon, fpr, tp, fn, delta)

    if below(0.0) >= alpha:
        return 0.0
    low, high = 0.0, _LARGEST_EPSILON
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < alpha else (low, middle)
    return low


def _posterior_below(epsilon: float, fpr: Floats, tp: int, fn: int, delta: float) -> float:
    """Return the posterior probability that neither inequality refutes ``epsilon``."""
    import numpy as np
    from scipy.special import betainc

    scale = np.exp(-epsilon)
    # FNR at least e^-epsilon (TNR - delta), and TPR at most e^epsilon FPR + delta.
    least_fnr = np.maximum(scale * (1 - fpr - delta), 1 - delta - fpr / max(scale, 1e-300))
    # The distribution of FNR keeps what 1 - TPR would cancel.
    beyond = 1.0 - betainc(fn + 0.5, tp + 0.5, np.clip(least_fnr, 0.0, 1.0))
    return float(beyond.mean())


def gaussian_lower(tp: int, fn: int, fp: int, tn: int, *, alpha: float, beat: float = 0.0) -> float:
    """Return the lower limit of mu, at a threshold at a rank of both classes' scores together.

    That at least ``tp`` members are among the ``tp + fp`` highest rows says that the tp-th highest
    member is above the holdout record of rank fp + 1. The share of the holdout law beyond that
    record has a beta law, whatever the mechanism, and mu bounds the members' share by it.

    Args:
        tp: members guessed to be members.
        fn: members guessed to be holdout; tp + fn above 0.
        fp: holdout records guessed to be members.
        tn: holdout records guessed to be holdout; fp + tn above 0.
        alpha: one-sided error in (0, 1).
        beat: at least 0; a limit that is not above it is returned as 0.

    Returns:
        At least 0, finite.
    """
    import numpy as np
    from scipy.special import betainc, betaincinv, ndtr, ndtri

    if tp == 0 or tn == 0:
        return 0.0
    places = np.linspace(*_PLACES)
    weights = np.exp(-(places**2) / 2)
    weights /= weights.sum()
    beyond = ndtri(betaincinv(fp + 1, tn, ndtr(places)))

    def refuted(mu: float) -> bool:
        return bool(weights @ betainc(tp, fn + 1, ndtr(beyond + mu)) <= alpha)

    low, high = beat, _LARGEST_MU
    if not refuted(low):
        return 0.0
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low
