"""Exit codes. They are an interface: scripts act on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mipaudit.statements.any_report import AnyReport
    from mipaudit.statements.verdict import Verdict, VerdictStatus


OK: Final = 0
NOT_MET: Final = 1
USAGE: Final = 2
INCONCLUSIVE: Final = 3
INTERNAL: Final = 70
INTERRUPTED: Final = 130  # 128 + SIGINT, as shells report it
CLOSED_PIPE: Final = 141  # 128 + SIGPIPE
_BY_VERDICT: Final = {"not_met": NOT_MET, "inconclusive": INCONCLUSIVE}


def verdict_status(verdict: VerdictStatus) -> int:
    """Return the exit code for a verdict: 0, 1 or 3."""
    return _BY_VERDICT.get(verdict, OK)


def verdict_exit(verdict: Verdict) -> int:
    """Return the exit code for a verdict, as its policy counts an open answer."""
    if verdict.status == "inconclusive" and verdict.on_inconclusive != "review":
        return NOT_MET if verdict.on_inconclusive == "fail" else OK
    return verdict_status(verdict.status)


def report_exit(report: AnyReport, *, exit_zero: bool) -> int:
    """Return 0, 1 or 3, as the command that made the report does; always 0 with ``exit_zero``."""
    if exit_zero:
        return OK
    verdict = getattr(report, "verdict", None)
    if verdict is not None:
        from mipaudit.statements.verdict import standing

        # A stored one may rest on a waiver that has ended since.
        return verdict_exit(standing(report).verdict)
    claim = getattr(report, "claim", None)
    refuted = claim is not None and claim.status == "refuted"
    failed = not getattr(report, "passed", True) or not getattr(report, "agrees", True)
    return NOT_MET if refuted or failed else OK
