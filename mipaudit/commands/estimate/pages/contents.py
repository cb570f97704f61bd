"""A report's estimates by score column, gathered once for the whole page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mipaudit.commands.estimate.report import Report
    from mipaudit.statements.estimate import Design, Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What there is to show of every score column.

    Looking through all estimates for each column would take minutes where there are
    hundreds of columns.

    Attributes:
        design: of the report.
        by_score: the estimates of each score column in the order of the report, the
            strongest column first.
        judged: (members, holdout records) that every main lower limit rests on, or
            None where that is everybody or differs from score to score.
    """

    design: Design
    by_score: Mapping[str, tuple[Estimate, ...]]
    judged: tuple[int, int] | None

    @classmethod
    def of(cls, report: Report) -> Self:
        """Gather the estimates of a report."""
        gathered: dict[str, list[Estimate]] = {}
        for estimate in report.estimates:
            gathered.setdefault(estimate.score, []).append(estimate)
        by_score = {score: tuple(found) for score, found in gathered.items()}
        return cls(
            design=report.design,
            by_score=by_score,
            judged=_judged(report.design, by_score.values()),
        )

    @property
    def scores(self) -> tuple[str, ...]:
        """The score columns, the strongest first."""
        return tuple(self.by_score)

    def limits(self, score: str) -> tuple[Estimate, ...]:
        """Return the estimates whose limits are intervals."""
        return _intervals(self.by_score[score])

    def published(self, score: str) -> tuple[Estimate, ...]:
        """Return the estimates as published, whose limits are no intervals."""
        return tuple(e for e in self.by_score[score] if e.validity == "not-an-interval")

    def advantage(self, score: str, attackers: str = "any") -> Estimate | None:
        """Return the main estimate of a score's advantage, not the published one."""
        return _advantage(self.by_score[score], attackers)

    def auc(self, score: str) -> Estimate | None:
        """Return the AUC of a score."""
        return next((e for e in self.limits(score) if e.quantity == "auc"), None)


def _intervals(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    return tuple(e for e in estimates if e.validity != "not-an-interval")


def _advantage(estimates: Iterable[Estimate], attackers: str = "any") -> Estimate | None:
    for estimate in _intervals(estimates):
        if estimate.quantity == "advantage" and estimate.attackers == attackers:
            return estimate
    return None


def _judged(design: Design, columns: Iterable[tuple[Estimate, ...]]) -> tuple[int, int] | None:
    mains = map(_advantage, columns)
    sizes = {(main.n_members, main.n_holdout) for main in mains if main is not None}
    if len(sizes) != 1 or sizes == {(design.n_members, design.n_holdout)}:
        return None
    return sizes.pop()
