"""What ``mipaudit attribute`` may be asked."""

from typing import Any

from mipaudit.errors import UsageError
from mipaudit.options import scores
from mipaudit.options.declare import Options, choice, free, reads
from mipaudit.options.game import HOLDOUT_OPTION, MEMBERS_OPTION, MIN_CELL_OPTION
from mipaudit.options.values import ABOVE_NOTHING


class _Guesses(scores.Scores, kw_only=False):
    data: scores.Data = reads(
        "A CSV (also .gz, .zst) or Parquet file, a folder or pattern of such files, or - for "
        "standard input.",
        flag="GUESSES",
    )


class _Attribute(Options):
    members: Any = MEMBERS_OPTION.but("Guesses about members. Needs `holdout`.")
    holdout: Any = HOLDOUT_OPTION.but("Guesses about holdout records. Needs `members`.")
    attribute_col: str = choice(
        "The column of the true attribute.", default="attribute", recorded_as="attribute_column"
    )
    guess_col: str = choice("The column of the guess.", default="guess", recorded_as="guess_column")


class _Limits(scores.AdvantageLimit):
    min_cell: int = MIN_CELL_OPTION.but(
        "Hide a value of the attribute if fewer than N members or N holdout records have it.",
        default=10,
    )
    max_attribute_advantage: float | None = free(
        "Policy: the attribute advantage of these guesses must be at most X.", within=ABOVE_NOTHING
    )
    max_advantage: float | None = scores.MAX_ADVANTAGE_OPTION.but(
        "Policy: the advantage in guessing membership must be at most X."
    )


class AttributeOptions(
    _Guesses, _Attribute, scores.Membership, _Limits, scores.Seeded, scores.Work
):
    """The guesses of an attribute, and a policy on what they achieve."""

    def check(self) -> None:
        """Refuse one column for both roles."""
        super().check()
        if self.attribute_col == self.guess_col:
            raise UsageError(
                "two_roles",
                "The attribute and the guess are the same column.",
                "Name two columns: `attribute_col` NAME `guess_col` NAME.",
            )

    HELP = """Test if attackers guess a hidden attribute better for members than for others.

An attacker used the release to guess an attribute of each record, such as a diagnosis. If the
guesses are right more often for members than for holdout records, the release leaks. The attribute
advantage (Yeom et al.) says how much more often. Such guesses also reveal who is a member. The
report gives a lower limit of how well they do so (the advantage).

GUESSES has one row per record: its attribute, the guess, and whether it is a member.

\b
Examples:
  mipaudit attribute guesses.csv
      The file has columns attribute, guess and member.
  mipaudit attribute guesses.csv --attribute-col race --guess-col guessed_race
      The columns have other names.
  mipaudit attribute guesses.csv --max-attribute-advantage 0.05
      A policy on these guesses: exit code 0 if it is met, 1 if not, 3 if inconclusive.
      Code 0 does not cover attackers who guess better.
"""
