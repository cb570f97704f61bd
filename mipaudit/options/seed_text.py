"""The text of ``--seed``."""

from __future__ import annotations

from typing import Final, Literal

# It takes a number or a word: a file has the number without quotes.
SEED_METAVAR: Final = "INTEGER|fresh"


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
    from mipaudit.options.seed_choice import bad_seed

    raise bad_seed()
