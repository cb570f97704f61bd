"""What the queries of models have in common: files of outputs, and where the scores go."""

from typing import Annotated

from mipaudit.options.declare import Option, Options
from mipaudit.options.groups.shown import Form, Said
from mipaudit.options.plain_values import path_of


def outputs_file(flag: str, help: str, in_python: str | None = None) -> Option:  # noqa: A002
    """Return the option of a file, or an array, with one row for each record."""
    return Option(
        flag,
        help,
        metavar="FILE",
        read=path_of,
        told=_name,
        is_input=True,
        in_python=in_python,
    )


def _name(given: object) -> str | None:
    return given if given is None or isinstance(given, str) else "in memory"


class _Where(Options):
    output: Annotated[
        str | None,
        Option(
            "-o/--output",
            "Write the scores there (.csv, .csv.gz, .parquet), all or nothing. Default: CSV "
            "to standard output, the report to stderr.",
            metavar="FILE",
            recorded=False,
        ),
    ] = None


class ScoresShown(Form, _Where, Said):
    """The form of the report, and where the scores go."""
