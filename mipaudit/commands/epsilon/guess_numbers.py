"""How many canaries to guess, in one option: ``400``, or ``200,200``."""

from __future__ import annotations

from mipaudit.errors import UsageError
from mipaudit.options.texts.number_list import parse_whole_numbers


def parse_guesses(text: str | None) -> int | tuple[int, int] | None:
    """Return one number, or a pair (guessed in, guessed out); None from None.

    Raises:
        UsageError: neither one whole number nor two.
    """
    if text is None:
        return None
    match parse_whole_numbers(text, option="--guesses"):
        case (both,):
            return both
        case (guessed_in, guessed_out):
            return guessed_in, guessed_out
        case _:
            raise UsageError(
                "guesses",
                "--guesses takes one whole number, or two with a comma between.",
                hint="For example --guesses 400, or --guesses 200,200.",
            )
