"""The typer application: its commands, its version, its usage errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from mipaudit.cli import check, estimate, exit_status, schema
from mipaudit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

_HELP = """Measure how much a release leaks about who was in its training data.

\b
  mipaudit estimate scores.parquet      how much leaks, with limits that hold
  mipaudit check scores.parquet         what is in the file, and is it fit for use
  mipaudit COMMAND --help               options and worked examples

A score file has one row per record: whether the record was in the training data
(a member) or not (holdout), and the scores that a query against the release gave it.

Exit codes: 0 policy met or none given, 1 not met, 2 usage or input error,
3 inconclusive, 70 internal error.
"""


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it by position
    if wanted:
        typer.echo(f"mipaudit {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option(
            "--version",
            help="Print the version and exit.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    pass


def application() -> typer.Typer:
    """Return the application with all its commands."""
    app = typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(help=_HELP)(_options)
    app.command("estimate", help=estimate.HELP, no_args_is_help=True)(estimate.estimate)
    app.command("check", help=check.HELP, no_args_is_help=True)(check.check)
    app.command("schema", help=schema.HELP)(schema.schema)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code.

    Usage errors are reported here; every other exception goes to the caller.

    Raises:
        KeyboardInterrupt: the user pressed control-C.
    """
    command = typer.main.get_command(application())
    # BadParameter derives from the parser's usage error, whichever copy of the
    # parser this version of typer carries.
    usage_error = cast("type[Exception]", typer.BadParameter.__bases__[0])
    try:
        status = command.main(list(arguments), prog_name="mipaudit", standalone_mode=False)
    except usage_error as error:
        return _report(error, arguments)
    if status == exit_status.INTERRUPTED:
        # typer swallows control-C without a word.
        raise KeyboardInterrupt
    return status if isinstance(status, int) else exit_status.OK


def _report(error: Exception, arguments: Sequence[str]) -> int:
    from mipaudit.cli.failure import error_style, show, usage_failure

    if type(error).__name__ == "NoArgsIsHelpError":
        # The message is the help itself.
        typer.echo(str(error), err=True)
        return exit_status.USAGE
    failure = usage_failure(error)
    show(failure, error_style(arguments))
    return failure.status
