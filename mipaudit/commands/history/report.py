"""What ``mipaudit history`` returns, prints and writes: the JSON format ``mipaudit.history/3``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from mipaudit.model.message import Message
from mipaudit.model.row import Attackers
from mipaudit.statements.any_report import AnyReport
from mipaudit.statements.verdict import VerdictStatus

# What makes figures of two reports answers to other questions.
Changed = Literal["limits", "against", "prior", "confidence", "scores", "mipaudit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastReport:
    """A report of the history.

    Attributes:
        name: of its file.
        of: the command that made it.
        release: what it says it is of; nobody checked it.
        created: when, as it says, UTC.
        mipaudit: the version that made it.
        verdict: as its waivers stand on the day; None where its kind has none.
        note: what must be said beside it, but for waivers; None where nothing must.
        n_members: audited; None where its kind does not say.
        n_holdout: likewise.
        confidence: likewise.
        sha256: of the file.
        waived: limits that do not decide because somebody accepts that they are not kept.
        until: the first day, UTC, that is the last of one of their waivers; None without.
    """

    name: str
    of: str
    release: str | None
    created: str
    mipaudit: str
    verdict: VerdictStatus | None
    note: Message | None
    n_members: int | None
    n_holdout: int | None
    confidence: float | None
    sha256: str
    waived: int = 0
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAdvantage:
    """The advantage with a score, as a report of ``estimate`` has it.

    Attributes:
        report: name of the report.
        score: of the column.
        lower: at least, for any attacker who sees the score; that of the verdict where the
            score was judged, as ``upper`` is.
        value: best estimate.
        upper: at most, for attackers of the class ``against``; None where there is no limit.
        against: the class that the report's policy names, else the widest with limits.
        limit: what the policy allowed; None where it did not limit it.
        prior: of the game.
    """

    report: str
    score: str
    lower: float | None
    value: float | None
    upper: float | None
    against: Attackers
    limit: float | None
    prior: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is not as it was in the report before, of the same command."""

    report: str
    versus: str
    what: Changed
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HistoryReport(AnyReport):
    """The reports of several releases, the newest first.

    Attributes:
        joint_confidence: that all limits of all reports hold; at least 0.
    """

    joint_confidence: float
    reports: tuple[PastReport, ...]
    advantages: tuple[PastAdvantage, ...]
    steps: tuple[Step, ...]


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
