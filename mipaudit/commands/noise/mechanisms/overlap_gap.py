"""How much of two shifted copies of noise does not overlap, and the mean of it over shifts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, assert_never

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.commands.noise.mechanisms.moments import Validity
    from mipaudit.maths.mip import Mechanism

GapEstimator = Literal[
    "left-out",  # shifts from the spatial median of other splits
    "mean-swap",  # shifts of a pair that differs in one exchanged record
    "betting",  # shifts of the second half, or of pairs: the limit holds at every size
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GapEstimate:
    """The mean h of docs/mip-noise.md, remark (b), at one scale of the noise.

    Attributes:
        value: best estimate, in [0, 1]; the largest where it must hold for each record.
        upper: upper confidence limit, or None.
        at_most: what the mean must not exceed, in (0, 1): eta, or for swap pairs
            eta / min(q, 1-q).
        estimator: where the shifts come from.
        validity: what the limit rests on, as for a moment.
        confidence: in (0, 1).
        n_splits: splits (or pairs of releases) behind the value.
    """

    value: float
    upper: float | None
    at_most: float
    estimator: GapEstimator
    validity: Validity
    confidence: float
    n_splits: int


def shift_gaps(mechanism: Mechanism, ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return h: the most that the total variation of noise and shifted noise can be.

    Exact for ``laplace`` and ``gaussian``; for ``norm-exponential`` noise in more than one
    dimension the bound of docs/mip-noise.md, section 4, remark (a). Each h is increasing
    and concave with h(0) = 0, and at most 1.

    Args:
        mechanism: the kind of noise.
        ratios: lengths of the shifts in units of the scale, at least 0, perhaps infinite.
    """
    match mechanism:
        case "laplace" | "norm-exponential":
            return -np.expm1(-ratios / 2)
        case "gaussian":
            from scipy.special import erf

            gaps: NDArray[np.float64] = erf(ratios / math.sqrt(8))
            return gaps
        case _:
            assert_never(mechanism)
