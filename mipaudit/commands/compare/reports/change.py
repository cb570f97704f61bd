"""How much a score's figures changed from one report to another, by their stored limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mipaudit.commands.compare.reports.figure import (
    ReportedFigure,
    figures,
    reported,
)
from mipaudit.statements.estimate import (  # noqa: TC001 - the codec reads them
    Attackers,
    Estimate,
    Quantity,
    Validity,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.commands.compare.reports.figure import Pairing

Shown = Literal["increase", "decrease", "open"]


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
        lower_reason=None if lower is not None else other or _lower_reason(before, after),
        upper_reason=None if upper is not None else other or _upper_reason(before, after),
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


def _lower_reason(before: ReportedFigure, after: ReportedFigure) -> str:
    missing = [
        *["the old report has no upper limit"] * (before.upper is None),
        *["the new report has no lower limit"] * (after.lower is None),
    ]
    return " and ".join(missing)


def _upper_reason(before: ReportedFigure, after: ReportedFigure) -> str:
    missing = [
        *["the new report has no upper limit"] * (after.upper is None),
        *["the old report has no lower limit"] * (before.lower is None),
    ]
    return " and ".join(missing)
