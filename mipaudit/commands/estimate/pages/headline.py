"""The first line of a report: the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.wording import CLAIM_MEANING, STATUS
from mipaudit.statements.claim import gravest_claim
from mipaudit.statements.verdict import left_out_note, verdict_note

if TYPE_CHECKING:
    from mipaudit.commands.estimate.report import Report


def headline(report: Report) -> str:
    """Return the verdict in one short sentence, or that there is none."""
    status = report.verdict.status
    if status != "no_policy":
        note = verdict_note(report.verdict) + left_out_note(report.findings)
        return f"Verdict: {STATUS[status]}{note}."
    if report.claims:
        found = claim_status(report)
        return f"Claim: {STATUS[found]} ({CLAIM_MEANING[found]}){verdict_note(report.verdict)}."
    return "No policy was given, so there is no verdict."


def claim_status(report: Report) -> str:
    """Return the gravest status among the claims, of which there is at least one."""
    return gravest_claim(report.claims).status
