"""The settings that a report records, as the keywords that they were."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import InputError, UsageError
from mipaudit.options.commands import BY_NAME
from mipaudit.options.declare import checked, declared
from mipaudit.options.public import options_of
from mipaudit.statements.reports.kinds import kind_of, named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mipaudit.options.declare import Declared
    from mipaudit.options.plain_values import Given
    from mipaudit.statements.origin import Setting, Value

# Judging a report again makes no kind of report of its own.
_REJUDGE: Final = "rejudge"
# The setting that names it: of no option, since it is read before there are any.
_POLICY_FILE: Final = "config"


def recorded_keywords(command: str, settings: Iterable[Setting]) -> dict[str, Any]:
    """Return the keywords of the function of a command.

    Settings that the function does not take are left out: how the report is shown, files
    beside it, and what later versions may add. So is what names a file or a place to read: a
    report was written by anybody, and what is read is given anew.

    Raises:
        InputError: ``bad_setting``: a setting is no value of its option.
    """
    options = _recorded_options(command)
    found = {}
    for one in settings:
        option = options.get(one.name)
        if option is None or option.option.is_input or _is_unset(one, option):
            continue
        try:
            found[option.name] = checked(option, _number(one.value, option))
        except (UsageError, ValueError):
            raise InputError(
                "bad_setting",
                f"The setting '{one.name}' of the report cannot be read back.",
                hint="Use the version of mipaudit that the report's provenance names.",
            ) from None
    return found


def _recorded_options(command: str) -> dict[str, Declared]:
    of_function = options_of(function_of(command))
    return {one.recorded_name: one for one in of_function if one.option.recorded}


def _is_unset(one: Setting, option: Declared) -> bool:
    """Tell whether a setting says that an option which always has a value has none."""
    return one.value is None and option.default is not None


def without_effect(command: str, settings: Sequence[Setting]) -> list[str]:
    """Return the settings of a report by which nothing is computed, though it states them.

    Args:
        command: of the report.
        settings: as it states them: also of how it was shown, and of its policy file.
    """
    options = _recorded_options(command)
    row = BY_NAME.get(command.partition(" ")[0])
    shown = () if row is None else declared(named(row.shown))
    known = {*options, *(one.name for one in shown if one.option.recorded), _POLICY_FILE}
    # Of what is read, only which of it the policy file named.
    files = [one.value for one in settings if one.name == _POLICY_FILE]
    inputs = {one.name for one in options_of(function_of(command)) if one.option.is_input}
    times = Counter(one.name for one in settings)
    return [
        one.name
        for one in settings
        if one.name
        not in (known | inputs if one.source == "file" and one.where in files else known)
        or times[one.name] > 1
        or (one.name in options and _is_unset(one, options[one.name]))
    ]


def _number(value: Value, option: Declared) -> Value:
    """Return an infinity, which JSON has as a text, as the number that it is."""
    return float(value) if option.kind is float and isinstance(value, str) else value


def recorded_value(settings: Iterable[Setting], command: str, name: str) -> Given:
    """Return the value of one setting, by its keyword; None where it is not recorded.

    Raises:
        InputError: ``bad_setting``: it cannot be read back.
    """
    names = [one.recorded_name for one in options_of(function_of(command)) if one.name == name]
    found = recorded_keywords(command, (one for one in settings if one.name in names))
    return found.get(name)


def function_of(command: str) -> Callable[..., Any]:
    """Return the function that makes the reports of a command."""
    rejudge = "mipaudit.commands.render.run:rejudge"
    place = rejudge if command == _REJUDGE else kind_of(command).function
    function: Callable[..., Any] = named(place)
    return function
