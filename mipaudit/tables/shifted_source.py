"""An input that is a later part of a larger one: its rows count from another number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.summaries.rows import Rows
    from mipaudit.tables.source import Partition


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShiftedPartition:
    """A part whose row positions begin later."""

    partition: Partition
    first_row: int

    def batches(self) -> Iterator[Rows]:
        """Yield the rows in order, at their place in the larger input."""
        for rows in self.partition.batches():
            yield replace(rows, first_row=rows.first_row + self.first_row)


def shifted(partitions: Sequence[Partition], first_row: int) -> tuple[Partition, ...]:
    """Return the partitions as a larger input has them, of which they start at ``first_row``."""
    if not first_row:
        return tuple(partitions)
    return tuple(ShiftedPartition(partition=one, first_row=first_row) for one in partitions)
