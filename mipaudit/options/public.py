"""The Python function of a command, and its keywords as a report records them."""

from __future__ import annotations

import re
from collections import Counter
from inspect import Parameter, Signature, cleandoc
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    overload,
)

from mipaudit.errors import InputError, UsageError
from mipaudit.options.commands import BY_NAME
from mipaudit.options.declare import Declared, Options, checked, declared
from mipaudit.statements.kinds import kind_of, named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mipaudit.options.values import Given
    from mipaudit.statements.provenance import Setting, Value

P = ParamSpec("P")
AskedT = TypeVar("AskedT", bound=Options)
AnswerT = TypeVar("AnswerT")
AnswerT_co = TypeVar("AnswerT_co", covariant=True)
# A path, or data in memory.
_Input: TypeAlias = Any
# A function or a class with what is set here, which no type says.
Made: TypeAlias = Any
_IN_MEMORY: Final = "Or a data frame, an Arrow table or an array."
_MODULES: Final = re.compile(r"\b[a-z_]+(?:\.[a-z_]+)*\.(?=[A-Z])")


def public(asked: Callable[P, AskedT], answer: Callable[[AskedT], AnswerT]) -> Callable[P, AnswerT]:
    """Return ``answer`` as a function of the options themselves.

    Args:
        asked: the class of the options, whose fields become the keywords.
        answer: from the checked options to what is found. Its name and its docstring
            become those of the function, followed by what each option says.
    """

    def call(*given: P.args, **named: P.kwargs) -> AnswerT:
        return answer(asked(*given, **named))

    _describe(call, asked, answer)
    return call


class OfSeveral(Protocol[P, AnswerT_co]):
    """A function of several inputs by their place; the keywords of many are not looked at."""

    @overload
    def __call__(self, *given: P.args, **named: P.kwargs) -> AnswerT_co: ...
    @overload
    def __call__(self, a: _Input, /, *given: P.args, **named: P.kwargs) -> AnswerT_co: ...
    @overload
    def __call__(
        self, a: _Input, b: _Input, /, *given: P.args, **named: P.kwargs
    ) -> AnswerT_co: ...
    @overload
    def __call__(
        self, a: _Input, b: _Input, c: _Input, /, *more: _Input, **named: object
    ) -> AnswerT_co: ...


def public_of_several(
    asked: Callable[P, AskedT], answer: Callable[[AskedT], AnswerT]
) -> OfSeveral[P, AnswerT]:
    """Return ``answer`` as :func:`public` does; all that is given by place is the first option."""
    make: Callable[..., AskedT] = asked
    first = declared(cast("type[Options]", asked))[0].name

    def call(*given: _Input, **named: object) -> AnswerT:
        return answer(make(**{first: given}, **named))

    _describe(call, asked, answer, several=True)
    return call


def _describe(
    call: Made, asked: Made, answer: Callable[..., Any], *, several: bool = False
) -> None:
    """Give a function the name, the words and the signature that follow from what it asks."""
    options = declared(asked)
    call.options = options
    call.__name__ = call.__qualname__ = answer.__name__.removeprefix("answer_")
    call.__module__ = answer.__module__
    call.__doc__ = _documented(answer.__doc__ or "", options)
    parameters = [_parameter(one) for one in options]
    if several:
        kind = Parameter.VAR_POSITIONAL
        parameters[0] = Parameter(options[0].name, kind, annotation=spelled(options[0].kind))
    call.__signature__ = Signature(parameters, return_annotation=answer.__annotations__["return"])


def options_of(function: Made) -> tuple[Declared, ...]:
    """Return the options that a public function takes."""
    found: tuple[Declared, ...] = function.options
    return found


def _parameter(one: Declared) -> Parameter:
    kind = Parameter.POSITIONAL_OR_KEYWORD if one.by_place else Parameter.KEYWORD_ONLY
    return Parameter(one.name, kind, default=one.default, annotation=spelled(one.annotation))


def spelled(annotation: Made) -> str:
    """Return a type as one writes it: ``float | None``."""
    if get_origin(annotation) in {Union, UnionType}:
        return " | ".join(map(spelled, get_args(annotation)))
    if isinstance(annotation, str):  # of a type that is not loaded for it
        return annotation
    if annotation is NoneType:
        return "None"
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__name__
    return _MODULES.sub("", str(annotation))


def _documented(text: str, options: tuple[Declared, ...]) -> str:
    text = cleandoc(text)  # from Python 3.13 on the compiler does it
    if not options:
        return text
    lines = [f"    {one.name}: {_said(one)}" for one in options]
    args = "\n".join(["Args:", *lines])
    summary, mark, rest = text.partition("Raises:")
    return f"{summary.rstrip()}\n\n{args}\n\n{mark}{rest}" if mark else f"{summary}\n\n{args}\n"


def _said(one: Declared) -> str:
    beside = one.option.in_python
    if beside is None:
        beside = _IN_MEMORY if one.option.is_input else ""
    return f"{one.said} {beside}".rstrip()


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
                f"The report's setting '{one.name}' cannot be read.",
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
