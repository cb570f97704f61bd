"""From what an answer can be made again: its settings, and the seed of what is drawn."""

from typing import Annotated

from mipaudit.options.declare import Option, Options, T
from mipaudit.options.ranges import at_least
from mipaudit.statements.origin import Setting

SeedOption = Annotated[
    T, Option("--seed", "Fixes every random choice.", metavar="INTEGER", within=at_least(0))
]


class Recorded(Options):
    """What a report says of the settings."""

    settings: Annotated[
        tuple[Setting, ...] | None,
        Option(None, "Recorded in the provenance; None records the arguments.", recorded=False),
    ] = None


class FixedSeed(Options):
    """The seed of whatever is drawn, used as it is."""

    seed: SeedOption[int] = 0
