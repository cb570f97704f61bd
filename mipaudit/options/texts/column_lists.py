"""Columns that are named in one option: ``a,b``, and ``age=17:90``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def column_list(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the names in one or more comma lists, one after the other, each once."""
    texts = (given,) if isinstance(given, str) else given or ()
    return tuple(dict.fromkeys(name.strip() for text in texts for name in text.split(",")))


def column_ranges(texts: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Return (low, high) by column.

    Raises:
        UsageError: a text is no ``COLUMN=LOW:HIGH``, or a column is there twice.
    """
    found: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, _, limits = text.rpartition("=")
        low, _, high = limits.partition(":")
        try:
            pair = float(low), float(high)
        except ValueError:
            pair = None
        if not name or pair is None or name in found:
            raise UsageError(
                "ranges",
                "--range takes one COLUMN=LOW:HIGH for each column.",
                hint="For example: --range age=17:90",
            )
        found[name] = pair
    return found
