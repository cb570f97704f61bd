"""An input seen through a map of its scores: fewer columns, or others made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.summaries.rows import Rows
    from mipaudit.tables.source import Partition, ScoreColumn, ScoreSource

    Columns = tuple[NDArray[np.float64], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DerivedPartition:
    """A part of an input whose rows have other scores."""

    partition: Partition
    derive: Callable[[Columns], Columns]

    def batches(self) -> Iterator[Rows]:
        """Yield the rows in order, each batch with the scores made of its own."""
        for rows in self.partition.batches():
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

    def partitions(self) -> Sequence[DerivedPartition]:
        """Return the partitions in row order."""
        return tuple(
            DerivedPartition(partition=partition, derive=self.derive)
            for partition in self.source.partitions()
        )


def scalar_source(source: ScoreSource) -> DerivedSource:
    """Return an input without the columns that are part of a vector alone."""
    return DerivedSource(
        columns=tuple(source.columns[at] for at in source.scalars),
        source=source,
        derive=lambda columns: tuple(columns[at] for at in source.scalars),
    )
