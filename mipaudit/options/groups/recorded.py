"""A report that is there, and from what an answer can be made again: settings, and a seed."""

from typing import Annotated, Any

from mipaudit.options.declare import Option, Options, T
from mipaudit.options.ranges import at_least
from mipaudit.statements.origin import Setting

SeedOption = Annotated[
    T,
    Option(
        "--seed",
        "Fixes every random choice.",
        metavar="INTEGER",
        within=at_least(0),
        also=("random-state", "random-seed"),
    ),
]


class Recorded(Options):
    """What a report says of the settings."""

    settings: Annotated[
        tuple[Setting, ...] | None,
        Option(None, "Recorded in the provenance; None records the arguments.", recorded=False),
    ] = None


class FixedSeed(Options):
    """The seed of whatever is drawn, used as it is."""

    GROUP = "Statistics"

    seed: SeedOption[int] = 0


class StoredReport(Options, kw_only=False):
    """What a command wrote, or returned."""

    report: Annotated[
        Any,
        Option(
            "REPORT",
            "A report as JSON or as a page (.html), or - for standard input.",
            recorded=False,
            is_input=True,
            in_python="Or its bytes, or what a command returned.",
        ),
    ]
