"""A verdict in a sentence, for the paragraph that is read alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.audit.verdict import verdict_note
from mipaudit.report.names import safe_name

if TYPE_CHECKING:
    from mipaudit.audit.verdict import Verdict

_LONGEST_REASON: Final = 2000
INCOMPLETE: Final = (
    "Some files of the input cannot be read and were left out: nothing here speaks for the "
    "records in them."
)


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
