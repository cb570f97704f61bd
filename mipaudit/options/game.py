"""What pure mathematics is asked, too: the game, tables, seeds and reports that are there.

Few modules are read for it: `noise` and `bounds` ask for no more.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mipaudit.options.declare import Act, Choice, Free, Input, Manner, Options, T
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

PriorOption = Annotated[
    T,
    Free(
        "--prior",
        "Probability that a challenged record is a member.",
        metavar="P",
        within=PROBABILITY,
    ),
]
ConfidenceOption = Annotated[
    T,
    Choice(
        "--confidence",
        "Confidence of every pair of limits: 1 - alpha.",
        metavar="C",
        within=CONFIDENCE,
        needs_word=lambda given: not (isinstance(given, float) and given >= USUAL_CONFIDENCE),
    ),
]
StrictOption = Annotated[
    bool,
    Free(
        "--strict",
        "Finite-sample limits where there are any; only the AUC stays approximate, and all do with "
        "a stated seed.",
        in_python="Without a `seed` one is drawn.",
    ),
]
DeltaOption = Annotated[T, Free("--delta", "Of every epsilon.", metavar="D", within=SHARE)]
ClaimedEpsilonOption = Annotated[
    float | None,
    Free("--claimed-epsilon", "A claim to refute, at `delta`.", metavar="E", within=NOT_NEGATIVE),
]
SensitivityOption = Annotated[
    float | None,
    Choice(
        "--sensitivity",
        "How far a neighbour moves what gets the noise; 1 by default.",
        metavar="S",
        within=above(0),
    ),
]
EtaOption = Annotated[T, Free("--eta", "Accuracy above guessing that is left to an attacker.")]
# Beyond it a rate next to 1 has too few digits left of its complement.
COUNT = Range(lambda n: 0 <= n <= 10**9, "at least 0 and at most 1e9")
Count = partial(Choice, within=COUNT, read=whole_number)
TruePositivesOption = Annotated[int | None, Count("--tp", "Members that it called members.")]
FalseNegativesOption = Annotated[int | None, Count("--fn", "Members that it did not.")]
FalsePositivesOption = Annotated[
    int | None, Count("--fp", "Holdout records that it called members.")
]
TrueNegativesOption = Annotated[int | None, Count("--tn", "Holdout records that it did not.")]
AdjacencyOption = Annotated[
    Literal["substitution", "add-remove"] | None,
    Free("--adjacency", "The claim's neighbouring data sets."),
]


class Prior(Options):
    """How often members are challenged."""

    GROUP = "Statistics"

    prior: PriorOption[float] = 0.5


class Confidence(Options):
    """How sure the limits are."""

    GROUP = "Statistics"

    confidence: ConfidenceOption[float] = USUAL_CONFIDENCE


class Game(Prior, Confidence):
    """How often members are challenged, and how sure the limits are."""


class Neighbours(Options):
    """What a claim of differential privacy is about."""

    GROUP = "Claim"

    adjacency: AdjacencyOption = None


MembersOption = Annotated[Any, Input("--members", "The members' scores, with `holdout`.")]
HoldoutOption = Annotated[Any, Input("--holdout", "The holdout records' scores, with `members`.")]
SyntheticOption = Annotated[Any, Input("--synthetic", "The records that were released.")]
ReferenceOption = Annotated[
    Any, Input("--reference", "Records of neither class, for density and classifier.")
]
ClaimedCurveOption = Annotated[
    Any,
    Free(
        "--claimed-curve",
        "A claim that no attacker exceeds the ROC in this file: columns fpr and tpr, or the "
        "curve that mipaudit bounds writes.",
        is_input=True,
        in_python="Or a pair of sequences, FPR and TPR.",
    ),
]
ColumnsOption = Annotated[
    Sequence[str],
    Choice(
        "--columns",
        "Compare these. Default: all but row labels.",
        metavar="COL,COL",
        read=column_list,
        repeated=True,
    ),
]
IgnoreOption = Annotated[
    Sequence[str],
    Choice("--ignore", "Leave these out.", metavar="COL,COL", read=column_list, repeated=True),
]
ByOption = Annotated[
    Sequence[str],
    Free(
        "--by",
        "Tell groups apart by these columns; repeat for several. A name with a comma: '\"a,b\"'.",
        metavar="COL,COL",
        read=column_list,
        repeated=True,
    ),
]
KeyColumnOption = Annotated[
    str | None,
    Choice(
        "--key-col",
        "Identifies a row. Default: its position in the input.",
        recorded_as="key_column",
    ),
]
MinCellOption = Annotated[
    T,
    Choice("--min-cell", "Fewest records of a cell or a group that is shown.", within=at_least(1)),
]


def several(given: Any) -> tuple[Any, ...]:  # noqa: ANN401 - paths, frames, arrays
    """Return the inputs; one alone is one."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


SeedOption = Annotated[
    T, Choice("--seed", "Fixes every random choice.", metavar="INTEGER", within=at_least(0))
]

SubjectOption = Annotated[
    Sequence[Any],
    Act(
        "--subject",
        "A file that is released, named in the statement or annex by its sha256; repeat for each.",
        read=several,
        repeated=True,
        is_input=True,
        in_python="A path, or several in a list.",
    ),
]


class Recorded(Options):
    """What a report says of the settings."""

    settings: Annotated[
        "tuple[Setting, ...] | None",
        Manner(None, "Recorded in the provenance; None records the arguments."),
    ] = None


class PolicyFile(Options):
    """Which policy file is used: of every command that one may set options of."""

    GROUP = "Policy"

    no_config: Annotated[bool, Act("--no-config", "Use no policy file.")] = False
    config: Annotated[
        str | None,
        Act(
            "--config",
            "Settings and limits. Default: mipaudit.toml or pyproject.toml, here or above.",
            metavar="FILE",
        ),
    ] = None


class Stores(Options):
    """How stores are read: what is said stands in the environment while the command runs."""

    GROUP = "Input"

    allow_scheme: Annotated[
        Sequence[str],
        Act(
            "--allow-scheme",
            "Read addresses of this scheme too, as sftp, with what fsspec has installed for it; "
            "repeat for several.",
        ),
    ] = ()
    anonymous: Annotated[
        bool,
        Manner("--anonymous", "Read s3://, gs:// and az:// without credentials: what is public."),
    ] = False
    store_timeout: Annotated[
        str | None,
        Manner(
            "--store-timeout",
            "How long a store may take to connect, and send no byte. [default: 30]",
            metavar="SECONDS",
        ),
    ] = None


class FixedSeed(Options):
    """The seed of whatever is drawn, used as it is."""

    GROUP = "Statistics"

    seed: SeedOption[int] = 0


class StoredReport(Options, kw_only=False):
    """What a command wrote, or returned."""

    report: Annotated[
        Any,
        Input(
            "REPORT",
            "A report as JSON or as a page (.html), or - for standard input.",
            in_python="Or its bytes, or what a command returned.",
        ),
    ]
