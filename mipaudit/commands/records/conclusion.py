"""What a report of ``records`` concludes, as codes, and the lines of a screenful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.model.message import Message
from mipaudit.statements.answer import limits_shown, verdict_answer

if TYPE_CHECKING:
    from mipaudit.commands.records.report import CellRisk, Direction, RecordsReport, RiskBand
    from mipaudit.model.check import Check
    from mipaudit.model.row import Row

_FEW: Final = 3


def answer(report: RecordsReport) -> Message:
    """Return the verdict, or who is exposed; its value ``plainly`` is the same in guesses."""
    if report.verdict.status != "no_policy":
        score = report.design.score_column
        return verdict_answer(report.verdict, report.policy, report.findings, score=score)
    found = _found(report)
    return found.with_values(found.code, plainly=_plainly(report))


def remarks(report: RecordsReport) -> Iterator[Message]:
    """Yield what else is worth a line, the most important first."""
    yield Message("risk_of_one_cell")
    if report.listed_members + report.listed_holdout:
        yield _listed(report)
    found = differences(report)
    better, worse = (
        tuple(one.group or "" for one in found if one.shown == how)
        for how in ("increase", "decrease")
    )
    if better:
        yield Message.of("groups_better", groups=better)
    if worse:
        yield Message.of("groups_worse", groups=worse)
    if report.groups and not better and not worse:
        yield Message.of("no_group_differs", groups=len(report.groups))
    if report.small_cells:
        yield Message.of("small_cells", cells=report.small_cells, least=report.design.min_cell)


def open_limits(report: RecordsReport) -> tuple[Check, ...]:
    """Return the limits that are not kept; where all are, each with what comes closest to it."""
    return limits_shown(report.policy, report.verdict)


def exposure(report: RecordsReport) -> tuple[RiskBand, ...]:
    """Return how many records have a risk from each band's start on, the most exposed first."""
    return tuple(
        replace(
            band,
            high=1.0,
            members=sum(one.members for one in report.bands if one.low >= band.low),
            holdout=sum(one.holdout for one in report.bands if one.low >= band.low),
        )
        for band in reversed(report.bands)
        if band.low > 0
    )


def advantages(report: RecordsReport) -> tuple[Row, ...]:
    """Return the advantage within each group by attackers, the most exposed group first."""
    place = {one.group: at for at, one in enumerate(report.groups)}
    found = [one for one in report.estimates if one.quantity == "advantage"]
    return tuple(sorted(found, key=lambda one: place[one.group or ""]))


def differences(report: RecordsReport) -> tuple[Row, ...]:
    """Return how one attack differs in each group from the rest, in the order of the groups."""
    found = {one.group: one for one in report.estimates if one.quantity == "difference"}
    return tuple(
        replace(found[one.group], n_members=one.n_members, n_holdout=one.n_holdout)
        for one in report.groups
        if one.group in found
    )


def cells_first(report: RecordsReport) -> tuple[CellRisk, ...]:
    """Return the cells, those that surely give members away above the limit first.

    The limit is the least on the risk of the policy, and without one ``tau``.
    """
    limit = risk_limit(report) or report.design.tau
    return tuple(
        sorted(report.cells, key=lambda one: one.speaks_for != "member" or one.lower <= limit)
    )


def risk_limit(report: RecordsReport) -> float | None:
    """Return the least limit on the risk of the policy."""
    return min((one.limit for one in report.policy if one.quantity == "risk"), default=None)


def exposed(report: RecordsReport) -> tuple[CellRisk, ...]:
    """Return the cells that are surely exposed."""
    blind = report.design.baseline
    return tuple(one for one in cells_first(report) if one.in_list or one.lower > blind)


def shown_cells(report: RecordsReport) -> tuple[CellRisk, ...]:
    """Return the exposed cells, else those nearest to being so; beside groups none."""
    return () if report.groups else exposed(report) or report.cells[:_FEW]


def guessing(report: RecordsReport) -> float | None:
    """Return the risk of a record about which the score says nothing, where it is above 0."""
    return report.design.baseline or None


def _found(report: RecordsReport) -> Message:
    """Return what is shown of the most exposed records."""
    design, largest = report.design, report.estimates[0]
    lower, upper = largest.lower or 0.0, 1.0 if largest.upper is None else largest.upper
    baseline = design.baseline or None
    if lower > design.baseline:
        told = next(iter(cells_first(report)), None)
        other = told is not None and told.speaks_for == "member" and told.lower < lower
        return Message.of(
            "exposed_as_members_less" if other else "records_exposed",
            discrete=design.discrete,
            lower=lower,
            of_members=told.lower if told is not None and other else None,
            baseline=baseline,
            upper=upper if upper < 1 else None,
        )
    group = max(report.groups, key=lambda one: one.lower or 0.0, default=None)
    if group is not None and (group.lower or 0.0) > design.baseline:
        return Message.of(
            "group_exposed", group=group.group, lower=group.lower, baseline=baseline, upper=upper
        )
    if report.listed_members + report.listed_holdout:
        return Message.of("cells_listed", listed=_listed(report), upper=upper)
    first = next((one for one in differences(report) if one.shown != "open"), None)
    if first is not None:
        better = first.shown == "increase"
        return Message.of("group_differs", group=first.group, better=better, upper=upper)
    return Message.of("no_record_exposed", lower=lower, baseline=baseline, upper=upper)


def _listed(report: RecordsReport) -> Message:
    return Message.of(
        "in_listed_cells",
        members=report.listed_members,
        holdout=report.listed_holdout,
        tau=report.design.tau,
        fdr=report.design.fdr,
    )


def _plainly(report: RecordsReport) -> Message:
    """Return who is exposed as used, and then who as not used, in right guesses."""
    used, unused = (
        _given_away(report, cells, speaks_for)
        for speaks_for, cells in _by_direction(report.cells, report.design.baseline)
    )
    return Message.of(
        "right_records",
        used=used,
        none=Message("no_member_given_away" if unused else "nobody_given_away"),
        unused=unused,
    )


def _by_direction(
    cells: Iterable[CellRisk], blind: float
) -> Iterator[tuple[Direction, list[CellRisk]]]:
    """Yield the cells that surely give away members, then those that give away the others."""
    directions: tuple[Direction, ...] = ("member", "holdout")
    surely = sorted((one for one in cells if one.lower > blind), key=lambda one: -one.lower)
    for direction in directions:
        yield direction, [one for one in surely if one.speaks_for == direction]


def _given_away(
    report: RecordsReport, cells: Sequence[CellRisk], speaks_for: Direction
) -> Message | None:
    """Return how many records are given away, and how surely the first of them are."""
    if not cells:
        return None
    first = cells[0]
    return Message.of(
        f"{speaks_for}_given_away",
        cells=len(cells),
        members=sum(one.members for one in cells),
        holdout=sum(one.holdout for one in cells),
        several=(len(cells) > 1) or None,
        first_members=first.members,
        first_holdout=first.holdout,
        lower=first.lower,
        prior=report.design.prior,
    )
