"""From counts of right guesses to the report on an attribute."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Final

from mipaudit.commands.attribute.guesses import (
    Guesses,
    ValueGuesses,
    attribute_advantage,
    membership_advantage,
    right_share,
    summed,
    surely_shifted,
    value_advantage,
)
from mipaudit.commands.attribute.options import AttributeOptions
from mipaudit.commands.attribute.page import ATTRIBUTE_LIMITATIONS, attribute_summary
from mipaudit.commands.attribute.report import (
    AttributeDesign,
    AttributeFigure,
    AttributeQuantity,
    AttributeReport,
    AttributeValue,
    CommonestValue,
)
from mipaudit.data.source import ScoreSource
from mipaudit.evidence.named_attackers.named_attack import Limits
from mipaudit.evidence.scores.findings import size_findings
from mipaudit.model.message import Message
from mipaudit.report.verdict_sentence import led
from mipaudit.statements.copies import copy_findings
from mipaudit.statements.estimate import Finding
from mipaudit.statements.named_limit import StatedCheck, stated_check, stated_verdict
from mipaudit.statements.origin import Provenance
from mipaudit.statements.verdict import UNREAD, settled

_OTHER: Final = "other"
# A shift that is found by chance would only alarm.
_SHIFT_ERROR: Final = 0.01


def attribute_report(
    source: ScoreSource, guesses: Guesses, asked: AttributeOptions, provenance: Provenance
) -> AttributeReport:
    """Return the report."""
    alpha = 1 - asked.confidence
    whole = summed(guesses.values.values())
    shown = _shown(guesses.values, asked.min_cell)
    # In a fixed order: which thread read what must not show in the last digit.
    every = [one for _, one in sorted(guesses.values.items())]
    figures = (
        _figure("attribute_advantage", attribute_advantage(every, alpha)),
        _figure("membership_advantage", membership_advantage(whole, asked.prior, alpha)),
        _figure("right_of_members", right_share(whole.right_members, whole.n_members, alpha)),
        _figure("right_of_holdout", right_share(whole.right_holdout, whole.n_holdout, alpha)),
    )
    checks = _checks(every, asked)
    unread = (one for one in source.findings() if one.code == UNREAD)
    told = (*copy_findings(source.copies), *unread, *source.assumed)
    values = [_value(name, one, alpha / len(shown)) for name, one in shown.items()]
    design = AttributeDesign(
        n_members=whole.n_members,
        n_holdout=whole.n_holdout,
        attribute_column=asked.attribute_col,
        guess_column=asked.guess_col,
        n_values=len(guesses.values),
        prior=asked.prior,
        baseline=abs(2 * asked.prior - 1),
        confidence=asked.confidence,
        member_column=source.member_column,
    )
    report = AttributeReport(
        command="attribute",
        design=design,
        summary="",
        figures=figures,
        by_value=tuple(sorted(values, key=_place)),
        findings=(*told, *_findings(guesses, whole, shown)),
        limitations=ATTRIBUTE_LIMITATIONS,
        provenance=provenance,
        policy=checks,
        verdict=settled(stated_verdict(checks), told),
        commonest=_commonest(guesses.values, asked.min_cell),
    )
    return replace(report, summary=led(told, attribute_summary(report)))


def _commonest(values: dict[str, ValueGuesses], least: int) -> CommonestValue | None:
    """Return what always saying the commonest value reaches; of equals the first by name."""
    whole = summed(values.values())
    name = max(sorted(values), key=lambda one: values[one].records)
    one = values[name]
    if min(one.n_members, one.n_holdout) < least:
        return None
    return CommonestValue(
        name=name,
        right_of_members=one.n_members / whole.n_members,
        right_of_holdout=one.n_holdout / whole.n_holdout,
    )


def _checks(values: Sequence[ValueGuesses], asked: AttributeOptions) -> tuple[StatedCheck, ...]:
    """Judge every limit: 'not met' shares the error, each 'met' has the whole of it."""
    whole, alpha = summed(values), 1 - asked.confidence
    given: dict[AttributeQuantity, float | None] = {
        "attribute_advantage": asked.max_attribute_advantage,
        "membership_advantage": asked.max_advantage,
    }
    limits = {quantity: limit for quantity, limit in given.items() if limit is not None}

    def found(quantity: AttributeQuantity, error: float) -> Limits | None:
        if quantity == "attribute_advantage":
            return attribute_advantage(values, error)
        return membership_advantage(whole, asked.prior, error)

    checks = []
    for quantity, limit in limits.items():
        shared, alone = found(quantity, alpha / len(limits)), found(quantity, alpha)
        checks.append(
            stated_check(
                quantity,
                Message(quantity),
                limit,
                (shared.lower, alone.upper) if shared and alone else (None, None),
                unjudged=None if alone else "no value of the attribute is in both classes",
            )
        )
    return tuple(checks)


def _shown(values: dict[str, ValueGuesses], least: int) -> dict[str, ValueGuesses]:
    """Return the values that are shown by themselves, and the others together."""
    large = {
        name: one
        for name, one in sorted(values.items())
        if min(one.n_members, one.n_holdout) >= least
    }
    small = [one for name, one in values.items() if name not in large]
    return large | ({_OTHER: summed(small)} if small else {})


def _figure(quantity: AttributeQuantity, found: Limits | None) -> AttributeFigure:
    return AttributeFigure(quantity=quantity, **_limits(found))


def _limits(found: Limits | None) -> dict[str, float | None]:
    """Return the three numbers of a row, none where nothing is known."""
    return dict.fromkeys(("value", "lower", "upper")) if found is None else {**asdict(found)}


def _value(name: str, one: ValueGuesses, alpha: float) -> AttributeValue:
    return AttributeValue(
        name=name,
        n_members=one.n_members,
        n_holdout=one.n_holdout,
        right_members=one.right_members / one.n_members if one.n_members else None,
        right_holdout=one.right_holdout / one.n_holdout if one.n_holdout else None,
        **_limits(value_advantage(one, alpha)),
    )


def _place(one: AttributeValue) -> tuple[bool, float, str]:
    return one.name == _OTHER, -2.0 if one.lower is None else -one.lower, one.name


def _findings(
    guesses: Guesses, whole: ValueGuesses, shown: dict[str, ValueGuesses]
) -> Iterator[Finding]:
    yield from size_findings(whole.n_members, whole.n_holdout)
    if not guesses.matched:
        yield Finding("no_guess_matches")
    if guesses.unknown:
        yield Finding.of("attribute_missing", records=guesses.unknown)
    if guesses.silent:
        yield Finding.of("guess_missing", records=guesses.silent)
    if _OTHER in shown:
        rare = len(guesses.values) - len(shown) + 1
        yield Finding.of("groups_merged", case="values", groups=rare)
    shifted = surely_shifted([*guesses.values.values()], _SHIFT_ERROR)
    if shifted:
        yield Finding.of("attribute_shifted", values=shifted)
