"""A batch of scored records: what readers yield and what summaries consume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Consecutive rows of the input, with their identity.

    The identity of a row is its global position in the input (parts in bytewise
    path order, members first), unless ``keys`` gives another one: a 64-bit hash
    of a key or of a person.

    Attributes:
        first_row: global position, from 0, of the first source row of the batch.
        source_rows: how many source rows the batch spans.
        kept: offsets (int64, increasing) within the span of the rows that are
            present, or None when all are.
        keys: uint64 hash per present row, or None when positions identify rows.
        member: bool per present row, True for members.
        scores: one float64 array per score column; never NaN.
        groups: uint64 hash of the row's group per present row, or None where no group
            was asked for.
        names: the key column's values per present row, or None unless they are to be
            written out.
    """

    first_row: int
    source_rows: int
    kept: NDArray[np.int64] | None
    keys: NDArray[np.uint64] | None
    member: NDArray[np.bool_]
    scores: tuple[NDArray[np.float64], ...]
    groups: NDArray[np.uint64] | None = None
    names: NDArray[Any] | None = None

    def positions(self) -> NDArray[np.int64]:
        """Return the global position, from 0, of each present row."""
        offsets = np.arange(self.source_rows) if self.kept is None else self.kept
        return np.asarray(offsets + self.first_row, dtype=np.int64)

    def head(self, source_rows: int) -> Rows:
        """Return the part within the first ``source_rows`` source rows of the batch."""
        return self.between(0, source_rows)

    def of_columns(self, places: Sequence[int]) -> Rows:
        """Return the rows with some of their scores alone."""
        return replace(self, scores=tuple(self.scores[at] for at in places))

    def reordered(self, order: NDArray[np.intp]) -> Rows:
        """Return the present rows in another order, as one batch from position 0."""
        return self.picked(order, first_row=0, source_rows=int(order.size), kept=None)

    def between(self, start: int, stop: int) -> Rows:
        """Return the part within the source rows ``start`` to ``stop`` - 1 of the batch."""
        stop = min(stop, self.source_rows)
        if start == 0 and stop == self.source_rows:
            return self
        kept = self.kept
        first, last = (start, stop) if kept is None else np.searchsorted(kept, (start, stop))
        present = slice(int(first), int(last))
        return self.picked(
            present,
            first_row=self.first_row + start,
            source_rows=stop - start,
            kept=None if kept is None else kept[present] - start,
        )

    def picked(
        self,
        at: NDArray[np.intp] | slice,
        *,
        first_row: int,
        source_rows: int,
        kept: NDArray[np.int64] | None,
    ) -> Rows:
        """Return some of the present rows, by their places among them, as another batch."""
        return Rows(
            first_row=first_row,
            source_rows=source_rows,
            kept=kept,
            keys=None if self.keys is None else self.keys[at],
            member=self.member[at],
            scores=tuple(column[at] for column in self.scores),
            groups=None if self.groups is None else self.groups[at],
            names=None if self.names is None else self.names[at],
        )
