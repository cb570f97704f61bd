"""The figures of a score as two reports have them, and the lower limits that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.statements.estimate import Attackers, Estimate

    # What a figure is of: equal keys are the same quantity.
    Key = tuple[object, ...]

LowerFrom = Literal["stored", "trivial", "tpr_at_fpr"]

# One threshold is an attacker of each of these: what one finds, the best of them finds.
_WITH_THRESHOLDS: Final = frozenset({"thresholds", "intervals-1", "intervals-4"})


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
