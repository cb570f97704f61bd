"""The design of an audit, which every number of its report rests on."""

from __future__ import annotations

from dataclasses import dataclass


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
