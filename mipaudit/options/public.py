"""The Python function of a command, from what may be asked and what answers."""

from __future__ import annotations

import re
from inspect import Parameter, Signature, cleandoc
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    ForwardRef,
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

from mipaudit.options.declare import Declared, Options, declared

if TYPE_CHECKING:
    from collections.abc import Callable

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
    if isinstance(annotation, ForwardRef):  # of a type that is not loaded for it
        return annotation.__forward_arg__
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
