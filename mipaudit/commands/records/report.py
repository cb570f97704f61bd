"""What ``records`` returns, prints and writes: the JSON format ``mipaudit.records/3``.

It holds no score, and a key only of the records that the user asked to name by it: row
numbers, counts, and the names of groups that the user asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from mipaudit.model.message import Message
from mipaudit.model.row import Check, Row
from mipaudit.statements.any_report import AnyReport
from mipaudit.statements.verdict import Verdict, limits_shown, verdict_answer

Direction = Literal["member", "holdout", "unclear"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsDesign:
    """Sizes and settings that every number rests on.

    Attributes:
        n_members: rows of members, with the burn-in.
        n_holdout: rows of holdout records, with the burn-in.
        counted_members: of them, those that are in counts; the others chose the cells.
        counted_holdout: likewise.
        prior: p in (0, 1).
        baseline: |2p-1|, the risk of a record about which the score says nothing.
        confidence: of the limits of all cells together; of each quantity over all groups.
        score_column: the column that was audited.
        discrete: whether each value that is frequent enough is a cell of its own.
        cells: cells in which a record was counted.
        min_cell: fewest records of a cell, or of a class of a group, that is shown.
        tau: risk above which cells are listed.
        fdr: false-discovery rate of the list, over cells.
        member_population: n, of which the members are a sample; None for no such n.
        member_column: where membership was read; None for two inputs.
        skipped_columns: columns that were not taken.
        group_columns: the columns of ``--by``.
    """

    n_members: int
    n_holdout: int
    counted_members: int
    counted_holdout: int
    prior: float
    baseline: float
    confidence: float
    score_column: str
    discrete: bool
    cells: int
    min_cell: int
    tau: float
    fdr: float
    member_population: int | None
    member_column: str | None
    skipped_columns: tuple[str, ...]
    group_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRisk:
    """One cell: the average risk of the records in it.

    Attributes:
        cell: its number, as in the file of records.
        members: members in it, with the burn-in.
        holdout: holdout records in it, with the burn-in.
        counted_members: members behind the estimate.
        counted_holdout: holdout records behind it.
        signed: f in [-1, 1]; above 0 the score points to membership.
        risk: |f|.
        lower: lower limit of the risk, for all cells together.
        upper: upper limit, likewise.
        lower_pointwise: for this cell alone.
        upper_pointwise: likewise.
        speaks_for: what f's limits for all cells together leave no doubt of.
        in_list: whether the cell is listed as above tau.
        adjusted_lower: lower limit of a listed cell's risk, adjusted for the selection.
        adjusted_upper: upper limit, likewise.
    """

    cell: int
    members: int
    holdout: int
    counted_members: int
    counted_holdout: int
    signed: float
    risk: float
    lower: float
    upper: float
    lower_pointwise: float
    upper_pointwise: float
    speaks_for: Direction
    in_list: bool
    adjusted_lower: float | None = None
    adjusted_upper: float | None = None

    @property
    def value(self) -> float:
        """The risk, as the figure between its limits."""
        return self.risk


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskBand:
    """Records whose cell's risk is from ``low`` up to, not including, ``high``.

    ``at_least_*`` count the records for whose cell the lower limit is ``low`` or more.
    """

    low: float
    high: float
    members: int
    holdout: int
    at_least_members: int
    at_least_holdout: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedRecord:
    """One of the most exposed records: its row in the input, from 0, and its cell's risk.

    ``key`` is what it has in the key column, None where there is none.
    """

    row: int
    member: bool
    cell: int
    risk: float
    lower: float
    upper: float
    speaks_for: Direction
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RecordsReport(AnyReport):
    """The risk of every record, as counts.

    Attributes:
        estimates: the largest risk, then the advantage and the difference of every group.
        bands: records by the risk of their cell.
        cells: the cells of at least ``min_cell`` records, the most exposed first.
        small_cells: how many other cells there are; the file has their records too.
        listed_members: members in listed cells.
        listed_holdout: holdout records in listed cells.
        top: the most exposed records, if asked for.
        top_tied: records that are as exposed as the last of ``top``, itself included.
        groups: of ``--by``, the advantage of any attacker in it and how many records it has, the
            largest lower limit first. The limits hold for all groups together; how much one fixed
            attack differs here from the rest is among the ``estimates``.
        rows_written: rows in the file of records; None if none was asked for.
    """

    design: RecordsDesign
    estimates: tuple[Row, ...]
    bands: tuple[RiskBand, ...]
    cells: tuple[CellRisk, ...]
    small_cells: int
    listed_members: int
    listed_holdout: int
    top: tuple[ExposedRecord, ...]
    top_tied: int
    groups: tuple[Row, ...]
    rows_written: int | None
    policy: tuple[Check, ...]
    verdict: Verdict


_FEW: Final = 3
_DRAWN: Final = 8


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


def harm(report: RecordsReport) -> Message | None:
    """Return who is exposed, members first, where the answer is a verdict and tells the most."""
    return _plainly(report, "right_records_judged") if report.policy else None


def most_exposed(report: RecordsReport) -> tuple[CellRisk, ...]:
    """Return the few cells that a picture shows: those first that give members away."""
    blind = report.design.baseline
    surely = (one for one in report.cells if one.lower > blind)
    found = sorted(surely, key=lambda one: (one.speaks_for != "member", -one.lower))
    return tuple(found[:_DRAWN]) or report.cells[:_FEW]


def top_first(report: RecordsReport) -> tuple[ExposedRecord, ...]:
    """Return the most exposed records, those first that are given away as members."""
    return tuple(sorted(report.top, key=lambda one: (one.speaks_for != "member", not one.member)))


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


def _plainly(report: RecordsReport, code: str = "right_records") -> Message:
    """Return who is exposed as used, and then who as not used, in right guesses."""
    blind = report.design.baseline
    surely = sorted((one for one in report.cells if one.lower > blind), key=lambda one: -one.lower)
    used, unused = (
        _given_away(report, [one for one in surely if one.speaks_for == who], who)
        for who in ("member", "holdout")
    )
    return Message.of(
        code,
        used=used,
        none=Message("no_member_given_away" if unused else "nobody_given_away"),
        unused=unused,
    )


def _given_away(
    report: RecordsReport, cells: Sequence[CellRisk], speaks_for: str
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
