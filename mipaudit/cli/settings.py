"""One merge of settings: default < policy file < environment < typed.

Every value keeps where it is from: a report records it, an error says it, and what is set for all
commands together is left out where it means nothing beside what is asked. Nothing is passed over
in silence: what is no name of any option is refused, and limits that are not judged are told.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar

from mipaudit.cli.policy_file import ConfigFile, find_config, read_config, refused
from mipaudit.errors import UsageError
from mipaudit.options.commands import BY_NAME, CONFIGURED, Command
from mipaudit.options.declare import Declared, Options, checked, declared
from mipaudit.options.game import PolicyFile, Stores
from mipaudit.options.shown import Declared as OfRelease
from mipaudit.statements.kinds import named
from mipaudit.statements.provenance import FOREIGN, Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mipaudit.options.values import Given as Value

Source = Literal["default", "file", "environment", "command line"]
# What comes later goes before.
_ORDER: Final[tuple[Source, ...]] = ("default", "file", "environment", "command line")
PREFIX: Final = "MIPAUDIT_"
# It holds for whatever is read, and is no command's option.
_EVERYWHERE: Final = frozenset({"MIPAUDIT_MAX_UNPACKED"})
# Of a policy file: the input, which is no option, and the table of what is declared of a release.
SCORES: Final = "scores"
_DECLARE: Final = "declare"
_LISTS: Final = ("limits", "waivers")
_TABLES: Final = ("limit", "waiver")
# What TOML has for values of each type, and how that is said.
_TOML: Final[Mapping[Any, tuple[Any, str]]] = {
    bool: (bool, "true or false"),
    float: ((int, float), "a number"),
    int: (int, "a whole number"),
}
# They read nothing. What is audited by the other are runs and canaries, not scores of a release.
_WITHOUT_STORES: Final = frozenset({"bounds", "simulate", "validate"})
_OTHER_SCORES: Final = frozenset({"epsilon"})
# The quantity within groups that is that of a class of attackers, and the key of the class.
_OF_CLASS: Final = "advantage"
_AGAINST: Final = "against"
_CHOOSE_FILE: Final = ("config", "no_config")
# The last two of what may be repeated.
_LEFT_OUT: Final[tuple[object, ...]] = (None, [], ())
# Those whose exit code says whether a limit is kept, and what else they could be thought to judge.
_GATES: Final = frozenset({"estimate", "records", "compare", "epsilon", "attack", "attribute"})
LIMITS: Final = (
    *("max_advantage", "max_eta", "max_tpr_at_fpr", "max_metric", "max_copies"),
    *("max_risk", "max_increase", "max_attribute_advantage", "claimed_epsilon"),
    *("max_blind", "claimed_mu", "claimed_curve"),
)
# What excuses, at which value, and how.
_EXCUSES: Final = (
    ("exit_zero", True, "the exit code is 0 whatever the verdict is"),
    ("on_inconclusive", "pass", "an open answer passes"),
)
_YES: Final = frozenset({"1", "true", "t", "yes", "y", "on"})
Keys: TypeAlias = "Mapping[str, Declared]"
AskedT = TypeVar("AskedT", bound="Options")


class Given(NamedTuple):
    """A value, and who set it.

    Attributes:
        value: as it was typed or written.
        source: who.
        where: the variable, or the policy file.
        own: whether the file has it under the name of the command, and not for all of them.
    """

    value: Any
    source: Source = "default"
    where: str | None = None
    own: bool = False


@cache
def keys_of(command: str) -> Keys:
    """Return the options of a command by their keys, those of a policy file and of variables.

    Args:
        command: of `CONFIGURED`; or the table of what is declared of a release.
    """
    if command == _DECLARE:
        return {one.recorded_name: one for one in declared(OfRelease)}
    options = (one for kind in kinds_of(BY_NAME[command]) for one in declared(kind))
    return {one.key: one for one in options if one.key is not None}


def kinds_of(row: Command) -> tuple[type[Options], ...]:
    """Return the classes of what a command may be asked, but for the choice of a policy file."""
    with_stores = row.configured and row.name not in _WITHOUT_STORES
    return (named(row.asked), named(row.shown), *((Stores,) * with_stores))


def scores_option(command: str) -> Declared | None:
    """Return the option of the scores; None of a command that audits something else."""
    options = () if command in _OTHER_SCORES else declared(named(BY_NAME[command].asked))
    return next((one for one in options if one.option.flag in {"SCORES", "SCORES..."}), None)


def policy_of(typed: Mapping[str, Any]) -> tuple[ConfigFile | None, Source, bool]:
    """Return the policy file, who named it or wants none, and whether none is wanted.

    Args:
        typed: what was typed, by the name of the option.

    Raises:
        UsageError: ``config``: the file cannot be read, or might be anybody's.
    """
    if "config" in typed:
        return read_config(typed["config"]), "command line", False
    if typed.get("no_config"):
        return None, "command line", True
    if os.environ.get(f"{PREFIX}NO_CONFIG", "").strip().lower() in _YES:
        return None, "environment", True
    path = os.environ.get(f"{PREFIX}CONFIG")
    if path:
        return read_config(path), "environment", False
    return find_config(), "default", False


def of_environment(command: str) -> dict[str, Given]:
    """Return what variables set, by the name of the option."""
    found = {}
    options = {one.key: one for one in declared(PolicyFile)} | {**keys_of(command)}
    for key, one in options.items():
        variable = variable_name(str(key))
        text = os.environ.get(variable)
        if text:
            value = text.split() if one.repeated else text
            found[one.name] = Given(value, "environment", variable)
    return found


def variable_name(key: str) -> str:
    """Return the environment variable that stands for an option."""
    return PREFIX + key.upper()


def of_file(config: ConfigFile, command: str) -> dict[str, Given]:
    """Return what a policy file sets of a command, by the name of the option.

    A key in the command's own table goes before what is declared, and that before the top.

    Raises:
        UsageError: ``config``: an unknown key, one that this file may not have, none at all, or a
            value of the wrong kind.
    """
    own = keys_of(command)
    found: dict[str, Given] = {}
    tables = {key: value for key, value in config.table.items() if isinstance(value, dict)}
    plain = {key: value for key, value in config.table.items() if key not in tables}
    if SCORES in plain:
        found |= _scores(config, command, plain.pop(SCORES))
    for name, table in [("", plain), *sorted(tables.items(), key=lambda each: each[0] != _DECLARE)]:
        if name not in {"", *CONFIGURED, _DECLARE}:  # an empty one says nothing, and is a mistake
            _unknown(config, name, {*CONFIGURED, _DECLARE, *_TABLES})
        place = f"{name}." if name else ""
        for key, given in _tidied(config, table, place).items():
            one = _option(config, key, (name,) if name else (command, *CONFIGURED), place)
            value = _checked(one, given, f"'{place}{key}' in '{config.name}'")
            at_top = not name and key in own and not _is_anothers(command, key, value)
            if at_top or name in {command, _DECLARE}:
                found[one.name] = Given(value, "file", config.name, own=name == command)
    if config.empty:
        raise refused(
            f"The file '{config.name}' has no key of mipaudit, so it sets nothing.",
            "Write a limit into the file, as `mipaudit init` does, or remove the file.",
        )
    return found


def _tidied(config: ConfigFile, table: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a table with underscores in its keys."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        tidy = key.replace("-", "_")
        if tidy in found:
            raise refused(f"'{place}{tidy}' is set twice in '{config.name}'.", "Keep one.")
        found[tidy] = value
    return found


def _option(config: ConfigFile, key: str, commands: Sequence[str], place: str) -> Declared:
    """Return the option of that key of the first command that has it.

    Args:
        config: the file.
        key: tidied.
        commands: one with a table of its own, or all, that which runs first.
        place: what stands before the key: the table.

    Raises:
        UsageError: ``config``: there is none, or who writes this file may not set it.
    """
    one = next((keys_of(name)[key] for name in commands if key in keys_of(name)), None)
    if one is None:
        every = {key for name in commands for key in keys_of(name)}
        if place:
            _unknown(config, key, every, f" under '{commands[0]}'")
        _unknown(config, key, {*every, *CONFIGURED, *_TABLES})
    if one.option.steers not in {"free", "choice"}:
        raise refused(
            f"'{place}{key}' in '{config.name}' is refused: an option that writes, connects or "
            "excuses must be typed or set by a variable, not by a file.",
            f"Type {one.word}, or set {variable_name(key)}.",
        )
    if _is_near(one):
        _require_near(config, f"{place}{key}")
    return one


def _is_near(one: Declared) -> bool:
    """Tell whether an option narrows or names the input: only a file beside it may have it."""
    return one.option.near or (one.option.is_input and one.option.steers == "choice")


def _require_near(config: ConfigFile, key: str) -> None:
    """Refuse what may narrow the input in a file above that nobody named."""
    if config.found and config.elsewhere:
        raise refused(
            f"'{key}' in '{config.name}' is refused: a file above the working folder must not "
            "choose which data are used.",
            f"Type it, or name the file with --config {config.name}.",
        )


def _unknown(config: ConfigFile, key: str, known: set[str], where: str = "") -> NoReturn:
    from mipaudit.options.commands import meant_key
    from mipaudit.statements.printable_names import safe_name

    # Where two commands mean different things by one name, a file has the longer one.
    longer = min((name for name in known if name.endswith(f"_{key}")), default=None)
    meant = meant_key(key, known) or longer
    raise refused(
        f"The key '{safe_name(key)}'{where} in '{safe_name(config.name)}' is unknown.",
        f"Did you mean '{meant}'?"
        if meant
        else "Keys are the long names of options, at the top or under a command as in [estimate]: "
        "`mipaudit init` writes an example.",
    )


def _is_anothers(command: str, key: str, value: Value) -> bool:
    """Tell whether a word is none of the running command, and one of another.

    A ``method`` at the top is that of the command which has it; the others keep theirs.
    """
    if value in (keys_of(command)[key].words or (value,)):
        return False
    return any(value in keys_of(name)[key].words for name in CONFIGURED if key in keys_of(name))


def _scores(config: ConfigFile, command: str, given: Value) -> dict[str, Given]:
    """Return the input that a file names, as seen from here.

    Raises:
        UsageError: ``config``: it is no text and no list of texts, or not beside the input.
    """
    _require_near(config, SCORES)
    listed = given if isinstance(given, list) else [given]
    if not all(isinstance(one, str) and one for one in listed):
        raise refused(
            f"'{SCORES}' in '{config.name}' must be a text, in quotes, or a list of texts.",
            'Name the score files, as in: scores = "scores.parquet"',
        )
    # os.path throughout: pathlib is not loaded by commands that only compute.
    folder = os.path.dirname(config.name)  # noqa: PTH120
    paths = [
        one if "://" in one or one == "-" else os.path.join(folder, one)  # noqa: PTH118
        for one in listed
    ]
    place = scores_option(command)
    if place is None or not paths:
        return {}
    if not place.repeated and len(paths) > 1:
        raise refused(f"mipaudit {command} takes only one score file.")
    value = paths if place.repeated else paths[0]
    return {place.name: Given(value, "file", config.name)}


def _checked(one: Declared, value: Value, place: str) -> Value:
    """Return a value in the form that the parser takes from a file."""
    if one.repeated:
        values = value if isinstance(value, list) else [value]
        return [_plain(one, each, f"each value of {place}") for each in values]
    return _plain(one, value, place)


def _plain(one: Declared, value: Value, place: str) -> Value:
    kind = str if one.many or (one.option.read is not None and one.kind is float) else one.kind
    types, accepted = _TOML.get(kind, (str, "a text, in quotes"))
    if (one.option.metavar or "").startswith("INTEGER|"):  # or a word: a number has no quotes
        value = str(value) if type(value) is int else value
        types, accepted = str, "a whole number, or the text 'fresh'"
        holds = value == "fresh" or str(value).lstrip("-").isdecimal()
    else:
        # TOML has whole numbers of any length, and some are none as floats.
        holds = not isinstance(value, int) or abs(value) <= sys.float_info.max
    is_flag = isinstance(value, bool) and kind is not bool
    if not (isinstance(value, types) and holds) or is_flag:
        quoted = isinstance(value, str) and kind in {int, float}
        raise refused(
            f"{place[0].upper()}{place[1:]} must be {accepted}.",
            "Write the number without quotes." if quoted else None,
        )
    return value


class Settings:
    """What a command is given.

    Attributes:
        command: the name of the command.
        config: the policy file, if any.
        given: each value with where it is from, by the name of the option.
    """

    config: ConfigFile | None
    _named: Source = "default"
    _forgone = False

    def __init__(self, row: Command, typed: Mapping[str, Any]) -> None:
        """Merge what is set without being typed; `take` adds what is.

        Args:
            row: the command.
            typed: what was typed, by the name of the option; None for what was not.

        Raises:
            UsageError: ``config``: of the policy file.
        """
        self.command, self.config = row.name, None
        self.given: dict[str, Given] = {}
        self._typed = frozenset(name for name, value in typed.items() if value is not None)
        if not row.configured:
            return
        config, self._named, self._forgone = policy_of(typed)
        if config:
            self.config = _with_attackers(config, keys_of(row.name))
            self.given |= of_file(config, row.name)
        self.given |= of_environment(row.name)

    def take(self, values: Mapping[str, Any]) -> None:
        """Complete them: with what was typed, and with defaults.

        Args:
            values: all, as the parser made them, by the name of the option.
        """
        below, unset = self.given, Given(None)
        typed = Given(None, "command line")
        self.given = {
            name: (typed if name in self._typed else below.get(name, unset))._replace(value=value)
            for name, value in values.items()
        }
        if self.config:
            for name in _LISTS:
                self.given[name] = Given(getattr(self.config, name), "file", self.config.name)
        self._choose_scores()

    def _rank(self, name: str) -> int:
        return _ORDER.index(self.given[name].source) if name in self.given else 0

    def _choose_scores(self) -> None:
        """Leave out the scores of the file where others are typed: whole, or the classes apart."""
        place = scores_option(self.command) if self.command in CONFIGURED else None
        if place is None:
            return
        whole, apart = self._rank(place.name), max(map(self._rank, ("members", "holdout")))
        left = (place.name,) if 0 < whole < apart else ("members", "holdout")
        if whole and apart and whole != apart:
            self.given |= {name: Given(None) for name in left}

    def leave_out_idle(self, kind: type[Options]) -> None:
        """Leave out what a file or the environment sets for all commands and means nothing here.

        A delta is that of every epsilon: where none is claimed, it is no mistake. It must be a
        delta all the same.

        Args:
            kind: a class of the command's options.

        Raises:
            UsageError: a value is outside its range.
        """
        values = {name: one.value for name, one in self.given.items()}
        idle = kind.idle(values, self._typed)
        for one in keys_of(self.command).values():
            found = self.given.get(one.name)
            if one.name in idle and found and found.source in {"file", "environment"}:
                checked(one, found.value)
                if not found.own:
                    self.given[one.name] = Given(None)

    def options_of(self, kind: type[AskedT]) -> AskedT:
        """Return the options of a class as they are given, checked.

        Raises:
            UsageError: a value is outside its range, or values do not go together.
        """
        # What Python alone has may have the name of something else that is typed.
        names = {
            one.name
            for one in declared(kind)
            if one.option.flag is not None or one.name in {*_LISTS, "settings"}
        }
        given = {
            name: one.value
            for name, one in self.given.items()
            if name in names and one.value not in _LEFT_OUT
        }
        if "settings" in names:
            given["settings"] = self.recorded()
        return kind(**given)

    def recorded(self) -> tuple[Setting, ...]:
        """Return every setting that can change the answer, and the policy file."""
        from mipaudit.statements.provenance import Setting, plain_value

        row = BY_NAME[self.command]
        options = {
            one.name: one for kind in (named(row.shown), named(row.asked)) for one in declared(kind)
        }
        found = [
            Setting(name=name, value=plain_value(one.value), source=one.source, where=one.where)
            for name, one in self.given.items()
            # What a file chose to read is said, though inputs are recorded otherwise.
            if name in options
            and (
                options[name].option.recorded or (one.source == "file" and _is_near(options[name]))
            )
        ]
        if self.config:
            digest = f"sha256 {self.config.sha256}{FOREIGN * self.config.foreign}"
            name = self.config.name
            found.append(Setting(name="config", value=name, source="file", where=digest))
        return tuple(found)

    def place(self, name: str) -> str | None:
        """Return the variable or the file that set an option, as a sentence; None for neither."""
        one = self.given.get(name)
        if one is None or one.where is None or name in self._typed:
            return None
        kind = "environment variable" if one.source == "environment" else "file"
        return f"It is set by the {kind} {one.where}."

    def unjudged(self) -> list[str]:
        """Return the limits that are set and not judged; refuse what is set by no known name.

        Raises:
            UsageError: an unknown variable, or an unknown key of a limit.
        """
        own = keys_of(self.command)
        others = _foreign_variables({*own, *_CHOOSE_FILE})
        config = self.config
        judges = "on_inconclusive" in own
        if config and not judges and (config.limits or config.waivers):
            from mipaudit.options.checked_limits import require_keys

            for name in _LISTS:
                require_keys(name, getattr(config, name))
        if self.command not in _GATES:
            return []
        keys = [key for key in LIMITS if key not in own]
        found = [variable_name(key) for key in keys if variable_name(key) in others]
        if config:
            top = {key.replace("-", "_") for key in config.table}
            found += [f"'{key}' in {config.name}" for key in keys if key in top]
            # Of what it judges a command says itself what it leaves to another.
            found += [f"[[limit]] in {config.name}"] * bool(config.limits and not judges)
        return found

    def remarks(self) -> Iterator[str]:
        """Yield a line for each thing that steers a run and that its user may not know."""
        config = self.config
        if self._forgone and self._named == "environment":
            yield f"{PREFIX}NO_CONFIG is set: no policy file is read."
        if config and self._named == "environment":
            yield f"{PREFIX}CONFIG is set: the policy file is {config.shown}."
        elsewhere = config is not None and (config.elsewhere or config.foreign)
        if config and elsewhere and self._named == "default":
            yield f"The policy file is {config.shown}{FOREIGN * config.foreign}."
        of_variables = {
            name: one for name, one in self.given.items() if one.source == "environment"
        }
        for name, value, what in _EXCUSES:
            if name in of_variables and of_variables[name].value == value:
                yield f"{of_variables.pop(name).where} is set: {what}."
        yield from _over(config, self.command, of_variables)


def _over(config: ConfigFile | None, command: str, of_variables: Collection[str]) -> Iterator[str]:
    """Yield which variables can change an answer, and whether they go before keys of the file.

    What only says how an answer is shown is no news, nor a limit that the answer names.
    """
    own = keys_of(command)
    tables = (config.table, config.table.get(command)) if config else ()
    keys = {key.replace("-", "_") for table in tables if isinstance(table, dict) for key in table}
    set_ = [
        key
        for key, one in own.items()
        if one.name in of_variables and (one.option.recorded or key == "require_policy")
    ]
    if _AGAINST not in own and os.environ.get(variable_name(_AGAINST)):
        set_.append(_AGAINST)  # of limits on groups
    for key in set_:
        if config and key in keys:
            yield f"{variable_name(key)} overrides '{key}' in {config.shown}."
        elif key not in LIMITS:
            yield f"{variable_name(key)} is set."


def _with_attackers(config: ConfigFile, own: Keys) -> ConfigFile:
    """Return the file with the attackers that it names for all limits on each that has none.

    For a command without ``--against``: its limits on groups must withstand them, too.
    """
    against = os.environ.get(variable_name(_AGAINST)) or config.table.get(_AGAINST)
    if against is None or _AGAINST in own:
        return config
    limits = tuple(
        {_AGAINST: against, **one} if one.get("group") and one.get("quantity") == _OF_CLASS else one
        for one in config.limits
    )
    return config._replace(limits=limits)


def _foreign_variables(own: Collection[str]) -> Collection[str]:
    """Return the variables with our prefix that stand for options of other commands alone.

    A limit whose name is misspelt would not be judged, and the run would pass: as with the
    keys of a file, what is not known is an error.

    Raises:
        UsageError: ``environment``; the nearest known variable is named.
    """
    known = {*map(variable_name, own), *_EVERYWHERE}
    others = sorted(
        name
        for name, value in os.environ.items()
        if value and name.upper().startswith(PREFIX) and name not in known
    )
    if others:
        known |= {variable_name(key) for name in CONFIGURED for key in keys_of(name)}
    unknown = next((name for name in others if name not in known), None)
    if unknown is None:
        return others
    from mipaudit.options.commands import CLOSE, meant_key
    from mipaudit.statements.printable_names import safe_name

    # Without the prefix, which would make all of them alike.
    keys = {name.removeprefix(PREFIX).lower() for name in known}
    meant = meant_key(unknown.upper().removeprefix(PREFIX).lower(), keys, CLOSE)
    raise UsageError(
        "environment",
        f"The environment variable {safe_name(unknown)} is unknown.",
        hint=(f"Did you mean {variable_name(meant)}? " if meant else "")
        + f"Variables that begin with {PREFIX} must be long names of options. Unset the others.",
    )
