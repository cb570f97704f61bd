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
        reads("The holdout's records, likewise.", flag="HOLDOUT", read=path_of)
    )


class _Features(Options):
    columns: Sequence[str] = COLUMNS_OPTION.but("Compare these. Default: all but ids.", default=())
    ignore: Sequence[str] = IGNORE_OPTION.but(default=())
    id_col: str | None = choice(
        "The person behind a row; one row per person and class is kept.", recorded_as="id_column"
    )


class _Sure(Options):
    GROUP = "Statistics"

    confidence: float = CONFIDENCE_OPTION.but(
        "Confidence of every pair of limits: above that of the audit that takes the report, "
        "whose error pays for theirs.",
        default=0.975,  # half of the error of an audit at 0.95
    )  # half of the error of an audit at 0.95


class _BlindLimit(Options):
    max_blind: float | None = free(
        "Policy: the blind advantage is at most X.", within=ABOVE_NOTHING
    )


class ShiftOptions(_Tables, _Features, _Sure, _BlindLimit, StrictlySeeded, Work):
    """The tables, what is compared of them, and a policy on how they differ."""

    HELP = """Say whether members and holdout can be told apart without the model.

Two tables of records, with their features as columns. If the classes differ by
themselves, an advantage that is measured on a model may be no fault of the model.
The report names the columns that differ, and counts records and persons that are in
both classes; mipaudit estimate --blind holds only what goes beyond them against a model.

\b
Examples:
  mipaudit shift members.csv holdout.csv
      Columns are taken by name; types are found.
  mipaudit shift members.csv holdout.csv --id-col patient --ignore visit
      One row per patient and class; patients in both classes are counted.
  mipaudit shift members.csv holdout.csv --max-blind 0.3
      A policy: exit 0 if they are shown to be that much alike, 1 if not, 3 if it is open.
  mipaudit shift members.csv holdout.csv -f json -o shift.json
      For mipaudit estimate SCORES --blind shift.json.
"""

    def check(self) -> None:
        """Refuse a column in two roles."""
        super().check()
        both = {self.id_col, *self.ignore} & set(self.columns)
        require(not both, "two_roles", "A column of `columns` cannot be the id or be ignored.")
