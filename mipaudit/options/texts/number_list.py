"""Numbers as they are typed, one or several: ``1e4``, ``200,200``, ``1,2.5,3``."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_WHOLE: Final = "must be a whole number"
_ONE_OR_TWO: Final = "takes one whole number, or two with a comma between"


def whole_number(given: Any) -> int:  # noqa: ANN401 - typed, or of Python
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


def one_or_two(given: Any) -> int | tuple[int, int]:  # noqa: ANN401
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
        raise ValueError("takes numbers, with commas between where typed") from None


def _plain(number: Any) -> Any:  # noqa: ANN401 - as Python gives it
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
        raise ValueError("takes whole numbers, with commas between where typed")
    return tuple(map(int, found))
