"""A policy's checks as what a pipeline waits for, and the verdict as a headline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from mipaudit.formats.blocks.judgement import limit_name
from mipaudit.formats.document import Case
from mipaudit.formats.wording import STATUS
from mipaudit.statements.checks.waived import waiver_note
from mipaudit.statements.verdict import left_out_note, verdict_note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mipaudit.formats.document import Mood
    from mipaudit.statements.finding import Finding
    from mipaudit.statements.policy import PolicyCheck
    from mipaudit.statements.verdict import Verdict

CaseStatus = Literal["passed", "failed", "open", "skipped"]
CASE_STATUS: Final[Mapping[str, CaseStatus]] = {
    "met": "passed",
    "not_met": "failed",
    "inconclusive": "open",
}
_MOODS: Final[Mapping[str, Mood]] = {"met": "good", "not_met": "bad", "inconclusive": "open"}


def policy_headline(
    checks: Sequence[object], verdict: Verdict, findings: Sequence[Finding] = ()
) -> str:
    """Return the verdict in a line; empty where no limit was given."""
    note = verdict_note(verdict) + left_out_note(findings)
    return f"Verdict: {STATUS[verdict.status]}{note}." if checks else ""


def policy_mood(verdict: Verdict) -> Mood:
    """Return how the verdict is shown."""
    return _MOODS.get(verdict.status, "plain")


def check_cases(
    checks: Sequence[PolicyCheck], command: str, verdict: Verdict | None = None
) -> Iterator[Case]:
    """Yield one case for each limit of the policy, or that there is none."""
    passing = verdict is not None and verdict.on_inconclusive == "pass"
    for check in checks:
        yield Case(
            group=check.score,
            name=limit_name(check),
            status=check_case_status(check, open_passes=passing),
            text=check_text(check),
        )
    if not checks:
        yield no_policy(command)
    elif verdict is not None:
        yield from input_cases(command, checks, verdict)


def input_cases(command: str, checks: Sequence[PolicyCheck], verdict: Verdict) -> Iterator[Case]:
    """Yield the case of an input that cannot bear a verdict although every limit is kept."""
    kept = all(check.status == "met" or check.waived is not None for check in checks)
    if verdict.status == "inconclusive" and kept:
        status: CaseStatus = "skipped" if verdict.on_inconclusive == "pass" else "open"
        yield Case(group=command, name="input", status=status, text=verdict.reasons[0])


def check_text(check: PolicyCheck) -> str:
    """Return why a check came out as it did, and who waived it."""
    return "; ".join(part for part in (check.reason, waiver_note(check)) if part)


def check_case_status(check: PolicyCheck, *, open_passes: bool = False) -> CaseStatus:
    """Return what the check does to the verdict: a waived one nothing, an expired waiver fails.

    Args:
        check: as judged.
        open_passes: whether the policy lets an open answer pass.
    """
    if check.waived is not None:
        return "skipped"
    if open_passes and check.status == "inconclusive" and check.expired is None:
        return "skipped"
    return "failed" if check.expired is not None else CASE_STATUS[check.status]


def no_policy(command: str) -> Case:
    """Return the case of a report on which nothing was to be decided."""
    return Case(
        group=command, name="policy", status="skipped", text="no limit was given to compare with"
    )
