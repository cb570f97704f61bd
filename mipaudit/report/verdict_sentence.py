"""What stands beside the status of a verdict, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mipaudit.statements.verdict import COPIES, LEFT_OUT, UNMATCHED, Verdict

if TYPE_CHECKING:
    from mipaudit.statements.estimate import Finding


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
