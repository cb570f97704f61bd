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
        "What was audited; repeat for compare, as PATH or NAME=PATH.",
        default=(),
        metavar="SCORES",
        read=several,
        repeated=True,
        is_input=True,
        in_python="As the command took it, alone or several in a list.",
    )


class _Beside(Options):
    claimed_curve: Any = CLAIMED_CURVE_OPTION.but(
        "The claimed ROC of a report of epsilon.", in_python=""
    )
    synthetic: Any = SYNTHETIC_OPTION.but("The released records of a report of query.")
    reference: Any = REFERENCE_OPTION.but("The reference records of a report of query.")


class _Released(Options):
    subject: Sequence[Any] = SUBJECT_OPTION.but(
        "A released file of a statement, where it is not beside it by its name; repeatable.",
        default=(),
    )


class VerifyOptions(StoredReport, _Inputs, _Released, Classes, _Beside, Jobs, Followed):
    """A report, and what it was made of."""

    HELP = """Compute a report again from its scores, and say whether it is the same.

The settings are those that the report records. Every number must be the same, or within
1e-9; so must every word, and the sha256 and rows of the input. Other versions of
mipaudit and its libraries are told. Exit code 0: it agrees, 1: it differs, 2: it cannot
be computed again, and why.

\b
Examples:
  mipaudit verify report.html --input scores.parquet
  mipaudit verify report.json --members in.csv --holdout out.csv
  mipaudit verify compared.json --input v1.parquet --input v2.parquet
      A report of compare, of several inputs, in the same order and by the same names.
  mipaudit verify query.json --members m.csv --holdout h.csv --synthetic s.csv
      A report of query: every score again, by its sha256.
  mipaudit verify model.intoto.json
      A statement of render: the released files and the report stand beside it.
  mipaudit verify bounds.json
      Reports that were made without scores: bounds, noise, epsilon from counts.
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

    exit_zero: bool = EXIT_ZERO_OPTION.but("Exit 0 also when the report differs.", default=False)
