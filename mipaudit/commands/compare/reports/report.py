"""What ``compare`` writes about reports: the JSON format ``mipaudit.compare-reports/3``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from mipaudit.commands.compare.increase import increase_answer, limit_remark
from mipaudit.model.message import Message, fields_of
from mipaudit.model.row import Attackers, Check, Row
from mipaudit.statements.any_report import AnyReport
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


_ORDER: Final = ("increase", "decrease", "open")
# They say the same as the advantage, or are p-values; the report for programs has them.
_RESTATED: Final = frozenset({"excess", "eta", "accuracy", "any_difference"})


def answer(report: ReportComparison) -> Message:
    """Return the verdict, or the change that is surely there and matters most."""
    if report.policy:
        return increase_answer(report.verdict, report.policy, report.findings)
    plainly = Message.of("right_compared", found=_in_guesses(report))
    return Message.of("compared", found=_found(report), plainly=plainly)


def remarks(report: ReportComparison) -> Iterator[Message]:
    """Yield what a verdict does not say of the changes, and what would be more precise."""
    if report.policy:
        yield limit_remark(report.policy)
        yield _found(report)
    if not _sure(report) or report.verdict.status == "inconclusive":
        yield Message("files_more_precise")


def decisive(report: ReportComparison) -> tuple[Row, ...]:
    """Return the changes of the advantage in the class that the policy is about."""
    against = report.design.against
    rows = (
        one for one in report.changes if (one.quantity, one.attackers) == ("advantage", against)
    )
    return tuple(sorted(rows, key=lambda one: _ORDER.index(one.shown)))


def shown_changes(report: ReportComparison) -> tuple[Row, ...]:
    """Return the changes that say anything: metrics often have limits on neither side."""
    return tuple(
        one
        for one in report.changes
        if one.quantity not in _RESTATED
        and (one.metric is None or one.lower is not None or one.upper is not None)
    )


def shown_figures(report: ReportComparison) -> tuple[Row, ...]:
    """Return what these changes follow from."""
    of = {(one.score, one.quantity, one.metric) for one in shown_changes(report)}
    return tuple(one for one in report.figures if (one.score, one.quantity, one.metric) in of)


def unmatched(report: ReportComparison) -> tuple[MatchedScore, ...]:
    """Return the scores that only one report has."""
    return tuple(one for one in report.scores if one.status != "in both")


def shown_limit(report: ReportComparison) -> float | None:
    """Return the limit on the changes."""
    return report.policy[0].limit if report.policy else None


def _sure(report: ReportComparison) -> list[Row]:
    """Return the changes that are surely there, what matters most first: increases, as asked."""
    against = report.design.against

    def importance(one: Row) -> tuple[bool, bool]:
        asked = one.quantity == "advantage" and one.attackers == against
        return one.shown != "increase", not asked

    return sorted((one for one in report.changes if one.shown != "open"), key=importance)


def _found(report: ReportComparison) -> Message:
    """Return the change that is surely there and matters most."""
    sure = _sure(report)
    if not sure:
        return Message.of("no_figure_changed", versus=report.design.baseline)
    first = sure[0]
    return Message.of(
        "figure_grew" if first.shown == "increase" else "figure_shrank",
        **fields_of(first, "score", "report", "quantity", "metric", "fpr"),
        against=first.attackers if first.fpr is None and first.quantity != "auc" else None,
        least=_least(first),
        rest=len(sure) - 1,
    )


def _in_guesses(report: ReportComparison) -> Message:
    """Return the same in right guesses, where it is of them."""
    sure = _sure(report)
    if not sure:
        return Message.of("right_no_figure_changed", versus=report.design.baseline)
    grown = sure[0].shown == "increase"
    way = "grew" if grown else "shrank"
    found = next((one for one in sure if one.quantity == "advantage"), None)
    if found is None or (found.shown == "increase") != grown:
        first = sure[0]
        return Message.of(f"right_figures_{way}", report=first.report, versus=first.versus)
    return Message.of(
        f"right_{way}",
        **fields_of(found, "score", "report", "versus"),
        against=found.attackers,
        least=_least(found),
    )


def _least(one: Row) -> float | None:
    """Return how much a figure surely changed at least."""
    if one.shown == "increase":
        return one.lower
    return None if one.upper is None else -one.upper
