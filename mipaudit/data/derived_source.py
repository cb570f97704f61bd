"""An input seen through a map of its scores: fewer columns, or others made of them.

A part of an input whose rows are changed as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.data.parts import Partitions, ScoreColumn
    from mipaudit.data.source import PiecePartition, ScoreSource
    from mipaudit.reading.rows.intake import Intake
    from mipaudit.reading.summaries.source import SummarySource
    from mipaudit.summaries.rows import Rows

    Columns = tuple[NDArray[np.float64], ...]
    # What an audit asks of its input once it is counted: read to its end, or the summaries of one.
    AuditedInput = ScoreSource | SummarySource


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DerivedSource:
    """The rows of an input with other scores.

    Attributes:
        columns: the scores that are made.
        source: the rows come from it.
        derive: makes the scores of a batch, any number of rows at once.
    """

    columns: tuple[ScoreColumn, ...]
    source: ScoreSource
    derive: Callable[[Columns], Columns]

    @property
    def rows_hint(self) -> int | None:
        """The rows before any is left out."""
        return self.source.rows_hint

    @property
    def remote(self) -> bool:
        """Whether a file is far away."""
        return self.source.remote

    def partitions(self) -> Partitions[ChangedPartition]:
        """Return the partitions in row order."""
        return changed(self.source.partitions(), partial(_with_scores, derive=self.derive))


def _with_scores(rows: Rows, *, derive: Callable[[Columns], Columns]) -> Rows:
    return replace(rows, scores=derive(rows.scores))


def scalar_source(source: ScoreSource) -> DerivedSource:
    """Return an input without the columns that are part of a vector alone."""
    return DerivedSource(
        columns=tuple(source.columns[at] for at in source.scalars),
        source=source,
        derive=partial(_chosen, tuple(source.scalars)),
    )


def _chosen(places: tuple[int, ...], columns: Columns) -> Columns:
    return tuple(columns[at] for at in places)
