"""The risk of every record, row for row with the input: the third pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.commands.records.report import ExposedRecord
from mipaudit.summaries.identity.row_rank import splitmix64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mipaudit.commands.records.report import Direction
    from mipaudit.commands.records.risk.cells import RecordCells
    from mipaudit.commands.records.risk.risk import RecordRisks
    from mipaudit.reading.source.part import Partition
    from mipaudit.summaries.rows import Rows

_ROW: Final = ("row",)
_OF_CELL: Final = (
    "cell",
    "cell_members",
    "cell_holdout",
    "signed_risk",
    "risk",
    "risk_lower",
    "risk_upper",
    "risk_lower_pointwise",
    "risk_upper_pointwise",
    "direction",
    "in_list",
)
COLUMNS: Final = (*_ROW, "member", *_OF_CELL)
# What a cell's records share, so that Parquet keeps each value once.
REPEATING: Final = _OF_CELL
DIRECTIONS: Final[tuple[Direction, ...]] = ("holdout", "unclear", "member")


def columns_with(key: str | None) -> tuple[str, ...]:
    """Return the columns of the file; the key column comes second, if there is one.

    A key column that has the name of another column is called ``key``.
    """
    if key is None:
        return COLUMNS
    return (*_ROW, key if key not in COLUMNS else "key", *COLUMNS[1:])


def cell_columns(risks: RecordRisks) -> dict[str, NDArray[Any]]:
    """Return what the records of each cell get, arrays of shape (m,) by name."""
    holdout, members = risks.everyone.T
    together, alone = risks.together, risks.alone
    return {
        "cell": np.arange(members.size, dtype=np.int32),
        "cell_members": members,
        "cell_holdout": holdout,
        "signed_risk": together.signed,
        "risk": together.risk,
        "risk_lower": together.risk_lower,
        "risk_upper": together.risk_upper,
        "risk_lower_pointwise": alone.risk_lower,
        "risk_upper_pointwise": alone.risk_upper,
        "direction": together.direction,
        "in_list": risks.listed,
    }


def positions(rows: Rows) -> NDArray[np.int64]:
    """Return the global row number, from 0, of each present row."""
    offsets = np.arange(rows.source_rows) if rows.kept is None else rows.kept
    return np.asarray(offsets + rows.first_row, dtype=np.int64)


def record_chunks(
    partitions: Iterable[Partition],
    cells: RecordCells,
    of_cell: Mapping[str, NDArray[Any]],
    *,
    key: str | None,
    top: TopRecords,
    meter: Callable[[int], None] | None,
) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the columns of every batch of rows, in the order of the input.

    Args:
        partitions: in row order.
        cells: of the score.
        of_cell: as from `cell_columns`.
        key: what the key column is called, or None.
        top: takes note of the most exposed records.
        meter: called with the source rows of each batch.
    """
    for partition in partitions:
        for rows in partition.batches():
            cell = cells.of(rows.scores[0])
            row = positions(rows)
            top.look(rows, row, cell)
            chunk = {"row": row, "member": rows.member}
            if key is not None and rows.names is not None:
                chunk[key] = _plain(rows.names)
            chunk |= {name: values[cell] for name, values in of_cell.items()}
            if meter is not None:
                meter(rows.source_rows)
            if row.size:
                yield chunk


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in the widest form of their kind, so that parts agree."""
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        return values.astype(np.int64)
    return values.astype(np.float64) if values.dtype.kind == "f" else values


# A record that may be named: what decides, in order, and what is told of it.
_NAMED: Final = np.dtype(
    [("cell", "i8"), ("drawn", "u8"), ("place", "u8"), ("row", "i8"), ("member", "?")]
)


@dataclass(slots=True, kw_only=True, eq=False)
class TopRecords:
    """Records of the most exposed cells.

    All records of a cell have the same risk. Of the last cell that is needed some are drawn,
    by what the rows hold: key, score and class. Only where those are equal, too, the place of
    a row decides, and nothing else could.

    Attributes:
        quota: how many rows of each cell are wanted, shape (cells,).
        tied: records in the last cell that is needed.
        seed: of the draw, in use for the score.
    """

    quota: NDArray[np.int64]
    tied: int
    seed: int
    found: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=_NAMED))

    def look(self, rows: Rows, row: NDArray[np.int64], cell: NDArray[np.int32]) -> None:
        """Take note of wanted rows of a batch, whose numbers in the input are ``row``."""
        at = np.flatnonzero(self.quota[cell])
        if not at.size:
            return
        drawn = splitmix64((rows.scores[0][at] + 0.0).view(np.uint64), self.seed)
        drawn = splitmix64(drawn ^ rows.member[at].astype(np.uint64), self.seed)
        if rows.keys is not None:
            drawn = splitmix64(drawn ^ rows.keys[at], self.seed)
        more = np.empty(at.size, dtype=_NAMED)
        more["cell"], more["drawn"], more["row"] = cell[at], drawn, row[at]
        more["place"] = splitmix64(row[at].astype(np.uint64), self.seed)
        more["member"] = rows.member[at]
        every = np.concatenate([self.found, more])
        every = every[np.lexsort((every["place"], every["drawn"], every["cell"]))]
        rank = np.arange(every.size) - np.searchsorted(every["cell"], every["cell"])
        self.found = every[rank < self.quota[every["cell"]]]

    @property
    def wanted(self) -> bool:
        """Tell whether any record is to be named."""
        return bool(self.quota.any())

    def records(self, risks: RecordRisks) -> tuple[ExposedRecord, ...]:
        """Return the records found, the most exposed first, ties by row."""
        limits = risks.together
        place = np.zeros(self.quota.size, dtype=np.intp)
        place[risks.order] = np.arange(risks.order.size)
        order = np.lexsort((self.found["row"], place[self.found["cell"]]))
        return tuple(
            ExposedRecord(
                row=row,
                member=member,
                cell=cell,
                risk=float(limits.risk[cell]),
                lower=float(limits.risk_lower[cell]),
                upper=float(limits.risk_upper[cell]),
                speaks_for=DIRECTIONS[int(limits.direction[cell]) + 1],
            )
            for cell, row, member in self.found[order][["cell", "row", "member"]].tolist()
        )


def top_records(risks: RecordRisks, count: int, seed: int) -> TopRecords:
    """Return what looks for the ``count`` most exposed records.

    Args:
        risks: of all cells.
        count: how many to name, at least 0.
        seed: draws among equally exposed ones.
    """
    rows = risks.everyone.sum(axis=1)
    quota = np.zeros(rows.size, dtype=np.int64)
    tied, left = 0, count
    for cell in risks.order.tolist():
        if left <= 0:
            break
        tied = int(rows[cell])
        quota[cell] = min(left, tied)
        left -= tied
    return TopRecords(quota=quota, tied=tied, seed=seed)
