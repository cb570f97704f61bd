"""What a report of ``verify`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.formats.document import UNSAID, Bullets, Case, Document, Grid, Heading, Pairs
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from mipaudit.commands.verify.report import VerifiedPart, VerifyReport
    from mipaudit.formats.document import Mood

STATEMENT: Final = "statement"
_FEW: Final = 4  # parts that the headline names
_WORDS: Final = {"agrees": "agrees", "differs": "DIFFERS", "noted": "noted"}
_CASES: Final[Mapping[str, Literal["passed", "failed", "skipped"]]] = {
    "agrees": "passed",
    "differs": "failed",
    "noted": "skipped",
}


def verify_document(report: VerifyReport) -> Document:
    """Return the report as a document."""
    grid = Grid(
        caption="The parts of the report beside what was computed now",
        head=("part", "", "compared", "differing", "where"),
        rows=tuple(map(_row, report.parts)),
        words=2,
        prose=True,
        marked=frozenset(
            place for place, part in enumerate(report.parts) if part.status == "differs"
        ),
    )
    cases = tuple(
        Case(group="verify", name=part.part, status=_CASES[part.status], text=part.text)
        for part in report.parts
    )
    return Document(
        title="mipaudit verify",
        headline=_headline(report),
        mood=_mood(report),
        summary=report.summary,
        sections=(
            (Heading(text="Part by part"), grid),
            (Pairs(pairs=_digests(report)),),
            (Heading(text=UNSAID), Bullets(texts=report.limitations)),
        ),
        cases=cases,
        created=report.provenance.created,
    )


def _headline(report: VerifyReport) -> str:
    """Return whether the report agrees, and which parts do not: the line is all that some see."""
    if report.agrees:
        says = "" if report.result is None else f": it says {report.result}"
        return f"The {_what(report)} AGREES{says}."
    failed = [one.part for one in report.parts if one.status == "differs"]
    more = f" and {count_text(len(failed) - _FEW)} more" if len(failed) > _FEW else ""
    return f"The {_what(report)} DIFFERS in {', '.join(failed[:_FEW])}{more}."


def _mood(report: VerifyReport) -> Mood:
    """Return the mood of the headline: one that agrees may say that something is not met."""
    if not report.agrees:
        return "bad"
    return "good" if report.result in {None, "PASSED"} else "plain"


def _digests(report: VerifyReport) -> tuple[tuple[str, str], ...]:
    """Return what forms name a report by: the file that they were made from."""
    if report.carried_sha256 is None:
        return (("sha256 of the report", report.report_sha256),)
    return (
        ("sha256 of this page", report.report_sha256),
        ("sha256 of its report, as .json", report.carried_sha256),
    )


def _what(report: VerifyReport) -> str:
    return STATEMENT if report.verified == STATEMENT else "report"


def _row(one: VerifiedPart) -> tuple[str, ...]:
    counts = count_text(one.compared), count_text(one.differing)
    return (one.part, _WORDS[one.status], *counts, one.text)
