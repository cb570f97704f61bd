"""An input that is a later part of a larger one: its rows count from another number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.summaries.rows import Rows
    from mipaudit.tables.intake import Intake
    from mipaudit.tables.partitions import Partitions
    from mipaudit.tables.source import PiecePartition


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShiftedPartition:
    """A part whose row positions begin later."""

    partition: PiecePartition
    first_row: int

    @property
    def part(self) -> str:
        """The name of the part."""
        return self.partition.part

    @property
    def stays(self) -> bool:
        """Tell whether the rows must be read in this process."""
        return self.partition.stays

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows in order, at their place in the larger input."""
        for rows in self.partition.batches(intake):
            yield replace(rows, first_row=rows.first_row + self.first_row)


def shifted(partitions: Partitions[PiecePartition], first_row: int) -> Partitions[ShiftedPartition]:
    """Return the partitions as a larger input has them, of which they start at ``first_row``."""
    return partitions.mapped(partial(_shift, first_row=first_row))


def _shift(partition: PiecePartition, *, first_row: int) -> ShiftedPartition:
    return ShiftedPartition(partition=partition, first_row=first_row)
