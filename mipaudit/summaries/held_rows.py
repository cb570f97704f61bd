"""Rows that are held in memory, for what no table of counts serves.

All of an input as one batch in their order, by class, or one for each person and class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.identity.row_rank import micro_blocks, rank_bytes, splitmix64
from mipaudit.summaries.rows import Rows

# Apart from the stream that says in which block a person is.
_STREAM: Final = 1
_HALF: Final = np.uint64(32)


class HeldRows:
    """Collects batches, in any order and from several threads, and joins them."""

    def __init__(self) -> None:
        """Start without a row."""
        self._batches: list[Rows] = []

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        self._batches.append(rows)

    def merge(self, other: Self) -> None:
        """Take in what another thread collected."""
        self._batches += other._batches

    def joined(self) -> Rows | None:
        """Return all rows as one batch; None without a batch."""
        if not self._batches:
            return None
        batches = sorted(self._batches, key=lambda one: one.first_row)
        first = batches[0].first_row
        last = batches[-1]
        return Rows(
            first_row=first,
            source_rows=last.first_row + last.source_rows - first,
            kept=np.concatenate([one.positions() - first for one in batches]),
            keys=_join([one.keys for one in batches]),
            member=np.concatenate([one.member for one in batches]),
            scores=tuple(
                np.concatenate(column)
                for column in zip(*(one.scores for one in batches), strict=True)
            ),
            groups=_join([one.groups for one in batches]),
        )


def row_blocks(rows: Rows, seed: int) -> NDArray[np.uint8]:
    """Return the micro-block of each row, in [0, 64)."""
    return micro_blocks(rank_bytes(rows, seed))


def _join(parts: Sequence[NDArray[np.uint64] | None]) -> NDArray[np.uint64] | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None


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

    def shared(self) -> Self:
        """Return itself, for every thread: there is room for all of the input."""
        return self

    def merge(self, other: Self) -> None:
        """Do nothing: whoever shares the room has put the rows there."""

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


def _identities(rows: Rows) -> NDArray[np.uint64]:
    if rows.keys is not None:
        return rows.keys
    return rows.positions().astype(np.uint64)


def one_of_each(rows: Rows, seed: int) -> Rows:
    """Choose for each person and class one row, each of them with the same chance.

    A hash of (seed, person) says which of the person's rows, in the order of their scores:
    neither their order in the file nor anything else that the file's writer can choose.

    Args:
        rows: in canonical order, with the hash of their person as keys.
        seed: in use for them.

    Returns:
        One row for each person and class, in order of the person's hash, holdout first.
    """
    assert rows.keys is not None  # noqa: S101 - read with a key column
    order = np.lexsort((rows.member, rows.keys))  # stable: the scores stay in order
    keys, member = rows.keys[order], rows.member[order]
    new = np.ones(keys.size, dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (member[1:] != member[:-1])
    starts = np.flatnonzero(new)
    counts = np.diff(starts, append=keys.size)
    drawn = splitmix64(splitmix64(keys[starts], seed), _STREAM) >> _HALF
    chosen = order[starts + ((drawn * counts.astype(np.uint64)) >> _HALF).astype(np.intp)]
    return rows.reordered(chosen)
