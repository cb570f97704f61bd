"""The settings that a report records, as the keywords that they were.

A command line records what was typed, the Python API its arguments; both are read.
"""

from __future__ import annotations

from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from mipaudit.errors import InputError
from mipaudit.statements.origin import setting_value
from mipaudit.statements.reports.kinds import kind_of, named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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
    kinds = _kinds(command)
    return {
        one.name: _value(one, kinds[one.name], command)
        for one in settings
        if one.name in kinds and not _left_out(one, kinds[one.name])
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


def _kinds(command: str) -> dict[str, str]:
    """Return what each keyword of a command takes, in words."""
    parameters = signature(function_of(command)).parameters.values()
    return {
        one.name: str(one.annotation)
        for one in parameters
        if one.kind == one.KEYWORD_ONLY or (command, one.name) in _POSITIONAL
    }


def _left_out(setting: Setting, kind: str) -> bool:
    """Tell whether an option was not typed whose keyword has another default than None."""
    return setting.value == _NONE and not ("None" in kind or kind == "Any")


def _value(setting: Setting, kind: str, command: str) -> Any:  # noqa: ANN401 - whatever it takes
    try:
        if (command, setting.name) in _TEXTS or _is_fresh(setting):
            return setting.value
        typed = setting.source != "api" and setting.name in _TYPED
        if typed and setting.value != _NONE:
            return _TYPED[setting.name](setting.value)
        return setting_value(setting.value, kind)
    except (ValueError, IndexError):
        raise InputError(
            "bad_setting",
            f"The setting '{setting.name}' of the report cannot be read back.",
            hint="Use the version of mipaudit that the report's provenance names.",
        ) from None


def _is_fresh(setting: Setting) -> bool:
    """Tell whether the setting is ``--seed fresh``, whose other values are numbers."""
    return (setting.name, setting.value) == ("seed", "fresh")


def _pair(text: str) -> Any:  # noqa: ANN401
    """Read ``0.02@0.001``; a default was never typed."""
    tpr, mark, fpr = text.partition("@")
    return (float(tpr), float(fpr)) if mark else setting_value(text, "tuple[float, float]")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def _guesses(text: str) -> Any:  # noqa: ANN401 - one number or two
    found = tuple(int(float(part)) for part in text.split(","))
    return found if len(found) > 1 else found[0]


def _keyed(text: str) -> Any:  # noqa: ANN401 - numbers by name
    if text.startswith("{"):
        return setting_value(text, "Mapping")
    pairs = (part.partition("=") for part in text.split(","))
    return {name.strip(): float(value) for name, _, value in pairs}


def _parts(text: str) -> Any:  # noqa: ANN401 - kinds with their numbers
    if text.startswith("["):
        return setting_value(text, "Sequence")
    named = (part.partition(":") for part in text.split(", ") if part)
    return tuple((kind, _keyed(numbers)) for kind, _, numbers in named)


def _is_named(text: str) -> bool:
    """Tell whether a file was asked for: the function takes whether, not where."""
    return text != "false"


# Settings that are no keywords, and are recorded.
_POSITIONAL: Final = frozenset({("query", "kinds")})
# Texts that may look like numbers.
_TEXTS: Final = frozenset({("query", "memory")})
# What is typed in another form than the function takes it.
_TYPED: Final[Mapping[str, Callable[[str], Any]]] = MappingProxyType(
    {
        "max_tpr_at_fpr": _pair,
        "tpr_at_fpr": _pair,
        "by": _names,
        "clip_centre": _numbers,
        "guesses": _guesses,
        "dp_sgd": _keyed,
        "counting_queries": _keyed,
        "compose": _parts,
        "curve": _is_named,
    }
)
