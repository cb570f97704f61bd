"""One estimated quantity, as it is reported: value, limits, and all that they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Quantity = Literal["advantage", "excess", "eta", "accuracy", "auc", "tpr_at_fpr"]
Attackers = Literal["any", "thresholds", "intervals-1", "intervals-4", "bins-16"]
Validity = Literal["finite-sample", "approximate", "not-an-interval"]
Side = Literal["high", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One quantity of one score, against one class of attackers, with its limits.

    ``value`` is the best estimate; ``plugin`` the same-data optimum (biased
    upward). ``lower`` and ``upper`` are each one-sided at (1-confidence)/2,
    shared over the score columns (but for a row that is ``not-an-interval``).
    ``n_members`` and ``n_holdout`` are the rows behind the value; an upper limit may
    rest on others, as docs/methods.md says. ``fpr`` is set for ``tpr_at_fpr`` only.
    """

    quantity: Quantity
    score: str
    method: str
    attackers: Attackers
    value: float | None
    lower: float | None
    upper: float | None
    confidence: float
    selection: str
    validity: Validity
    n_members: int
    n_holdout: int
    fpr: float | None = None
    plugin: float | None = None
    side: Side | None = None
    value_reason: str | None = None
    lower_reason: str | None = None
    upper_reason: str | None = None
