"""An input seen through a map of its scores: fewer columns, or others made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.summaries.rows import Rows
    from mipaudit.tables.intake import Intake
    from mipaudit.tables.partitions import Partitions
    from mipaudit.tables.source import PiecePartition, ScoreColumn, ScoreSource

    Columns = tuple[NDArray[np.float64], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DerivedPartition:
    """A part of an input whose rows have other scores."""

    partition: PiecePartition
    derive: Callable[[Columns], Columns]

    @property
    def part(self) -> str:
        """The name of the part."""
        return self.partition.part

    @property
    def stays(self) -> bool:
        """Tell whether the rows must be read in this process."""
        return self.partition.stays

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows in order, each batch with the scores made of its own."""
        for rows in self.partition.batches(intake):
            yield replace(rows, scores=self.derive(rows.scores))


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

    def partitions(self) -> Partitions[DerivedPartition]:
        """Return the partitions in row order."""
        return self.source.partitions().mapped(self._derived)

    def _derived(self, partition: PiecePartition) -> DerivedPartition:
        return DerivedPartition(partition=partition, derive=self.derive)


def scalar_source(source: ScoreSource) -> DerivedSource:
    """Return an input without the columns that are part of a vector alone."""
    return DerivedSource(
        columns=tuple(source.columns[at] for at in source.scalars),
        source=source,
        derive=partial(_chosen, tuple(source.scalars)),
    )


def _chosen(places: tuple[int, ...], columns: Columns) -> Columns:
    return tuple(columns[at] for at in places)
