"""What sentences call options: in backticks where they are written, as callers do where read.

The command line has ``--by``, and Python ``by=``.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
)

from mipaudit.errors import MipauditError
from mipaudit.options.declare import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mipaudit.options.declare import Declared, Options

P = ParamSpec("P")
AnswerT = TypeVar("AnswerT")
# A class, which may be typed as what it makes.
Made: TypeAlias = Any
# A name, and the word behind it, which may be its value.
# What is no keyword in Python, and holds for all that is read.
_IN_ENVIRONMENT: Final = {
    name: f"MIPAUDIT_{name.upper()}" for name in ("allow_scheme", "anonymous", "store_timeout")
}
_NAMED: Final = re.compile(r"`([a-z][a-z0-9_]*)`(?: ([\w-]+)(?![\w|-]))?")


def flags_of(*classes: type[Options]) -> dict[str, str]:
    """Return the options of classes as they are typed, by name, also as reports have it."""
    return {
        name: one.option.flag.split("/")[-1]
        for name, one in _named(classes)
        if one.option.flag is not None
    }


def keywords_of(*classes: type[Options]) -> dict[str, str]:
    """Return the options of classes as Python's callers write them, ``by=``, by name.

    Where an option has few values, also with each of them: ``rows_are="independent"``.
    """
    found = {name: f"{one.name}=" for name, one in _named(classes)}
    for name, one in _named(classes):
        choices = get_args(one.kind) if get_origin(one.kind) is Literal else ()
        found |= {f"{name} {value}": f'{one.name}="{value}"' for value in choices}
    return found


def _named(classes: Sequence[type[Options]]) -> Iterator[tuple[str, Declared]]:
    """Yield options by what a sentence may call them: also by their names in reports."""
    options = [one for kind in classes for one in declared(kind)]
    yield from ((one.recorded_name, one) for one in options)
    yield from ((one.name, one) for one in options)


def as_typed(text: str, flags: Mapping[str, str]) -> str:
    """Return a sentence with the options in it as they are typed; other names stay.

    Args:
        text: has options in backticks.
        flags: how each is typed, by name: of `flags_of`, or of `keywords_of`.
    """

    def typed(found: re.Match[str]) -> str:
        name, word = found[1], found[2] or ""
        if f"{name} {word}" in flags:
            return flags[f"{name} {word}"]
        flag = flags.get(name)
        if flag is None:
            return found[0]
        # What stands for a value is in capitals: by=NAME.
        blank = "" if not word or (flag.endswith("=") and word.isupper()) else " "
        return f"{flag}{blank}{word}"

    return _NAMED.sub(typed, text)


@contextmanager
def spelled_as(name: str, flag: str) -> Iterator[None]:
    """Let errors name one option as it is typed, where no command runs that would."""
    try:
        yield
    except MipauditError as error:
        raise error.reworded(partial(as_typed, flags={name: flag})) from error.__cause__


def in_keywords(plain: Callable[P, AnswerT], asked: Made) -> Callable[P, AnswerT]:
    """Return a function whose errors name options as Python's callers write them: ``by=``."""

    def call(*given: P.args, **named: P.kwargs) -> AnswerT:
        try:
            return plain(*given, **named)
        except MipauditError as error:
            spell = partial(as_typed, flags={**_IN_ENVIRONMENT, **keywords_of(asked)})
            raise error.reworded(spell) from error.__cause__

    call.__wrapped__ = plain  # type: ignore[attr-defined] # as functools has it
    return call


def unspelled(function: Callable[P, AnswerT]) -> Callable[P, AnswerT]:
    """Return a public function whose errors name options in backticks, for who spells them."""
    plain: Callable[P, AnswerT] = function.__wrapped__  # type: ignore[attr-defined]
    return plain
