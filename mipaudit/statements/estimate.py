"""What an audit states: what was audited, each estimated quantity, each finding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from mipaudit.model.message import Message
from mipaudit.statements.choices import Side  # noqa: TC001 - the codec reads it
from mipaudit.statements.text.rounding import lower_text

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
]
Attackers = Literal[
    "any",
    "thresholds",
    "intervals-1",
    "intervals-4",
    "bins-16",
    "noised-query",
    "product-grid",
    "learned",
]
Validity = Literal["finite-sample", "approximate", "not-an-interval"]
# How the reason begins of a limit that the data do not allow to say anything: it would be as
# large as the quantity can be. Tables show this word in its place.
VACUOUS: Final = "vacuous"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One quantity of one score, against one class of attackers, with its limits.

    ``value`` is the best estimate; ``plugin`` the same-data optimum (biased
    upward). ``lower`` and ``upper`` are each one-sided at (1-confidence)/2,
    shared over the score columns (but for a row that is ``not-an-interval``).
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
    side: Side | None = None
    value_reason: str | None = None
    lower_reason: str | None = None
    upper_reason: str | None = None
    metric: str | None = None
    bandwidth: float | None = None
    group: str | None = None
    versus: str | None = None

    @property
    def unlimited(self) -> str:
        """Return the word for an upper limit that there is not: none, or that it says nothing."""
        return VACUOUS if (self.upper_reason or "").startswith(VACUOUS) else "none"


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


class Finding(Message):
    """Something that the reader must know; ``code`` is stable."""

    __slots__ = ()


# What it is called that a seed was stated of rows which do not decide with it.
STATED_SEED: Final = "stated_seed"
STRICT_SEED: Final = Finding("strict_seed")


def approximate(rows: Iterable[Estimate]) -> list[Estimate]:
    """Return rows of which nothing is promised at every sample size: their seed was stated."""
    return [
        replace(row, validity="approximate") if row.validity == "finite-sample" else row
        for row in rows
    ]
