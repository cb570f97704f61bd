"""The environment variables that stand for options, and what is said of those that excuse."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from mipaudit.errors import UsageError
from mipaudit.statements.origin import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from typer.core import TyperOption

    from mipaudit.cli.help_page import OfParser
    from mipaudit.cli.policy_file import ConfigFile

PREFIX: Final = "MIPAUDIT_"
# They hold for whatever is read, and are no command's option.
_EVERYWHERE: Final = frozenset({"MIPAUDIT_MAX_UNPACKED"})
# From where a value is, in the parser's words: what comes later goes before.
_RANKS: Final = ("DEFAULT", "DEFAULT_MAP", "ENVIRONMENT", "COMMANDLINE")
TYPED: Final = _RANKS.index("COMMANDLINE")
_SET: Final = _RANKS.index("ENVIRONMENT")
# What excuses, at which value, and how.
_EXCUSES: Final = (
    ("exit_zero", True, "the exit code is 0 whatever the verdict is"),
    ("on_inconclusive", "pass", "an open answer passes"),
)


def key_of(option: TyperOption) -> str:
    """Return an option's key in a file: its long name, with underscores."""
    return option.opts[-1].lstrip("-").replace("-", "_")


def rank(context: OfParser, name: str) -> int:
    """Return what goes before what: of two, the greater; 0 where nobody sets it."""
    source = context.get_parameter_source(name)
    return _RANKS.index(source.name) if source is not None and source.name in _RANKS else 0


def variable_name(key: str) -> str:
    """Return the environment variable that stands for an option, by its key."""
    return PREFIX + key.upper()


def foreign_variables(own: Iterable[str]) -> list[str]:
    """Return the variables set with our prefix that stand for no option of the command.

    Args:
        own: the variables of the command's options.
    """
    known = frozenset(own) | _EVERYWHERE
    return sorted(
        name
        for name, value in os.environ.items()
        if value and name.upper().startswith(PREFIX) and name not in known
    )


def require_known(names: Iterable[str], every: Callable[[], Iterable[str]]) -> None:
    """Refuse variables that stand for no option of any command.

    A limit whose name is misspelt would not be judged, and the run would pass: as with the
    keys of a file, what is not known is an error.

    Args:
        names: variables with our prefix.
        every: returns the variables of all options; asked only if there is need.

    Raises:
        UsageError: ``environment``; the nearest known variable is named.
    """
    wanted = list(names)
    known = _EVERYWHERE | frozenset(every()) if wanted else frozenset()
    unknown = next((name for name in wanted if name not in known), None)
    if unknown is None:
        return
    from mipaudit.options.other_names import CLOSE, meant_key
    from mipaudit.statements.text.printable_names import safe_name

    # Without the prefix, which would make all of them alike.
    keys = {name.removeprefix(PREFIX).lower() for name in known}
    meant = meant_key(unknown.upper().removeprefix(PREFIX).lower(), keys, CLOSE)
    raise UsageError(
        "environment",
        f"The environment variable {safe_name(unknown)} is unknown.",
        hint=(f"Did you mean {variable_name(meant)}? " if meant else "")
        + f"Variables that begin with {PREFIX} are the long names of options; unset the others.",
    )


def said_of(context: OfParser, config: ConfigFile | None, *, forgone: bool) -> Iterator[str]:
    """Yield a line for each thing that steers a run and that whoever typed it may not know.

    Args:
        context: of the parser, once the command has run.
        config: the policy file, if any.
        forgone: whether there is none because that was asked for.
    """
    if config is not None and rank(context, "config") < TYPED:
        if rank(context, "config") == _SET:
            yield f"MIPAUDIT_CONFIG is set: the policy file is {config.shown}."
        elif config.elsewhere or config.foreign:
            yield f"The policy file is {config.shown}{FOREIGN * config.foreign}."
    if forgone and rank(context, "no_config") == _SET:
        yield "MIPAUDIT_NO_CONFIG is set: no policy file is read."
    for name, value, what in _EXCUSES:
        if rank(context, name) == _SET and context.params.get(name) == value:
            yield f"{variable_name(name)} is set: {what}."
    yield from _over(context, config) if config is not None else ()


def _over(context: OfParser, config: ConfigFile) -> Iterator[str]:
    """Yield which variables go before keys of the file that can change an answer or must be there.

    What only says how an answer is shown is no news.
    """
    own = config.table.get(context.command.name)
    tables = (config.table, own if isinstance(own, dict) else {})
    keys = {key.replace("-", "_") for table in tables for key in table}
    options = {key_of(one): one for one in context.command.params if hasattr(one, "declared")}
    set_ = [key for key, one in options.items() if rank(context, one.name) == _SET]
    if "against" not in options and os.environ.get(variable_name("against")):
        set_.append("against")  # of limits on groups
    for key in set_:
        option = getattr(options.get(key), "declared", None)
        tells = option is None or option.option.recorded or key == "require_policy"
        if key in keys and tells:
            yield f"{variable_name(key)} goes before '{key}' in {config.shown}."
