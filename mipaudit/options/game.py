"""What pure mathematics is asked, too: the game, tables, seeds and reports that are there.

Few modules are read for it: `noise` and `bounds` ask for no more.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from mipaudit.options.declare import Options, act, choice, free, manner, reads, required
from mipaudit.options.values import (
    CONFIDENCE,
    NOT_NEGATIVE,
    PROBABILITY,
    SHARE,
    Range,
    above,
    at_least,
    column_list,
    whole_number,
)

if TYPE_CHECKING:
    from mipaudit.statements.provenance import Setting

# With less, more answers are untrue than readers expect.
USUAL_CONFIDENCE = 0.95

PRIOR_OPTION = free(
    "Probability that a record is a member, before its score is known.",
    metavar="P",
    within=PROBABILITY,
)
CONFIDENCE_OPTION = choice(
    "How often the true value lies between the lower and the upper confidence limit: 0.95 is 95%.",
    metavar="C",
    within=CONFIDENCE,
    needs_word=lambda given: not (isinstance(given, float) and given >= USUAL_CONFIDENCE),
)
STRICT_OPTION = free(
    "Use confidence limits that are proved to hold even if records are few, where they exist. The "
    "AUC's limits stay approximate. With a number as `seed`, all limits are approximate.",
    in_python="Without a `seed`, a fresh one is drawn.",
)
DELTA_OPTION = free("The delta that goes with every epsilon.", metavar="D", within=SHARE)
CLAIMED_EPSILON_OPTION = free("The claim to test, at `delta`.", metavar="E", within=NOT_NEGATIVE)
SENSITIVITY_OPTION = choice(
    "The most that one record can change a result, before noise; 1 by default.",
    metavar="S",
    within=above(0),
)
ETA_OPTION = free("The most accuracy above guessing that an attacker may have.")
# Beyond it a rate next to 1 has too few digits left of its complement.
COUNT = Range(lambda n: 0 <= n <= 10**9, "at least 0 and at most 1e9")
count: Any = partial(choice, within=COUNT, read=whole_number)
TRUE_POSITIVES_OPTION = count("Members that the attack called members.")
FALSE_NEGATIVES_OPTION = count("Members that the attack did not call members.")
FALSE_POSITIVES_OPTION = count("Holdout records that the attack called members.")
TRUE_NEGATIVES_OPTION = count("Holdout records that the attack did not call members.")
ADJACENCY_OPTION = free(
    "Which change differential privacy hides: one record is replaced by another (substitution), or "
    "one is added or removed (add-remove)."
)


class Prior(Options):
    """How often members are challenged."""

    GROUP = "Statistics"

    prior: float = PRIOR_OPTION.but(default=0.5)


class Confidence(Options):
    """How sure the limits are."""

    GROUP = "Statistics"

    confidence: float = CONFIDENCE_OPTION.but(default=USUAL_CONFIDENCE)


class Game(Prior, Confidence):
    """How often members are challenged, and how sure the limits are."""


class Neighbours(Options):
    """What a guarantee of differential privacy is about."""

    GROUP = "What a guarantee allows"

    adjacency: Literal["substitution", "add-remove"] | None = ADJACENCY_OPTION


MEMBERS_OPTION = reads("The members and their scores. Needs `holdout`.")
HOLDOUT_OPTION = reads("The holdout records and their scores. Needs `members`.")
SYNTHETIC_OPTION = reads("The synthetic records that were released.")
REFERENCE_OPTION = reads("Other records from the members' source, for density and classifier.")
CLAIMED_CURVE_OPTION = free(
    "Test a claim given as a table: for each false-positive rate (column fpr), the highest "
    "true-positive rate of any attacker (column tpr). bounds `curve` writes one.",
    is_input=True,
    in_python="Or a pair of sequences, FPR and TPR.",
)
COLUMNS_OPTION = choice(
    "Columns to compare. Default: all but row numbers, ids and the membership column.",
    metavar="COL,COL",
    read=column_list,
    repeated=True,
)
IGNORE_OPTION = choice("Columns to leave out.", metavar="COL,COL", read=column_list, repeated=True)
BY_OPTION = free(
    "Columns whose values make the groups, one for each combination. Quote a name that has a "
    "comma: '\"a,b\"'.",
    metavar="COL,COL",
    read=column_list,
    repeated=True,
)
KEY_COLUMN_OPTION = choice(
    "The column that identifies a row. Default: the row's position.", recorded_as="key_column"
)
MIN_CELL_OPTION = choice(
    "Show no cell with under N records, no group with under N members or N holdout records.",
    within=at_least(1),
)


def several(given: Any) -> tuple[Any, ...]:  # noqa: ANN401 - paths, frames, arrays
    """Return the inputs; one alone is one."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


SEED_OPTION = choice("Random seed for every random choice.", metavar="INTEGER", within=at_least(0))

SUBJECT_OPTION = act(
    "A released file, to be named in the statement or annex by its sha256. Repeat for each.",
    read=several,
    repeated=True,
    is_input=True,
    in_python="A path, or several in a list.",
)


class Recorded(Options):
    """What a report says of the settings."""

    settings: "tuple[Setting, ...] | None" = manner(
        "Settings that the report records as its own; None records the arguments.", flag=None
    )


class PolicyFile(Options):
    """Which policy file is used: of every command that one may set options of."""

    GROUP = "Policy"

    no_config: bool = act("Read no policy file.", default=False)
    config: str | None = act(
        "The policy file: settings and limits. Default: mipaudit.toml or pyproject.toml, in this "
        "folder or above.",
        metavar="FILE",
    )


class Stores(Options):
    """How stores are read: what is said stands in the environment while the command runs."""

    GROUP = "Input"

    allow_scheme: Sequence[str] = act(
        "Also read NAME:// addresses, such as sftp://, through package fsspec. Repeat for several.",
        default=(),
    )
    anonymous: bool = manner(
        "Read public addresses (s3://, gs://, az://) without credentials.", default=False
    )
    store_timeout: str | None = manner(
        "How long to wait for an address such as s3://. [default: 30]", metavar="SECONDS"
    )


class FixedSeed(Options):
    """The seed of whatever is drawn, used as it is."""

    GROUP = "Statistics"

    seed: int = SEED_OPTION.but(default=0)


class StoredReport(Options, kw_only=False):
    """What a command wrote, or returned."""

    report: Any = required(
        reads(
            "A report as JSON or as a page (.html), or - for standard input.",
            flag="REPORT",
            in_python="Or its bytes, or what a command returned.",
        )
    )
