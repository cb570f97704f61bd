"""What an audit states beside its figures: what was audited, and each finding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mipaudit.model.message import Finding
from mipaudit.statements.text.rounding import lower_text

if TYPE_CHECKING:
    from mipaudit.model.row import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Sizes and settings that every number in the report rests on.

    ``n_members`` and ``n_holdout`` count the rows that were audited; ``prior``
    is in (0, 1); ``baseline`` is |2p-1|, the advantage of the trivial attacker;
    ``confidence`` holds for each quantity, jointly over the score columns; with ``joint``
    for all rows together. ``alone`` is the lower limit of the first score at the whole error,
    where scores or limits share it.
    """

    n_members: int
    n_holdout: int
    prior: float
    baseline: float
    confidence: float
    score_columns: tuple[str, ...]
    member_column: str | None
    skipped_columns: tuple[str, ...]
    joint: bool = False
    alone: float | None = None

    def shared(self, limits: int = 0) -> str:
        """Return by how many the error is shared, and the first score's limit without that.

        Args:
            limits: that a verdict is over; 0 where there is none.
        """
        scores = len(self.score_columns)
        if self.alone is None or (max(scores, limits) < 2 and not self.joint):  # noqa: PLR2004
            return ""
        by = f"{limits} limits" if limits > scores else f"{scores} scores"
        by = "all rows" if self.joint and not limits else by
        return f"shared by {by}; alone {lower_text(self.alone)}"


# What it is called that a seed was stated of rows which do not decide with it.
STATED_SEED: Final = "stated_seed"
STRICT_SEED: Final = Finding("strict_seed")


def approximate(rows: Iterable[Row]) -> list[Row]:
    """Return rows of which nothing is promised at every sample size: their seed was stated."""
    return [
        replace(row, validity="approximate") if row.validity == "finite-sample" else row
        for row in rows
    ]
