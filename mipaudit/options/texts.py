"""Values as they are typed: numbers (``1e4``), columns (``a,b``), files, sites, ``T@F``."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Final

from mipaudit.options.plain_values import Given, path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# Two rates, each perhaps in percent, with anything plain between.
_RATE: Final = r"\s*([0-9]*\.?[0-9]+(?:e-?[0-9]+)?)\s*(%?)\s*"
_TWO_RATES: Final = re.compile(f"{_RATE}[@:,;/ ]{_RATE}")
_ALL: Final = 100  # percent
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
        raise ValueError("takes numbers, with commas between where typed") from None


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
        raise ValueError("takes whole numbers, with commas between where typed")
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
            "takes a true-positive rate and a false-positive rate, with @ between where typed",
            _meant_point(given)
            or "For example 0.02@0.001: at most 2% of members at a false-positive rate of 0.1%.",
        ) from None
    return tpr, fpr


def _meant_point(given: object) -> str | None:
    """Return how to write two rates that were written as ``2%@0.1%`` or ``0.02:0.001``."""
    found = _TWO_RATES.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        return None
    tpr, fpr = (
        float(number) / (_ALL if percent else 1)
        for number, percent in (found.group(1, 2), found.group(3, 4))
    )
    return f"Write {tpr:.15g}@{fpr:.15g}." if 0 < fpr < tpr < 1 else None
