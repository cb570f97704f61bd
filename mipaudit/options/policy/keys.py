"""Reads the keys of the listed limits and waivers, and refuses what they cannot hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from difflib import get_close_matches
from typing import Any, Final, get_args

from mipaudit.options.plain_values import number, require
from mipaudit.statements.estimate import Quantity

_QUANTITIES: Final = get_args(Quantity)


def listed(code: str, given: object) -> tuple[dict[str, Any], ...]:
    """Return limits or waivers as plain mappings, dates as text: what a report records.

    Args:
        code: ``limits`` or ``waivers``.
        given: an iterable of mappings.

    Raises:
        UsageError: ``code``: another form.
    """
    accepted = f"{code} must be a list of mappings, such as {{'quantity': 'advantage', ...}}."
    require(isinstance(given, Iterable) and not isinstance(given, (str, Mapping)), code, accepted)
    found: tuple[Any, ...] = tuple(given)  # type: ignore[arg-type]
    require(all(isinstance(one, Mapping) for one in found), code, accepted)
    return tuple(
        {str(key): value.isoformat() if isinstance(value, date) else value for key, value in pairs}
        for pairs in (one.items() for one in found)
    )


def quantity_of(code: str, name: str, given: Mapping[str, Any]) -> Quantity:
    """Return the quantity that is limited, or waived.

    Raises:
        UsageError: ``code``: there is no such quantity; the nearest is named.
    """
    value = given["quantity"]
    near = get_close_matches(value, _QUANTITIES, n=1) if isinstance(value, str) else []
    require(
        value in _QUANTITIES,
        code,
        f"{name}: 'quantity' must be one of: {', '.join(_QUANTITIES)}.",
        f"Did you mean '{near[0]}'?" if near else None,
    )
    return value  # type: ignore[no-any-return]


def check_keys(
    code: str,
    name: str,
    given: Mapping[str, Any],
    allowed: tuple[str, ...],
    *,
    needed: tuple[str, ...],
) -> None:
    """Refuse unknown and missing keys.

    Args:
        code: of the error.
        name: of the limit or waiver, such as ``Limit 2``.
        given: its keys and values.
        allowed: the known keys.
        needed: those that must be there.

    Raises:
        UsageError: ``code``; the nearest known key is named.
    """
    for key in given:
        near = get_close_matches(key, allowed, n=1)
        require(
            key in allowed,
            code,
            f"{name} has the unknown key '{key}'.",
            f"Did you mean '{near[0]}'?" if near else f"Known keys: {', '.join(allowed)}.",
        )
    missing = [key for key in needed if key not in given]
    require(not missing, code, f"{name} lacks the key '{''.join(missing[:1])}'.")


def text_of(code: str, name: str, given: Mapping[str, Any], key: str) -> str | None:
    """Return a text, or None where there is none.

    Raises:
        UsageError: ``code``: something else.
    """
    value = given.get(key)
    require(value is None or isinstance(value, str), code, f"{name}: '{key}' must be a text.")
    return value


def share_of(code: str, name: str, given: Mapping[str, Any], key: str) -> float | None:
    """Return a number in (0, 1), or None where there is none.

    Raises:
        UsageError: ``code``: something else.
    """
    if given.get(key) is None:
        return None
    value = number_of(code, name, given, key)
    require(0 < value < 1, code, f"{name}: '{key}' must be above 0 and below 1.")
    return value


def number_of(code: str, name: str, given: Mapping[str, Any], key: str) -> float:
    """Return a number that is there.

    Raises:
        UsageError: ``code``: something else.
    """
    accepted = f"{name}: '{key}' must be a number."
    require(not isinstance(given[key], bool), code, accepted)
    return number(code, given[key], accepted)
