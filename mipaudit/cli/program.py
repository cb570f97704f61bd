"""The typer application: its commands, its version, its usage errors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, cast

import typer
from typer.core import TyperCommand, TyperOption
from typer.main import get_install_completion_arguments

from mipaudit.cli.command import declared_command, finished_words, usage_place
from mipaudit.cli.help_page import OfParser, Program
from mipaudit.options.commands import BY_NAME, TABLE
from mipaudit.output import exit_code
from mipaudit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence


_HELP = """Measure how much a release leaks about who was in its training data.

\b
  mipaudit estimate scores.parquet      how much leaks, with limits that hold
  mipaudit estimate scores.parquet --max-advantage 0.1
                                        exit code 0 if it is below, 1 if not
  mipaudit COMMAND --help               options and worked examples
  mipaudit help                         the topics and pages of the documentation

A score file has one row per record: whether the record was in the training data
(a member) or not (holdout), and the scores that a query against the release gave it.

Exit codes: 0 policy met or none given, 1 not met, 2 usage or input error,
3 inconclusive, 70 internal error.
"""
# The shell sets it, with the name of the program in it, when the tab key is pressed.
_ASKED: Final = "_MIPAUDIT_COMPLETE"
# Wider than any help text: typer has rich wrap them, and shells take each line for a completion.
_UNWRAPPED: Final = "4096"


def _show_version(context: OfParser, _option: OfParser, wanted: OfParser) -> None:
    if wanted and not context.resilient_parsing:
        typer.echo(f"mipaudit {__version__}")
        raise typer.Exit


COMMANDS: Final = {one.name: one.summary for one in TABLE}


_HELP_WORDS: Final = frozenset({"-h", "--help"})


def application(arguments: Sequence[str] = ()) -> Program:
    """Return the application; of its commands, only the one in ``arguments`` is loaded."""
    params = [_version_option()]
    # The options before a command take no values.
    wanted = next((word for word in arguments if not word.startswith("-")), None)
    if wanted in COMMANDS and not _HELP_WORDS & set(arguments[: arguments.index(wanted)]):
        # Alone: making the others' help costs more than many an answer.
        commands: dict[str, Any] = {wanted: declared_command(BY_NAME[wanted])}
    else:
        commands = {name: TyperCommand(name, help=said) for name, said in COMMANDS.items()}
    if arguments[:1] != [wanted] or is_completing():
        params += get_install_completion_arguments()
    return Program(
        commands=commands,
        params=params,
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _version_option() -> OfParser:
    return TyperOption(
        param_decls=["version", "--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_version,
        help="Print the version and exit.",
    )


def joined_name(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments with a command of two words, such as ``query losses``, as one."""
    at = next((at for at, word in enumerate(arguments) if not word.startswith("-")), None)
    if at is None or " ".join(arguments[at : at + 2]) not in COMMANDS or len(arguments) < at + 2:
        return arguments
    return [*arguments[:at], " ".join(arguments[at : at + 2]), *arguments[at + 2 :]]


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code.

    Usage errors are reported here; every other exception goes to the caller.

    Raises:
        KeyboardInterrupt: the user pressed control-C.
    """
    if is_completing():
        # The shell gives the words in the environment.
        keep_help_on_one_line()
        arguments = finished_words()
    arguments = joined_name(arguments)
    command = application(arguments)
    # BadParameter derives from the parser's usage error, whichever copy of the
    # parser this version of typer carries.
    usage_error = cast("type[Exception]", typer.BadParameter.__bases__[0])
    try:
        status = command.main(list(arguments), prog_name="mipaudit", standalone_mode=False)
    except usage_error as error:
        return _report(error, arguments)
    if status == exit_code.INTERRUPTED:
        # typer swallows control-C without a word.
        raise KeyboardInterrupt
    return status if isinstance(status, int) else exit_code.OK


def _report(error: Exception, arguments: Sequence[str]) -> int:
    from mipaudit.cli.failure import error_style, show, usage_failure
    from mipaudit.cli.wrong_names import misplaced

    if type(error).__name__ == "NoArgsIsHelpError":
        # The message is the help itself.
        typer.echo(str(error), err=True)
        return exit_code.USAGE
    better = misplaced(error, arguments)
    failure = usage_failure(error, usage_place(error), better)
    show(failure, error_style(arguments))
    return failure.status


def is_completing() -> bool:
    """Tell whether a shell asks for completions, rather than a user for a run."""
    return _ASKED in os.environ


def keep_help_on_one_line() -> None:
    """Let what the parser answers the shell have one line for each completion."""
    os.environ["COLUMNS"] = _UNWRAPPED
