"""Controls: one method known to be valid and one known not to be, run beside the others.

A coverage run in which the invalid one passes has shown nothing about the rest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.scenarios.coverage import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

VALID_LABEL: Final = "control: DKW band"
INVALID_LABEL: Final = "control: same-data threshold"
NOMINAL: Final = 0.975


def controls(
    member: NDArray[np.bool_],
    score: NDArray[np.float64],
    prior: float,
    seed: int,  # noqa: ARG001 - an audit function takes one
) -> list[Interval]:
    """Return both controls: limits of the best threshold's advantage."""
    return [dkw_band(member, score, prior), same_data_threshold(member, score, prior)]


def dkw_band(member: NDArray[np.bool_], score: NDArray[np.float64], prior: float) -> Interval:
    """Return limits from two Dvoretzky-Kiefer-Wolfowitz bands (Massart's constant): valid."""
    _, _, best = _best_threshold(member, score, prior)
    n_members = int(member.sum())
    # Two-sided bands of both classes, each at alpha/2 of this limit's alpha.
    alpha = (1 - NOMINAL) / 2
    slack = sum(
        weight * math.sqrt(math.log(2 / alpha) / (2 * count))
        for weight, count in ((prior, n_members), (1 - prior, len(member) - n_members))
    )
    baseline = abs(2 * prior - 1)
    return Interval(
        estimand="advantage_thresholds",
        lower=max(baseline, best - 2 * slack),
        upper=min(1.0, max(baseline, best + 2 * slack)),
        nominal=NOMINAL,
        label=VALID_LABEL,
    )


def same_data_threshold(
    member: NDArray[np.bool_], score: NDArray[np.float64], prior: float
) -> Interval:
    """Return Clopper-Pearson limits at a threshold chosen on the same rows: invalid.

    They ignore the choice, so the lower limit is too high wherever thresholds that
    differ have nearly the same advantage, above all when nothing leaks.
    """
    tpr, fpr, _ = _best_threshold(member, score, prior)
    n_members = int(member.sum())
    n_holdout = len(member) - n_members
    alpha = 1 - NOMINAL
    lower_slack = math.hypot(
        prior * (tpr - float(clopper_pearson_lower(n_members * tpr, n_members, alpha))),
        (1 - prior) * (float(clopper_pearson_upper(n_holdout * fpr, n_holdout, alpha)) - fpr),
    )
    lower = 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr - lower_slack)
    return Interval(
        estimand="advantage_thresholds",
        lower=lower,
        upper=None,
        nominal=NOMINAL,
        label=INVALID_LABEL,
    )


def _best_threshold(
    member: NDArray[np.bool_], score: NDArray[np.float64], prior: float
) -> tuple[float, float, float]:
    """Return TPR, FPR and advantage of the best threshold, in either direction, on the data."""
    values, rank = np.unique(score, return_inverse=True)
    member_counts = np.bincount(rank[member], minlength=len(values))
    holdout_counts = np.bincount(rank[~member], minlength=len(values))
    below = np.concatenate([[0.0], np.cumsum(member_counts) / member_counts.sum()])
    below_holdout = np.concatenate([[0.0], np.cumsum(holdout_counts) / holdout_counts.sum()])
    tpr = np.concatenate([below, 1 - below])
    fpr = np.concatenate([below_holdout, 1 - below_holdout])
    advantages = 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)
    best = int(np.argmax(advantages))
    return float(tpr[best]), float(fpr[best]), float(advantages[best])
