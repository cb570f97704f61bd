"""What ``mipaudit history`` returns, prints and writes: the JSON format ``mipaudit.history/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.model.message import Message
from mipaudit.model.row import Attackers
from mipaudit.statements.reports.any_report import AnyReport
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
