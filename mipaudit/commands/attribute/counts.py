"""Counts right guesses by value and class, in one pass and little memory."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.commands.attribute.advantage import ValueGuesses
from mipaudit.counting.columns import Meter
from mipaudit.counting.kept_rows import hold_input, order_with_groups
from mipaudit.counting.large_seed import fits
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers
from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.summaries.group_tally import GroupCensus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mipaudit.commands.attribute.options import AttributeOptions
    from mipaudit.reading.source.source import ScoreSource

# How a group's name has a cell without a value; a text of these letters is in quotes there.
_MISSING: Final = "missing"
_NONE: Final = ValueGuesses(right_members=0, n_members=0, right_holdout=0, n_holdout=0)


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
    groups = source.every_row()[0].assembly.groups
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
        values[value] = values.get(value, _NONE) + ValueGuesses(
            right_members=members * right,
            n_members=members,
            right_holdout=holdout * right,
            n_holdout=holdout,
        )
    if not any(one.n_members for one in values.values()) or not any(
        one.n_holdout for one in values.values()
    ):
        raise InputError(
            "unknown_attribute",
            "The attribute is empty for all members or for all holdout records.",
            hint="Name the column that holds it with `attribute_column`.",
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
            ordered = order_with_groups(kept, 0, asked.chosen_seed)
            census = ordered.over(GroupCensus)
            members, holdout = (sum(pair[at] for pair in census.sizes.values()) for at in (0, 1))
            source.unit_rows_dropped = kept.dropped(members, holdout)
            return census, {None: ordered.seed}
    meter = None if progress is None else Meter(source.rows_hint, progress).advance
    seeds: Mapping[str | None, int] = {}
    if source.unit_seed is not None:
        seeds = {None: source.unit_seed}
    return fold(source.partitions(), GroupCensus, workers=workers, progress=meter), seeds


@contextmanager
def guess_words(guess_column: str) -> Iterator[None]:
    """Say in the words of this command what reading by groups complains of."""
    try:
        yield
    except InputError as error:
        message = error.message.replace("--score-col: ", "`guess_column`: ")
        of_guess = quoted_name(guess_column) in message
        message = message.replace(
            "--by: ", "`guess_column`: " if of_guess else "`attribute_column`: "
        )
        if error.code == "too_many_groups":
            raise InputError(
                error.code,
                "The attribute and the guesses have more than 1,024 combinations of values.",
                hint="Group the values first: an attribute with many values is rarely guessed "
                "exactly.",
            ) from None
        hint = error.hint and error.hint.replace("--score-col", "`guess_column`")
        if (message, hint) == (error.message, error.hint):
            raise
        raise InputError(error.code, message, hint=hint) from None
