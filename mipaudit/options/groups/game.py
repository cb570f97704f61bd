"""The game that an attacker plays, and the neighbours that a guarantee is about.

Few modules are read for it: pure mathematics asks for no more.
"""

from typing import Annotated, Literal

from mipaudit.options.declare import Option, Options
from mipaudit.options.ranges import CONFIDENCE, PROBABILITY


class Prior(Options):
    """How often members are challenged."""

    prior: Annotated[
        float,
        Option(
            "--prior",
            "Probability that a challenged record is a member.",
            metavar="P",
            within=PROBABILITY,
        ),
    ] = 0.5


class Confidence(Options):
    """How sure the limits are."""

    confidence: Annotated[
        float,
        Option(
            "--confidence",
            "Confidence of every pair of limits.",
            metavar="C",
            within=CONFIDENCE,
        ),
    ] = 0.95


class Game(Prior, Confidence):
    """How often members are challenged, and how sure the limits are."""


class Neighbours(Options):
    """What a claim of differential privacy is about."""

    adjacency: Annotated[
        Literal["substitution", "add-remove"] | None,
        Option("--adjacency", "The claim's neighbouring data sets."),
    ] = None
