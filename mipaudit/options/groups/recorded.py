"""A report that is there, and from what an answer can be made again: settings, and a seed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from mipaudit.options.declare import Act, Choice, Input, Manner, Options, T
from mipaudit.options.ranges import at_least

if TYPE_CHECKING:  # help is written without it
    from mipaudit.statements.origin import Setting


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
