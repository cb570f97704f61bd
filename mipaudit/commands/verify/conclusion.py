"""What a report of ``verify`` concludes: its answer and its remarks, as codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mipaudit.commands.verify.report import STATEMENT
from mipaudit.model.message import Message

if TYPE_CHECKING:
    from mipaudit.commands.verify.report import VerifiedPart, VerifyReport

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
    """Return that nobody read the files a statement speaks of, which no view may leave out."""
    return report.limitations[0] if report.verified == STATEMENT else None


def remarks(report: VerifyReport) -> Iterator[Message]:
    """Yield what forms name a report by: the sha256 of the file that they were made from."""
    if report.carried_sha256 is None:
        yield Message.of("digest_of_report", sha256=report.report_sha256)
    else:
        yield Message.of("digest_of_page", sha256=report.report_sha256)
        yield Message.of("digest_of_carried", sha256=report.carried_sha256)
