"""A part of an input whose rows are changed as they come: moved, or with other scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mipaudit.reading.rows.left_out import Intake
    from mipaudit.reading.source.partitions import Partitions
    from mipaudit.reading.source.source import PiecePartition
    from mipaudit.summaries.rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangedPartition:
    """A part, and what becomes of each batch of its rows; it can travel if ``change`` can."""

    partition: PiecePartition
    change: Callable[[Rows], Rows]

    @property
    def part(self) -> str:
        """The name of the part."""
        return self.partition.part

    @property
    def stays(self) -> bool:
        """Tell whether the rows must be read in this process."""
        return self.partition.stays

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the changed rows in order."""
        return map(self.change, self.partition.batches(intake))


def changed(
    partitions: Partitions[PiecePartition], change: Callable[[Rows], Rows]
) -> Partitions[ChangedPartition]:
    """Return the partitions with every batch of rows changed."""
    return partitions.mapped(lambda one: ChangedPartition(partition=one, change=change))


def shifted(partitions: Partitions[PiecePartition], first_row: int) -> Partitions[ChangedPartition]:
    """Return the partitions as a larger input has them, of which they start at ``first_row``."""
    return changed(partitions, partial(_moved, by=first_row))


def _moved(rows: Rows, *, by: int) -> Rows:
    return replace(rows, first_row=rows.first_row + by)
