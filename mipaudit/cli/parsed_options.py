"""What the parser is told of declared options, and the options that it found."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Final, TypeVar

from typer.main import get_click_param
from typer.models import ArgumentInfo, OptionInfo, ParamMeta

from mipaudit.options.declare import REQUIRED, declared
from mipaudit.options.spelling import as_typed, flags_of

if TYPE_CHECKING:
    from typer.core import TyperArgument, TyperOption

    from mipaudit.options.declare import Declared, Option, Options

AskedT = TypeVar("AskedT", bound="Options")
# The last two of what may be repeated.
_LEFT_OUT: Final[tuple[object, ...]] = (None, [], ())


def parameters_of(*classes: type[Options]) -> list[Any]:  # of the parser's parameters
    """Return what the parser takes for classes of options."""
    flags = flags_of(*classes)
    options = [one for kind in classes for one in declared(kind)]
    return [_parameter(one, as_typed(one.said, flags)) for one in options if one.option.flag]


def _parameter(one: Declared, said: str) -> TyperArgument | TyperOption:
    flag = str(one.option.flag)
    make = _typed if flag[0] == "-" else _by_place
    info: Any = make(one.option, flag, said)  # of either kind
    info.default = ... if one.default is REQUIRED else _default(one)
    parameter, _ = get_click_param(ParamMeta(name=one.name, default=info, annotation=_words(one)))
    if one.kind is int and not one.many and one.option.read is not None:
        # Typed it is a text, as 1e4; a policy file has a whole number all the same.
        parameter.type = copy(parameter.type)
        parameter.type.name = "integer"
    return parameter


def _default(one: Declared) -> Any:  # noqa: ANN401 - of its type
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
    )


def _words(one: Declared) -> Any:  # noqa: ANN401 - a type
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
