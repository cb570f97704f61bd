"""Settings made plain: numbers may come as numpy's, and every one has its range."""

from __future__ import annotations

import math
import operator
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_ALL: Final = 100  # percent
# A value as it is typed, or as Python gives it.
Given: TypeAlias = Any


def number(code: str, value: object, accepted: str | None = None) -> float:
    """Return a plain float.

    Args:
        code: the setting.
        value: what was given for it.
        accepted: what the error says; it should name the range.

    Raises:
        UsageError: not a number, or NaN.
    """
    try:
        if not isinstance(value, (str, bytes)) and not math.isnan(value):  # type: ignore[arg-type]
            return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(code, accepted or f"{code} must be a number.")


def number_hint(given: object) -> str | None:
    """Return how to write a number that was written as ``10%`` or ``0,1``; None for another."""
    text = given if isinstance(given, str) else ""
    try:
        value = float(text.strip().removesuffix("%").replace(",", "."))
    except ValueError:
        return None
    return f"Write {value / 100 if '%' in text else value:.15g}." if math.isfinite(value) else None


def percent_hint(given: Given, holds: Callable[[Any], bool]) -> str | None:
    """Return how to write a number of percent, where a share of 1 is wanted.

    Args:
        given: what was refused.
        holds: tells whether a value is accepted.
    """
    small = isinstance(given, (int, float)) and 1 < given <= _ALL
    if small and not holds(1.5) and holds(given / _ALL):
        return f"If it is a percentage, write {given / _ALL:.15g}."
    return None


def path_of(value: Given) -> Given:
    """Return a path as text, and anything else as it is."""
    if not isinstance(value, PathLike):
        return value
    path = fspath(value)
    return path.decode() if isinstance(path, bytes) else path


def require(holds: bool, code: str, message: str, hint: str | None = None) -> None:  # noqa: FBT001
    """Raise a UsageError unless a condition holds."""
    if not holds:
        raise UsageError(code, message, hint=hint)


def one_of(code: str, value: object, allowed: Sequence[str]) -> None:
    """Raise a UsageError unless a choice is among the allowed."""
    require(
        isinstance(value, str) and value in allowed,
        code,
        f"{code} must be one of: {', '.join(allowed)}.",
    )


def _not_nan(value: Given) -> float:
    found = float(value)
    if isinstance(value, (str, bytes)) or found != found:  # noqa: PLR0124 - NaN is no number
        raise ValueError
    return found


def _whole(value: Given) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _flag(value: Given) -> bool:
    if type(value).__name__ not in {"bool", "bool_"}:  # Python's and numpy's
        raise TypeError
    return bool(value)


def _text(value: Given) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


# Makes a value of each type, and what else is refused in words.
PLAIN: Final[Mapping[Any, tuple[Callable[[Any], Any], str]]] = {
    float: (_not_nan, "a number"),
    int: (_whole, "a whole number"),
    bool: (_flag, "true or false"),
    str: (_text, "a text"),
}
