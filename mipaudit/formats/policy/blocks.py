"""Policies, claims and verdicts: as blocks, in words, and as what a pipeline waits for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeVar

from mipaudit.formats.document import (
    AT_LEAST,
    AT_MOST,
    STATUS,
    Bullets,
    Case,
    Document,
    Grid,
    Heading,
    Mood,
    Section,
    framed,
    plain,
    quoted,
)
from mipaudit.report.messages.told import told
from mipaudit.report.verdict_sentence import left_out_note, verdict_note, waiver_note
from mipaudit.statements.policy import CheckStatus, PolicyCheck, checked_name, checked_where
from mipaudit.statements.text.printable_names import safe_text
from mipaudit.statements.text.rounding import (
    count_text,
    lower_text,
    number_text,
    percent_text,
    upper_text,
)
from mipaudit.statements.verdict import NO_LIMIT, Verdict, reason_of

if TYPE_CHECKING:
    from mipaudit.formats.document import Framed
    from mipaudit.model.message import Message
    from mipaudit.statements.claim import Claim
    from mipaudit.statements.estimate import Finding

    class Check(Protocol):
        """A limit, and what came of it."""

        @property
        def limit(self) -> float:
            """The largest value that is accepted."""

        @property
        def upper(self) -> float | None:
            """Upper limit of what was found."""

        @property
        def status(self) -> CheckStatus:
            """Whether it is kept."""

        @property
        def reason(self) -> Message:
            """What decided."""

    CheckT_co = TypeVar("CheckT_co", bound=Check, covariant=True)

    class Judged(Framed, Protocol[CheckT_co]):
        """A report with a policy."""

        @property
        def policy(self) -> tuple[CheckT_co, ...]:
            """A check for each limit."""

        @property
        def findings(self) -> tuple[Finding, ...]:
            """What the reader must know of the input."""

        @property
        def verdict(self) -> Verdict:
            """Of all of them."""


CaseStatus = Literal["passed", "failed", "open", "waived", "skipped"]
CASE_STATUS: Final[Mapping[str, CaseStatus]] = {
    "met": "passed",
    "not_met": "failed",
    "inconclusive": "open",
}
MOODS: Final[Mapping[str, Mood]] = {
    "met": "good",
    "waived": "open",
    "not_met": "bad",
    "inconclusive": "open",
}


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
        return STATUS["waived"]
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
    return MOODS.get(verdict.status, "plain")


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


def input_cases(command: str, checks: Sequence[Check], verdict: Verdict) -> Iterator[Case]:
    """Yield the case of an input that cannot bear a verdict although every limit is kept."""
    kept = all(
        check.status == "met" or getattr(check, "waived", None) is not None for check in checks
    )
    if verdict.status == "inconclusive" and kept:
        status: CaseStatus = "skipped" if verdict.on_inconclusive == "pass" else "open"
        yield Case(group=command, name="input", status=status, text=told(verdict.reasons[0]))


def check_text(check: PolicyCheck) -> str:
    """Return why a check came out as it did, and who waived it."""
    return told(reason_of(check))


def check_case_status(check: PolicyCheck, *, open_passes: bool = False) -> CaseStatus:
    """Return what the check does to the verdict: an expired waiver fails.

    Args:
        check: as judged.
        open_passes: whether the policy lets an open answer pass.
    """
    if check.waived is not None:
        return "waived"
    if open_passes and check.status == "inconclusive" and check.expired is None:
        return "skipped"
    return "failed" if check.expired is not None else CASE_STATUS[check.status]


def no_policy(command: str) -> Case:
    """Return the case of a report on which nothing was to be decided."""
    return Case(group=command, name="policy", status="skipped", text=told(NO_LIMIT))


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
        marked=_not_met(checks),
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


def judged_document(
    report: Judged[CheckT_co],
    sections: Iterable[Section],
    *,
    caption: str,
    head: Sequence[str],
    row: Callable[[CheckT_co], Sequence[str]],
    case: Callable[[CheckT_co], tuple[str, str]],
    headline: str | None = None,
    title: str | None = None,
) -> Document:
    """Return a report as a document, the checks of its policy first.

    Args:
        report: with a policy.
        sections: its own.
        caption: of the table of checks.
        head: of the words that say what was limited.
        row: from a check to these words.
        case: from a check to the group and the name of what a pipeline waits for.
        headline: where it says more than the verdict.
        title: where it is not the command.
    """
    checks = report.policy
    grid = Grid(
        caption=caption,
        head=(*head, "status", "why"),
        rows=tuple(
            (*row(one), STATUS[one.status], safe_text(told(one.reason), longest=2000))
            for one in checks
        ),
        words=len(head) + 1,
        prose=True,
        marked=_not_met(checks),
    )
    cases = [
        Case(*case(one), status=CASE_STATUS[one.status], text=told(one.reason)) for one in checks
    ]
    cases += input_cases(report.command, checks, report.verdict)
    return framed(
        report,
        ((Heading(text="Policy"), grid) if checks else (), *sections),
        cases=cases or [no_policy(report.command.partition(" ")[0])],
        headline=headline or policy_headline(checks, report.verdict, report.findings),
        mood=policy_mood(report.verdict),
        title=title,
    )


def _not_met(checks: Sequence[Check]) -> frozenset[int]:
    return frozenset(at for at, one in enumerate(checks) if one.status != "met")
