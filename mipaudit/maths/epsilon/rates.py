"""Epsilon from limits on two rates, and from their posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.maths.intervals.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.privacy.attack import refuted_epsilon

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NODES: Final = 512
# No Beta(k + 1/2, .) has noticeable mass where the ratio of rates is e^800.
_LARGEST_EPSILON: Final = 800.0
_TOLERANCE: Final = 1e-7


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


def _posterior_below(
    epsilon: float, fpr: NDArray[np.float64], tp: int, fn: int, delta: float
) -> float:
    """Return the posterior probability that neither inequality refutes ``epsilon``."""
    import numpy as np
    from scipy.special import betainc

    scale = np.exp(-epsilon)
    # FNR at least e^-epsilon (TNR - delta), and TPR at most e^epsilon FPR + delta.
    least_fnr = np.maximum(scale * (1 - fpr - delta), 1 - delta - fpr / max(scale, 1e-300))
    # The distribution of FNR keeps what 1 - TPR would cancel.
    beyond = 1.0 - betainc(fn + 0.5, tp + 0.5, np.clip(least_fnr, 0.0, 1.0))
    return float(beyond.mean())
