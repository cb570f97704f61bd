"""The exit code that a report of any command ended, or would have ended, its run with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.output import exit_code

if TYPE_CHECKING:
    from mipaudit.statements.reports.kinds import AnyReport


def report_exit(report: AnyReport, *, exit_zero: bool) -> int:
    """Return 0, 1 or 3, as the command that made the report does; always 0 with ``exit_zero``."""
    if exit_zero:
        return exit_code.OK
    verdict = getattr(report, "verdict", None)
    if verdict is not None:
        return exit_code.verdict_exit(verdict)
    claim = getattr(report, "claim", None)
    refuted = claim is not None and claim.status == "refuted"
    failed = not getattr(report, "passed", True) or not getattr(report, "agrees", True)
    return exit_code.NOT_MET if refuted or failed else exit_code.OK
