"""Values of options: made plain from what is typed or what Python gives, each with its range."""

from __future__ import annotations

import math
import operator
import re
from math import isfinite
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_ALL: Final = 100  # percent
# A value as it is typed, or as Python gives it.
Given: TypeAlias = Any


class Range(NamedTuple):
    """The values that an option may have.

    Attributes:
        holds: tells whether a value is among them.
        text: what follows "must be", as "above 0 and below 1".
        in_help: whether help says it, too, or an error alone.
        meant: returns what a refused value was likely meant to be, or None.
    """

    holds: Callable[[Any], bool]
    text: str
    in_help: bool = True
    meant: Callable[[Any], str | None] | None = None


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
    if not math.isfinite(value):
        return None
    several = ", if this is one number" if "," in text else ""
    return f"Write {value / 100 if '%' in text else value:.15g}{several}."


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


FINITE: Final = Range(isfinite, "finite")
NOT_NEGATIVE: Final = Range(lambda x: x >= 0 and isfinite(x), "at least 0 and finite")
PROBABILITY: Final = Range(lambda p: 0 < p < 1, "above 0 and below 1")
SHARE: Final = Range(lambda p: 0 <= p <= 1, "from 0 to 1")
ABOVE_NOTHING: Final = Range(lambda p: 0 < p <= 1, "above 0 and at most 1")
BELOW_ONE: Final = Range(lambda p: 0 <= p < 1, "at least 0 and below 1")
# Below it, limits would be wrong more often than right.
_LEAST_CONFIDENCE: Final = 0.5


def confidence_hint(given: float) -> str | None:
    """Return the confidence of a share of errors, or of percent."""
    if 0 < given < _LEAST_CONFIDENCE:
        return f"If it is the share of errors (alpha), write {1 - given:.15g}."
    return percent_hint(given, CONFIDENCE.holds)


CONFIDENCE: Final = Range(
    lambda c: _LEAST_CONFIDENCE <= c < 1, "at least 0.5 and below 1", meant=confidence_hint
)


def swapped(point: tuple[float, float]) -> str | None:
    """Return how to write two rates of which the smaller came first."""
    tpr, fpr = point
    if not 0 < tpr < fpr < 1:
        return None
    return (
        f"If the two are swapped, write {fpr:.15g}@{tpr:.15g}: at most {100 * fpr:.15g}% of "
        f"members at a false-positive rate of {100 * tpr:.15g}%."
    )


# Random guessing reaches TPR = FPR.
OPERATING_POINT: Final = Range(
    lambda point: 0 < point[1] < point[0] < 1,
    "a true-positive rate above the false-positive rate, both above 0 and below 1",
    meant=swapped,
    in_help=False,
)


def above(least: float) -> Range:
    """Return the finite numbers above one."""
    return Range(lambda x: least < x and isfinite(x), f"above {least:g} and finite")


def at_least(least: float) -> Range:
    """Return the numbers from one on, without infinity."""
    return Range(lambda x: least <= x and isfinite(x), f"at least {least:g}")


def between(least: int, most: int) -> Range:
    """Return the numbers from one to another, both among them."""
    return Range(lambda x: least <= x <= most, f"from {least} to {most:,}")


# Two rates, each perhaps in percent, with anything plain between.
_RATE: Final = r"\s*([0-9]*\.?[0-9]+(?:e-?[0-9]+)?)\s*(%?)\s*"
_TWO_RATES: Final = f"{_RATE}[@:,;/ ]{_RATE}"
_WHOLE: Final = "must be a whole number"
_ONE_OR_TWO: Final = "takes one whole number, or two with a comma between"


def whole_number(given: Given) -> int:
    """Return a whole number, which may be written as 1e4.

    Raises:
        ValueError: it is none.
    """
    if isinstance(given, bool):
        raise ValueError(_WHOLE)  # noqa: TRY004 - as readers of options do
    try:
        return int(given) if isinstance(given, str) else operator.index(given)
    except (ValueError, TypeError):
        pass
    try:
        number = float(given)
    except (ValueError, TypeError):
        raise ValueError(_WHOLE) from None
    if not number.is_integer():
        raise ValueError(_WHOLE)
    return int(number)


def site_name(given: Given) -> str:
    """Return a name that can be said, printed and pasted.

    Raises:
        ValueError: it is none.
    """
    from unicodedata import normalize

    name = normalize("NFC", given.strip()) if isinstance(given, str) else ""
    if not re.fullmatch(r"\w[\w .-]{0,39}", name):
        raise ValueError(
            "must be a name of at most 40 letters, digits, spaces, dots and dashes",
            "For example: north, or hospital-3.",
        )
    return name


def site_names(given: Given) -> tuple[str, ...]:
    """Return one or more names of sites.

    Raises:
        ValueError: one of them is none.
    """
    return tuple(map(site_name, given if _several(given) else (given,)))


def one_or_two(given: Given) -> int | tuple[int, int]:
    """Return a whole number, or a pair, from ``400``, ``"200,200"`` or ``(200, 200)``.

    Raises:
        ValueError: neither one whole number nor two.
    """
    parts = given.split(",") if isinstance(given, str) else given
    try:
        numbers = [whole_number(one) for one in parts] if _several(parts) else [whole_number(parts)]
    except ValueError:
        numbers = []
    match numbers:
        case [one]:
            return one
        case [one, other]:
            return one, other
        case _:
            raise ValueError(_ONE_OR_TWO, "For example 400, or 200,200.")


def _several(given: object) -> bool:
    return isinstance(given, (tuple, list))


def numbers(given: str | Iterable[float]) -> tuple[float, ...]:
    """Return the numbers in a comma list, or of a sequence.

    Raises:
        ValueError: one of them is no number.
    """
    try:
        parts = given.split(",") if isinstance(given, str) else map(_plain, given)
        return tuple(map(float, parts))
    except (TypeError, ValueError):
        raise ValueError("takes numbers, typed with commas between them") from None


def _plain(number: Given) -> Given:
    if isinstance(number, (str, bytes)):
        raise TypeError
    return number


def whole_numbers(given: str | Iterable[int]) -> tuple[int, ...]:
    """Return the whole numbers in a comma list, or of a sequence.

    Raises:
        ValueError: one of them is no whole number.
    """
    found = numbers(given)
    if not all(number.is_integer() for number in found):
        raise ValueError("takes whole numbers, typed with commas between them")
    return tuple(map(int, found))


def file_path(given: Given) -> str:
    """Return a path as text.

    Raises:
        ValueError: it is none.
    """
    path = path_of(given)
    if not isinstance(path, str):
        raise ValueError("must be a file")  # noqa: TRY004 - how readers refuse
    return path


def column_list(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the names in a comma list, or in a sequence, where they may have commas, each once."""
    names = listed_columns([given]) if isinstance(given, str) else given
    return tuple(dict.fromkeys(names or ()))


def listed_columns(texts: Iterable[str]) -> list[str]:
    """Return the names in comma lists, one with a comma in quotation marks, as in a CSV file."""
    import csv

    rows = (next(csv.reader([text], skipinitialspace=True), [""]) for text in texts)
    return [name.strip() for row in rows for name in row or [""]]


def operating_point(given: str | Sequence[float]) -> tuple[float, float]:
    """Return (TPR, FPR) from ``"0.02@0.001"``, or from a pair of numbers.

    Raises:
        ValueError: it is neither.
    """
    parts = given.split("@") if isinstance(given, str) else given
    try:
        tpr, fpr = (float(part) for part in parts)
    except (TypeError, ValueError):
        raise ValueError(
            "takes a true-positive rate and a false-positive rate, typed with @ between them",
            _meant_point(given)
            or "For example 0.02@0.001: at most 2% of members at a false-positive rate of 0.1%.",
        ) from None
    return tpr, fpr


def _meant_point(given: object) -> str | None:
    """Return how to write two rates that were written as ``2%@0.1%`` or ``0.02:0.001``."""
    found = re.fullmatch(_TWO_RATES, given) if isinstance(given, str) else None
    if found is None:
        return None
    tpr, fpr = (
        float(number) / (_ALL if percent else 1)
        for number, percent in (found.group(1, 2), found.group(3, 4))
    )
    return f"Write {tpr:.15g}@{fpr:.15g}." if 0 < fpr < tpr < 1 else None
