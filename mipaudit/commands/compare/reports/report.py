"""What ``compare`` writes about reports: the JSON format ``mipaudit.compare-reports/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.model.check import Check
from mipaudit.model.message import Message
from mipaudit.model.row import Attackers, Quantity, Validity
from mipaudit.statements.estimate import Finding
from mipaudit.statements.origin import Provenance
from mipaudit.statements.reports.any_report import AnyReport
from mipaudit.statements.reports.kinds import schema_of
from mipaudit.statements.verdict import Verdict, VerdictStatus

LowerFrom = Literal["stored", "trivial", "tpr_at_fpr"]
Shown = Literal["increase", "decrease", "open"]
ScoreStatus = Literal["in both", "new", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFigure:
    """A figure as a report has it.

    Attributes:
        value: best estimate.
        lower: lower limit: the report's own; or, where an advantage within a class or a TPR has
            none of its own, what ``lower_from`` names.
        upper: upper limit.
        lower_from: ``trivial`` is what needs no score, |2p-1| for an advantage and 0 for a TPR;
            ``tpr_at_fpr`` what follows from the report's TPR at its largest FPR.
    """

    value: float | None
    lower: float | None
    upper: float | None
    lower_from: LowerFrom | None

    @property
    def follows(self) -> bool:
        """Whether the lower limit is not in the report as such, but follows from it."""
        return self.lower_from not in {None, "stored"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure in a new report, less the same figure in the old one.

    Attributes:
        quantity: what it is.
        score: the score, in both reports.
        report: name of the new report.
        versus: name of the old one.
        attackers: the class, on both.
        old: the figure there.
        new: the figure here.
        value: difference of the best estimates.
        lower: the new lower limit less the old upper one.
        upper: the new upper limit less the old lower one.
        lower_reason: why there is no lower limit.
        upper_reason: likewise.
        shown: what the limits leave no doubt of.
        validity: of the weakest of the limits used.
        fpr: for ``tpr_at_fpr``.
        metric: for ``metric``.
    """

    quantity: Quantity
    score: str
    report: str
    versus: str
    attackers: Attackers
    old: ReportedFigure
    new: ReportedFigure
    value: float | None
    lower: float | None
    upper: float | None
    lower_reason: Message | None
    upper_reason: Message | None
    shown: Shown
    validity: Validity
    fpr: float | None = None
    metric: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideAny:
    """A class of attackers in one report beside any attacker in the other.

    Attributes:
        score: the score, in both reports.
        report: name of the new report.
        versus: name of the old one.
        attackers: the class.
        at_most: the class on the new scores has at most this much more than some attacker
            surely has on the old ones.
        at_least: some attacker on the new scores surely has at least this much more than the
            class can have on the old ones.
    """

    score: str
    report: str
    versus: str
    attackers: Attackers
    at_most: float | None
    at_least: float | None


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
        changes: of every figure that two reports have, new less old.
        beside_any: classes of attackers beside any attacker.
        policy: one check for every score of every new report.
    """

    command: str
    design: CompareReportsDesign
    scores: tuple[MatchedScore, ...]
    changes: tuple[Change, ...]
    beside_any: tuple[BesideAny, ...]
    policy: tuple[Check, ...]
    verdict: Verdict
    findings: tuple[Finding, ...]
    limitations: tuple[Message, ...]
    provenance: Provenance
    schema: str = schema_of("compare reports")
