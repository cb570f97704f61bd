"""Columns that are named in one option: ``a,b``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def column_list(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the names in one or more comma lists, one after the other, each once."""
    texts = (given,) if isinstance(given, str) else given or ()
    return tuple(dict.fromkeys(name.strip() for text in texts for name in text.split(",")))
