"""A command whose options are declared: from the words typed to the exit code."""

from __future__ import annotations

import gc
import os
import sys
from copy import copy
from functools import partial
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, Final, TypeVar

from typer.main import get_click_param
from typer.models import ArgumentInfo, OptionInfo, ParamMeta

from mipaudit.cli.configured_command import (
    ConfiguredCommand,
    SingleValueCommand,
    config_of,
    listed_policy,
    settings_of,
)
from mipaudit.cli.policy_keys import LIMITS, forget_idle
from mipaudit.errors import MipauditError, UsageError, as_typed
from mipaudit.options.declare import REQUIRED, Options, declared
from mipaudit.options.texts import listed_columns
from mipaudit.statements.reports.kinds import named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    import typer

    from mipaudit.cli.help_page import OfParser
    from mipaudit.options.commands import Command
    from mipaudit.options.declare import Declared, Option

AskedT = TypeVar("AskedT", bound="Options")
_COLUMNS: Final = "COL,COL"
# Where commands have what is read, the first first.
_INPUTS: Final = ("data", "scores", "guesses", "members", "holdout", "probabilities", "logits")
# The last two of what may be repeated.
_LEFT_OUT: Final[tuple[object, ...]] = (None, [], ())


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
    from mipaudit.output.terminal import tame_warnings

    spare_imports()
    for kind in (asked, shown):
        forget_idle(context, config_of(context), kind)
    how: Any = options_from(context.params, shown)
    tame_warnings(verbose=getattr(how, "verbose", False))
    what = options_from(context.params, asked, **_unparsed(asked, context))
    if getattr(how, "require_policy", False):
        require_limit(row.name, what)
    run = named(row.run or row.write)
    answers = () if row.run else (named(str(row.answer)),)
    # All is loaded: from here on garbage is collected, but not looked for in the above.
    gc.freeze()
    gc.enable()
    return int(run(what, how, *answers))


def require_limit(command: str, asked: Options) -> None:
    """Refuse options by which nothing can fail.

    Raises:
        UsageError: ``require_policy``.
    """
    given = {one.name: vars(asked)[one.name] for one in declared(asked.__class__)}
    if any(given.get(name) not in _LEFT_OUT for name in LIMITS):
        return
    listed = given.get("limits")
    if listed:
        from mipaudit.options.checked_limits import check_limits, of_records, of_scores

        judged = of_records if command == "records" else of_scores
        if any(map(judged, check_limits(listed, given["prior"]))):
            return
    raise UsageError(
        "require_policy",
        f"No limit that mipaudit {command} judges is in force, and `require_policy` asks for one.",
        hint="Set one here or in mipaudit.toml: `mipaudit init` writes one to begin with.",
    )


def _unparsed(asked: type[Options], context: typer.Context) -> dict[str, Any]:
    """Return what options have that are not typed: the record, and lists of a policy file."""
    names = {one.name for one in declared(asked)}
    found = {**listed_policy(context), "settings": settings_of(context)}
    return {name: value for name, value in found.items() if name in names}


def parameters_of(*classes: type[Options]) -> list[Any]:  # of the parser's parameters
    """Return what the parser takes for classes of options."""
    options = [one for kind in classes for one in declared(kind)]
    made = [(one, _parameter(one, as_typed(one.said))) for one in options if one.option.flag]
    headings = groups_of(*classes)
    for one, parameter in made:
        parameter.group = Options.GROUP if one.option.first else headings[one.name]
    return [parameter for _, parameter in made]


def groups_of(*classes: type[Options]) -> dict[str, str]:
    """Return the heading of each option: that of the class which declares it, not of its bases."""
    bases = [base for kind in classes for base in kind.__mro__]
    return {
        name: str(vars(base).get("GROUP", Options.GROUP))
        for base in reversed(bases)
        for name in get_annotations(base)
    }


def _parameter(one: Declared, said: str) -> OfParser:
    flag = str(one.option.flag)
    make = _typed if flag[0] == "-" else _by_place
    info: Any = make(one.option, flag, said)  # of either kind
    info.default = ... if one.default is REQUIRED else _default(one)
    parameter: Any  # with what is declared of it
    parameter, _ = get_click_param(ParamMeta(name=one.name, default=info, annotation=_words(one)))
    if one.kind is int and not one.many and one.option.read is not None:
        # Typed it is a text, as 1e4; a policy file has a whole number all the same.
        parameter.type = copy(parameter.type)
        parameter.type.name = "integer"
    parameter.declared = one
    parameter.steers = one.option.steers
    parameter.near = one.option.near or (one.option.is_input and one.option.steers == "choice")
    return parameter


def _default(one: Declared) -> OfParser:
    return one.default or None if one.many or one.option.repeated else one.default


def _by_place(option: Option, name: str, said: str) -> ArgumentInfo:
    return ArgumentInfo(metavar=name, help=said, show_default=False, autocompletion=option.complete)


def _typed(option: Option, flag: str, said: str) -> OptionInfo:
    names = flag.split("/")
    if option.off is not None:
        names[-1] += f"/{option.off}"
    return OptionInfo(
        param_decls=names,
        metavar=option.metavar,
        help=said,
        show_default=option.default_text or True,
        autocompletion=_offer_columns if _names_columns(flag, option) else None,
        callback=_columns if option.metavar == _COLUMNS and option.repeated else None,
    )


def _names_columns(flag: str, option: Option) -> bool:
    """Tell whether the values of an option are columns of the input."""
    return option.metavar == _COLUMNS or flag.endswith("-col")


def _offer_columns(ctx: Any, incomplete: str) -> list[str]:  # noqa: ANN401 - the parser reads it
    """Return the columns of the first file typed so far, for the last name of a comma list."""
    from pathlib import Path

    from mipaudit.data.opening import open_part
    from mipaudit.reading.bytes.paths import find_blobs

    before, comma, begun = incomplete.rpartition(",")
    typed = [ctx.params.get(name) for name in _INPUTS]
    words = [word for one in typed for word in (one if isinstance(one, (list, tuple)) else [one])]
    # What is given by its place the parser does not say while an option lacks its value.
    files = (Path(word) for word in [*words, *finished_words()] if isinstance(word, str))
    path = next((str(file) for file in files if file.is_file()), None)
    try:
        blobs = [] if path is None else find_blobs(path, in_memory=0)
        names = [field.name for blob, _ in blobs for field in open_part(blob).fields]
    except (MipauditError, OSError):
        return []  # there is no place for an error where the tab key is pressed
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


def _columns(value: list[str] | None) -> list[str] | None:
    """Return the columns of all the comma lists."""
    return listed_columns(value) if value else value


def _words(one: Declared) -> OfParser:
    """Return the type that the parser makes of what is typed."""
    option = one.option
    plain = option.typed if option.read is not None or one.kind is Any else one.kind
    repeated = one.many and option.read is None if option.repeated is None else option.repeated
    return list[plain] | None if repeated else plain  # type: ignore[valid-type]


def options_from(parsed: dict[str, Any], options: type[AskedT], **others: object) -> AskedT:
    """Return the options as they were typed, set or left out.

    Args:
        parsed: what the parser found, by name.
        options: the class.
        others: values that are not typed.

    Raises:
        UsageError: a value is outside its range, or values do not go together.
    """
    names = [one.name for one in declared(options) if one.option.flag]
    given = {name: parsed[name] for name in names if parsed.get(name) not in _LEFT_OUT}
    return options(**given, **others)


def finished_words() -> list[str]:
    """Return the words before the one that is being completed, less the program's name.

    The parser reads the shell's line for itself, with its quotes; this is only to find which
    command's options are wanted, and the name of a command has no quotes.
    """
    words = os.environ.get("COMP_WORDS")
    if words is not None:  # bash
        at = os.environ.get("COMP_CWORD", "")
        return words.split()[1 : int(at)] if at.isdecimal() else []
    line = os.environ.get("_TYPER_COMPLETE_ARGS", "")  # zsh, fish and PowerShell
    words_of_line = line.split()[1:]
    return words_of_line if line.endswith(" ") else words_of_line[:-1]


# Their first import takes every public name of numpy and with them the Fortran
# wrapper generator and the test tools: a third of the time it takes.
_GREEDY: Final = frozenset({"scipy", "pandas"})
_PARTS: Final = ("f2py", "testing", "ma", "ctypeslib", "typing", "polynomial")


class _BeforeGreedy:
    """Stands before all finders of modules, to know when one of ``_GREEDY`` is looked for."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        """Find nothing; the finders behind it do."""
        del path, target
        if name in _GREEDY:
            _put_off()


_FINDER: Final = _BeforeGreedy()


def spare_imports() -> None:
    """Put off the import of ``_PARTS`` until something of theirs is asked for.

    For a process of our own alone: whoever imports the package keeps numpy as it is.
    """
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def _put_off() -> None:
    from importlib.util import LazyLoader, find_spec, module_from_spec

    import numpy as np

    for part in _PARTS:
        name = f"numpy.{part}"
        if name in sys.modules or (spec := find_spec(name)) is None or spec.loader is None:
            continue
        spec.loader = LazyLoader(spec.loader)
        module = module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        setattr(np, part, module)
