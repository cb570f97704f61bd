"""``mipaudit attribute``: how much better an attribute is guessed of members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from mipaudit.commands.attribute.guesses import (
    Guesses,
    ValueGuesses,
    attribute_advantage,
    count_guesses,
    guess_words,
    membership_advantage,
    right_share,
    summed,
    surely_shifted,
    value_advantage,
)
from mipaudit.commands.attribute.options import AttributeOptions
from mipaudit.commands.attribute.report import AttributeDesign, AttributeReport, CommonestValue
from mipaudit.counting.scores import settle_seed
from mipaudit.data.opening import open_input
from mipaudit.data.request import read_request
from mipaudit.evidence.scores.findings import size_findings
from mipaudit.maths.advantage import baseline
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Check, Quantity, Row
from mipaudit.options.public import public
from mipaudit.statements.copies import UNREAD, copy_findings
from mipaudit.statements.policy import named_check
from mipaudit.statements.provenance import Provenance, provenance
from mipaudit.statements.verdict import named_verdict, settled

if TYPE_CHECKING:
    from mipaudit.data.source import ScoreSource
    from mipaudit.evidence.named_attack import Limits


def answer_attribute(asked: AttributeOptions) -> AttributeReport:
    """Return how much better an attribute was guessed of members than of holdout records.

    There is a row for each record: its attribute, which is text or a number with few values,
    what was guessed in the same words, or nothing, and whether it is a member.

    Raises:
        UsageError: a setting is wrong.
        InputError: the input cannot be audited as it is.
    """
    columns = (asked.attribute_col, asked.guess_col)
    request = replace(
        read_request(asked, seed=asked.chosen_seed, group_columns=columns),
        score_columns=(asked.guess_col,),
        # Whoever makes no guess guesses wrong.
        nan="category",
    )
    with (
        guess_words(asked.guess_col),
        open_input(asked.data, asked.members, asked.holdout, request) as source,
    ):
        seed_used = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        guesses = count_guesses(source, asked)
        source.opened.check_unchanged()
        return attribute_report(
            source,
            guesses,
            asked,
            provenance(
                seed=seed_used,
                inputs=source.inputs(hash_all=asked.hash_inputs),
                settings=asked.recorded(),
                seeds=guesses.seeds,
            ),
        )


attribute = public(AttributeOptions, answer_attribute)


_OTHER: Final = "other"
_LIMITATIONS: Final = (
    Message("attribute_these"),
    Message("attribute_better"),
    Message("attribute_shares"),
    Message("attribute_reduction"),
    Message("attribute_alike"),
    Message("attribute_melded"),
)
# A shift that is found by chance would only alarm.
_SHIFT_ERROR: Final = 0.01


def attribute_report(
    source: ScoreSource, guesses: Guesses, asked: AttributeOptions, provenance: Provenance
) -> AttributeReport:
    """Return the report."""
    alpha = 1 - asked.confidence
    whole = summed(guesses.values.values())
    rare = [
        name
        for name, one in sorted(guesses.values.items())
        if min(one.n_members, one.n_holdout) < asked.min_cell
    ]
    # In a fixed order: which thread read what must not show in the last digit.
    every = [one for _, one in sorted(guesses.values.items())]
    found: dict[Quantity, Limits | None] = {
        "attribute_advantage": attribute_advantage(every, alpha),
        "membership_advantage": membership_advantage(whole, asked.prior, alpha),
        "right_of_members": right_share(whole.right_members, whole.n_members, alpha),
        "right_of_holdout": right_share(whole.right_holdout, whole.n_holdout, alpha),
    }
    values = sorted(_values(guesses.values, rare, asked.confidence), key=_place)
    checks = _checks(every, asked)
    unread = (one for one in source.findings() if one.code == UNREAD)
    told = (*copy_findings(source.copies), *unread, *source.assumed)
    design = AttributeDesign(
        n_members=whole.n_members,
        n_holdout=whole.n_holdout,
        attribute_column=asked.attribute_col,
        guess_column=asked.guess_col,
        n_values=len(guesses.values),
        prior=asked.prior,
        baseline=baseline(asked.prior),
        confidence=asked.confidence,
        member_column=source.member_column,
    )
    return AttributeReport(
        command="attribute",
        design=design,
        figures=tuple(_row(name, asked.confidence, one) for name, one in found.items()),
        by_value=tuple(row for row, _ in values),
        shares=tuple(share for _, shares in values for share in shares),
        findings=(*told, *_findings(guesses, whole, len(rare))),
        limitations=_LIMITATIONS,
        provenance=provenance,
        policy=checks,
        verdict=settled(named_verdict(checks), told),
        commonest=_commonest(guesses.values, asked.min_cell),
    )


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


def _checks(values: Sequence[ValueGuesses], asked: AttributeOptions) -> tuple[Check, ...]:
    """Judge every limit: 'not met' shares the error, each 'met' has the whole of it."""
    whole, alpha = summed(values), 1 - asked.confidence
    given: dict[Quantity, float | None] = {
        "attribute_advantage": asked.max_attribute_advantage,
        "membership_advantage": asked.max_advantage,
    }
    limits = {quantity: limit for quantity, limit in given.items() if limit is not None}

    def found(quantity: Quantity, error: float) -> Limits | None:
        if quantity == "attribute_advantage":
            return attribute_advantage(values, error)
        return membership_advantage(whole, asked.prior, error)

    checks = []
    for quantity, limit in limits.items():
        shared, alone = found(quantity, alpha / len(limits)), found(quantity, alpha)
        checks.append(
            named_check(
                quantity,
                Message(quantity),
                limit,
                (shared.lower, alone.upper) if shared and alone else (None, None),
                against="guesses",
                why=None if alone else Message("no_common_value"),
            )
        )
    return tuple(checks)


def _values(
    values: dict[str, ValueGuesses], rare: Sequence[str], confidence: float
) -> Iterator[tuple[Row, tuple[Row, ...]]]:
    """Yield each value with its shares, and the rare ones together; limits share the error."""
    parts = len(values) - len(rare) + bool(rare)
    for name, one in values.items():
        if name not in rare:
            yield _value(name, one, confidence, parts)
    if rare:
        both = summed([values[name] for name in rare])
        together, shares = _value(_OTHER, both, confidence, parts)
        yield replace(together, selection="rare values"), shares


def _value(
    name: str, one: ValueGuesses, confidence: float, parts: int
) -> tuple[Row, tuple[Row, ...]]:
    limits = value_advantage(one, (1 - confidence) / parts)
    found = _row("more_right_of_members", confidence, limits)
    row = replace(found, group=name, n_members=one.n_members, n_holdout=one.n_holdout)
    alone = replace(row, value=None, lower=None, upper=None)
    shares: tuple[tuple[Quantity, int, int], ...] = (
        ("right_of_members", one.right_members, one.n_members),
        ("right_of_holdout", one.right_holdout, one.n_holdout),
    )
    return row, tuple(
        replace(alone, quantity=quantity, value=right / n) for quantity, right, n in shares if n
    )


def _row(quantity: Quantity, confidence: float, found: Limits | None) -> Row:
    """Return a row on these guesses, without a figure where nothing is known."""
    limits = {} if found is None else asdict(found)
    return Row(quantity=quantity, attackers="guesses", confidence=confidence, **limits)


def _place(one: tuple[Row, object]) -> tuple[bool, float, str]:
    row, _ = one
    return bool(row.selection), -2.0 if row.lower is None else -row.lower, row.group or ""


def _findings(guesses: Guesses, whole: ValueGuesses, rare: int) -> Iterator[Finding]:
    yield from size_findings(whole.n_members, whole.n_holdout)
    if not guesses.matched:
        yield Finding("no_guess_matches")
    if guesses.unknown:
        yield Finding.of("attribute_missing", records=guesses.unknown)
    if guesses.silent:
        yield Finding.of("guess_missing", records=guesses.silent)
    if rare:
        yield Finding.of("groups_merged", case="values", groups=rare)
    shifted = surely_shifted([*guesses.values.values()], _SHIFT_ERROR)
    if shifted:
        yield Finding.of("attribute_shifted", values=shifted)
