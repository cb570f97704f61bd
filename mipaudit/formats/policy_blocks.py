"""Policies, claims and verdicts as blocks, and as what a pipeline waits for.

Claims and limits of policies in words: what was promised beside what was found.

A policy's checks as what a pipeline waits for, and the verdict as a headline.

The policy as blocks: every limit beside what was found, and who waived which.

Limits on named attackers as blocks, and as what a pipeline waits for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, Protocol

from mipaudit.formats.document import (
    Bullets,
    Case,
    Document,
    Grid,
    Heading,
    Mood,
    Section,
    framed,
)
from mipaudit.formats.wording import AT_LEAST, AT_MOST, STATUS, plain, quoted
from mipaudit.statements.policy import PolicyCheck, checked_name, checked_where
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
)
from mipaudit.statements.verdict import Verdict, left_out_note, verdict_note, waiver_note

if TYPE_CHECKING:
    from mipaudit.formats.document import Framed
    from mipaudit.statements.claim import Claim
    from mipaudit.statements.estimate import Finding
    from mipaudit.statements.named_limit import StatedCheck

    class Stated(Framed, Protocol):
        """A report whose policy limits named attackers."""

        @property
        def policy(self) -> tuple[StatedCheck, ...]:
            """A check for each limit."""

        @property
        def verdict(self) -> Verdict:
            """Of all of them."""


CaseStatus = Literal["passed", "failed", "open", "skipped"]
CASE_STATUS: Final[Mapping[str, CaseStatus]] = {
    "met": "passed",
    "not_met": "failed",
    "inconclusive": "open",
}
_MOODS: Final[Mapping[str, Mood]] = {"met": "good", "not_met": "bad", "inconclusive": "open"}
_ALONE: Final = ", by these attackers alone"


def check_limits(check: PolicyCheck) -> tuple[str, str]:
    """Return the lower and the upper limit of a check in figures; counts as they are."""
    if check.quantity == "copies":
        return tuple(
            "-" if one is None else count_text(int(one)) for one in (check.lower, check.upper)
        )  # type: ignore[return-value]
    return (
        lower_text(check.lower) if check.lower is not None else "-",
        upper_text(check.upper) if check.upper is not None else "none",
    )


def check_state(check: PolicyCheck) -> str:
    """Return the status of a check in words, and whether a waiver bears on it."""
    if check.waived is not None:
        return f"{STATUS[check.status]}, waived"
    return STATUS[check.status] + (", waiver expired" if check.expired is not None else "")


def limit_name(check: PolicyCheck) -> str:
    """Return what a check limits, and to what."""
    limit = number_text(check.limit)
    if check.fpr is not None:
        return f"TPR {limit} at FPR {percent_text(check.fpr)}"
    where = checked_where(check)
    return f"{plain(checked_name(check).removesuffix(where))} {limit}{plain(where)}"


def claim_name(claim: Claim) -> str:
    """Return the promise that was made."""
    promise = f"({number_text(claim.epsilon)}, {number_text(claim.delta)})"
    return f"{promise}-differential privacy, adjacency {claim.adjacency}"


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


def policy_section(checks: Sequence[PolicyCheck]) -> Section:
    """Return the section on a policy; empty where there is none."""
    if not checks:
        return ()
    rows = tuple(
        (
            limit_name(check),
            quoted(check.score),
            check.against,
            check_state(check),
            *check_limits(check),
        )
        for check in checks
    )
    grid = Grid(
        caption="The limits of the policy beside what was found",
        head=("limit", "score", "against", "status", AT_LEAST, AT_MOST),
        rows=rows,
        words=4,
        marked=frozenset(at for at, one in enumerate(checks) if one.status != "met"),
    )
    notes = waiver_texts(checks)
    return (Heading(text="Policy"), grid, *((Bullets(texts=notes),) if notes else ()))


def waiver_texts(checks: Sequence[PolicyCheck]) -> tuple[str, ...]:
    """Return one text for each check with a waiver: which, and who, why and until when."""
    return tuple(
        f"{limit_name(check)}, score {quoted(check.score)}: {plain(waiver_note(check))}."
        for check in checks
        if waiver_note(check)
    )


def stated_document(
    report: Stated, names: Mapping[str, str], sections: Iterable[Section]
) -> Document:
    """Return a report whose policy limits named attackers as a document, the policy first.

    Args:
        report: of ``attack`` or ``attribute``.
        names: what each subject of a limit is called.
        sections: its own.
    """
    return framed(
        report,
        (_stated_section(report.policy, names), *sections),
        cases=_stated_cases(report.policy, report.command, names),
        headline=_stated_headline(report.policy, report.verdict, report.findings),
        mood=policy_mood(report.verdict),
    )


def _stated_headline(
    checks: Sequence[StatedCheck], verdict: Verdict, findings: Sequence[Finding] = ()
) -> str:
    """Return the verdict in a line, and of whom it speaks; empty where no limit was given."""
    if verdict.status != "met":
        return policy_headline(checks, verdict, findings)
    line = policy_headline(checks, verdict).removesuffix(".")
    return f"{line}{_ALONE}{left_out_note(findings)}."


def _stated_section(checks: Sequence[StatedCheck], names: Mapping[str, str]) -> Section:
    """Return the section on a policy; empty where there is none.

    Args:
        checks: of the report.
        names: what each subject is called.
    """
    if not checks:
        return ()
    grid = Grid(
        caption="The limits of the policy, and what was found",
        head=("limit on", "status", "why"),
        rows=tuple(
            (_name(one, names), STATUS[one.status], safe_name(one.reason, longest=2000))
            for one in checks
        ),
        words=2,
        prose=True,
        marked=frozenset(at for at, one in enumerate(checks) if one.status != "met"),
    )
    return (Heading(text="Policy"), grid)


def _stated_cases(
    checks: Sequence[StatedCheck], command: str, names: Mapping[str, str]
) -> Iterator[Case]:
    """Yield one case for each limit, or that there is none."""
    for one in checks:
        yield Case(
            group=command if one.score is None else one.score,
            name=f"{names.get(one.subject, one.subject)} {number_text(one.limit)}",
            status=CASE_STATUS[one.status],
            text=one.reason,
        )
    if not checks:
        yield no_policy(command)


def _name(one: StatedCheck, names: Mapping[str, str]) -> str:
    name = names.get(one.subject, one.subject)
    return name if one.score is None else f"{name}, '{safe_name(one.score)}'"
