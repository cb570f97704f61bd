"""Right guesses by value and class, counted in one pass, and what they show.

Yeom, Giacomelli, Fredrikson and Jha 2018, Definition 5: the sum over values t_i of
Pr[t = t_i] (Pr[guess = t_i | member, t_i] - Pr[guess = t_i | holdout, t_i]).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

from mipaudit.commands.attribute.options import AttributeOptions
from mipaudit.counting.counts import row_meter
from mipaudit.counting.scores import fits, hold_input
from mipaudit.data.source import ScoreSource
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import InputError, as_typed
from mipaudit.evidence.named_attack import Limits, difference_of_shares
from mipaudit.maths.advantage import advantage
from mipaudit.maths.binomial import clopper_pearson_lower, clopper_pearson_upper
from mipaudit.maths.mean_limits import Term, melded_lower
from mipaudit.statements.printable_names import quoted_name
from mipaudit.summaries.tally import GroupCensus

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """What was guessed.

    Attributes:
        values: counts by value of the attribute.
        unknown: members and holdout records without the attribute: they are in no count.
        silent: records of which nothing was guessed: wrong.
        matched: whether any guess is a value of the attribute.
        seeds: in use to choose who stands for a person; none without persons.
    """

    values: dict[str, ValueGuesses]
    unknown: int
    silent: int
    matched: bool
    seeds: Mapping[str | None, int]


def count_guesses(source: ScoreSource, asked: AttributeOptions) -> Guesses:
    """Read the input once.

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
            "The attribute is empty for all members or for all holdout records.",
            hint="Name the column that holds it with `attribute_col`.",
        )
    return Guesses(
        values=values,
        unknown=unknown,
        silent=silent,
        matched=bool(guessed & set(values)),
        seeds=seeds,
    )


def _census(
    source: ScoreSource, asked: AttributeOptions
) -> tuple[GroupCensus, Mapping[str | None, int]]:
    """Return how many records have each attribute and guess, and the seed that chose them."""
    workers, progress = Workers(Engine(jobs=asked.jobs)), asked.progress
    if source.unit_seed is not None and fits(source):
        kept = hold_input(source, workers=workers, progress=progress)
        if kept.rows.groups is not None:
            ordered = kept.with_groups(0, asked.chosen_seed)
            return ordered.over(GroupCensus), {None: ordered.seed}
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
                hint="Group the values first: an attribute with many values is rarely guessed "
                "exactly.",
            ) from None
        hint = error.hint and error.hint.replace(score, guess)
        if (message, hint) == (error.message, error.hint):
            raise
        raise InputError(error.code, message, hint=hint) from None
