"""All rows of an input in memory, as one batch in their order, and which only train."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from mipaudit.summaries.identity.row_rank import micro_blocks, rank_bytes
from mipaudit.summaries.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


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
            kept=np.concatenate([_positions(one) - first for one in batches]),
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


def _positions(rows: Rows) -> NDArray[np.int64]:
    offsets = np.arange(rows.source_rows) if rows.kept is None else rows.kept
    return np.asarray(offsets + rows.first_row, dtype=np.int64)


def _join(parts: Sequence[NDArray[np.uint64] | None]) -> NDArray[np.uint64] | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None
