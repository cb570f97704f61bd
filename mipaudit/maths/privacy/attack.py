"""From an attack's rates to the guarantees that it rules out. Standard library only."""

from __future__ import annotations

import math

from mipaudit.maths.normal import quantile


def refuted_epsilon(tpr: float, fpr: float, delta: float) -> float:
    """Return the least epsilon at ``delta`` that is consistent with an attack's rates.

    TPR <= e^epsilon FPR + delta and TNR <= e^epsilon FNR + delta hold for every attack
    (Kairouz, Oh and Viswanath 2015, Theorem 2.1), so no smaller epsilon can be true.

    Args:
        tpr: true-positive rate in [0, 1].
        fpr: false-positive rate in [0, 1].
        delta: in [0, 1].

    Returns:
        At least 0; infinite where a rate of errors is 0 and more than delta is found.
    """
    return max(0.0, _log_ratio(tpr - delta, fpr), _log_ratio(1 - fpr - delta, 1 - tpr))


def refuted_mu(tpr: float, fpr: float) -> float:
    """Return the least mu-GDP that is consistent with an attack's rates; may be infinite."""
    if tpr <= fpr:
        return 0.0
    return quantile(tpr) - quantile(fpr)


def _log_ratio(found: float, mistaken: float) -> float:
    if found <= 0:
        return -math.inf
    return math.inf if mistaken == 0 else math.log(found / mistaken)
