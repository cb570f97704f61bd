"""A limit, what was found beside it, and who accepts that it is not kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mipaudit.model.message import Message  # noqa: TC001 - the codec reads it
from mipaudit.model.row import Attackers, Limited, Quantity

if TYPE_CHECKING:
    from datetime import date


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
