"""``mipaudit attribute``: how much better an attribute is guessed of members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from mipaudit.commands.attribute.options import AttributeOptions
from mipaudit.commands.attribute.report import AttributeDesign, AttributeReport, CommonestValue
from mipaudit.counting.counts import row_meter
from mipaudit.counting.scores import fits, hold_input, over_rows, settle_seed, with_groups
from mipaudit.data.opening import open_input
from mipaudit.data.request import read_request
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import InputError, as_typed
from mipaudit.evidence.named_attack import Limits, difference_of_shares
from mipaudit.evidence.scores.findings import size_findings
from mipaudit.maths.advantage import advantage, baseline
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.mean_limits import Term, melded_lower
from mipaudit.model.message import Finding, Message
from mipaudit.model.row import Check, Quantity, Row
from mipaudit.options.public import public
from mipaudit.statements.copies import UNREAD, copy_findings
from mipaudit.statements.policy import named_check
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.provenance import Provenance, provenance
from mipaudit.statements.verdict import named_verdict, settled
from mipaudit.summaries.tally import GroupCensus

if TYPE_CHECKING:
    from mipaudit.data.source import ScoreSource

_EVEN = 0.5
# How a group's name has a cell without a value; a text of these letters is in quotes there.
_MISSING: Final = "missing"


class ValueGuesses(NamedTuple):
    """How often one value of the attribute was guessed right.

    Attributes:
        right_members: members with the value of whom it was guessed.
        n_members: members with the value.
        right_holdout: holdout records with it of which it was guessed.
        n_holdout: holdout records with it.
    """

    right_members: int = 0
    n_members: int = 0
    right_holdout: int = 0
    n_holdout: int = 0

    @property
    def members(self) -> tuple[int, int]:
        """Return the members guessed right, and all of them."""
        return self.right_members, self.n_members

    @property
    def holdout(self) -> tuple[int, int]:
        """Return the same of holdout records."""
        return self.right_holdout, self.n_holdout

    @property
    def records(self) -> int:
        """Return how many records have the value."""
        return self.n_members + self.n_holdout

    @property
    def complete(self) -> bool:
        """Tell whether both classes have the value."""
        return min(self.n_members, self.n_holdout) > 0


def summed(values: Iterable[ValueGuesses]) -> ValueGuesses:
    """Return the counts of several values together."""
    return ValueGuesses(*map(sum, zip(ValueGuesses(), *values, strict=True)))


def attribute_advantage(values: Sequence[ValueGuesses], alpha: float) -> Limits | None:
    """Return the attribute advantage at the values' shares among all records of the input.

    Given each record's value, the right guesses of a class are independent binomials, so
    melded limits of their weighted sum hold whatever the shares are. Of a value that one class
    lacks, nothing is known there: it adds its whole share to either limit. Of one value alone it
    is Pr[right | member] - Pr[right | holdout].

    Args:
        values: one for each value of the attribute.
        alpha: two-sided error in (0, 1).

    Returns:
        None where no value is in both classes.
    """
    total = sum(one.records for one in values)
    known = [one for one in values if one.complete]
    if not known:
        return None
    unknown = sum(one.records for one in values if not one.complete) / total
    up, value = [], 0.0
    for one in known:
        share, rates = one.records / total, []
        for weight, (right, records) in ((share, one.members), (-share, one.holdout)):
            up.append(Term(weight=weight, successes=right, trials=records))
            rates.append(right / records)
        value += share * (rates[0] - rates[1])
    down = [Term(weight=-t.weight, successes=t.successes, trials=t.trials) for t in up]
    return Limits(
        value=value,
        lower=max(-1.0, melded_lower(up, alpha / 2) - unknown),
        upper=min(1.0, -melded_lower(down, alpha / 2) + unknown),
    )


def membership_advantage(whole: ValueGuesses, prior: float, alpha: float) -> Limits:
    """Return the advantage of calling a record a member when its attribute is guessed right.

    The reduction of Yeom et al. 2018, section 5: an attacker on membership who knows the
    attribute. It is one attacker, so the best one has at least its advantage.

    Args:
        whole: counts of all values together, of both classes.
        prior: p in (0, 1).
        alpha: two-sided error in (0, 1).
    """
    tpr, fpr = (right / records for right, records in (whole.members, whole.holdout))
    lower, upper = difference_of_shares(whole.members, whole.holdout, prior, alpha)
    return Limits(value=advantage(tpr, fpr, prior), lower=lower, upper=upper)


def right_share(right: int, records: int, alpha: float) -> Limits:
    """Return Clopper-Pearson limits of a share of right guesses, two-sided alpha."""
    return Limits(
        value=right / records,
        lower=float(clopper_pearson_lower(float(right), records, alpha / 2)),
        upper=float(clopper_pearson_upper(float(right), records, alpha / 2)),
    )


def surely_shifted(values: Sequence[ValueGuesses], alpha: float) -> int:
    """Return how many values are surely not equally frequent in both classes, jointly.

    Args:
        values: one for each value of the attribute.
        alpha: two-sided error, shared over the values.
    """
    whole, found = summed(values), 0
    for one in values:
        members, holdout = (one.n_members, whole.n_members), (one.n_holdout, whole.n_holdout)
        lower, upper = difference_of_shares(members, holdout, _EVEN, alpha / len(values))
        found += lower > 0 or upper < 0
    return found


# The seeds in use to choose who stands for a person; none without persons.
Seeds: TypeAlias = Mapping[str | None, int]


def count_guesses(
    source: ScoreSource, asked: AttributeOptions
) -> tuple[dict[str, ValueGuesses], list[Finding], Seeds]:
    """Read the input once.

    Returns:
        Counts by value of the attribute, what is said of the guesses, and the seeds in use.

    Raises:
        InputError: a class is empty, or the attribute is known of none of a class.
    """
    census, seeds = _census(source, asked)
    source.check_classes()
    groups = source.choice.groups
    assert groups is not None  # noqa: S101 - they were asked for
    values: dict[str, ValueGuesses] = {}
    guessed: set[str] = set()
    unknown = silent = 0
    for key, (members, holdout) in census.sizes.items():
        value, guess = groups.found[key]
        if value == _MISSING:
            unknown += members + holdout
            continue
        guessed.add(guess)
        silent += (members + holdout) * (guess == _MISSING)
        right = guess == value
        these = ValueGuesses(members * right, members, holdout * right, holdout)
        values[value] = summed([values.get(value, ValueGuesses()), these])
    if not summed(values.values()).complete:
        raise InputError(
            "unknown_attribute",
            "The attribute is empty for every member, or for every holdout record.",
            "Name the column that holds it with `attribute_col`.",
        )
    told = [] if guessed & set(values) else [Finding("no_guess_matches")]
    if unknown:
        # These records are in no count.
        told.append(Finding.of("attribute_missing", records=unknown))
    if silent:
        # Of whom nothing was guessed, it was guessed wrong.
        told.append(Finding.of("guess_missing", records=silent))
    return values, told, seeds


def _census(source: ScoreSource, asked: AttributeOptions) -> tuple[GroupCensus, Seeds]:
    """Return how many records have each attribute and guess, and the seed that chose them."""
    workers, progress = Workers(Engine(jobs=asked.jobs)), asked.progress
    if source.unit_seed is not None and fits(source):
        kept = hold_input(source, workers=workers, progress=progress)
        if kept.groups is not None:
            rows, seed = with_groups(source, kept, 0, asked.chosen_seed)
            return over_rows(rows, GroupCensus), {None: seed}
    meter = row_meter(source.rows_hint, progress)
    census = fold(source.partitions(), GroupCensus, workers=workers, progress=meter)
    return census, {} if source.unit_seed is None else {None: source.unit_seed}


# What reading by groups calls the two columns, and what this command does.
_ROLES: Final = ("`score_col`", "`by`", "`guess_col`", "`attribute_col`")


@contextmanager
def guess_words(guess_column: str) -> Iterator[None]:
    """Say in the words of this command what reading by groups complains of."""
    try:
        yield
    except InputError as error:
        score, group, guess, attribute = map(as_typed, _ROLES)
        message = error.message.replace(f"{score}: ", f"{guess}: ")
        told = guess if quoted_name(guess_column) in message else attribute
        message = message.replace(f"{group}: ", f"{told}: ")
        if error.code == "too_many_groups":
            raise InputError(
                error.code,
                "The attribute and the guesses have more than 1,024 combinations of values.",
                "Group the values first: an attribute with many values is rarely guessed exactly.",
            ) from None
        hint = error.hint and error.hint.replace(score, guess)
        if (message, hint) == (error.message, error.hint):
            raise
        raise InputError(error.code, message, hint) from None


def answer_attribute(asked: AttributeOptions) -> AttributeReport:
    """Return how much better an attribute was guessed for members than for holdout records.

    The input has a row for each record: its attribute (text, or a number with few values), the
    guess in the same words or nothing, and whether the record is a member.

    Raises:
        UsageError: a setting is wrong.
        InputError: the input cannot be audited as it is.
    """
    columns = (asked.attribute_col, asked.guess_col)
    request = replace(
        read_request(asked, seed=asked.chosen_seed, group_columns=columns),
        score_columns=(asked.guess_col,),
        # No guess counts as a wrong guess.
        nan="category",
    )
    with (
        guess_words(asked.guess_col),
        open_input(asked.data, asked.members, asked.holdout, request) as source,
    ):
        seed_used = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        values, told, seeds = count_guesses(source, asked)
        source.opened.check_unchanged()
        return attribute_report(
            source,
            values,
            told,
            asked,
            provenance(
                seed=seed_used,
                inputs=source.inputs(hash_all=asked.hash_inputs),
                settings=asked.recorded(),
                seeds=seeds,
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
    source: ScoreSource,
    values: dict[str, ValueGuesses],
    guessed: Sequence[Finding],
    asked: AttributeOptions,
    provenance: Provenance,
) -> AttributeReport:
    """Return the report."""
    # In a fixed order: which thread read what must not show in the last digit.
    values = dict(sorted(values.items()))
    whole, alpha = summed(values.values()), 1 - asked.confidence
    common = {name: one for name, one in values.items() if _least(one) >= asked.min_cell}
    figures = cache(partial(_figures, [*values.values()], whole, asked.prior))
    checks = tuple(_checks(asked, figures))
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
        figures=tuple(_row(of, asked.confidence, one) for of, one in figures(alpha).items()),
        by_value=tuple(row for row, _ in by_value),
        shares=tuple(share for of in by_value for share in _shares(*of)),
        findings=(
            *told,
            *size_findings(whole.n_members, whole.n_holdout),
            *guessed,
            *_value_findings([*values.values()], len(values) - len(common)),
        ),
        limitations=_LIMITATIONS,
        provenance=provenance,
        policy=checks,
        verdict=settled(named_verdict(checks), told),
        commonest=_commonest(values, whole, asked.min_cell),
    )


def _figures(
    values: Sequence[ValueGuesses], whole: ValueGuesses, prior: float, alpha: float
) -> dict[Quantity, Limits | None]:
    """Return what is said of all values, with limits, two-sided alpha; None where none is known."""
    return {
        "attribute_advantage": attribute_advantage(values, alpha),
        "membership_advantage": membership_advantage(whole, prior, alpha),
        "right_of_members": right_share(*whole.members, alpha),
        "right_of_holdout": right_share(*whole.holdout, alpha),
    }


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
    asked: AttributeOptions, figures: Callable[[float], Mapping[Quantity, Limits | None]]
) -> Iterator[Check]:
    """Judge every limit: 'not met' shares the error, each 'met' has the whole of it."""
    given: dict[Quantity, float | None] = {
        "attribute_advantage": asked.max_attribute_advantage,
        "membership_advantage": asked.max_advantage,
    }
    limited = {quantity: limit for quantity, limit in given.items() if limit is not None}
    alpha = 1 - asked.confidence
    for quantity, limit in limited.items():
        shared, alone = (figures(one)[quantity] for one in (alpha / len(limited), alpha))
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


def _value_findings(values: Sequence[ValueGuesses], rare: int) -> Iterator[Finding]:
    if rare:
        yield Finding.of("groups_merged", case="values", groups=rare)
    shifted = surely_shifted(values, _SHIFT_ERROR)
    if shifted:
        yield Finding.of("attribute_shifted", values=shifted)
