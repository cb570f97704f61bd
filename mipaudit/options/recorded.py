"""The settings that a report records, as the keywords that they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import InputError, UsageError
from mipaudit.options.declare import checked
from mipaudit.options.public import options_of
from mipaudit.statements.reports.kinds import kind_of, named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mipaudit.options.declare import Declared
    from mipaudit.options.plain_values import Given
    from mipaudit.statements.origin import Setting, Value

# Judging a report again makes no kind of report of its own.
_REJUDGE: Final = "rejudge"


def recorded_keywords(command: str, settings: Iterable[Setting]) -> dict[str, Any]:
    """Return the keywords of the function of a command.

    Settings that the function does not take are left out: how the report is shown, files
    beside it, and what later versions may add.

    Raises:
        InputError: ``bad_setting``: a setting is no value of its option.
    """
    options = {
        one.recorded_name: one for one in options_of(function_of(command)) if one.option.recorded
    }
    found = {}
    for one in settings:
        option = options.get(one.name)
        if option is None or (one.value is None and option.default is not None):
            continue
        try:
            # What is read is given anew.
            given = option.option.is_input or option.option.told is not None
            found[option.name] = one.value if given else checked(option, _number(one.value, option))
        except (UsageError, ValueError):
            raise InputError(
                "bad_setting",
                f"The setting '{one.name}' of the report cannot be read back.",
                hint="Use the version of mipaudit that the report's provenance names.",
            ) from None
    return found


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
    if command == _REJUDGE:
        place: str | None = "mipaudit.commands.render.run:rejudge"
    else:
        place = kind_of(command).function
    assert place is not None  # noqa: S101 - only what can be made again is asked for
    function: Callable[..., Any] = named(place)
    return function
