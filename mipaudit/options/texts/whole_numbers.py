"""Whole numbers as they are typed: ``10000``, ``1e4``, and two with a comma between."""

from __future__ import annotations

import operator
from typing import Any, Final

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
