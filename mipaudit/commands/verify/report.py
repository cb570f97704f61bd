"""What ``verify`` returns, prints and writes: the JSON format ``mipaudit.verification/3``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from mipaudit.model.message import Message
from mipaudit.statements.any_report import AnyReport

STATEMENT: Final = "statement"  # what was verified, where it is no report


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedPart:
    """One part of a report beside the same part computed again.

    Attributes:
        part: its name in the JSON report; ``inputs`` and ``versions`` are of the provenance.
        status: whether all of it agrees; ``noted`` is a difference that is told and does not
            count, as of versions.
        compared: how many values, or inputs.
        differing: how many of them differ.
        text: what agrees or not, where, and by how much at most.
    """

    part: str
    status: Literal["agrees", "differs", "noted"]
    compared: int
    differing: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VerifyReport(AnyReport):
    """Whether a report follows from the scores and settings that it names.

    Attributes:
        agrees: whether everything that counts does.
        verified: the command that made the report; ``statement`` where one was checked.
        report_sha256: of the report's file, as JSON or as a page.
        carried_sha256: of the JSON file that a page carries; None of what is no page.
        result: that the statement states and that holds; None of a report.
        tolerance: numbers this close, relative to the larger, agree.
        made: when the report was, as it states; None where a statement was checked.
        made_by: the version of mipaudit that made it, likewise.
        report: the name of the report that a statement names; None of a report.
        parts: of the report, one by one.
    """

    agrees: bool
    verified: str
    report_sha256: str
    tolerance: float
    parts: tuple[VerifiedPart, ...]
    made: str | None = None
    made_by: str | None = None
    report: str | None = None
    carried_sha256: str | None = None
    result: str | None = None


_FEW: Final = 4  # parts that the answer names


def answer(report: VerifyReport) -> Message:
    """Return whether the report agrees, and which parts do not: the line is all that some see."""
    stated = report.verified == STATEMENT
    if not report.agrees:
        failed = tuple(one.part for one in report.parts if one.status == "differs")
        code = "statement_differs" if stated else "report_differs"
        return Message.of(code, parts=failed[:_FEW], more=max(0, len(failed) - _FEW))
    if not stated:
        return Message("report_agrees")
    # A statement that agrees may say that something is not met.
    code = "statement_of_pass" if report.result == "PASSED" else "statement_agrees"
    return Message.of(code, result=report.result)


def ground(report: VerifyReport) -> Message:
    """Return what was compared with what, and what came of it."""
    if report.verified == STATEMENT and report.agrees:
        # These are compared where the report was computed again, and only there.
        computed = any(one.part == "versions" for one in report.parts)
        return Message.of("statement_follows", report=report.report, computed=computed)
    if report.verified == STATEMENT:
        return Message("statement_is_not_so")
    return Message.of(
        "computed_the_same" if report.agrees else "computed_otherwise",
        command=report.verified,
        made=report.made,
        scored=bool(report.provenance.inputs),
        other_version=report.made_by != report.provenance.mipaudit,
    )


def differing_first(report: VerifyReport) -> tuple[VerifiedPart, ...]:
    """Return the parts, those that differ first."""
    return tuple(sorted(report.parts, key=lambda one: one.status != "differs"))


def unread(report: VerifyReport) -> Message | None:
    """Return that nobody read the files that a statement names, which no view may leave out."""
    return report.limitations[0] if report.verified == STATEMENT else None


def remarks(report: VerifyReport) -> Iterator[Message]:
    """Yield what forms name a report by: the sha256 of the file that they were made from."""
    if report.carried_sha256 is None:
        yield Message.of("digest_of_report", sha256=report.report_sha256)
    else:
        yield Message.of("digest_of_page", sha256=report.report_sha256)
        yield Message.of("digest_of_carried", sha256=report.carried_sha256)
