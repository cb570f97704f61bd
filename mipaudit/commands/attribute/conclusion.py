"""What a report of ``attribute`` concludes, as codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.model.message import Message
from mipaudit.statements.answer import verdict_answer

if TYPE_CHECKING:
    from mipaudit.commands.attribute.report import AttributeReport
    from mipaudit.model.check import Check
    from mipaudit.model.row import Row


def answer(report: AttributeReport) -> Message:
    """Return the verdict, or whether these guesses are better of members."""
    if report.verdict.status == "no_policy":
        return _found(report)
    return verdict_answer(report.verdict, report.policy, report.findings, alone=True)


def limits(report: AttributeReport) -> tuple[Check, ...]:
    """Return the limits of the policy where there are several: the answer names one."""
    return report.policy if len(report.policy) > 1 else ()


def marks(report: AttributeReport) -> dict[str, float]:
    """Return the limit of each quantity that has one."""
    return {one.quantity: one.limit for one in report.policy}


def _found(report: AttributeReport) -> Message:
    """Return the firmest statement that these guesses tell members apart, or that none does."""
    by = {one.quantity: one for one in report.figures}
    gain, membership = by["attribute_advantage"], by["membership_advantage"]
    name, baseline = report.design.attribute_column, report.design.baseline
    shown = next((one for one in report.by_value if _side(one)), None)
    if _side(gain) > 0:
        return Message.of("guessed_better", attribute=name, lower=gain.lower)
    if (membership.lower or 0.0) > baseline:
        return Message.of("right_guess_tells", lower=membership.lower, baseline=baseline or None)
    if _side(gain) < 0:
        return Message.of("guessed_worse", attribute=name, lower=-(gain.upper or 0.0))
    if shown is not None and _side(shown) > 0:
        return Message.of("value_guessed_better", name=shown.group, lower=shown.lower)
    if shown is not None:
        return Message.of("value_guessed_worse", name=shown.group, lower=-(shown.upper or 0.0))
    code = "attribute_in_one_class" if gain.upper is None else "not_guessed_better"
    return Message.of(code, attribute=name, upper=gain.upper)


def _side(one: Row) -> int:
    """Return 1 of a difference that is surely above 0, -1 of one surely below it, else 0."""
    above = one.lower is not None and one.lower > 0
    return int(above) - int(one.upper is not None and one.upper < 0)
