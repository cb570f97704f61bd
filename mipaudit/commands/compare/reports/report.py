"""What ``compare`` writes about reports: the JSON format ``mipaudit.compare-reports/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.model.check import Check
from mipaudit.model.row import Attackers, Row
from mipaudit.statements.reports.any_report import AnyReport
from mipaudit.statements.verdict import Verdict, VerdictStatus

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
        confidence: of every pair of limits, of one quantity and class, jointly over all scores and
            reports: 1 less the errors of the reports added up.
        against: the class that the policy is about.
    """

    reports: tuple[ComparedReport, ...]
    baseline: str
    prior: float
    trivial: float
    confidence: float
    against: Attackers


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReportComparison(AnyReport):
    """What changed from one report to others.

    Attributes:
        scores: which scores are in both, new or missing.
        changes: of every figure that two reports have: that of ``report`` less that of ``versus``.
            At least the new lower limit less the old upper one, at most the new upper less the
            old lower one; the validity is that of the weakest of these.
        figures: that the changes follow from, of each ``report``; a lower limit that is not in
            the report as such, but follows from it, has its reason.
        beside_any: classes of attackers beside any attacker. ``class_beside_any``: the class on
            the new scores has at most this much more than some attacker surely has on the old
            ones. ``any_beside_class``: some attacker on the new scores surely has at least this
            much more than the class can have on the old ones.
        policy: one check for every score of every new report.
    """

    design: CompareReportsDesign
    scores: tuple[MatchedScore, ...]
    changes: tuple[Row, ...]
    figures: tuple[Row, ...]
    beside_any: tuple[Row, ...]
    policy: tuple[Check, ...]
    verdict: Verdict
