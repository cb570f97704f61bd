"""An input seen through a map of its scores: fewer columns, or others made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from mipaudit.reading.source.changed_partition import changed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.reading.source.audited import ScoreColumn
    from mipaudit.reading.source.changed_partition import ChangedPartition
    from mipaudit.reading.source.partitions import Partitions
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.summaries.rows import Rows

    Columns = tuple[NDArray[np.float64], ...]


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
