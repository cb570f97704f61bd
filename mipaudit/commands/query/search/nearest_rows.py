"""The k nearest rows found so far, for each of many records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NearestRows:
    """Figures and rows of the k nearest, in ascending order; infinite where none is known yet."""

    def __init__(self, records: int, k: int) -> None:
        """Begin without any."""
        self.figures = np.full((records, k), np.inf)
        self.rows = np.zeros((records, k), dtype=np.intp)

    def bar(self, records: slice) -> NDArray[np.float64]:
        """Return the k-th figure of these records: what a new row has to stay below."""
        return self.figures[records, -1]

    def insert(
        self, records: NDArray[np.intp], rows: NDArray[np.intp], figures: NDArray[np.float64]
    ) -> None:
        """Take in pairs of a record and a new row."""
        if not records.size:
            return
        k = self.figures.shape[1]
        order = np.lexsort((figures, records))
        records, rows, figures = records[order], rows[order], figures[order]
        touched, first, sizes = np.unique(records, return_index=True, return_counts=True)
        rank = np.arange(records.size) - np.repeat(first, sizes)
        place = np.repeat(np.arange(touched.size), sizes)
        kept = rank < k
        new = np.full((touched.size, k), np.inf)
        new_rows = np.zeros((touched.size, k), dtype=np.intp)
        new[place[kept], rank[kept]] = figures[kept]
        new_rows[place[kept], rank[kept]] = rows[kept]
        both = np.concatenate([self.figures[touched], new], axis=1)
        both_rows = np.concatenate([self.rows[touched], new_rows], axis=1)
        best = np.argsort(both, axis=1, kind="stable")[:, :k]
        self.figures[touched] = np.take_along_axis(both, best, axis=1)
        self.rows[touched] = np.take_along_axis(both_rows, best, axis=1)
