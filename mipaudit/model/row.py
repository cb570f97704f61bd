"""A figure between its limits, and a limit beside what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from mipaudit.model.message import Message  # noqa: TC001 - the codec reads it

if TYPE_CHECKING:
    from datetime import date

# What a policy may limit.
Limited = Literal[
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
]
Quantity = Literal[
    Limited,
    "attribute_advantage",
    "membership_advantage",
    "right_of_members",
    "right_of_holdout",
    "more_right_of_members",
    "tpr",
    "fpr",
    "same_rows",
    "predicted",
    "shortfall",
    "generalization_gap",
    "epsilon",
    "class_beside_any",
    "any_beside_class",
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
    # The attacker who made the guesses in the input.
    "guesses",
]
Validity = Literal[
    "finite-sample",
    "approximate",
    "not-an-interval",
    # Of epsilon, where more is assumed than what the design says.
    "assumes-gdp",
    "if-exchangeable",
    "if-fair-coins",
]
# The word for an upper limit that would be as large as the quantity can be: the data do not allow
# it to say anything. Tables show it in place of the number.
VACUOUS: Final = "vacuous"
# The codes of the reasons why an upper limit is vacuous.
_VACUOUS_REASONS: Final = frozenset({"vacuous_tpr", "vacuous_metric"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One quantity, against one class of attackers, with its limits.

    ``lower`` and ``upper`` are each one-sided at (1-confidence)/2, shared over the score columns
    (but for a row that is ``not-an-interval``). Where there is no figure its ``_reason`` says why.

    Attributes:
        quantity: what the figures are of; of ``any_difference`` the value is a p-value.
        score: the score column; empty where the row is of none.
        method: how the limits were found; of an attacker of the literature, who published it.
        attackers: whom the upper limit is about.
        value: the best estimate.
        lower: lower limit.
        upper: upper limit.
        confidence: of the two limits; 1 of one that holds for sure.
        selection: which rows count, and what was chosen on which.
        validity: of the limits.
        n_members: members behind the value; an upper limit may rest on others, as mipaudit help
            methods says. None where the row is of no records.
        n_holdout: holdout records, likewise.
        fpr: of ``tpr_at_fpr``.
        plugin: the same-data optimum, biased upward.
        side: of the score, where members are.
        value_reason: why there is no value.
        lower_reason: why there is no lower limit.
        upper_reason: why there is no upper limit.
        metric: its name, of ``metric``.
        bandwidth: of kernel densities, in units of the score.
        group: of records, where the row is of a subgroup.
        versus: what a difference is to: another score, class of attackers, or report.
        report: the report that the row is of, where there are several.
        cell: the number of a cell of scores, where the row is of one.
        delta: of ``epsilon``, where there are several.
    """

    quantity: Quantity
    score: str = ""
    method: str = ""
    attackers: Attackers = "any"
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    confidence: float
    selection: str = ""
    validity: Validity = "finite-sample"
    n_members: int | None = None
    n_holdout: int | None = None
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
    report: str | None = None
    cell: int | None = None
    delta: float | None = None

    @property
    def subject(self) -> tuple[str, Attackers, str | None]:
        """What the row is about: rows of other quantities of the same stand beside it."""
        return self.score, self.attackers, self.group

    @property
    def shown(self) -> Literal["increase", "decrease", "open"]:
        """Return what the limits of a difference leave no doubt of."""
        if self.lower is not None and self.lower > 0:
            return "increase"
        return "decrease" if self.upper is not None and self.upper < 0 else "open"

    @property
    def unlimited(self) -> str:
        """Return the word for an upper limit that there is not: none, or that it says nothing."""
        why = self.upper_reason
        return VACUOUS if why is not None and why.code in _VACUOUS_REASONS else "none"


# Copies are counted, not estimated.
Checked = Literal[Quantity, "copies"]
CheckStatus = Literal["met", "not_met", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Who accepts that a limit is not shown to be kept, why, and until when.

    ``expires`` is the last day on which it holds (UTC, as 2026-12-31). ``score``,
    ``metric`` and ``fpr`` say which checks of the quantity are meant; None means every
    one. ``group`` is one group of records, ``"*"`` every group, None all together.
    """

    quantity: Limited
    reason: str
    person: str
    expires: str
    score: str | None = None
    metric: str | None = None
    fpr: float | None = None
    group: str | None = None

    def expired(self, today: date) -> bool:
        """Tell whether its last day is over."""
        return self.expires < today.isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One limit beside what was found.

    ``lower`` and ``upper`` are the limits that decide: the lower one shares the error over
    all (limit, score) pairs, the upper one needs no sharing because ``met`` requires every
    one to pass. ``against`` is whom the upper one is about.

    Attributes:
        quantity: what must not be larger.
        score: that it is about; empty where there is none.
        limit: the largest value that is accepted.
        against: a class of attackers, or one that is named.
        lower: lower limit of what was found.
        upper: upper limit, likewise.
        status: whether the limit is kept.
        reason: what decided.
        fpr: of ``tpr_at_fpr``.
        records_to_settle: the total number of records that would settle a check that is open.
        metric: its name, where the quantity is ``metric``.
        prior: of a limit at another prior than the audit's.
        group: the group of records.
        versus: what ``difference`` is to: another query, or another report.
        report: the new report, where reports are compared.
        waived: the waiver because of which the check does not decide.
        expired: a waiver that no longer holds.
        blind: what the records alone may tell at most, 1 where nothing limits that, None where
            that was not asked for: ``lower`` and ``upper`` are then of records as likely in either
            class, and None where nothing is known of these.
    """

    quantity: Checked
    score: str
    limit: float
    against: Attackers
    lower: float | None
    upper: float | None
    status: CheckStatus
    reason: Message
    fpr: float | None = None
    records_to_settle: int | None = None
    metric: str | None = None
    prior: float | None = None
    group: str | None = None
    versus: str | None = None
    report: str | None = None
    waived: Waiver | None = None
    expired: Waiver | None = None
    blind: float | None = None
