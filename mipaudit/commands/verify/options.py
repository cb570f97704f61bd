"""What ``mipaudit verify`` may be asked."""

from collections.abc import Sequence
from typing import Any

from mipaudit.options.declare import Options, choice
from mipaudit.options.game import (
    CLAIMED_CURVE_OPTION,
    REFERENCE_OPTION,
    SUBJECT_OPTION,
    SYNTHETIC_OPTION,
    StoredReport,
    several,
)
from mipaudit.options.scores import Classes, Followed, Jobs
from mipaudit.options.shown import EXIT_ZERO_OPTION, Shown


class _Inputs(Options):
    input: Sequence[Any] = choice(
        "The audited scores. For a report of compare, repeat: PATH or NAME=PATH.",
        default=(),
        metavar="SCORES",
        read=several,
        repeated=True,
        is_input=True,
        in_python="As the command took it, alone or several in a list.",
    )


class _Beside(Options):
    claimed_curve: Any = CLAIMED_CURVE_OPTION.but(
        "For a report of epsilon: the table that was given as `claimed_curve`.", in_python=""
    )
    synthetic: Any = SYNTHETIC_OPTION.but("The released records, for a report of query.")
    reference: Any = REFERENCE_OPTION.but("The reference records, for a report of query.")


class _Released(Options):
    subject: Sequence[Any] = SUBJECT_OPTION.but(
        "A released file that an .intoto.json names, if it was moved. Repeat for several.",
        default=(),
    )


class VerifyOptions(StoredReport, _Inputs, _Released, Classes, _Beside, Jobs, Followed):
    """A report, and what it was made of."""

    HELP = """Compute a report again from its scores, and say whether it is the same.

Uses the settings that the report records. Every number must agree within 1e-9. Every word, the
number of rows and the sha256 of the input must be the same. Exit code 0: the report agrees; 1: it
differs; 2: it cannot be computed again, and the error says why.

\b
Examples:
  mipaudit verify report.html --input scores.parquet
  mipaudit verify report.json --members in.csv --holdout out.csv
  mipaudit verify compared.json --input v1.parquet --input v2.parquet
      A report of mipaudit compare. Give the same inputs in the same order, with the same names.
  mipaudit verify query.json --members m.csv --holdout h.csv --synthetic s.csv
      A report of mipaudit query. The scores are made again and must have the sha256 in the report.
  mipaudit verify model.intoto.json
      A file of mipaudit render --subject. The released files and the report must be beside it.
  mipaudit verify bounds.json
      A report that was made without scores, such as one of mipaudit bounds.
"""

    def inputs(self) -> tuple[Any, ...]:
        """Return what is read, and of inputs with a name their paths, too."""
        named = [one for one in self.input if isinstance(one, str) and "=" in one]
        return (*super().inputs(), *(one.partition("=")[2] for one in named))

    @property
    def has_scores(self) -> bool:
        """Tell whether there are any scores."""
        return bool(self.input) or self.members is not None or self.holdout is not None


class VerifyShown(Shown):
    """How what agrees is shown."""

    exit_zero: bool = EXIT_ZERO_OPTION.but("Exit with 0 even if the report differs.", default=False)
