"""Whether independent runs refute a claimed trade-off curve.

No assumption is made of the mechanism: the claim itself bounds every attacker's rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.epsilon.runs.split import LEAST_ROWS, divide
from mipaudit.maths.epsilon.rates import (
    choose_threshold,
    curve_criterion,
    gdp_criterion,
    rate_limits,
)
from mipaudit.maths.privacy.mechanism import GaussianDP

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.maths.privacy.tradeoff import TradeOff


def runs_refute_curve(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    curve: TradeOff,
    *,
    confidence: float,
    rng: np.random.Generator,
    splits: int = 1,
) -> bool:
    """Tell whether the runs contradict that no attacker exceeds ``curve``.

    A random part of the rows chooses a threshold; on the rest the lower limit of its
    TPR is compared with the curve at the upper limit of its FPR.

    Args:
        members: scores of runs with the record, shape (n1,), n1 above 0; no NaN.
        holdout: scores of runs without it, shape (n0,), n0 above 0.
        curve: symmetric, for the neighbours that the runs differ in.
        confidence: in (0, 1).
        rng: settles which rows choose the threshold.
        splits: repeat the split: half of the tests, at half of the error, must refute
            (Rüger 1978).
    """
    if min(members.size, holdout.size) < LEAST_ROWS:
        return False
    needed = (splits + 1) // 2
    alpha = (1 - confidence) * needed / splits
    refuted = sum(_refutes(members, holdout, curve, alpha, rng) for _ in range(splits))
    return refuted >= needed


def counts_refute_curve(
    tp: int, fn: int, fp: int, tn: int, curve: TradeOff, *, confidence: float
) -> bool:
    """Tell whether the guesses of an attack that was fixed beforehand contradict ``curve``.

    Args:
        tp: members guessed to be members.
        fn: members guessed to be holdout; tp + fn above 0.
        fp: holdout records guessed to be members.
        tn: holdout records guessed to be holdout; fp + tn above 0.
        curve: symmetric.
        confidence: in (0, 1).
    """
    tpr, fpr = rate_limits(tp, fn, fp, tn, alpha=1 - confidence)
    return tpr > curve.tpr(fpr)


def _refutes(
    members: NDArray[np.floating],
    holdout: NDArray[np.floating],
    curve: TradeOff,
    alpha: float,
    rng: np.random.Generator,
) -> bool:
    split = divide(members, holdout, rng)
    criterion = (
        gdp_criterion(split.sizes, alpha)
        if isinstance(curve, GaussianDP)
        else curve_criterion(split.sizes, alpha, curve)
    )
    attack = choose_threshold(*split.burn_in.candidates(), split.sizes, criterion)
    counts = split.answers(attack)
    return counts_refute_curve(
        counts.tp, counts.fn, counts.fp, counts.tn, curve, confidence=1 - alpha
    )
