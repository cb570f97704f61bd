"""What ``mipaudit attribute`` may be asked."""

from typing import Any

from mipaudit.errors import UsageError
from mipaudit.options.declare import Options, choice, free, reads
from mipaudit.options.game import HOLDOUT_OPTION, MEMBERS_OPTION, MIN_CELL_OPTION
from mipaudit.options.scores import (
    MAX_ADVANTAGE_OPTION,
    AdvantageLimit,
    Data,
    Membership,
    Scores,
    Seeded,
    Work,
)
from mipaudit.options.values import ABOVE_NOTHING


class _Guesses(Scores, kw_only=False):
    data: Data = reads(
        "A CSV (also .gz, .zst) or Parquet file, a folder or pattern of such files, or - for "
        "standard input.",
        flag="GUESSES",
    )


class _Attribute(Options):
    members: Any = MEMBERS_OPTION.but("Guesses of members, with `holdout`.")
    holdout: Any = HOLDOUT_OPTION.but("Guesses of others, with `members`.")
    attribute_col: str = choice(
        "Holds the attribute as it is.", default="attribute", recorded_as="attribute_column"
    )
    guess_col: str = choice("Holds what was guessed.", default="guess", recorded_as="guess_column")


class _Limits(AdvantageLimit):
    min_cell: int = MIN_CELL_OPTION.but(
        "Fewest members and holdout records of a value shown.", default=10
    )
    max_attribute_advantage: float | None = free(
        "Policy: the attribute advantage of these guesses is at most X.", within=ABOVE_NOTHING
    )
    max_advantage: float | None = MAX_ADVANTAGE_OPTION.but(
        "Policy: the membership advantage of these guesses is at most X."
    )


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
