"""A command whose options are declared: from the words typed to the exit code."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mipaudit.cli.parsed_options import options_from, parameters_of
from mipaudit.cli.settings.configured_command import ConfiguredCommand, listed_policy
from mipaudit.cli.settings.settings import settings_of
from mipaudit.cli.single_value_command import SingleValueCommand
from mipaudit.errors import MipauditError
from mipaudit.options.declare import declared
from mipaudit.options.spelling import as_typed
from mipaudit.statements.reports.kinds import named

if TYPE_CHECKING:
    import typer

    from mipaudit.options.commands import Command
    from mipaudit.options.declare import Options


def declared_command(row: Command) -> SingleValueCommand:
    """Return what parses and runs a command of the table."""
    asked: type[Options] = named(row.asked)
    shown: type[Options] = named(row.shown)
    kind = ConfiguredCommand if row.configured else SingleValueCommand
    found = kind(
        name=row.name,
        help=asked.HELP,
        params=parameters_of(asked, shown),
        no_args_is_help=not row.suffices,
        rich_markup_mode=None,
    )
    found.unrecorded = frozenset(
        one.name for kind in (asked, shown) for one in declared(kind) if not one.option.recorded
    )
    found.run = partial(_run, row, asked, shown)
    return found


def _run(row: Command, asked: type[Options], shown: type[Options], context: typer.Context) -> int:
    from mipaudit.cli.spare_imports import spare_imports
    from mipaudit.output.notes import tame_warnings

    spare_imports()
    try:
        how: Any = options_from(context.params, shown)
        tame_warnings(verbose=getattr(how, "verbose", False))
        what = options_from(context.params, asked, **_unparsed(asked, context))
        if row.run is not None:
            return int(named(row.run)(what, how))
        return int(named(row.write)(what, how, named(str(row.answer))))
    except MipauditError as error:
        raise _as_typed(error, context) from error.__cause__


def _unparsed(asked: type[Options], context: typer.Context) -> dict[str, Any]:
    """Return what options have that are not typed: the record, and lists of a policy file."""
    names = {one.name for one in declared(asked)}
    found = {**listed_policy(context), "settings": settings_of(context)}
    return {name: value for name, value in found.items() if name in names}


def _as_typed(error: MipauditError, context: typer.Context) -> MipauditError:
    """Return an error that names options as they are typed."""
    typed = [one for one in context.command.params if one.opts[-1].startswith("-")]
    flags = {str(one.name): one.opts[-1] for one in typed}
    hint = None if error.hint is None else as_typed(error.hint, flags)
    return error.worded(as_typed(error.message, flags), hint)
