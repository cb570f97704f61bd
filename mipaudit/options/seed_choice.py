"""What ``--seed`` may be: a number, ``fresh``, or nothing."""

from __future__ import annotations

import operator
from typing import Any, Final, Literal, TypeAlias

from mipaudit.errors import UsageError
from mipaudit.summaries.identity.seed import DEFAULT_SEED, SeedChoice

SeedGiven: TypeAlias = int | Literal["fresh"] | None
FRESH: Final = "fresh"
_FRESH_BYTES: Final = 8


def seed_given(value: Any) -> SeedGiven | SeedChoice:  # noqa: ANN401 - typed, or of Python
    """Return the seed that was asked for: a number, the word, or a choice made before.

    Raises:
        UsageError: ``seed``: it is none of these.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if isinstance(value, SeedChoice):
        return value
    if isinstance(value, str) and value == FRESH:
        return "fresh"
    try:
        number = operator.index(value)
    except TypeError:
        raise bad_seed() from None
    if isinstance(value, bool) or number < 0:
        raise bad_seed()
    return number


def seed_choice(given: SeedGiven | SeedChoice, *, strict: bool = False) -> SeedChoice:
    """Return the choice of the seed.

    Args:
        given: a whole number, at least 0; ``fresh`` for one of the operating system; None for
            the default, which follows from the rows; or a choice that was made before.
        strict: the default is a fresh one: what is then proved is proved over the seed.

    Raises:
        UsageError: ``seed``: none of these.
    """
    if isinstance(given, SeedChoice):
        return given
    if given is None:
        return fresh_seed() if strict else DEFAULT_SEED
    if isinstance(given, str):
        if given == FRESH:
            return fresh_seed()
        raise bad_seed()
    try:
        number = operator.index(given)
    except TypeError:
        raise bad_seed() from None
    if isinstance(given, bool) or number < 0:
        raise bad_seed()
    return SeedChoice(origin="stated", number=number)


def bad_seed() -> UsageError:
    """Return the error for what is no seed."""
    return UsageError(
        "seed",
        "The seed must be a whole number of at least 0, or the word 'fresh'.",
        hint="Leave it out, and it follows from the scores; --seed fresh draws one, which the "
        "report records.",
    )


def fresh_seed() -> SeedChoice:
    """Draw a seed that nobody could know when the rows were written."""
    # Here, since most runs draw none.
    from secrets import token_bytes

    return SeedChoice(origin="fresh", number=int.from_bytes(token_bytes(_FRESH_BYTES), "big"))


def number_of(choice: SeedChoice) -> int:
    """Return the number that was stated or drawn, 0 where there is none."""
    return choice.number or 0
