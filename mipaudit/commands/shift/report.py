"""What ``shift`` returns, prints and writes: the JSON format ``mipaudit.shift/3``.

It holds names of columns, counts and shares; no value of any record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mipaudit.commands.shift.survey import ColumnTest, SharedRecords
from mipaudit.model.message import Message
from mipaudit.model.row import Check, Row
from mipaudit.statements.any_report import AnyReport
from mipaudit.statements.verdict import Verdict, verdict_answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A column: what its values were taken for if it was compared, and why it was not, if not."""

    column: str
    kind: Literal["number", "category", "date"] | None = None
    why: Message | None = None


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
    features: tuple[Feature, ...]
    skipped: tuple[Feature, ...]
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


def answer(report: ShiftReport) -> Message:
    """Return the answer; its value ``plainly`` is the same in right guesses."""
    if report.policy:
        # Copies are counted between the groups here, and not in a release: no finding is weighed.
        found = verdict_answer(report.verdict, report.policy, ())
        return found.with_values(found.code, plainly=_judged_plainly(report))
    lower, most = report.estimates[0].lower or 0.0, widest(report.estimates)
    differs = differing(report)
    prior = report.design.prior
    known = {
        "lower": lower,
        "upper": None if most is None else most.upper,
        "against": None if most is None else most.attackers,
    }
    if lower > 0:
        plainly = Message.of("right_told_apart_alone", lower=lower, prior=prior)
        return Message.of("records_told_apart", plainly=plainly, **known)
    if differs:
        column = differs[0].column
        plainly = Message.of("right_columns", column=column, more=len(differs) - 1)
        return Message.of("columns_differ", plainly=plainly, column=column)
    at_most = None if most is None else _right_at_most(report, most.attackers, most.upper)
    plainly = Message.of("right_records_not_shown", most=at_most, prior=prior)
    return Message.of("records_not_told_apart", plainly=plainly, **known)


def remarks(report: ShiftReport) -> Iterator[Message]:
    """Yield what the answer means for an audit of the release."""
    shown = (report.estimates[0].lower or 0.0) > 0
    yield Message("may_explain_a_leak" if shown else "less_may_be_there")


def left_out(report: ShiftReport) -> tuple[str, ...]:
    """Return the columns that were not compared."""
    return tuple(one.column for one in report.design.skipped)


def widest(estimates: Sequence[Row]) -> Row | None:
    """Return the row with the largest upper limit of a named class; None without any."""
    named = [one for one in estimates if one.attackers != "any" and one.upper is not None]
    return max(named, key=lambda one: one.upper or 0.0) if named else None


def differing(report: ShiftReport) -> tuple[ColumnTest, ...]:
    """Return the tests that show a difference, at the report's confidence jointly."""
    return tuple(one for one in report.columns if one.adjusted <= 1 - report.design.confidence)


def alike(report: ShiftReport) -> tuple[ColumnTest, ...]:
    """Return the other tests, those nearest to a difference first."""
    return report.columns[len(differing(report)) :]


def nearest(report: ShiftReport) -> tuple[ColumnTest, ...]:
    """Return the tests nearest to a difference, where none shows one."""
    return () if differing(report) else report.columns


def shown_limit(report: ShiftReport) -> float | None:
    """Return the limit on the blind advantage."""
    return report.policy[0].limit if report.policy else None


def n_columns(report: ShiftReport) -> int:
    """Return how many columns were compared."""
    return len(report.design.features)


def each_confidence(report: ShiftReport) -> float:
    """Return the confidence of each limit by itself."""
    return round(1 - (1 - report.design.confidence) / 2, 10)


def error(report: ShiftReport) -> float:
    """Return the largest adjusted p-value that shows a difference."""
    return round(1 - report.design.confidence, 10)


def _judged_plainly(report: ShiftReport) -> Message:
    """Return what decided, in right guesses."""
    (check,) = report.policy
    prior = report.design.prior
    if report.verdict.status == "not_met":
        return Message.of("right_records_above", lower=check.lower, limit=check.limit, prior=prior)
    if report.verdict.status == "met":
        most = _right_at_most(report, check.against, check.upper, check.limit)
        return Message.of("right_records_within", most=most, limit=check.limit, prior=prior)
    return Message("right_records_open")


def _right_at_most(
    report: ShiftReport, against: str, upper: float | None, limit: float | None = None
) -> Message:
    """Return how often the best of a class of attackers is right at most."""
    prior = report.design.prior
    return Message.of("right_most_kind", upper=upper, against=against, prior=prior, limit=limit)
