"""A command of the parser: no option twice, and set by the environment or a policy file, too."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import typer
from typer.core import TyperCommand, TyperOption

from mipaudit.cli.help_page import OfParser, write_options
from mipaudit.cli.policy_keys import NOT_KEYS, SCORES, forget_scores, scores_place
from mipaudit.cli.variables import (
    PREFIX,
    TYPED,
    foreign_variables,
    key_of,
    rank,
    require_known,
    said_of,
    variable_name,
)
from mipaudit.errors import UsageError
from mipaudit.options.commands import CONFIGURED
from mipaudit.output.terminal import note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mipaudit.cli.policy_file import ConfigFile
    from mipaudit.cli.policy_keys import Load, Options
    from mipaudit.statements.origin import Setting


_META: Final = "mipaudit.config"
_FOUND: Final = "mipaudit.found"
# Settings that only a file or the Python API has.
_BOTH: Final = "--config and --no-config cannot go together."
_OF_FILES: Final = frozenset({"limits", "waivers"})
_READ_NOTHING: Final = frozenset({"bounds", "simulate", "validate"})
Source = Literal["command line", "environment", "file", "default"]
_SOURCES: Final[dict[str, Source]] = {
    "COMMANDLINE": "command line",
    "ENVIRONMENT": "environment",
    "DEFAULT_MAP": "file",
}
_POLICY: Final = "--max-"


class SingleValueCommand(TyperCommand):
    """Refuses what the parser would do: take the last value and drop the others in silence.

    A limit of a policy, or a filter of rows, would be gone without a word.

    Attributes:
        run: from the parser's context to the exit code.
        unrecorded: the options that change no answer, by name.
    """

    run: Callable[[Any], int]
    unrecorded: frozenset[str]

    def invoke(self, ctx: OfParser) -> OfParser:
        """Run it."""
        return self.run(ctx)

    def format_options(self, ctx: OfParser, formatter: OfParser) -> None:
        """Write the options in their groups."""
        write_options(self.get_params(ctx), ctx, formatter)

    def parse_args(self, ctx: OfParser, args: list[str]) -> list[str]:
        """Parse the words, unless an option with one value is among them twice."""
        if args and not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            twice = _first_repeated(order)
            if twice is not None:
                raise typer.BadParameter(_advice(twice), ctx=ctx, param=twice)
        return super().parse_args(ctx, args)


class ConfiguredCommand(SingleValueCommand):
    """Adds ``--config`` and ``--no-config``, and a variable for every option."""

    def __init__(self, *args: OfParser, **keywords: OfParser) -> None:
        """Make the command as the parser does, then add to its options."""
        super().__init__(*args, **keywords)
        self.params += _grouped("Policy", _config_options())
        if self.name not in _READ_NOTHING:
            self.params += _grouped("Input", store_options())
        for option in self.params:
            if isinstance(option, TyperOption) and option.envvar is None:
                option.envvar = variable_name(key_of(option))
                option.show_envvar = False  # one rule for all; help would be twice as long

    def parse_args(self, ctx: OfParser, args: list[str]) -> list[str]:
        """Parse the words; without any, a policy file may name the scores."""
        if not args and not ctx.resilient_parsing and scores_place(self) is not None:
            from mipaudit.cli.policy_file import find_config

            ctx.meta[_FOUND] = config = find_config()
            self.no_args_is_help = config is None or SCORES not in config.table
        return super().parse_args(ctx, args)

    def invoke(self, ctx: OfParser) -> OfParser:
        """Run it; an error about a setting says where the setting comes from."""
        forget_scores(ctx)
        left = _left_out(ctx)
        try:
            status = super().invoke(ctx)
        except UsageError as error:
            place = _place(ctx, error.code)
            if place is None:
                raise
            hint = f"{error.hint} {place}" if error.hint else place
            raise error.worded(error.message, hint) from None
        # At the end: an error stands alone on standard error.
        forgone = _META in ctx.meta and config_of(ctx) is None
        for line in said_of(ctx, config_of(ctx), forgone=forgone):
            note(line, quiet=False)
        if left:
            text = f"Not judged by mipaudit {self.name}: {', '.join(left)}."
            note(text, quiet=bool(ctx.params.get("quiet")))
        return status


def _grouped(group: str, options: list[TyperOption]) -> list[TyperOption]:
    """Return the options with the heading under which help has them."""
    for one in options:
        one.group = group  # type: ignore[attr-defined]
    return options


def _left_out(context: OfParser) -> list[str]:
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
    from mipaudit.cli.policy_keys import GATES, check_listed, unjudged

    lists = "on_inconclusive" in context.params
    if config is not None and not lists:
        check_listed(config)
    if command.name not in GATES:
        return []
    return unjudged(options_of(command), config, others, lists=lists)


def _every_variable(load: Load) -> Iterator[str]:
    yield from map(variable_name, NOT_KEYS - {"help"})
    for name in CONFIGURED:
        yield from map(variable_name, load(name))


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


def setting_place(context: OfParser, name: str) -> str | None:
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


def _place(context: OfParser, name: str) -> str | None:
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


def _forgo(context: OfParser, _option: OfParser, value: OfParser) -> None:
    if not value:
        return
    if rank(context, "config") == TYPED:  # it came first
        if rank(context, "no_config") == TYPED:
            raise typer.BadParameter(_BOTH, ctx=context)
        return  # the command line goes before the environment
    context.meta[_META] = None


def _load(context: OfParser, _option: OfParser, value: str | None) -> None:
    """Take what the file says as the defaults of the options that are parsed next."""
    if context.resilient_parsing:
        return  # a shell asks for completions
    if _META in context.meta:  # --no-config
        if rank(context, "config") == TYPED:
            raise typer.BadParameter(_BOTH, ctx=context)
        return
    from mipaudit.cli.policy_file import find_config, read_config

    found = context.meta.get(_FOUND) or (find_config() if value is None else None)
    config = found if value is None else read_config(value)
    if config is None:
        return
    from mipaudit.cli.policy_keys import defaults_of, scores_of, with_attackers

    command = context.command
    config, paths = scores_of(config)
    if "against" not in options_of(command):
        config = with_attackers(config)
    context.meta[_META] = config
    context.default_map = defaults_of(config, command.name, options_of(command), context.obj)
    place = scores_place(command)
    if place is not None and paths:
        if place.nargs == 1 and len(paths) > 1:
            raise UsageError("config", f"mipaudit {command.name} takes one of the score files.")
        context.default_map[place.name] = paths[0] if place.nargs == 1 else paths


def settings_of(context: typer.Context) -> tuple[Setting, ...]:
    """Return every setting of the command that can change its answer."""
    from mipaudit.statements.origin import Setting, plain_value

    unrecorded = cast("SingleValueCommand", context.command).unrecorded
    inputs = {one.name for one in context.command.params if getattr(one, "near", False)}
    return (
        *(
            Setting(
                name=name,
                value=plain_value(value),
                source=_source(context, name),
                where=setting_place(context, name),
            )
            for name, value in context.params.items()
            # What a file chose to read is said, though inputs are recorded otherwise.
            if name not in unrecorded or (name in inputs and _source(context, name) == "file")
        ),
        *_of_file(context),
    )


def _source(context: typer.Context, name: str) -> Source:
    found = context.get_parameter_source(name)
    return _SOURCES.get(found.name if found is not None else "", "default")


def _of_file(context: typer.Context) -> tuple[Setting, ...]:
    """Return the policy file, and what it lists that the command judges."""
    config = config_of(context)
    if config is None:
        return ()
    from mipaudit.statements.origin import FOREIGN, Setting, plain_value

    def setting(name: str, value: object, where: str | None) -> Setting:
        return Setting(name=name, value=plain_value(value), source="file", where=where)

    listed = {"limits": config.limits, "waivers": config.waivers}
    judges = "on_inconclusive" in context.params
    return (
        *(setting(name, rows, config.name) for name, rows in listed.items() if judges),
        setting("config", config.name, f"sha256 {config.sha256}{FOREIGN * config.foreign}"),
    )


def store_options() -> list[TyperOption]:
    """Return the three options; what they say is in the environment while the command runs."""
    found = [
        TyperOption(
            param_decls=["allow_scheme", "--allow-scheme"],
            metavar="NAME",
            multiple=True,
            expose_value=False,
            callback=_say,
            help="Read addresses of this scheme too, as sftp, with what fsspec has installed for "
            "it; repeat for several.",
        ),
        TyperOption(
            param_decls=["anonymous", "--anonymous"],
            is_flag=True,
            expose_value=False,
            callback=_say,
            help="Read s3://, gs:// and az:// without credentials: what is public.",
        ),
        TyperOption(
            param_decls=["store_timeout", "--store-timeout"],
            metavar="SECONDS",
            expose_value=False,
            callback=_say,
            help="How long a store may take to connect, and send no byte. [default: 30]",
        ),
    ]
    for one, steers in zip(found, ("act", "free", "free"), strict=True):
        one.steers, one.near = steers, False  # type: ignore[attr-defined] # as those declared
    return found


def _say(context: OfParser, option: OfParser, value: tuple[str, ...] | str | Literal[True]) -> None:
    """Set the variable of an option until the command has ended; refuse what it cannot be."""
    if not value or context.resilient_parsing:
        return
    from mipaudit.reading.stores.address import allowed_schemes, store_seconds

    said = str(value)
    if isinstance(value, tuple):
        # A name with a blank in it would pass for two.
        said = " ".join("?" if set(name) & set(" \t\n") else name for name in value)
    name = variable_name(option.name)
    before = os.environ.get(name)
    os.environ[name] = said

    def put_back() -> None:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before

    context.call_on_close(put_back)
    {"allow_scheme": allowed_schemes, "store_timeout": store_seconds}.get(option.name, str)()


def _first_repeated(given: Iterable[object]) -> TyperOption | None:
    seen = set()
    for one in given:
        if not isinstance(one, TyperOption) or one.multiple or one.is_flag:
            continue
        if one.name in seen:
            return one
        seen.add(one.name)
    return None


def _advice(option: TyperOption) -> str:
    if "," in (option.metavar or ""):
        return f"It is given twice. Several values go into one, as {option.metavar}."
    if option.opts[-1].startswith(_POLICY):
        return "It is given twice. A policy file holds several limits of a kind."
    return "It is given twice, and only one value counts."
