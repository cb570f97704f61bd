"""How much a figure changed from one report to another: the difference of two intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.maths.metrics.names import LEAST_RECALL, parse_metric
from mipaudit.model.message import Message
from mipaudit.model.row import Row

if TYPE_CHECKING:
    from mipaudit.commands.compare.reports.report import MatchedScore
    from mipaudit.commands.estimate.report import Report
    from mipaudit.model.row import Attackers
    from mipaudit.statements.estimate import Design

# Figures of a score, by what they are of.
Figures = Mapping[tuple[object, ...], Row]
_TRIVIAL: Final = Message("lower_without_score")
# One threshold is an attacker of each of these: what one finds, the best of them finds.
_WITH_THRESHOLDS: Final = frozenset({"thresholds", "intervals-1", "intervals-4"})


def figures_of(report: Report) -> dict[str, Figures]:
    """Return the figures of a report that have limits, by score."""
    settings = {one.name: one.value for one in report.provenance.settings}
    given = settings.get("min_recall")
    least = given if isinstance(given, float) else LEAST_RECALL
    found: dict[str, dict[tuple[object, ...], Row]] = {}
    for row in report.estimates:
        own = found.setdefault(row.score, {})
        # Published estimators are shown for comparison; kernels choose their noise by the data.
        if row.validity == "not-an-interval" or row.bandwidth is not None:
            continue
        floor = 0.0
        if row.metric is not None:
            # A metric over attackers with some recall is another metric with another recall.
            floor = parse_metric(row.metric, prior=report.design.prior, least=least).least
        own.setdefault((row.quantity, row.attackers, row.fpr, row.metric, floor), row)
    return {**found}


def changes(
    of: MatchedScore, old: Figures, new: Figures, design: Design, confidence: float
) -> Iterator[tuple[Row, Row, Row]]:
    """Yield the change of every figure that both reports have, and the two, in the new one's order.

    Args:
        of: the score, and the names of the reports.
        old: its figures in the old report.
        new: likewise.
        design: of the old report, whose prior both have.
        confidence: of all changes.
    """
    for key, row in new.items():
        if key in old:
            before, after = _reported(old[key], old, design), _reported(row, new, design)
            yield (
                _change(of, before, after, confidence),
                replace(before, report=of.versus),
                replace(after, report=of.report),
            )


def _change(of: MatchedScore, old: Row, new: Row, confidence: float) -> Row:
    # Another end of the score is another attacker: there is nothing to subtract.
    other_side = len({old.side, new.side} - {None}) > 1
    value, lower, upper = (
        None if other_side else _less(*both)
        for both in ((new.value, old.value), (new.lower, old.upper), (new.upper, old.lower))
    )
    side = Message("other_side") if other_side else None
    return Row(
        quantity=new.quantity,
        score=of.score,
        report=of.report,
        versus=of.versus,
        attackers=new.attackers,
        value=value,
        lower=lower,
        upper=upper,
        lower_reason=side or _lacking(("old", "upper", old.upper), ("new", "lower", new.lower)),
        upper_reason=side or _lacking(("new", "upper", new.upper), ("old", "lower", old.lower)),
        confidence=confidence,
        validity="approximate"
        if "approximate" in {old.validity, new.validity}
        else "finite-sample",
        fpr=new.fpr,
        metric=new.metric,
    )


def beside_any(of: MatchedScore, old: Figures, new: Figures, confidence: float) -> Iterator[Row]:
    """Yield every class beside any attacker: what limits of different kinds can tell."""
    before, after = _advantages(old), _advantages(new)
    for attackers in after if "any" in before and "any" in after else ():
        if attackers != "any" and attackers in before:
            row = Row(
                quantity="class_beside_any",
                score=of.score,
                report=of.report,
                versus=of.versus,
                attackers=attackers,
                upper=_less(after[attackers].upper, before["any"].lower),
                confidence=confidence,
            )
            yield row
            least = _less(after["any"].lower, before[attackers].upper)
            yield replace(row, quantity="any_beside_class", upper=None, lower=least)


def _advantages(rows: Figures) -> dict[Attackers, Row]:
    return {row.attackers: row for row in rows.values() if row.quantity == "advantage"}


def _reported(row: Row, rows: Figures, design: Design) -> Row:
    """Return a figure of one of the reports, with the lower limit that the report allows."""
    lower, reason = row.lower, None
    if lower is None and row.quantity == "advantage":
        lower, reason = _floor(row.attackers, rows, design)
    elif lower is None and row.quantity == "tpr_at_fpr":
        lower, reason = 0.0, _TRIVIAL
    return replace(row, lower=lower, lower_reason=reason)


def _floor(attackers: Attackers, rows: Figures, design: Design) -> tuple[float, Message]:
    """Return a lower limit of the best advantage within a class, from what is stored.

    Every class holds the trivial attacker. One that holds the thresholds also holds the one
    whose TPR at some FPR is stored. Of several FPRs the largest is taken whatever it shows:
    to take the best of them would need a share of the error for each.
    """
    points = [
        (row.fpr, row.lower)
        for row in rows.values()
        if row.quantity == "tpr_at_fpr" and row.fpr is not None and row.lower is not None
    ]
    if attackers in _WITH_THRESHOLDS and points:
        fpr, tpr = max(points, key=lambda point: point[0])
        reached = 2 * (design.prior * tpr + (1 - design.prior) * (1 - fpr)) - 1
        if reached > design.baseline:
            return reached, Message("lower_of_tpr")
    return design.baseline, _TRIVIAL


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _lacking(*limits: tuple[str, str, float | None]) -> Message | None:
    """Return which of some limits, (report, side, limit), there are not; None if there are all."""
    found: Message | None = None
    for which, side, limit in reversed(limits):
        if limit is None:
            found = Message.of("limit_lacking", which=which, side=side, also=found)
    return found
