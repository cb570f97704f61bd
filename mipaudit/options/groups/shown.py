"""How a report is shown: options of the command line alone."""

from typing import Annotated, Literal

from mipaudit.options.declare import Option, Options, T, but

OutputOption = Annotated[
    T,
    Option(
        "-o/--output",
        "Write the report there, all of it or nothing.",
        metavar="FILE",
        recorded=False,
    ),
]
CurveOption = Annotated[
    str | None, Option("--curve", "Write the curves there, as .csv or .json.", metavar="FILE")
]
QuietOption = Annotated[
    bool, Option("-q/--quiet", "No progress bar and no notes on stderr.", recorded=False)
]
ListOption = Annotated[bool, Option("--list", "Show all there are.")]
ExitZeroOption = Annotated[
    bool,
    Option("--exit-zero", "Exit 0 also when the policy is not met or unclear.", recorded=False),
]
Format = Literal["table", "json", "csv", "markdown", "html", "junit"]


class Quiet(Options):
    """Whether anything is said beside the answer."""

    quiet: QuietOption = False


class Said(Quiet):
    """What is said beside the answer."""

    verbose: Annotated[
        bool,
        Option("-v/--verbose", "Say more on stderr, also when something fails.", recorded=False),
    ] = False


class Form(Options):
    """The form of the report."""

    format: Annotated[
        Format,
        Option(
            "-f/--format",
            "The form of the report. csv has the figures alone; errors follow json.",
            recorded=False,
        ),
    ] = "table"


class Written(Form):
    """The form of the report, and where it goes."""

    output: OutputOption[str | None] = None
    sha256: Annotated[
        bool,
        Option(
            "--sha256",
            "With `output` also write FILE.sha256, which sha256sum -c checks.",
            off="--no-sha256",
            recorded=False,
        ),
    ] = True


class ExitZero(Options):
    """What a verdict makes of the exit code."""

    exit_zero: ExitZeroOption = False


class Shown(Written, Said):
    """Of a report without a verdict."""


class Judged(Shown, ExitZero):
    """Of a report with a verdict."""


class _ScoreFile(Options):
    output: Annotated[
        OutputOption[str | None],
        but(
            "Write the scores there (.csv, .csv.gz, .parquet), all or nothing. Default: CSV "
            "to standard output, the report to stderr."
        ),
    ] = None


class ScoresShown(Form, _ScoreFile, Said):
    """The form of the report on scores that are made, and where the scores go."""
