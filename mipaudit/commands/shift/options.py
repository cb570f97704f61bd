"""What ``mipaudit shift`` may be asked."""

from collections.abc import Sequence

from mipaudit.options.declare import Options, choice, free, reads, required
from mipaudit.options.game import COLUMNS_OPTION, CONFIDENCE_OPTION, IGNORE_OPTION
from mipaudit.options.scores import Data, StrictlySeeded, Work
from mipaudit.options.values import ABOVE_NOTHING, path_of, require


class _Tables(Options, kw_only=False):
    members: Data = required(
        reads(
            "The members' records: a CSV (also .gz, .zst) or Parquet file, a folder or pattern of "
            "such files, or - for standard input.",
            flag="MEMBERS",
            read=path_of,
        )
    )
    holdout: Data = required(reads("The holdout records, likewise.", flag="HOLDOUT", read=path_of))


class _Features(Options):
    columns: Sequence[str] = COLUMNS_OPTION.but("Columns to use. Default: all but ids.", default=())
    ignore: Sequence[str] = IGNORE_OPTION.but(default=())
    id_col: str | None = choice(
        "The column of person ids. Each table keeps one row per person.", recorded_as="id_column"
    )


class _Sure(Options):
    GROUP = "Statistics"

    confidence: float = CONFIDENCE_OPTION.but(
        "How often the true value lies between the lower and the upper confidence limit. Must be "
        "higher than the confidence of an audit that uses this report.",
        default=0.975,  # half of the error of an audit at 0.95
    )  # half of the error of an audit at 0.95


class _BlindLimit(Options):
    max_blind: float | None = free(
        "Policy: the blind advantage must be at most X.", within=ABOVE_NOTHING
    )


class ShiftOptions(_Tables, _Features, _Sure, _BlindLimit, StrictlySeeded, Work):
    """The tables, what is compared of them, and a policy on how they differ."""

    HELP = """Test whether members and holdout can be told apart without the model.

Give a table of members and a table of holdout records, with their features as columns. If these
tables differ, an attack on the model can succeed although the model leaks nothing. The report says
how well an attacker can tell the tables apart (the blind advantage: 0 is a coin toss, 1 is always
right). It names the columns that differ, and counts records and people that are in both tables.
With this report, mipaudit estimate --blind counts only the leak beyond this difference.

\b
Examples:
  mipaudit shift members.csv holdout.csv
      Matches the columns by name.
  mipaudit shift members.csv holdout.csv --id-col patient --ignore visit
      Keeps one row per patient in each table. Counts patients who are in both tables.
  mipaudit shift members.csv holdout.csv --max-blind 0.3
      A policy: exit code 0 if the tables surely differ by at most 0.3, 1 if by more, 3 if unclear.
  mipaudit shift members.csv holdout.csv -o shift.json
      Writes the report for mipaudit estimate SCORES --blind shift.json.
"""

    def check(self) -> None:
        """Refuse a column in two roles."""
        super().check()
        both = {self.id_col, *self.ignore} & set(self.columns)
        require(not both, "two_roles", "A column of `columns` is also in `id_col` or `ignore`.")
