"""What a report of ``shift`` concludes: its answer, its remarks and its rows, as codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mipaudit.model.message import Message
from mipaudit.statements.answer import verdict_answer

if TYPE_CHECKING:
    from mipaudit.commands.shift.report import ShiftReport
    from mipaudit.commands.shift.survey import ColumnTest
    from mipaudit.model.row import Row


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
