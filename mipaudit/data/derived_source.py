"""An input seen through a map of its scores: fewer columns, or others made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.data.parts import Partitions, ScoreColumn
    from mipaudit.data.source import PiecePartition, ScoreSource
    from mipaudit.reading.summaries.source import SummarySource
    from mipaudit.summaries.rows import Rows

    Columns = tuple[NDArray[np.float64], ...]
    # What an audit asks of its input once it is counted: read to its end, or the summaries of one.
    AuditedInput = ScoreSource | SummarySource


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

    def partitions(self) -> Partitions[PiecePartition]:
        """Return the partitions in row order."""
        change = partial(_with_scores, derive=self.derive)
        return self.source.partitions().mapped(lambda one: one.then(change))


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
