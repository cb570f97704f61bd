"""How a report is shown: options of the command line alone."""

from collections.abc import Collection, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any, Final, Literal

from mipaudit.errors import UsageError
from mipaudit.options.declare import Options, act, declared, manner
from mipaudit.options.values import Range, between, whole_number
from mipaudit.statements.choices import SeenBy
from mipaudit.statements.printable_names import safe_name

_NO_PDF: Final = Range(
    lambda name: not str(name).lower().endswith(".pdf"),
    "of another form than PDF: write .html, which browsers can print as PDF",
    in_help=False,
)
# Of what is no report.
NO_PDF: Final = Range(_NO_PDF.holds, "of another form than PDF", in_help=False)
OUTPUT_OPTION = act(
    "Write the output to this file. Its ending sets the form: .html, .json, .csv, .md, .xml, .txt.",
    flag="-o/--output",
    metavar="FILE",
)
CURVE_OPTION = act(
    "Write curves, such as the highest TPR at each FPR, to this file (.csv or .json).",
    metavar="FILE",
    recorded=True,
)
QUIET_OPTION = manner(
    "Print only the answer, in at most 120 characters. Warnings still go to stderr.",
    flag="-q/--quiet",
)
FORMAT_OPTION = act(
    "The form of the answer. csv has only figures. With json, errors are JSON too.",
    flag="-f/--format",
)
EXIT_ZERO_OPTION = act("Exit with 0 even if the policy is inconclusive or not met.")
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
_OF_SPREADSHEETS: Final = frozenset({".xlsx", ".xls", ".ods"})
_OF_INPUTS: Final = frozenset({".parquet", ".pq", ".tsv", ".gz", ".zst", ".npz", ".npy"})
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
            hint="A spreadsheet opens .csv."
            if ending in _OF_SPREADSHEETS
            else f"Is {safe_name(name)} the input? Name it without `{option}`. Any other ending "
            "of a report needs `format`."
            if ending in _OF_INPUTS
            else "Any other ending needs `format`.",
        )
    if form is not None and said is not None and form != said:
        fitting = next(ending for ending, one in _ENDINGS.items() if one == form)
        raise UsageError(
            "format",
            f"`format` is {form}, but the ending of `{option}` says {said}.",
            hint=f"Leave `format` out, or let the name end in {fitting}.",
        )


class Quiet(Options):
    """Whether anything is said beside the answer."""

    GROUP = "Output"

    quiet: bool = QUIET_OPTION.but(default=False)


class Said(Quiet):
    """What is said beside the answer."""

    GROUP = "Output"

    verbose: bool = manner("Show more details, also of errors.", default=False, flag="-v/--verbose")


_NAME: Final = Range(lambda name: 0 < len(name) <= 200, "1 to 200 characters long")  # noqa: PLR2004
_text: Any = partial(manner, metavar="TEXT", within=_NAME._replace(in_help=False))


class Declared(Options):
    """What the report declares about itself and the release; nobody checks it.

    ``[declare]`` of a policy file has the same by the names that reports have.
    """

    GROUP = "Declared, not checked"

    title: str | None = _text("The report's title. Default: the names of the input.", within=_NAME)
    release_name: str | None = _text("The name and version of the release.", recorded_as="release")
    author: str | None = _text("The person responsible for the report.")
    data_name: str | None = _text("The name of the training data.", recorded_as="data")
    data_subjects: int | None = manner(
        "How many people, members or not, an attacker could be looking for. With mipaudit "
        "estimate, the report also says how many more of them are guessed right than by luck.",
        within=between(1, 10**10),  # more than live
        read=whole_number,
        recorded_as="subjects",
    )
    data_sensitivity: str | None = _text("How sensitive the data are.", recorded_as="sensitivity")
    controller: str | None = _text("Who decides what the data are used for.")
    seen_by: SeenBy | None = manner("Who can see the release.")

    def declaration(self) -> dict[str, Any]:
        """Return what is declared, by its name in reports."""
        given = {one.recorded_name: vars(self)[one.name] for one in declared(Declared)}
        return {name: value for name, value in given.items() if value is not None}


class Form(Declared):
    """The form of the report."""

    full: bool = manner("Show all tables and limitations. In HTML, open all parts.", default=False)
    format: Format | None = FORMAT_OPTION

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

    report: str | None = act("Write the report to this file.", metavar="FILE", within=_NO_PDF)

    @classmethod
    def report_file(cls, given: Mapping[str, Any]) -> str | None:
        """Return the option of the report: what `output` names is data."""
        return "report" if given["report"] else None


class _Digest(Options):
    GROUP = "Output"

    sha256: bool = act(
        "With `output` FILE, also write its checksum to FILE.sha256.",
        default=True,
        off="--no-sha256",
    )


class Written(Form, _Digest):
    """The form of the report, and where it goes."""

    output: str | None = OUTPUT_OPTION.but(within=_NO_PDF)


class ExitZero(Options):
    """What a verdict makes of the exit code."""

    GROUP = "Policy"

    exit_zero: bool = EXIT_ZERO_OPTION.but(default=False)


class RequirePolicy(Options):
    """Whether there must be something that decides the exit code."""

    GROUP = "Policy"

    require_policy: bool = manner("Exit with 2 if no limit and no claim is set.", default=False)


class Shown(Written, Said):
    """Of a report without a verdict."""


class Judged(Shown, ExitZero, RequirePolicy):
    """Of a report with a verdict."""


class _ScoreFile(Options):
    output: str | None = OUTPUT_OPTION.but(
        "Write the scores to this file (.csv, .csv.gz, .parquet). Default: standard output, as CSV."
    )


class ScoresShown(Beside, _ScoreFile, Said):
    """The form of the report on scores that are made, and where the scores go."""
