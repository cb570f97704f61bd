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
    holdout: Data = required(
        reads("The holdout's records, in the same form.", flag="HOLDOUT", read=path_of)
    )


class _Features(Options):
    columns: Sequence[str] = COLUMNS_OPTION.but("Columns used. Default: all but ids.", default=())
    ignore: Sequence[str] = IGNORE_OPTION.but(default=())
    id_col: str | None = choice(
        "The person behind a row. One row per person and table is kept.", recorded_as="id_column"
    )


class _Sure(Options):
    GROUP = "Statistics"

    confidence: float = CONFIDENCE_OPTION.but(
        "How often a pair of limits contains the true value. Must be higher than in the audit "
        "that uses the report, because the audit's allowed error has to cover both.",
        default=0.975,  # half of the error of an audit at 0.95
    )  # half of the error of an audit at 0.95


class _BlindLimit(Options):
    max_blind: float | None = free(
        "Policy: the blind advantage (without the model) must be at most X.", within=ABOVE_NOTHING
    )


class ShiftOptions(_Tables, _Features, _Sure, _BlindLimit, StrictlySeeded, Work):
    """The tables, what is compared of them, and a policy on how they differ."""

    HELP = """Test whether members and holdout can be told apart without the model.

Give two tables of records, with their features as columns. If the two differ by themselves,
the model may not be the cause of an advantage measured on it. The report names the columns
that differ, and counts records and persons that are in both tables. mipaudit estimate
--blind then counts against the model only what goes beyond that difference.

\b
Examples:
  mipaudit shift members.csv holdout.csv
      Columns are matched by name. Their types are found.
  mipaudit shift members.csv holdout.csv --id-col patient --ignore visit
      Keeps one row per patient and table. Counts patients who are in both tables.
  mipaudit shift members.csv holdout.csv --max-blind 0.3
      A policy: exit code 0 if they are shown to differ by at most 0.3, 1 if by more, 3 if unclear.
  mipaudit shift members.csv holdout.csv -f json -o shift.json
      Writes the report for mipaudit estimate SCORES --blind shift.json.
"""

    def check(self) -> None:
        """Refuse a column in two roles."""
        super().check()
        both = {self.id_col, *self.ignore} & set(self.columns)
        require(not both, "two_roles", "A column of `columns` cannot be the id or be ignored.")
