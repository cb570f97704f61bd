"""A command whose options may also be set by the environment or by a policy file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import typer
from typer.core import TyperOption

from mipaudit.cli.settings.environment import (
    PREFIX,
    foreign_variables,
    require_known,
    variable_name,
)
from mipaudit.cli.settings.policy_file_keys import NOT_KEYS, key_of
from mipaudit.cli.settings.store_options import store_options
from mipaudit.cli.single_value_command import SingleValueCommand
from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer.core import TyperCommand

    from mipaudit.cli.settings.policy_file import ConfigFile
    from mipaudit.cli.settings.policy_file_keys import EveryCommand, Options

_META: Final = "mipaudit.config"
# Settings that only a file or the Python API has.
_BOTH: Final = "--config and --no-config cannot go together."
_OF_FILES: Final = frozenset({"limits", "waivers"})
_READ_NOTHING: Final = frozenset({"bounds", "simulate", "validate"})


class ConfiguredCommand(SingleValueCommand):
    """Adds ``--config`` and ``--no-config``, and a variable for every option."""

    def __init__(self, *args: Any, **keywords: Any) -> None:  # noqa: ANN401 - the parser's own
        """Make the command as the parser does, then add to its options."""
        super().__init__(*args, **keywords)
        self.params += _config_options()
        if self.name not in _READ_NOTHING:
            self.params += store_options()
        for option in self.params:
            if isinstance(option, TyperOption) and option.envvar is None:
                option.envvar = variable_of(option)
                option.show_envvar = False  # one rule for all; help would be twice as long

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - the parser's own
        """Run it; an error about a setting says where the setting comes from."""
        left = _left_out(ctx)
        try:
            status = super().invoke(ctx)
        except UsageError as error:
            place = _place(ctx, error.code)
            if place is None:
                raise
            hint = f"{error.hint} {place}" if error.hint else place
            raise error.worded(error.message, hint) from None
        if left:
            from mipaudit.output.notes import note

            # At the end: an error stands alone on standard error.
            text = f"Not judged by mipaudit {self.name}: {', '.join(left)}."
            note(text, quiet=bool(ctx.params.get("quiet")))
        return status


def _left_out(context: Any) -> list[str]:  # noqa: ANN401 - the parser's own
    """Return the limits that are set and not judged; refuse what is set by no known name.

    Raises:
        UsageError: an unknown variable, or an unknown key of a limit.
    """
    command: TyperCommand = context.command
    options = [one for one in command.params if isinstance(one, TyperOption)]
    others = foreign_variables(str(one.envvar) for one in options)
    require_known(others, lambda: _every_variable(context.obj))
    config = config_of(context)
    if not others and config is None:
        return []
    from mipaudit.cli.settings.unjudged import GATES, check_listed, unjudged

    lists = "on_inconclusive" in context.params
    if config is not None and not lists:
        check_listed(config)
    if command.name not in GATES:
        return []
    return unjudged(options_of(command), config, others, lists=lists)


def _every_variable(every: EveryCommand) -> Iterator[str]:
    yield from map(variable_name, NOT_KEYS - {"help"})
    for name in every.names:
        yield from map(variable_name, every.load(name))


def variable_of(option: TyperOption) -> str:
    """Return the environment variable that stands for an option."""
    return variable_name(key_of(option))


def options_of(command: TyperCommand) -> Options:
    """Return the options that a file may set, by key."""
    options = [one for one in command.params if isinstance(one, TyperOption)]
    return {key_of(one): one for one in options if key_of(one) not in NOT_KEYS}


def config_of(context: typer.Context) -> ConfigFile | None:
    """Return the policy file that the run uses, if any."""
    return cast("ConfigFile | None", context.meta.get(_META))


def listed_policy(context: typer.Context) -> dict[str, Any]:
    """Return the limits and waivers that the policy file lists, as keywords."""
    config = config_of(context)
    if config is None:
        return {"limits": (), "waivers": ()}
    return {"limits": config.limits, "waivers": config.waivers}


def setting_place(context: Any, name: str) -> str | None:  # noqa: ANN401 - either kind of context
    """Return the variable or the file that a setting comes from, None for neither."""
    source = context.get_parameter_source(name)
    config = config_of(context)
    if source is not None and source.name == "ENVIRONMENT":
        option = next(one for one in context.command.params if one.name == name)
        return str(option.envvar)
    if config is not None and (
        name in _OF_FILES or (source is not None and source.name == "DEFAULT_MAP")
    ):
        return config.name
    return None


def usage_place(error: Exception) -> str | None:
    """Return what to add to an error of the parser about a value that was not typed."""
    context, option = getattr(error, "ctx", None), getattr(error, "param", None)
    name = getattr(option, "name", None)
    return None if context is None or name is None else _place(context, name)


def _place(context: Any, name: str) -> str | None:  # noqa: ANN401
    place = setting_place(context, name)
    if place is None:
        return None
    kind = "environment variable" if place.startswith(PREFIX) else "file"
    return f"It is set by the {kind} {place}."


def _config_options() -> list[TyperOption]:
    return [
        TyperOption(
            param_decls=["no_config", "--no-config"],
            is_flag=True,
            default=False,
            is_eager=True,
            expose_value=False,
            callback=_forgo,
            help="Use no policy file.",
        ),
        TyperOption(
            param_decls=["config", "--config"],
            metavar="FILE",
            is_eager=True,
            expose_value=False,
            callback=_load,
            help="Settings and limits. Default: mipaudit.toml or pyproject.toml, here or above.",
        ),
    ]


def _forgo(context: Any, option: Any, value: bool) -> None:  # noqa: ANN401, ARG001, FBT001
    if not value:
        return
    if _typed(context, "config"):  # it came first
        if _typed(context, "no_config"):
            raise typer.BadParameter(_BOTH, ctx=context)
        return  # the command line goes before the environment
    context.meta[_META] = None


def _load(context: Any, option: Any, value: str | None) -> None:  # noqa: ANN401, ARG001
    """Take what the file says as the defaults of the options that are parsed next."""
    if context.resilient_parsing:
        return  # a shell asks for completions
    if _META in context.meta:  # --no-config
        if _typed(context, "config"):
            raise typer.BadParameter(_BOTH, ctx=context)
        return
    from mipaudit.cli.settings.policy_file import find_config, read_config

    config = find_config() if value is None else read_config(value)
    if config is None:
        return
    from mipaudit.cli.settings.policy_file_keys import defaults_of, with_attackers

    command = context.command
    if "against" not in options_of(command):
        config = with_attackers(config)
    context.meta[_META] = config
    context.default_map = defaults_of(
        config,
        command.name,
        options_of(command),
        context.obj,
    )


def _typed(context: Any, name: str) -> bool:  # noqa: ANN401
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
