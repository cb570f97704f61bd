"""What ``compare`` writes about reports: the JSON format ``mipaudit.compare-reports/2``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.commands.compare.reports.change import BesideAny, Change  # noqa: TC001
from mipaudit.statements.estimate import (
    Attackers,  # noqa: TC001 - the codec reads it
    Finding,  # noqa: TC001
)
from mipaudit.statements.origin import Provenance  # noqa: TC001
from mipaudit.statements.policy import CheckStatus  # noqa: TC001
from mipaudit.statements.reports.kinds import schema_of
from mipaudit.statements.verdict import Verdict, VerdictStatus  # noqa: TC001

ScoreStatus = Literal["in both", "new", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedReport:
    """One of the reports.

    Attributes:
        name: by which this report calls it.
        created: when it was made.
        mipaudit: the version that made it.
        scores: that it has.
        n_members: members behind it.
        n_holdout: holdout records behind it.
        confidence: of its limits.
        verdict: its own.
    """

    name: str
    created: str
    mipaudit: str
    scores: tuple[str, ...]
    n_members: int
    n_holdout: int
    confidence: float
    verdict: VerdictStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedScore:
    """Whether a new report has a score of the old one, by its name."""

    score: str
    report: str
    versus: str
    status: ScoreStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareReportsDesign:
    """What was compared, and how.

    Attributes:
        reports: in the order given.
        baseline: name of the old report, with which the others are compared.
        prior: p in (0, 1), of all of them.
        trivial: the trivial attacker's advantage, |2p-1|.
        confidence: of every pair of limits, jointly over all scores and reports: 1 less the
            errors of the reports added up.
        against: the class that the policy is about.
    """

    reports: tuple[ComparedReport, ...]
    baseline: str
    prior: float
    trivial: float
    confidence: float
    against: Attackers


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreIncrease:
    """A limit on how much more a score may leak in a new report, and what decides.

    Attributes:
        score: its name.
        report: name of the new report.
        versus: name of the old one.
        limit: the most that the advantage may have grown.
        against: the class of attackers that it is about.
        lower: lower limit of the growth.
        upper: upper limit of it.
        status: whether the limit is kept.
        reason: what decided.
    """

    score: str
    report: str
    versus: str
    limit: float
    against: Attackers
    lower: float | None
    upper: float | None
    status: CheckStatus
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportComparison:
    """What changed from one report to others.

    Attributes:
        summary: the answer in plain words.
        scores: which scores are in both, new or missing.
        changes: of every figure that two reports have, new less old.
        beside_any: classes of attackers beside any attacker.
        policy: one check for every score of every new report.
    """

    command: str
    design: CompareReportsDesign
    summary: str
    scores: tuple[MatchedScore, ...]
    changes: tuple[Change, ...]
    beside_any: tuple[BesideAny, ...]
    policy: tuple[ScoreIncrease, ...]
    verdict: Verdict
    findings: tuple[Finding, ...]
    limitations: tuple[str, ...]
    provenance: Provenance
    schema: str = schema_of("compare reports")
