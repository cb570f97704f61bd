"""Every score of both classes, in memory: for statistics that no table of counts serves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.summaries.rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassScores:
    """All rows of one class, in an order that the input's own order of rows settles.

    With keys it is the order of their hashes, so that shuffling a file changes nothing.

    Attributes:
        scores: one float64 array of shape (n,) for each column.
        ids: uint64, shape (n,): the hash of each row's key, else its position; None
            where they were not asked for.
        keyed: whether the rows have keys.
    """

    scores: tuple[NDArray[np.float64], ...]
    ids: NDArray[np.uint64] | None
    keyed: bool

    @property
    def size(self) -> int:
        """Return the number of rows."""
        return int(self.scores[0].size)

    def repeats(self) -> bool:
        """Tell whether two rows have the same key."""
        return self.keyed and self.ids is not None and bool((np.diff(self.ids) == 0).any())


class _Shelf:
    """Room for one class: a batch's rows are put where the batch begins in the input.

    Batches may come in any order and from several threads. Memory is only touched, and so
    only taken, where rows of the class are put; closing the gaps takes no more.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.scores = [np.empty(rows, dtype=np.float64) for _ in range(columns)]
        self.ids = np.empty(rows, dtype=np.uint64)
        self.filled: dict[int, int] = {}

    def put(
        self, first_row: int, chosen: NDArray[np.intp], rows: Rows, ids: NDArray[np.uint64] | None
    ) -> None:
        """Keep the chosen rows of a batch."""
        if not chosen.size:
            return
        place = slice(first_row, first_row + chosen.size)
        for room, column in zip(self.scores, rows.scores, strict=True):
            # Any mode but "raise" writes without a copy; the indices are within.
            np.take(column, chosen, out=room[place], mode="clip")
        if ids is not None:
            self.ids[place] = ids[chosen]
        self.filled[first_row] = chosen.size

    def joined(self, room: NDArray[Any]) -> NDArray[Any]:
        """Return what was put into ``room``, without the gaps."""
        end = 0
        for start, count in sorted(self.filled.items()):
            if end < start:
                room[end : end + count] = room[start : start + count]
            end += count
        return room[:end]


class KeptScores:
    """Collects rows, in any order of batches, and gives them back by class."""

    def __init__(self, columns: int, *, rows: int, ids: bool) -> None:
        """Make room.

        Args:
            columns: number of score columns.
            rows: source rows of the whole input.
            ids: keep positions where there are no keys.
        """
        self._shelves = {member: _Shelf(columns, rows) for member in (True, False)}
        self._ids = ids
        self._keyed = False

    def add(self, rows: Rows) -> None:
        """Take in a batch of rows."""
        self._keyed = self._keyed or rows.keys is not None
        ids = _identities(rows) if self._ids or rows.keys is not None else None
        for member, shelf in self._shelves.items():
            chosen = np.flatnonzero(rows.member if member else ~rows.member)
            shelf.put(rows.first_row, chosen, rows, ids)

    def part(self) -> KeptPart:
        """Return a collector for one of several threads, which shares the room."""
        return KeptPart(self)

    def members(self) -> ClassScores:
        """Return the members."""
        return self._settled(self._shelves[True])

    def holdout(self) -> ClassScores:
        """Return the holdout records."""
        return self._settled(self._shelves[False])

    def _settled(self, shelf: _Shelf) -> ClassScores:
        scores = [shelf.joined(room) for room in shelf.scores]
        ids = shelf.joined(shelf.ids) if self._ids or self._keyed else None
        if ids is not None and self._keyed:
            order = np.argsort(ids, kind="stable")
            ids, scores = ids[order], [column[order] for column in scores]
        return ClassScores(scores=tuple(scores), ids=ids, keyed=self._keyed)


class KeptPart:
    """What one thread collects: it goes straight to the place that all share."""

    def __init__(self, whole: KeptScores) -> None:
        """Collect for ``whole``."""
        self._whole = whole

    def add(self, rows: Rows) -> None:
        """Take in a batch of rows."""
        self._whole.add(rows)

    def merge(self, other: Self) -> None:
        """Nothing is left to merge: batches lie apart."""


def _identities(rows: Rows) -> NDArray[np.uint64]:
    if rows.keys is not None:
        return rows.keys
    offsets = np.arange(rows.source_rows) if rows.kept is None else rows.kept
    return (offsets + rows.first_row).astype(np.uint64)
