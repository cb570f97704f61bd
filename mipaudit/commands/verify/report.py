"""What ``verify`` returns, prints and writes: the JSON format ``mipaudit.verification/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from mipaudit.statements.reports.any_report import AnyReport

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
