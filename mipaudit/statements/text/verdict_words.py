"""A verdict in a sentence, for the paragraph that is read alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.verdict import (
    BLUNTED,
    COPIES,
    DIGITS_LOST,
    LEFT_OUT,
    ROWS_TAKEN,
    verdict_note,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.statements.finding import Finding
    from mipaudit.statements.verdict import Verdict

_LONGEST_REASON: Final = 2000
INCOMPLETE: Final = (
    "Some files of the input cannot be read and were left out: nothing here speaks for the "
    "records in them."
)

# What stands before everything else that a report says of its numbers.
_FIRST: Final = {
    ROWS_TAKEN: "Ids or files repeat, and rows are taken for independent because the user says so: "
    "if they are not, no limit here is true.",
    LEFT_OUT: "Columns that may be scores were left out by rule: nothing here speaks for them.",
    BLUNTED: "All scores were rounded to a few that are stored coarsely: no 'at most' here "
    "speaks for the scores as they are.",
    DIGITS_LOST: "Scores have more digits than a 64-bit float holds, and may differ in those "
    "alone: no 'at most' here speaks for them.",
}


def led(findings: Sequence[Finding], text: str) -> str:
    """Return the paragraph of a report after what must be known before it is read."""
    codes = {found.code for found in findings}
    copies = [found.text for found in findings if found.code == COPIES]
    return " ".join([*copies, *(words for code, words in _FIRST.items() if code in codes), text])


def judged(verdict: Verdict, *, given: str = "limit") -> str:
    """Say what the verdict is, and its first reason.

    Args:
        verdict: with a reason at least.
        given: what the user set: ``limit``, or ``limits`` where there may be several.
    """
    reason = safe_name(verdict.reasons[0], longest=_LONGEST_REASON)
    match verdict.status:
        case "met":
            return f"The policy is met{verdict_note(verdict)}: {reason}."
        case "not_met":
            assuming = "" if verdict.assuming is None else f", assuming that {verdict.assuming}"
            return f"It is not acceptable under the {given} given{assuming}: {reason}."
        case "inconclusive":
            return f"Whether the policy is met is open{verdict_note(verdict)}: {reason}."
        case "no_policy":
            return "No limit was set, so nothing here says that this is acceptable."
