"""The text of ``--seed``."""

from __future__ import annotations

from typing import Literal

from mipaudit.api.seed_choice import bad_seed


def parse_seed(text: str | None) -> int | Literal["fresh"] | None:
    """Return the number or the word that ``--seed`` was given, None where it was not.

    Raises:
        UsageError: ``seed``: it is neither.
    """
    if text is None:
        return None
    if text == "fresh":
        return "fresh"
    if text.isascii() and text.isdigit():
        return int(text)
    raise bad_seed()
