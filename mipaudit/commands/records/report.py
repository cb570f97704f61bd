"""What ``records`` returns, prints and writes: the JSON format ``mipaudit.records/3``.

It holds no score, and a key only of the records that the user asked to name by it: row
numbers, counts, and the names of groups that the user asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.model.check import Check
from mipaudit.model.row import Row
from mipaudit.statements.reports.any_report import AnyReport
from mipaudit.statements.verdict import Verdict

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
        signed: f in [-1, 1]; above 0 the score speaks for membership.
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
