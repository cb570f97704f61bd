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
    "Probability that a challenged record is a member.", metavar="P", within=PROBABILITY
)
CONFIDENCE_OPTION = choice(
    "Confidence of every pair of limits: 1 - alpha.",
    metavar="C",
    within=CONFIDENCE,
    needs_word=lambda given: not (isinstance(given, float) and given >= USUAL_CONFIDENCE),
)
STRICT_OPTION = free(
    "Finite-sample limits where there are any; only the AUC stays approximate, and all do with "
    "a stated seed.",
    in_python="Without a `seed` one is drawn.",
)
DELTA_OPTION = free("Of every epsilon.", metavar="D", within=SHARE)
CLAIMED_EPSILON_OPTION = free("A claim to refute, at `delta`.", metavar="E", within=NOT_NEGATIVE)
SENSITIVITY_OPTION = choice(
    "How far a neighbour moves what gets the noise; 1 by default.", metavar="S", within=above(0)
)
ETA_OPTION = free("Accuracy above guessing that is left to an attacker.")
# Beyond it a rate next to 1 has too few digits left of its complement.
COUNT = Range(lambda n: 0 <= n <= 10**9, "at least 0 and at most 1e9")
count: Any = partial(choice, within=COUNT, read=whole_number)
TRUE_POSITIVES_OPTION = count("Members that it called members.")
FALSE_NEGATIVES_OPTION = count("Members that it did not.")
FALSE_POSITIVES_OPTION = count("Holdout records that it called members.")
TRUE_NEGATIVES_OPTION = count("Holdout records that it did not.")
ADJACENCY_OPTION = free("The claim's neighbouring data sets.")


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
    """What a claim of differential privacy is about."""

    GROUP = "Claim"

    adjacency: Literal["substitution", "add-remove"] | None = ADJACENCY_OPTION


MEMBERS_OPTION = reads("The members' scores, with `holdout`.")
HOLDOUT_OPTION = reads("The holdout records' scores, with `members`.")
SYNTHETIC_OPTION = reads("The records that were released.")
REFERENCE_OPTION = reads("Records of neither class, for density and classifier.")
CLAIMED_CURVE_OPTION = free(
    "A claim that no attacker exceeds the ROC in this file: columns fpr and tpr, or the "
    "curve that mipaudit bounds writes.",
    is_input=True,
    in_python="Or a pair of sequences, FPR and TPR.",
)
COLUMNS_OPTION = choice(
    "Compare these. Default: all but row labels.",
    metavar="COL,COL",
    read=column_list,
    repeated=True,
)
IGNORE_OPTION = choice("Leave these out.", metavar="COL,COL", read=column_list, repeated=True)
BY_OPTION = free(
    "Tell groups apart by these columns; repeat for several. A name with a comma: '\"a,b\"'.",
    metavar="COL,COL",
    read=column_list,
    repeated=True,
)
KEY_COLUMN_OPTION = choice(
    "Identifies a row. Default: its position in the input.", recorded_as="key_column"
)
MIN_CELL_OPTION = choice("Fewest records of a cell or a group that is shown.", within=at_least(1))


def several(given: Any) -> tuple[Any, ...]:  # noqa: ANN401 - paths, frames, arrays
    """Return the inputs; one alone is one."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


SEED_OPTION = choice("Fixes every random choice.", metavar="INTEGER", within=at_least(0))

SUBJECT_OPTION = act(
    "A file that is released, named in the statement or annex by its sha256; repeat for each.",
    read=several,
    repeated=True,
    is_input=True,
    in_python="A path, or several in a list.",
)


class Recorded(Options):
    """What a report says of the settings."""

    settings: "tuple[Setting, ...] | None" = manner(
        "Recorded in the provenance; None records the arguments.", flag=None
    )


class PolicyFile(Options):
    """Which policy file is used: of every command that one may set options of."""

    GROUP = "Policy"

    no_config: bool = act("Use no policy file.", default=False)
    config: str | None = act(
        "Settings and limits. Default: mipaudit.toml or pyproject.toml, here or above.",
        metavar="FILE",
    )


class Stores(Options):
    """How stores are read: what is said stands in the environment while the command runs."""

    GROUP = "Input"

    allow_scheme: Sequence[str] = act(
        "Read addresses of this scheme too, as sftp, with what fsspec has installed for it; "
        "repeat for several.",
        default=(),
    )
    anonymous: bool = manner(
        "Read s3://, gs:// and az:// without credentials: what is public.", default=False
    )
    store_timeout: str | None = manner(
        "How long a store may take to connect, and send no byte. [default: 30]", metavar="SECONDS"
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
