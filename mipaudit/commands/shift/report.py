"""What ``shift`` returns, prints and writes: the JSON format ``mipaudit.shift/3``.

It holds names of columns, counts and shares; no value of any record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.commands.shift.record_copies import SharedRecords
from mipaudit.commands.shift.survey import ColumnTest
from mipaudit.model.check import Check
from mipaudit.model.message import Message
from mipaudit.model.row import Row
from mipaudit.statements.reports.any_report import AnyReport
from mipaudit.statements.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureUsed:
    """A column that was compared, and what its values were taken for."""

    column: str
    kind: Literal["number", "category", "date"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFeature:
    """A column that was left out, and why."""

    column: str
    why: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftDesign:
    """Sizes and settings that every number rests on.

    Attributes:
        n_members: rows of members, with the burn-in.
        n_holdout: rows of holdout records, with the burn-in.
        counted_members: of them, those outside the burn-in.
        counted_holdout: likewise.
        prior: 0.5: the blind advantage is the total variation of the two laws.
        confidence: of each pair of limits, and of the list of columns that differ.
        strict: whether the limits are finite-sample ones.
        id_column: the person behind a row; None for no such column.
        features: the columns that were compared.
        skipped: those that were not.
        learned: what was learned, the library included.
        coordinates: how many numbers it looks at.
    """

    n_members: int
    n_holdout: int
    counted_members: int
    counted_holdout: int
    prior: float
    confidence: float
    strict: bool
    id_column: str | None
    features: tuple[FeatureUsed, ...]
    skipped: tuple[SkippedFeature, ...]
    learned: str
    coordinates: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ShiftReport(AnyReport):
    """Whether members and holdout can be told apart without the model.

    Attributes:
        estimates: the blind advantage, for any attacker and for named classes. Where records
            have few combinations of values the first has an upper limit: ``estimate --blind``
            needs it.
        columns: the tests of all columns, those that differ most surely first.
        copies: holdout records that have a like among the members.
        policy: the limit on the blind advantage, if one was given.
        shown_at: the smallest one-sided error at which members and holdout are shown to
            differ, by what was learned or by a column; None where at no error that was tried.
    """

    design: ShiftDesign
    estimates: tuple[Row, ...]
    columns: tuple[ColumnTest, ...]
    copies: SharedRecords
    policy: tuple[Check, ...]
    verdict: Verdict
    shown_at: float | None = None

    @property
    def impossible(self) -> str | None:
        """Where the report holds a limit or an error that none can be; None for nowhere."""
        shares = {
            f"$.estimates[{at}].{name}": getattr(one, name)
            for at, one in enumerate(self.estimates)
            for name in ("lower", "upper")
        }
        for at, test in enumerate(self.columns):
            shares[f"$.columns[{at}].p_value"] = test.p_value
            shares[f"$.columns[{at}].adjusted"] = test.adjusted
            shares[f"$.columns[{at}].effect"] = abs(test.effect)
        wrong = [place for place, one in shares.items() if one is not None and not 0 <= one <= 1]
        if not 0 < self.design.confidence < 1:
            wrong.append("$.design.confidence")
        if self.shown_at is not None and not 0 < self.shown_at <= 1:
            wrong.append("$.shown_at")
        return next(iter(wrong), None)
