"""What guesses of an attribute tell of members."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_NO_VERDICT: Final = " No limit was given: no verdict."
_BETTER: Final = " is guessed better of members, by at least {lower:least}." + _NO_VERDICT
_WORSE: Final = (
    " is guessed worse of members, by at least {lower:least}: they differ." + _NO_VERDICT
)
_OTHERS: Final = "Another attacker may guess better of members than these guesses are."

ENTRIES: Final = {
    "guessed_better": Entry("{attribute:quoted}" + _BETTER, mood="bad"),
    "right_guess_tells": Entry(
        "Whether the guess is right gives membership away: an advantage of at least {lower:least}"
        "[ (blind guessing: {baseline:best})]." + _NO_VERDICT,
        mood="bad",
    ),
    "guessed_worse": Entry("{attribute:quoted}" + _WORSE, mood="bad"),
    "value_guessed_better": Entry("{name:quoted}" + _BETTER, mood="bad"),
    "value_guessed_worse": Entry("{name:quoted}" + _WORSE, mood="bad"),
    "attribute_in_one_class": Entry(
        "Nothing is known: no value of {attribute:quoted} is in both classes." + _NO_VERDICT,
        mood="open",
    ),
    "not_guessed_better": Entry(
        "{attribute:quoted} is not shown to be guessed better of members: by at most {upper:most}, "
        "with these guesses." + _NO_VERDICT,
        unsaid=_OTHERS,
    ),
}
