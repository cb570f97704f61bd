"""How a report is shown: options of the command line alone."""

from collections.abc import Collection, Mapping
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any, Final, Literal

from mipaudit.errors import UsageError
from mipaudit.options.declare import Act, Free, Manner, Options, T, but, declared
from mipaudit.options.values import Range, between, whole_number
from mipaudit.statements.choices import SeenBy

_NO_PDF: Final = Range(
    lambda name: not str(name).lower().endswith(".pdf"),
    "of another form than PDF: browsers print .html",
    in_help=False,
)
# Of what is no report.
NO_PDF: Final = Range(_NO_PDF.holds, "of another form than PDF", in_help=False)
OutputOption = Annotated[
    T,
    Act(
        "-o/--output",
        "Write the report there, all of it or nothing, in the form of its ending: .html, .json, "
        ".csv, .md, .xml (JUnit) or .txt.",
        metavar="FILE",
    ),
]
CurveOption = Annotated[
    str | None,
    Act("--curve", "Write the curves there, as .csv or .json.", metavar="FILE", recorded=True),
]
QuietOption = Annotated[
    bool,
    Manner(
        "-q/--quiet",
        "The answer in a line, also beside a file; no progress bar and no notes on stderr, except "
        "on a policy file that is elsewhere or not yours, and on variables that excuse.",
    ),
]
FormatOption = Annotated[
    T,
    Act(
        "-f/--format",
        "The form of the report, where the ending of its file does not say it. csv has the "
        "figures alone; errors follow json.",
    ),
]
ListOption = Annotated[bool, Free("--list", "Show all there are.")]
ExitZeroOption = Annotated[
    bool, Act("--exit-zero", "Exit 0 also when the policy is not met or unclear.")
]
Format = Literal["table", "json", "csv", "markdown", "html", "junit"]
# What an ending says. Tables also have the endings in `_OF_TABLES`, and numbers, as those of dates.
_ENDINGS: Final[dict[str, Format]] = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".xml": "junit",
    ".txt": "table",
}
_OF_TABLES: Final = frozenset({"", ".log"})


def form_of(name: str) -> Format | None:
    """Return the form that the ending of a file's name says; None where it says none."""
    return _ENDINGS.get(_ending(name))


def _ending(name: str) -> str:
    return PurePath(name).suffix.lower()


def _require_form(option: str, name: str, form: Format | None) -> None:
    """Refuse an ending that says no form, and one that says another than is asked for.

    Raises:
        UsageError: the code is that of the option, or ``format``.
    """
    said, ending = form_of(name), _ending(name)
    if form is None and said is None and ending not in _OF_TABLES and not ending[1:].isdecimal():
        *most, last = _ENDINGS
        raise UsageError(
            option,
            f"`{option}` takes a file name that ends in {', '.join(most)} or {last}, or that has "
            "no ending.",
            hint="Any other ending needs `format`.",
        )
    if form is not None and said is not None and form != said:
        fitting = next(ending for ending, one in _ENDINGS.items() if one == form)
        raise UsageError(
            "format",
            f"`format` is {form}, and the ending of `{option}` says {said}.",
            hint=f"Leave `format` out, or let the name end in {fitting}.",
        )


class Quiet(Options):
    """Whether anything is said beside the answer."""

    GROUP = "Output"

    quiet: QuietOption = False


class Said(Quiet):
    """What is said beside the answer."""

    GROUP = "Output"

    verbose: Annotated[
        bool, Manner("-v/--verbose", "Say more on stderr, also when something fails.")
    ] = False


_NAME: Final = Range(lambda name: 0 < len(name) <= 200, "of 1 to 200 characters")  # noqa: PLR2004
_Text = partial(Manner, metavar="TEXT", within=_NAME._replace(in_help=False))


class Declared(Options):
    """What the report says of itself and of what is released; nobody checks it.

    ``[declare]`` of a policy file has the same by the names that reports have.
    """

    GROUP = "Declared, and not checked"

    title: Annotated[
        str | None,
        _Text(
            "--title", "The title of the report. Default: the names of what was read.", within=_NAME
        ),
    ] = None
    release_name: Annotated[
        str | None,
        _Text("--release-name", "What is to be released, and its version.", recorded_as="release"),
    ] = None
    author: Annotated[str | None, _Text("--author", "Who answers for the report.")] = None
    data_name: Annotated[
        str | None, _Text("--data-name", "What it was trained on.", recorded_as="data")
    ] = None
    data_subjects: Annotated[
        int | None,
        Manner(
            "--data-subjects",
            "How many people may be asked about, members or not: limits are told in people, too.",
            within=between(1, 10**10),  # more than live
            read=whole_number,
            recorded_as="subjects",
        ),
    ] = None
    data_sensitivity: Annotated[
        str | None,
        _Text("--data-sensitivity", "How sensitive the data are.", recorded_as="sensitivity"),
    ] = None
    controller: Annotated[
        str | None, _Text("--controller", "Who decides on the data, and answers for them.")
    ] = None
    seen_by: Annotated[SeenBy | None, Manner("--seen-by", "Who may see the release.")] = None

    def declaration(self) -> dict[str, Any]:
        """Return what is declared, by its name in reports."""
        given = {one.recorded_name: vars(self)[one.name] for one in declared(Declared)}
        return {name: value for name, value in given.items() if value is not None}


class Form(Declared):
    """The form of the report."""

    full: Annotated[
        bool, Manner("--full", "Show all of it in the terminal: every table, every limitation.")
    ] = False
    format: FormatOption[Format | None] = None

    @classmethod
    def report_file(cls, given: Mapping[str, Any]) -> str | None:
        """Return the option that names the file of the report; None where none does."""
        return "output" if given.get("output") else None

    @classmethod
    def idle(cls, given: Mapping[str, Any], typed: frozenset[str]) -> Collection[str]:
        """Return also a form for all reports, where the ending of this one's file says it."""
        option = cls.report_file(given)
        says = option is not None and form_of(given[option]) is not None
        return [*super().idle(given, typed), *(("format",) if says else ())]

    def check(self) -> None:
        """Refuse a file whose name says no form, or another form than is asked for."""
        super().check()
        option = self.report_file(vars(self))
        if option is not None:
            _require_form(option, vars(self)[option], self.format)


class Beside(Form):
    """Where the report goes, of a command whose `output` is data."""

    report: Annotated[
        str | None,
        Act(
            "--report",
            "Write the report there; without it, it is shown.",
            metavar="FILE",
            within=_NO_PDF,
        ),
    ] = None

    @classmethod
    def report_file(cls, given: Mapping[str, Any]) -> str | None:
        """Return the option of the report: what `output` names is data."""
        return "report" if given["report"] else None


class _Digest(Options):
    GROUP = "Output"

    sha256: Annotated[
        bool,
        Act(
            "--sha256",
            "With `output` also write FILE.sha256, which sha256sum -c checks.",
            off="--no-sha256",
        ),
    ] = True


class Written(Form, _Digest):
    """The form of the report, and where it goes."""

    output: Annotated[OutputOption[str | None], but(within=_NO_PDF)] = None


class ExitZero(Options):
    """What a verdict makes of the exit code."""

    GROUP = "Policy"

    exit_zero: ExitZeroOption = False


class RequirePolicy(Options):
    """Whether there must be something that decides the exit code."""

    GROUP = "Policy"

    require_policy: Annotated[
        bool,
        Manner("--require-policy", "Fail where no limit and no claim is in force: exit 2, not 0."),
    ] = False


class Shown(Written, Said):
    """Of a report without a verdict."""


class Judged(Shown, ExitZero, RequirePolicy):
    """Of a report with a verdict."""


class _ScoreFile(Options):
    output: Annotated[
        OutputOption[str | None],
        but(
            "Write the scores there (.csv, .csv.gz, .parquet), all or nothing. Default: CSV "
            "to standard output, the report to stderr."
        ),
    ] = None


class ScoresShown(Beside, _ScoreFile, Said):
    """The form of the report on scores that are made, and where the scores go."""
