"""The keys of a policy file, and what they set.

None of them is passed over in silence: what is no name of any option, or of one that no file may
set, is refused, and limits that the command does not judge are told.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NoReturn

from mipaudit.cli.variables import TYPED, key_of, rank, variable_name
from mipaudit.errors import UsageError
from mipaudit.options.commands import CONFIGURED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from typer.core import TyperOption

    from mipaudit.cli.help_page import OfParser
    from mipaudit.cli.policy_file import ConfigFile
    from mipaudit.options.declare import Options as Asked
    from mipaudit.options.plain_values import Given


# Options by key: the long name without dashes.
Options = dict[str, "TyperOption"]
# Loads the options of a command.
Load = Callable[[str], Options]
# What is audited by them are runs and canaries, not the scores of a release.
_OTHER_SCORES: Final = frozenset({"epsilon"})
# The input, which is no option, and the table of what is declared, for all commands.
SCORES: Final = "scores"
DECLARE: Final = "declare"
# The quantity within groups that is that of a class of attackers.
_OF_CLASS: Final = "advantage"
NOT_KEYS: Final = frozenset({"config", "no_config", "help"})
# Those whose exit code says whether a limit is kept, and what else they could be thought to judge.
GATES: Final = frozenset({"estimate", "records", "compare", "epsilon", "attack", "attribute"})
LIMITS: Final = (
    *("max_advantage", "max_eta", "max_tpr_at_fpr", "max_metric", "max_copies"),
    *("max_risk", "max_increase", "max_attribute_advantage", "claimed_epsilon"),
    *("max_blind", "claimed_mu", "claimed_curve"),
)


def defaults_of(config: ConfigFile, command: str, options: Options, load: Load) -> dict[str, Any]:
    """Return what the file says of the options of a command, by parameter.

    A key in the command's own table goes before what is declared, and that before the top.

    Args:
        config: the file.
        command: the one that runs.
        options: its options by key.
        load: the options of another.

    Raises:
        UsageError: ``config``: an unknown key, one that this file may not have, none at all, or a
            value of the wrong kind.
    """
    known = _Known(config, command, options, load)
    found: dict[str, Any] = {}
    items = sorted(config.table.items(), key=lambda item: item[0] != DECLARE)
    tables = {key: value for key, value in items if isinstance(value, dict)}
    for key, value in _tidied(config.name, config.table, "").items():
        if key in tables:
            continue
        option = known.anywhere(key)
        checked = _checked(option, value, f"'{key}' in '{config.name}'")
        if key in options and not known.is_anothers(key, checked):
            found[str(option.name)] = _checked(options[key], checked, f"'{key}'")
    for name, table in tables.items():
        known.require_table(name)  # an empty one says nothing, but is no less a mistake
        for key, value in _tidied(config.name, table, name).items():
            option = known.within(name, key)
            checked = _checked(option, value, f"'{name}.{key}' in '{config.name}'")
            if name in {command, DECLARE}:
                found[str(option.name)] = checked
    if config.empty:
        raise UsageError(
            "config",
            f"The file '{config.name}' has no key of mipaudit: nothing is set by it.",
            hint="Write a limit into it, as `mipaudit init` does, or take the file away.",
        )
    return found


def _require_near(config: ConfigFile, key: str) -> None:
    """Refuse what may narrow the input in a file that is not beside it.

    Raises:
        UsageError: ``config``: nobody named the file, and it is in a folder above.
    """
    if config.found and config.elsewhere:
        raise UsageError(
            "config",
            f"'{key}' in '{config.name}' is refused: a file above the working folder does not "
            "choose what is looked at.",
            hint=f"Type it, or name the file with --config {config.name}.",
        )


def scores_of(config: ConfigFile) -> tuple[ConfigFile, list[str]]:
    """Return the file without the input that it names, and that input, as seen from here.

    Raises:
        UsageError: ``config``: it is no text and no list of texts, or not beside the input.
    """
    table = dict(config.table)
    if SCORES in table:
        _require_near(config, SCORES)
    given = table.pop(SCORES, [])
    listed = given if isinstance(given, list) else [given]
    if not all(isinstance(one, str) and one for one in listed):
        raise UsageError(
            "config",
            f"'{SCORES}' in '{config.name}' must be a text, in quotes, or a list of texts.",
            hint='It names the score files, as in: scores = "scores.parquet"',
        )
    # os.path throughout: pathlib is not loaded by commands that only compute.
    folder = os.path.dirname(config.name)  # noqa: PTH120
    paths = [
        one if "://" in one or one == "-" else os.path.join(folder, one)  # noqa: PTH118
        for one in listed
    ]
    return config._replace(table=table), paths


def scores_place(command: OfParser) -> OfParser:
    """Return where a command takes the scores; None for another input, as runs and canaries."""
    if command.name in _OTHER_SCORES:
        return None
    return next((one for one in command.params if one.metavar in {"SCORES", "SCORES..."}), None)


def forget_scores(context: OfParser) -> None:
    """Leave out the scores of the file where others are typed: whole, or the classes apart."""
    place = scores_place(context.command)
    if place is None:
        return
    apart = [one for one in context.command.params if one.name in {"members", "holdout"}]
    ranks = {one.name: rank(context, one.name) for one in (place, *apart)}
    whole, classes = ranks[place.name], max([ranks[one.name] for one in apart], default=0)
    if 0 < whole < classes:
        _forget(context, [place])
    elif 0 < classes < whole:
        _forget(context, apart)


def forget_idle(context: OfParser, config: ConfigFile | None, asked: type[Asked]) -> None:
    """Leave out what a file or the environment sets for all commands and means nothing here.

    A delta is that of every epsilon: where none is claimed, it is no mistake. It must be a delta
    all the same.

    Args:
        context: of the parser.
        config: the policy file, if any.
        asked: the class of the command's options.

    Raises:
        UsageError: a value is outside its range.
    """
    from mipaudit.options.declare import checked

    table = config.table.get(context.command.name) if config is not None else None
    own = {key.replace("-", "_") for key in table} if isinstance(table, dict) else set()
    ranks = {name: rank(context, name) for name in context.params}
    typed = frozenset(name for name in ranks if ranks[name] == TYPED)
    idle = asked.idle(context.params, typed)
    for one in context.command.params:
        if one.name in idle and 0 < ranks[one.name] < TYPED:
            checked(one.declared, context.params[one.name])
            _forget(context, [] if key_of(one) in own else [one])


def _forget(context: OfParser, options: Iterable[Any]) -> None:
    """Make options what they are where nobody sets them."""
    for one in options:
        source = context.get_parameter_source(one.name)
        (context.default_map or {}).pop(one.name, None)
        context.params[one.name] = one.get_default(context)
        context.set_parameter_source(one.name, type(source).DEFAULT)


def with_attackers(config: ConfigFile) -> ConfigFile:
    """Return the file with the attackers that it names for all limits on each that has none.

    For a command without ``--against``: its limits on groups must withstand them, too.
    """
    name = variable_name("against")
    against = os.environ.get(name) or config.table.get("against")
    if against is None:
        return config
    limits = tuple(
        {"against": against, **one}
        if one.get("group") and one.get("quantity") == _OF_CLASS
        else one
        for one in config.limits
    )
    return config._replace(limits=limits)


class _Known:
    """The options of all commands, each loaded when it is first asked for."""

    def __init__(self, config: ConfigFile, command: str, options: Options, load: Load) -> None:
        self._config = config
        self._options = {command: options}
        self._load = load

    def anywhere(self, key: str) -> TyperOption:
        """Return the option of that key of any command: the one that runs is asked first."""
        commands = dict.fromkeys((*self._options, *CONFIGURED))
        found = next((name for name in commands if key in self._of(name)), None)
        if found is None:
            every = {key for options in self._options.values() for key in options}
            self._unknown(key, {*every, *CONFIGURED, "limit", "waiver"})
        return self._allowed(self._of(found)[key], key)

    def is_anothers(self, key: str, value: Given) -> bool:
        """Tell whether a word is none of the running command, and one of another.

        A ``method`` at the top is that of the command which has it; the others keep theirs.
        """
        own, *others = dict.fromkeys((*self._options, *CONFIGURED))
        if value in (_words(self._of(own)[key]) or (value,)):
            return False
        found = (self._of(name).get(key) for name in others)
        return any(value in _words(one) for one in found if one is not None)

    def require_table(self, name: str) -> None:
        """Refuse a table that is of no command."""
        if name not in (known := {*CONFIGURED, DECLARE}):
            self._unknown(name, {*known, "limit", "waiver"})

    def within(self, command: str, key: str) -> TyperOption:
        """Return the option of that key of one command."""
        if key not in self._of(command):
            self._unknown(key, set(self._of(command)), f" under '{command}'")
        return self._allowed(self._of(command)[key], f"{command}.{key}")

    def _allowed(self, option: Any, key: str) -> TyperOption:  # noqa: ANN401 - with its class
        """Return an option, unless who writes a file may not set it.

        Raises:
            UsageError: ``config``.
        """
        if option.steers not in {"free", "choice"}:
            raise UsageError(
                "config",
                f"'{key}' in '{self._config.name}' is refused: what writes, connects or excuses "
                "is typed or set by a variable, and never by a file.",
                hint=f"Type {option.opts[-1]}, or set {option.envvar or variable_name(key)}.",
            )
        if option.near:
            _require_near(self._config, key)
        return option  # type: ignore[no-any-return]

    def _of(self, command: str) -> Options:
        if command not in self._options:
            self._options[command] = self._load(command)
        return self._options[command]

    def _unknown(self, key: str, known: set[str], where: str = "") -> NoReturn:
        from mipaudit.options.other_names import meant_key
        from mipaudit.statements.text.printable_names import safe_name

        # Where two commands mean different things by one name, a file has the longer one.
        longer = min((name for name in known if name.endswith(f"_{key}")), default=None)
        meant = meant_key(key, known) or longer
        raise UsageError(
            "config",
            f"The key '{safe_name(key)}'{where} in '{safe_name(self._config.name)}' is unknown.",
            hint=f"Did you mean '{meant}'?" if meant else "Keys are the long names of options.",
        )


def _tidied(file: str, table: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a table with underscores in its keys."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        tidy = key if isinstance(value, dict) else key.replace("-", "_")
        if tidy in found:
            place = f"{name}.{tidy}" if name else tidy
            raise UsageError("config", f"'{place}' is set twice in '{file}'.")
        found[tidy] = value
    return found


def _words(option: TyperOption) -> tuple[str, ...]:
    """Return the words that an option may have; none where it may have others."""
    return tuple(getattr(option.type, "choices", ()))


def _checked(option: TyperOption, value: Given, place: str) -> Given:
    """Return a value in the form that the parser takes from a file."""
    if option.multiple:
        values = value if isinstance(value, list) else [value]
        return [_one(option, one, f"each value of {place}") for one in values]
    return _one(option, value, place)


def _one(option: TyperOption, value: Given, place: str) -> Given:
    kind = option.type.name
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if option.is_flag:
        holds, accepted = isinstance(value, bool), "true or false"
    elif (option.metavar or "").startswith("INTEGER|"):  # or a word: a number has no quotes
        value = str(value) if number and isinstance(value, int) else value
        holds = isinstance(value, str) and (value == "fresh" or value.lstrip("-").isdecimal())
        accepted = "a whole number, or the text 'fresh'"
    elif kind == "float":
        holds, accepted = number and not _too_long(value), "a number"
    elif kind.startswith("int"):
        holds, accepted = number and isinstance(value, int), "a whole number"
    else:
        holds, accepted = isinstance(value, str), "a text, in quotes"
    if not holds:
        raise UsageError("config", f"{place[0].upper()}{place[1:]} must be {accepted}.")
    return value


def _too_long(value: float) -> bool:
    """Tell whether a whole number is none as a float: TOML has them of any length."""
    return isinstance(value, int) and abs(value) > sys.float_info.max


def check_listed(config: ConfigFile) -> None:
    """Refuse unknown keys in the limits and waivers of a file, where nothing else reads them.

    Raises:
        UsageError: ``limits`` or ``waivers``.
    """
    if config.limits or config.waivers:
        from mipaudit.options.checked_limits import listed_limits, listed_waivers

        listed_limits(config.limits)
        listed_waivers(config.waivers)


def unjudged(
    own: Collection[str], config: ConfigFile | None, variables: Iterable[str], *, lists: bool
) -> list[str]:
    """Return what limits are set and not judged, by the names that they were set with.

    Args:
        own: keys of the command's options.
        config: the policy file, if any.
        variables: known ones that stand for options of other commands.
        lists: whether the command takes listed limits; it says itself which it leaves out.
    """
    others = [key for key in LIMITS if key not in own]
    set_ = set(variables)
    found = [variable_name(key) for key in others if variable_name(key) in set_]
    if config is not None:
        top = {key.replace("-", "_") for key in config.table}
        found += [f"'{key}' in {config.name}" for key in others if key in top]
        if config.limits and not lists:
            found.append(f"[[limit]] in {config.name}")
    return found
