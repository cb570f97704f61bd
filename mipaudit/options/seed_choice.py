"""What ``--seed`` may be: a number, ``fresh``, or nothing."""

from __future__ import annotations

import operator
from typing import Any, Final, Literal, TypeAlias

from mipaudit.summaries.identity.seed import DEFAULT_SEED, SeedChoice

SeedGiven: TypeAlias = int | Literal["fresh"] | None
_FRESH_BYTES: Final = 8


def seed_given(value: Any) -> SeedGiven | SeedChoice:  # noqa: ANN401 - typed, or of Python
    """Return the seed that was asked for: a number, the word, or a choice made before.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(value, SeedChoice):
        return value
    if isinstance(value, str) and value == "fresh":
        return "fresh"
    typed = isinstance(value, str) and value.isascii() and value.isdigit()
    try:
        number = int(value) if typed else operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or number < 0:
        raise ValueError(
            "must be a whole number of at least 0, or the word 'fresh'",
            "Leave it out, and it follows from the scores; `seed` fresh draws one, which the "
            "report records.",
        )
    return number


def seed_choice(given: SeedGiven | SeedChoice, *, strict: bool = False) -> SeedChoice:
    """Return the choice of the seed.

    Args:
        given: a whole number, at least 0; ``fresh`` for one of the operating system; None for
            the default, which follows from the rows; or a choice that was made before.
        strict: the default is a fresh one: what is then proved is proved over the seed.
    """
    if isinstance(given, SeedChoice):
        return given
    if given == "fresh" or (given is None and strict):
        return fresh_seed()
    return DEFAULT_SEED if given is None else SeedChoice(origin="stated", number=int(given))


def fresh_seed() -> SeedChoice:
    """Draw a seed that nobody could know when the rows were written."""
    # Here, since most runs draw none.
    from secrets import token_bytes

    return SeedChoice(origin="fresh", number=int.from_bytes(token_bytes(_FRESH_BYTES), "big"))
