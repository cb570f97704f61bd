"""What ``compare`` writes about reports: the JSON format ``mipaudit.compare-reports/2``.

How much a score's figures changed from one report to another follows from their stored limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mipaudit.model.message import Message
from mipaudit.statements.estimate import Attackers, Estimate, Finding, Quantity, Validity
from mipaudit.statements.origin import Provenance
from mipaudit.statements.policy import CheckStatus
from mipaudit.statements.reports.any_report import AnyReport
from mipaudit.statements.reports.kinds import schema_of
from mipaudit.statements.verdict import Verdict, VerdictStatus

Key = tuple[object, ...]


LowerFrom = Literal["stored", "trivial", "tpr_at_fpr"]
# One threshold is an attacker of each of these: what one finds, the best of them finds.
_WITH_THRESHOLDS: Final = frozenset({"thresholds", "intervals-1", "intervals-4"})
_PAIR: Final = 2
Shown = Literal["increase", "decrease", "open"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Two reports on the same score.

    Attributes:
        score: its name.
        report: name of the new report.
        versus: name of the old one.
        old: the figures of the score there.
        new: likewise.
        trivial: |2p-1|.
        prior: p, of both.
        confidence: of a difference.
    """

    score: str
    report: str
    versus: str
    old: Sequence[Estimate]
    new: Sequence[Estimate]
    trivial: float
    prior: float
    confidence: float


def figures(rows: Sequence[Estimate]) -> dict[Key, Estimate]:
    """Return the figures that have limits, by what they are of."""
    found: dict[Key, Estimate] = {}
    for row in rows:
        # Published estimators are shown for comparison; kernels choose their noise by the data.
        if row.validity != "not-an-interval" and row.bandwidth is None:
            found.setdefault(_key(row), row)
    return found


def _key(row: Estimate) -> Key:
    # A metric over attackers with some recall is another metric with another recall.
    over = row.method.partition(", over ")[2] if row.metric is not None else ""
    return (row.quantity, row.attackers, row.fpr, row.metric, over, row.group, row.versus)


def reported(pair: Pairing, row: Estimate, rows: Sequence[Estimate]) -> ReportedFigure:
    """Return a figure of one of the reports, with the lower limit that it allows."""
    lower, source = row.lower, None if row.lower is None else "stored"
    if lower is None and row.quantity == "advantage":
        lower, source = _class_floor(pair, row.attackers, rows)
    elif lower is None and row.quantity == "tpr_at_fpr":
        lower, source = 0.0, "trivial"
    return ReportedFigure(
        value=row.value,
        lower=lower,
        upper=row.upper,
        lower_from=source,  # type: ignore[arg-type]
    )


def _class_floor(
    pair: Pairing, attackers: Attackers, rows: Sequence[Estimate]
) -> tuple[float, LowerFrom]:
    """Return a lower limit of the best advantage within a class, from what is stored.

    Every class holds the trivial attacker. One that holds the thresholds also holds the one
    whose TPR at some FPR is stored. Of several FPRs the largest is taken whatever it shows:
    to take the best of them would need a share of the error for each.
    """
    points = [
        row
        for row in figures(rows).values()
        if row.quantity == "tpr_at_fpr" and row.fpr is not None and row.lower is not None
    ]
    if attackers in _WITH_THRESHOLDS and points:
        at = max(points, key=lambda row: row.fpr or 0.0)
        tpr, fpr = at.lower or 0.0, at.fpr or 0.0
        reached = 2 * (pair.prior * tpr + (1 - pair.prior) * (1 - fpr)) - 1
        if reached > pair.trivial:
            return reached, "tpr_at_fpr"
    return pair.trivial, "trivial"


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
        confidence: of the two limits, jointly over scores and reports, for one quantity and
            class.
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
    lower_reason: str | None
    upper_reason: str | None
    shown: Shown
    confidence: float
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
        confidence: of both, jointly over scores and reports, for one class.
    """

    score: str
    report: str
    versus: str
    attackers: Attackers
    at_most: float | None
    at_least: float | None
    confidence: float


def changes(pair: Pairing) -> tuple[Change, ...]:
    """Return the change of every figure that both reports have, in the new one's order."""
    old, new = figures(pair.old), figures(pair.new)
    return tuple(_change(pair, old[key], figure) for key, figure in new.items() if key in old)


def unmatched(pair: Pairing) -> int:
    """Return how many figures only one of the reports has."""
    return len(figures(pair.old).keys() ^ figures(pair.new).keys())


def beside_any(pair: Pairing) -> Iterator[BesideAny]:
    """Yield every class beside any attacker: what limits of different kinds can tell."""
    old, new = _advantages(pair.old), _advantages(pair.new)
    if "any" not in old or "any" not in new:
        return
    for attackers, figure in new.items():
        if attackers != "any" and attackers in old:
            yield BesideAny(
                score=pair.score,
                report=pair.report,
                versus=pair.versus,
                attackers=attackers,
                at_most=_less(figure.upper, old["any"].lower),
                at_least=_less(new["any"].lower, old[attackers].upper),
                confidence=pair.confidence,
            )


def _advantages(rows: Sequence[Estimate]) -> dict[Attackers, Estimate]:
    return {row.attackers: row for row in figures(rows).values() if row.quantity == "advantage"}


def _change(pair: Pairing, old: Estimate, new: Estimate) -> Change:
    before, after = reported(pair, old, pair.old), reported(pair, new, pair.new)
    lower, upper = _less(after.lower, before.upper), _less(after.upper, before.lower)
    value = _less(after.value, before.value)
    other = _other_side(old, new)
    if other is not None:
        # Another end of the score is another attacker: there is nothing to subtract.
        lower = upper = value = None
    weak = "approximate" in {old.validity, new.validity}
    return Change(
        quantity=new.quantity,
        score=pair.score,
        report=pair.report,
        versus=pair.versus,
        attackers=new.attackers,
        old=before,
        new=after,
        value=value,
        lower=lower,
        upper=upper,
        lower_reason=other
        or _missing(("old", "upper", before.upper), ("new", "lower", after.lower)),
        upper_reason=other
        or _missing(("new", "upper", after.upper), ("old", "lower", before.lower)),
        shown=_shown(lower, upper),
        confidence=pair.confidence,
        validity="approximate" if weak else "finite-sample",
        fpr=new.fpr,
        metric=new.metric,
    )


def _other_side(old: Estimate, new: Estimate) -> str | None:
    """Return why a one-sided figure cannot be compared, or None."""
    if None in {old.side, new.side} or old.side == new.side:
        return None
    return "members are guessed at the high end of the score in one report, the low in the other"


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _shown(lower: float | None, upper: float | None) -> Shown:
    if lower is not None and lower > 0:
        return "increase"
    return "decrease" if upper is not None and upper < 0 else "open"


def _missing(*limits: tuple[str, str, float | None]) -> str | None:
    """Return which of some limits, (report, side, limit), there are not; None if there are all."""
    none = [f"the {which} report has no {side} limit" for which, side, one in limits if one is None]
    return " and ".join(none) or None


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
    reason: Message


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReportComparison(AnyReport):
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

    @property
    def several(self) -> bool:
        """Tell whether there are more reports than an old one and a new one."""
        return len(self.design.reports) > _PAIR
