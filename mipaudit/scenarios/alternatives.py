"""What others do, run on the same files: how wide it is, and whether it holds.

A coverage run in which no invalid method is caught has shown nothing about the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.maths.binomial import mover_lower
from mipaudit.maths.histogram import mace_histogram
from mipaudit.scenarios.controls import NOMINAL, controls
from mipaudit.scenarios.coverage import Interval
from mipaudit.summaries.histogram import equal_width_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

DKW_LABEL: Final = "other: DKW band"
SPLIT_LABEL: Final = "other: split-half threshold"
MACE_LABEL: Final = "published: MACE band, 100 bins"
_BINS: Final = 100


def alternatives(
    member: NDArray[np.bool_], score: NDArray[np.float64], prior: float, seed: int
) -> list[Interval]:
    """Return the controls, the split-half limit and the published MACE band."""
    band, invalid = controls(member, score, prior, seed)
    return [
        band,
        # A limit for thresholds is one for all attackers too: beside ours, on one truth.
        replace(band, estimand="advantage", upper=None, label=DKW_LABEL),
        invalid,
        split_half(member, score, prior, seed),
        mace_band(member, score, prior),
    ]


def split_half(
    member: NDArray[np.bool_], score: NDArray[np.float64], prior: float, seed: int
) -> Interval:
    """Return the lower limit of a threshold chosen on one half, judged on the other."""
    chosen = np.random.default_rng([seed, 2]).random(member.size) < 1 / 2
    values = np.unique(score[chosen])
    x, y = np.sort(score[chosen & member]), np.sort(score[chosen & ~member])
    lower = abs(2 * prior - 1)
    judged_members, judged_holdout = score[~chosen & member], score[~chosen & ~member]
    if min(x.size, y.size, judged_members.size, judged_holdout.size) > 0:
        gain = (
            prior * np.searchsorted(x, values, side="right") / x.size
            - (1 - prior) * np.searchsorted(y, values, side="right") / y.size
        )
        total = 2 * prior - 1
        low_side = bool(gain.max() >= total - gain.min())
        cut = values[gain.argmax() if low_side else gain.argmin()]
        tpr = float((judged_members <= cut).mean())
        fpr = float((judged_holdout <= cut).mean())
        if not low_side:
            tpr, fpr = 1 - tpr, 1 - fpr
        lower = mover_lower(
            tpr, fpr, judged_members.size, judged_holdout.size, prior=prior, alpha=1 - NOMINAL
        )
    return Interval(
        estimand="advantage", lower=lower, upper=None, nominal=NOMINAL, label=SPLIT_LABEL
    )


def mace_band(member: NDArray[np.bool_], score: NDArray[np.float64], prior: float) -> Interval:
    """Return W_N with its McDiarmid band, as published: it surrounds the mean of W_N."""
    finite = score[np.isfinite(score)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    table = equal_width_counts(score, member, float(low), float(high), _BINS)
    table = table[table.sum(axis=1) > 0]
    result = mace_histogram(table[:, 1], table[:, 0], prior=prior, delta=2 * (1 - NOMINAL))
    return Interval(
        estimand="advantage",
        lower=result.value - result.half_width,
        upper=result.value + result.half_width,
        nominal=NOMINAL,
        label=MACE_LABEL,
    )
