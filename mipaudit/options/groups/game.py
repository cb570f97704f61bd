"""The game that an attacker plays, and what is said of it: a guarantee, a promise, an attack.

Few modules are read for it: pure mathematics asks for no more.
"""

from functools import partial
from typing import Annotated, Literal

from mipaudit.options.declare import Choice, Free, Options, Range, T
from mipaudit.options.ranges import CONFIDENCE, NOT_NEGATIVE, PROBABILITY, SHARE, above
from mipaudit.options.texts import whole_number

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
