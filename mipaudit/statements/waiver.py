"""Waivers: limits that a person accepts as not kept, for a reason, until a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.statements.estimate import Quantity  # noqa: TC001 - the codec reads it

if TYPE_CHECKING:
    from datetime import date


EVERY_GROUP: Final = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Who accepts that a limit is not shown to be kept, why, and until when.

    ``expires`` is the last day on which it holds (UTC, as 2026-12-31). ``score``,
    ``metric`` and ``fpr`` say which checks of the quantity are meant; None means every
    one. ``group`` is one group of records, ``"*"`` every group, None all together.
    """

    quantity: Quantity
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
