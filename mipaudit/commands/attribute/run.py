"""``mipaudit attribute``: how much better an attribute is guessed of members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
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
# What is said of all values.
_FIGURES: Final[tuple[Quantity, ...]] = (
    *("attribute_advantage", "membership_advantage", "right_of_members", "right_of_holdout"),
)
# A shift that is found by chance would only alarm.
_SHIFT_ERROR: Final = 0.01


def attribute_report(
    source: ScoreSource, guesses: Guesses, asked: AttributeOptions, provenance: Provenance
) -> AttributeReport:
    """Return the report."""
    # In a fixed order: which thread read what must not show in the last digit.
    values = dict(sorted(guesses.values.items()))
    whole, alpha = summed(values.values()), 1 - asked.confidence
    common = {name: one for name, one in values.items() if _least(one) >= asked.min_cell}
    limits = partial(_limits, [*values.values()], whole, asked.prior)
    checks = tuple(_checks(asked, limits))
    by_value = _by_value(values, common, asked.confidence)
    unread = (one for one in source.findings() if one.code == UNREAD)
    told = (*copy_findings(source.copies), *unread, *source.assumed)
    return AttributeReport(
        command="attribute",
        design=AttributeDesign(
            n_members=whole.n_members,
            n_holdout=whole.n_holdout,
            attribute_column=asked.attribute_col,
            guess_column=asked.guess_col,
            n_values=len(values),
            prior=asked.prior,
            baseline=baseline(asked.prior),
            confidence=asked.confidence,
            member_column=source.member_column,
        ),
        figures=tuple(_row(one, asked.confidence, limits(one, alpha)) for one in _FIGURES),
        by_value=tuple(row for row, _ in by_value),
        shares=tuple(share for of in by_value for share in _shares(*of)),
        findings=(*told, *_findings(guesses, whole, len(values) - len(common))),
        limitations=_LIMITATIONS,
        provenance=provenance,
        policy=checks,
        verdict=settled(named_verdict(checks), told),
        commonest=_commonest(values, whole, asked.min_cell),
    )


def _limits(
    values: Sequence[ValueGuesses],
    whole: ValueGuesses,
    prior: float,
    quantity: Quantity,
    alpha: float,
) -> Limits | None:
    """Return a figure on all values with limits, two-sided alpha; None where none is known."""
    match quantity:
        case "attribute_advantage":
            return attribute_advantage(values, alpha)
        case "membership_advantage":
            return membership_advantage(whole, prior, alpha)
        case "right_of_members":
            return right_share(*whole.members, alpha)
        case _:
            return right_share(*whole.holdout, alpha)


def _least(one: ValueGuesses) -> int:
    return min(one.n_members, one.n_holdout)


def _commonest(
    values: dict[str, ValueGuesses], whole: ValueGuesses, least: int
) -> CommonestValue | None:
    """Return what always saying the commonest value reaches; of equals the first by name."""
    name, one = max(values.items(), key=lambda value: value[1].records)
    if _least(one) < least:
        return None
    return CommonestValue(
        name=name,
        right_of_members=one.n_members / whole.n_members,
        right_of_holdout=one.n_holdout / whole.n_holdout,
    )


def _checks(
    asked: AttributeOptions, limits: Callable[[Quantity, float], Limits | None]
) -> Iterator[Check]:
    """Judge every limit: 'not met' shares the error, each 'met' has the whole of it."""
    given: dict[Quantity, float | None] = {
        "attribute_advantage": asked.max_attribute_advantage,
        "membership_advantage": asked.max_advantage,
    }
    limited = {quantity: limit for quantity, limit in given.items() if limit is not None}
    alpha = 1 - asked.confidence
    for quantity, limit in limited.items():
        shared, alone = limits(quantity, alpha / len(limited)), limits(quantity, alpha)
        yield named_check(
            quantity,
            Message(quantity),
            limit,
            (shared.lower, alone.upper) if shared and alone else (None, None),
            against="guesses",
            why=None if alone else Message("no_common_value"),
        )


def _by_value(
    values: Mapping[str, ValueGuesses], common: Mapping[str, ValueGuesses], confidence: float
) -> list[tuple[Row, ValueGuesses]]:
    """Return each common value, and the rare ones together; their limits share the error."""
    rare = [one for name, one in values.items() if name not in common]
    parts = [(*of, "") for of in common.items()]
    parts += [(_OTHER, summed(rare), "rare values")] * bool(rare)
    found = []
    for name, one, selection in parts:
        limits = attribute_advantage([one], (1 - confidence) / len(parts))
        row = replace(
            _row("more_right_of_members", confidence, limits),
            group=name,
            n_members=one.n_members,
            n_holdout=one.n_holdout,
            selection=selection,
        )
        found.append((row, one))
    return sorted(found, key=_place)


def _shares(row: Row, one: ValueGuesses) -> Iterator[Row]:
    """Yield the shares of right guesses of a value, without limits."""
    alone = replace(row, value=None, lower=None, upper=None, selection="")
    if one.n_members:
        yield replace(alone, quantity="right_of_members", value=one.right_members / one.n_members)
    if one.n_holdout:
        yield replace(alone, quantity="right_of_holdout", value=one.right_holdout / one.n_holdout)


def _row(quantity: Quantity, confidence: float, found: Limits | None) -> Row:
    """Return a row on these guesses, without a figure where nothing is known."""
    limits = {} if found is None else asdict(found)
    return Row(quantity=quantity, attackers="guesses", confidence=confidence, **limits)


def _place(of: tuple[Row, ValueGuesses]) -> tuple[bool, float, str]:
    row, _ = of
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
