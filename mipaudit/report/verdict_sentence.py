"""A verdict in words: its paragraph, and what stands beside its status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from mipaudit.report.messages.told import told
from mipaudit.statements.text.printable_names import safe_text
from mipaudit.statements.verdict import (
    BLUNTED,
    COMMON,
    COPIES,
    LEFT_OUT,
    ROWS_TAKEN,
    SITES_MISSING,
    UNMATCHED,
    Verdict,
)

if TYPE_CHECKING:
    from mipaudit.statements.estimate import Finding

_LONGEST_REASON: Final = 2000
# What stands before everything else that a report says of its numbers.
_FIRST: Final = {
    ROWS_TAKEN: "Ids or files repeat, and rows are taken for independent because the user says so: "
    "if they are not, no limit here is true.",
    LEFT_OUT: "Columns that may be scores were left out by rule: nothing here speaks for them.",
    BLUNTED: "All scores were rounded to a few that are stored coarsely: no 'at most' here "
    "speaks for the scores as they are.",
    SITES_MISSING: "Sites whose cuts were used are missing: nothing here speaks for their records.",
}


def judged(verdict: Verdict, *, given: str = "limit") -> str:
    """Say what the verdict is, and its first reason.

    Args:
        verdict: with a reason at least.
        given: what the user set: ``limit``, or ``limits`` where there may be several.
    """
    reason = safe_text(told(verdict.reasons[0]), longest=_LONGEST_REASON)
    match verdict.status:
        case "met":
            return f"The policy is met{verdict_note(verdict)}: {reason}."
        case "waived":
            note = verdict_note(verdict)
            return f"The policy is not shown to be met, and that is accepted{note}: {reason}."
        case "not_met":
            assuming = "" if verdict.assuming is None else f", assuming that {verdict.assuming}"
            return f"It is not acceptable under the {given} given{assuming}: {reason}."
        case "inconclusive":
            return f"Whether the policy is met is open{verdict_note(verdict)}: {reason}."
        case "no_policy":
            return "No limit was set, so nothing here says that this is acceptable."


def led(findings: Sequence[Finding], text: str) -> str:
    """Return the paragraph of a report after what must be known before it is read."""
    codes = {found.code for found in findings}
    copies = [told(found) for found in findings if found.code in {COPIES, COMMON}]
    return " ".join([*copies, *(words for code, words in _FIRST.items() if code in codes), text])


def verdict_note(verdict: Verdict) -> str:
    """Return what must be said beside the status, such as ``, with 1 waiver``; or nothing."""
    note = "" if verdict.assuming is None else f", assuming that {verdict.assuming}"
    if verdict.waived:
        note += f", with {verdict.waived} {'waiver' if verdict.waived == 1 else 'waivers'}"
    if verdict.status == "inconclusive" and verdict.on_inconclusive != "review":
        passes = verdict.on_inconclusive == "pass"
        note += f", which this policy {'lets pass' if passes else 'counts as a failure'}"
    return note


def left_out_note(findings: Sequence[Finding]) -> str:
    """Return what must be said beside a verdict: of copies, scores and waivers; or nothing."""
    codes = {found.code for found in findings}
    note = "; records are released word for word" if COPIES in codes else ""
    if LEFT_OUT in codes:
        note += "; columns that may be scores were left out"
    if UNMATCHED in codes:
        note += "; a waiver matches no limit"
    return note


def retold(before: Any, after: Any) -> Any:  # noqa: ANN401 - of any kind
    """Return a report whose verdict has changed with the new one in its paragraph, too."""
    if after is before or not hasattr(after, "summary"):
        return after
    was, said = (judged(one.verdict, given="limits") for one in (before, after))
    return replace(after, summary=after.summary.replace(was, said))
