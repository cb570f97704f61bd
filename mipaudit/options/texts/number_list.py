"""Numbers in one option: ``1,2.5,3``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def numbers(given: str | Iterable[float]) -> tuple[float, ...]:
    """Return the numbers in a comma list, or of a sequence.

    Raises:
        ValueError: one of them is no number.
    """
    try:
        return tuple(map(float, given.split(",") if isinstance(given, str) else given))
    except (TypeError, ValueError):
        raise ValueError("takes numbers, with commas between where typed") from None


def parse_numbers(text: str | None, *, option: str) -> tuple[float, ...] | None:
    """Return the numbers between commas, or None from None.

    Raises:
        UsageError: one of them is no number.
    """
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            option.lstrip("-").replace("-", "_"), f"{option} takes numbers with commas between."
        ) from None


def parse_whole_numbers(text: str | None, *, option: str) -> tuple[int, ...]:
    """Return the whole numbers between commas; none from None.

    Raises:
        UsageError: one of them is no whole number.
    """
    found = parse_numbers(text, option=option) or ()
    if not all(number.is_integer() for number in found):
        raise UsageError(
            option.lstrip("-").replace("-", "_"),
            f"{option} takes whole numbers with commas between.",
        )
    return tuple(int(number) for number in found)
