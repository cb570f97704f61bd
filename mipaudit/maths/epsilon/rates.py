"""Epsilon from limits on two rates, and from their posterior.

Which one-sided attack to judge when its two rates are bounded apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.epsilon.choice import Attack, Candidates, Sizes
from mipaudit.maths.privacy.tradeoff import TradeOff, refuted_epsilon

Criterion = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

_NODES: Final = 512
# No Beta(k + 1/2, .) has noticeable mass where the ratio of rates is e^800.
_LARGEST_EPSILON: Final = 800.0
_TOLERANCE: Final = 1e-7
_MARGIN: Final = 1.4  # standard errors of the burn-in's log ratio
_DOUBT: Final = 1.5


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


def choose_threshold(
    upper: Candidates, lower: Candidates, sizes: Sizes, criterion: Criterion
) -> Attack:
    """Return the attack with one threshold that the criterion prefers.

    Args:
        upper: candidates for one set at the top.
        lower: candidates for one set at the bottom.
        sizes: rows per class.
        criterion: maps burn-in counts of members and of holdout records guessed to be
            members, each of shape (k,), to what is to be large.
    """
    best = -math.inf, Attack(upper=math.inf, lower=math.nan, members_high=True)
    total = np.array(sizes.burn_in)[:, None]
    for members_high in (True, False):
        for side, is_upper in ((upper, True), (lower, False)):
            found = side.counts[:, :-1]
            tp, fp = found if is_upper == members_high else total - found
            values = criterion(tp.astype(np.float64), fp.astype(np.float64))
            place = int(values.argmax())
            if values[place] > best[0]:
                threshold = float(side.thresholds[place])
                attack = Attack(
                    upper=threshold if is_upper else math.nan,
                    lower=math.nan if is_upper else threshold,
                    members_high=members_high,
                )
                best = float(values[place]), attack
    return best[1]


def ratio_criterion(sizes: Sizes, delta: float, alpha: float) -> Criterion:
    """Prefer the greatest cautiously predicted limit from two Clopper-Pearson limits."""

    def predict(tp: NDArray[np.float64], fp: NDArray[np.float64]) -> NDArray[np.float64]:
        tpr, fpr = _predicted_rates(tp, fp, sizes.burn_in, sizes.judged, alpha)
        fn, tn = sizes.burn_in[0] - tp, sizes.burn_in[1] - fp
        found = _log_ratio(tpr - delta, fpr) - _margin(tp, fp)
        cleared = _log_ratio(1 - fpr - delta, 1 - tpr) - _margin(tn, fn)
        return np.maximum(found, cleared)

    return predict


def gdp_criterion(sizes: Sizes, alpha: float) -> Criterion:
    """Prefer the greatest limit of mu on the burn-in itself, whose ends are unsure."""

    def predict(tp: NDArray[np.float64], fp: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import ndtri

        tpr, fpr = _predicted_rates(tp, fp, sizes.burn_in, sizes.burn_in, alpha)
        return np.asarray(ndtri(tpr) - ndtri(fpr))

    return predict


def curve_criterion(sizes: Sizes, alpha: float, curve: TradeOff) -> Criterion:
    """Prefer the rates that are cautiously predicted to be farthest above a curve.

    In standard errors of the burn-in, because a curve leaves less room at its ends.
    """

    def predict(tp: NDArray[np.float64], fp: NDArray[np.float64]) -> NDArray[np.float64]:
        tpr, fpr = _predicted_rates(tp, fp, sizes.burn_in, sizes.judged, alpha)
        allowed = np.array([curve.tpr(min(1.0, rate)) for rate in fpr.tolist()])
        share = (tp + 0.5) / (sizes.burn_in[0] + 1)
        return np.asarray((tpr - allowed) / np.sqrt(share * (1 - share) / sizes.burn_in[0]))

    return predict


def _predicted_rates(
    tp: NDArray[np.float64],
    fp: NDArray[np.float64],
    burn_in: tuple[int, int],
    rows: tuple[int, int],
    alpha: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the limits that so many rows would give at the burn-in's shares."""
    from scipy.special import betaincinv

    judged = np.array(rows, dtype=np.float64)
    # Half a row of each kind keeps both shares inside (0, 1).
    shares = (tp + 0.5) / (burn_in[0] + 1), (fp + 0.5) / (burn_in[1] + 1)
    expected = shares[0] * judged[0], (1 - shares[1]) * judged[1]
    tpr = betaincinv(expected[0], judged[0] - expected[0] + 1, alpha / 2)
    tnr = betaincinv(expected[1], judged[1] - expected[1] + 1, alpha / 2)
    return tpr, 1 - tnr


def _margin(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> NDArray[np.float64]:
    return _MARGIN * np.sqrt(1 / (right + 0.5) + 1 / (wrong + _DOUBT))


def _log_ratio(found: NDArray[np.float64], mistaken: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log(np.maximum(found, 1e-300)) - np.log(mistaken)
