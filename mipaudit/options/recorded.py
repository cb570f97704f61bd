"""The settings that a report records, as the keywords that they were.

A command line records what was typed, the Python API its arguments; both are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import InputError, UsageError
from mipaudit.options.declare import checked
from mipaudit.options.public import options_of, spelled
from mipaudit.statements.origin import setting_value
from mipaudit.statements.reports.kinds import kind_of, named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mipaudit.options.declare import Declared
    from mipaudit.statements.origin import Setting

_NONE: Final = "none"
# Judging a report again makes no kind of report of its own.
_REJUDGE: Final = "rejudge"


def recorded_keywords(command: str, settings: Iterable[Setting]) -> dict[str, Any]:
    """Return the keywords of the function of a command.

    Settings that the function does not take are left out: how the report is shown, files
    beside it, and what later versions may add.

    Raises:
        InputError: ``bad_setting``: a setting cannot be read back.
    """
    options = {one.name: one for one in options_of(function_of(command)) if one.option.recorded}
    return {
        one.name: _value(options[one.name], one)
        for one in settings
        if one.name in options and not _is_left_out(options[one.name], one)
    }


def recorded_value(settings: Iterable[Setting], command: str, name: str) -> Any:  # noqa: ANN401
    """Return the value of one setting; None where it is not recorded.

    Raises:
        InputError: ``bad_setting``: it cannot be read back.
    """
    found = recorded_keywords(command, (one for one in settings if one.name == name))
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


def _is_left_out(one: Declared, setting: Setting) -> bool:
    """Tell whether an option was not typed that has another default than None."""
    return setting.value == _NONE and not (one.optional or one.kind is Any)


def _value(one: Declared, setting: Setting) -> Any:  # noqa: ANN401 - whatever it takes
    try:
        value = _written(one, setting)
        # What is read is given anew.
        return value if one.option.is_input else checked(one, value)
    except (ValueError, IndexError, UsageError):
        raise InputError(
            "bad_setting",
            f"The setting '{setting.name}' of the report cannot be read back.",
            hint="Use the version of mipaudit that the report's provenance names.",
        ) from None


def _written(one: Declared, setting: Setting) -> Any:  # noqa: ANN401
    """Return what a setting was written from: a text as it was typed, or a value."""
    text, option = setting.value, one.option
    if text != _NONE and setting.source != "api":
        if option.flag is None and one.kind is bool:
            return text != "false"  # where a file was to be written: the function takes whether
        if option.flag is not None and option.read is not None and not option.repeated:
            return text
    try:
        return setting_value(text, spelled(one.annotation))
    except ValueError:
        return text  # a word among numbers, as fresh is for a seed
