"""One row per person and class, chosen by hash."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mipaudit.reading.bytes.hashing import mix64
from mipaudit.summaries.rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chosen:
    """The rows that stand for their persons: increasing global positions (int64).

    ``scores`` are the persons' own, one array for each column, where they are not the rows'.
    """

    positions: NDArray[np.int64]
    dropped_members: int
    dropped_holdout: int
    scores: tuple[NDArray[np.float64], ...] | None = None

    def within(self, first_row: int, rows: int) -> Chosen:
        """Return those of ``rows`` consecutive rows from ``first_row`` on."""
        start, end = np.searchsorted(self.positions, (first_row, first_row + rows))
        # A copy, so that it does not drag the others along.
        return Chosen(
            positions=self.positions[start:end].copy(),
            dropped_members=0,
            dropped_holdout=0,
            scores=None
            if self.scores is None
            else tuple(score[start:end].copy() for score in self.scores),
        )

    def among(self, rows: Rows) -> Rows:
        """Return the chosen rows of ``rows``."""
        stop = rows.first_row + rows.source_rows
        start, end = np.searchsorted(self.positions, (rows.first_row, stop))
        kept = self.positions[start:end] - rows.first_row
        offsets = np.arange(rows.source_rows) if rows.kept is None else rows.kept
        at = np.searchsorted(offsets, kept)
        return Rows(
            first_row=rows.first_row,
            source_rows=rows.source_rows,
            kept=kept,
            keys=None if rows.keys is None else rows.keys[at],
            member=rows.member[at],
            scores=tuple(score[at] for score in rows.scores)
            if self.scores is None
            else tuple(score[start:end] for score in self.scores),
            groups=None if rows.groups is None else rows.groups[at],
            names=None if rows.names is None else rows.names[at],
        )


def choose_units(batches: Iterable[Rows], seed: int) -> Chosen:
    """Choose for each person and class the row with the smallest hash of its position.

    The choice depends on the seed and on positions, never on a score. It holds
    about 24 bytes a row while it chooses, and 8 bytes a person afterwards.

    Args:
        batches: all rows, with the hash of their person as keys.
        seed: of the run.
    """
    persons: list[NDArray[np.uint64]] = []
    places: list[NDArray[np.int64]] = []
    sides: list[NDArray[np.bool_]] = []
    for rows in batches:
        assert rows.keys is not None  # noqa: S101 - read with a key column
        offsets = np.arange(rows.source_rows) if rows.kept is None else rows.kept
        persons.append(rows.keys)
        places.append(offsets + rows.first_row)
        sides.append(rows.member)
    if not persons:
        return Chosen(positions=np.empty(0, np.int64), dropped_members=0, dropped_holdout=0)
    return _first_of_each(
        np.concatenate(persons), np.concatenate(places), np.concatenate(sides), seed
    )


def _first_of_each(
    persons: NDArray[np.uint64],
    places: NDArray[np.int64],
    member: NDArray[np.bool_],
    seed: int,
) -> Chosen:
    salt = mix64(np.array([seed % 2**64], dtype=np.uint64))
    rank = mix64(places.view(np.uint64) ^ salt)
    order = np.lexsort((rank, member, persons))
    new = np.ones(order.size, dtype=np.bool_)
    new[1:] = (persons[order[1:]] != persons[order[:-1]]) | (
        member[order[1:]] != member[order[:-1]]
    )
    dropped = member[order[~new]]
    members = int(np.count_nonzero(dropped))
    return Chosen(
        positions=np.sort(places[order[new]]),
        dropped_members=members,
        dropped_holdout=dropped.size - members,
    )
