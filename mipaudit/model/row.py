"""A figure between its limits: one type for what every command finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from mipaudit.model.message import Message  # noqa: TC001 - the codec reads it

Quantity = Literal[
    "advantage",
    "excess",
    "eta",
    "accuracy",
    "auc",
    "tpr_at_fpr",
    "metric",
    "risk",
    "difference",
    "any_difference",
    "attribute_advantage",
    "membership_advantage",
    "right_of_members",
    "right_of_holdout",
]
Attackers = Literal[
    # Classes: an upper limit holds for the best attacker of the class.
    "any",
    "thresholds",
    "intervals-1",
    "intervals-4",
    "bins-16",
    "noised-query",
    "product-grid",
    "learned",
    # Attackers of the literature, each by itself.
    "bounded-loss",
    "mean",
    "gaussian",
    "one-standard-error",
    "top-n",
    "top-half",
    "best-threshold",
    "per-class",
    # Whoever made the guesses of the input.
    "guesses",
]
Validity = Literal["finite-sample", "approximate", "not-an-interval"]
# The word for an upper limit that would be as large as the quantity can be: the data do not allow
# it to say anything. Tables show it in place of the number.
VACUOUS: Final = "vacuous"
# The codes of the reasons why an upper limit is vacuous.
_VACUOUS_REASONS: Final = frozenset({"vacuous_tpr", "vacuous_metric"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One quantity of one score, against one class of attackers, with its limits.

    ``value`` is the best estimate; ``plugin`` the same-data optimum (biased
    upward). ``lower`` and ``upper`` are each one-sided at (1-confidence)/2,
    shared over the score columns (but for a row that is ``not-an-interval``).
    Where there is no figure its ``_reason`` says why.
    Of ``any_difference`` the ``value`` is a p-value and there are no limits.
    ``n_members`` and ``n_holdout`` are the rows behind the value; an upper limit may
    rest on others, as mipaudit help methods says. ``fpr`` is set for ``tpr_at_fpr`` only,
    ``metric`` (its name) for ``metric``, ``bandwidth`` (in units of the score) for
    kernel densities, ``group`` for a subgroup, ``versus`` (the other score) for
    ``difference``.
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
    side: Literal["high", "low"] | None = None
    value_reason: Message | None = None
    lower_reason: Message | None = None
    upper_reason: Message | None = None
    metric: str | None = None
    bandwidth: float | None = None
    group: str | None = None
    versus: str | None = None

    @property
    def unlimited(self) -> str:
        """Return the word for an upper limit that there is not: none, or that it says nothing."""
        why = self.upper_reason
        return VACUOUS if why is not None and why.code in _VACUOUS_REASONS else "none"
