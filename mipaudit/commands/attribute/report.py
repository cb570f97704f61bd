"""What ``attribute`` returns, prints and writes: the JSON format ``mipaudit.attribute/3``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from mipaudit.model.message import Message
from mipaudit.model.row import Check, Row
from mipaudit.statements.any_report import AnyReport
from mipaudit.statements.verdict import Verdict, named_verdict, verdict_answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeDesign:
    """What was guessed, and of whom.

    Attributes:
        n_members: members whose attribute is known.
        n_holdout: holdout records, likewise.
        attribute_column: holds the attribute.
        guess_column: holds the guesses.
        n_values: how many values the attribute has in the input.
        prior: p in (0, 1), of the reduction to membership.
        baseline: the trivial attacker's advantage there, |2p-1|.
        confidence: of each pair of limits; jointly over the rows of ``by_value``.
        member_column: None when files or arrays say it.
    """

    n_members: int
    n_holdout: int
    attribute_column: str
    guess_column: str
    n_values: int
    prior: float
    baseline: float
    confidence: float
    member_column: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonestValue:
    """Who guesses without the model, and always the value that is commonest in the input.

    Attributes:
        name: the value.
        right_of_members: share of the members who have it.
        right_of_holdout: share of the holdout records that have it.
    """

    name: str
    right_of_members: float
    right_of_holdout: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttributeReport(AnyReport):
    """How much better an attribute is guessed for members.

    Attributes:
        figures: over all values: ``attribute_advantage`` (Definition 5, at the values' shares in
            the input), ``membership_advantage`` (of calling a record a member when its attribute is
            guessed right), and the share of right guesses in a class; no figure where nothing is
            known.
        by_value: of each value (``group``) how much more often its guesses are right of members
            than of holdout records, the limits jointly over all values; the largest lower limit
            first, rare ones together last (``selection``).
        shares: of each value the share of right guesses in a class.
        policy: one check for each limit that was given, on these guesses alone.
        commonest: what a guesser without the model reaches; None where every value is rare.
    """

    design: AttributeDesign
    figures: tuple[Row, ...]
    by_value: tuple[Row, ...]
    shares: tuple[Row, ...]
    policy: tuple[Check, ...] = ()
    verdict: Verdict = field(default_factory=partial(named_verdict, ()))
    commonest: CommonestValue | None = None


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
