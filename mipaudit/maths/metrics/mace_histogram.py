"""The discrete estimator of MACE as published (Liu et al.), for reproduction only.

Its band surrounds the mean of W_N, not the advantage: on a perfectly private model
with many bins it excludes the truth at every sample size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.maths.intervals.binomial import clopper_pearson_lower, clopper_pearson_upper

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaceHistogram:
    """W_N with its McDiarmid band, and per bin the risk f with Lemma 5's limits.

    Attributes:
        value: W_N, in [|2p-1|, 1].
        half_width: sqrt(2 ln(2/delta) / N).
        risk: (p P - (1-p) Q) / (p P + (1-p) Q) per bin, in [-1, 1], shape (K,).
        risk_lower: lower limits per bin, shape (K,).
        risk_upper: upper limits per bin, shape (K,).
    """

    value: float
    half_width: float
    risk: NDArray[np.float64]
    risk_lower: NDArray[np.float64]
    risk_upper: NDArray[np.float64]


def mace_histogram(
    members: NDArray[np.int64], holdout: NDArray[np.int64], *, prior: float, delta: float
) -> MaceHistogram:
    """Return the published estimator from counts per bin.

    Args:
        members: occupied bins only, shape (K,).
        holdout: shape (K,).
        prior: p in (0, 1).
        delta: two-sided error, in (0, 1).
    """
    n1, n2 = int(members.sum()), int(holdout.sum())
    x, y = members.astype(np.float64), holdout.astype(np.float64)
    p_low = prior * np.asarray(clopper_pearson_lower(x, n1, delta / 2))
    p_high = prior * np.asarray(clopper_pearson_upper(x, n1, delta / 2))
    q_low = (1 - prior) * np.asarray(clopper_pearson_lower(y, n2, delta / 2))
    q_high = (1 - prior) * np.asarray(clopper_pearson_upper(y, n2, delta / 2))
    p_hat, q_hat = prior * x / n1, (1 - prior) * y / n2
    return MaceHistogram(
        value=float(np.abs(p_hat - q_hat).sum()),
        half_width=math.sqrt(2 * math.log(2 / delta) / (n1 + n2)),
        risk=_risk(p_hat, q_hat),
        risk_lower=_risk(p_low, q_high),
        risk_upper=_risk(p_high, q_low),
    )


def _risk(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((p - q) / (p + q))
