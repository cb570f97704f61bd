"""What ``mipaudit attribute`` may be asked."""

from typing import Annotated

from mipaudit.errors import UsageError
from mipaudit.options.declare import Choice, Free, Input, Options, but
from mipaudit.options.game import HoldoutOption, MembersOption, MinCellOption
from mipaudit.options.scores import (
    AdvantageLimit,
    Data,
    MaxAdvantageOption,
    Membership,
    Scores,
    Seeded,
    Work,
)
from mipaudit.options.values import ABOVE_NOTHING


class _Guesses(Scores, kw_only=False):
    data: Annotated[
        Data,
        Input(
            "GUESSES",
            "A CSV (also .gz, .zst) or Parquet file, a directory or glob of parts, or - for "
            "standard input.",
        ),
    ] = None


class _Attribute(Options):
    members: Annotated[MembersOption, but("Guesses of members, with `holdout`.")] = None
    holdout: Annotated[HoldoutOption, but("Guesses of others, with `members`.")] = None
    attribute_col: Annotated[
        str,
        Choice("--attribute-col", "Holds the attribute as it is.", recorded_as="attribute_column"),
    ] = "attribute"
    guess_col: Annotated[
        str, Choice("--guess-col", "Holds what was guessed.", recorded_as="guess_column")
    ] = "guess"


class _Limits(AdvantageLimit):
    min_cell: Annotated[
        MinCellOption[int], but("Fewest members and holdout records of a value shown.")
    ] = 10
    max_attribute_advantage: Annotated[
        float | None,
        Free(
            "--max-attribute-advantage",
            "Policy: the attribute advantage of these guesses is at most X.",
            within=ABOVE_NOTHING,
        ),
    ] = None
    max_advantage: Annotated[
        MaxAdvantageOption, but("Policy: the membership advantage of these guesses is at most X.")
    ] = None


class AttributeOptions(_Guesses, _Attribute, Membership, _Limits, Seeded, Work):
    """The guesses of an attribute, and a policy on what they achieve."""

    def check(self) -> None:
        """Refuse one column for both roles."""
        super().check()
        if self.attribute_col == self.guess_col:
            raise UsageError(
                "two_roles",
                "The attribute and the guess are the same column.",
                hint="Name two columns: `attribute_col` NAME `guess_col` NAME.",
            )

    HELP = """Say how much better an attribute is guessed of members than of others.

An attacker guessed an attribute of each record, such as a diagnosis, with the help of the
release. Where the guesses are better for records of the training data than for others, the
release leaks of its members in particular: the attribute advantage (Yeom et al.). And
whether a guess is right then gives membership away, by at least as much as is shown.

GUESSES has one row per record: its attribute, the guess, and whether it is a member.

\b
Examples:
  mipaudit attribute guesses.csv
      With columns attribute, guess and member.
  mipaudit attribute guesses.csv --attribute-col race --guess-col guessed_race
      With columns of other names.
  mipaudit attribute guesses.csv --max-attribute-advantage 0.05
      A policy on these guesses: exit 0 if met, 1 if not, 3 if it is open. Met says nothing
      of those who guess better.
  mipaudit attribute guesses.csv -f json -o attribute.json
      A report for programs.
"""
