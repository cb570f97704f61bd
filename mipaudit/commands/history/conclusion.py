"""What a history concludes: its newest verdicts as codes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mipaudit.model.message import Message

if TYPE_CHECKING:
    from mipaudit.commands.history.report import HistoryReport, PastReport


def answer(report: HistoryReport) -> Message:
    """Return the newest verdict, and the one before of the same command."""
    newest, *older = report.reports
    before = next((one for one in older if one.of == newest.of), None)
    return Message.of(
        "newest_report",
        newest=_verdict(newest),
        before=None if before is None else _verdict(before),
    )


def _verdict(one: PastReport) -> Message:
    verdict = one.verdict or "none"
    return Message.of("past_verdict", report=one.name, verdict=verdict, note=one.note)


def verdicts(report: HistoryReport) -> Message:
    """Return how many reports and verdicts there are, from when, and how sure all limits are."""
    newest, oldest = report.reports[0], report.reports[-1]
    found = Counter(one.verdict for one in report.reports if one.verdict not in {None, "no_policy"})
    stated = any(one.confidence is not None for one in report.reports)
    tally = tuple(f"{count} {status}".replace("_", " ") for status, count in found.items())
    return Message.of(
        "history_verdicts",
        reports=len(report.reports),
        first=oldest.created,
        last=newest.created,
        judged=found.total(),
        joint=report.joint_confidence if stated else None,
        tally=tally,
    )


def several(report: HistoryReport) -> bool:
    """Tell whether there are reports to compare."""
    return len(report.reports) > 1
