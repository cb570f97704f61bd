"""Pass two: counts per micro-block, cell and class, mergeable.

Up to `EXACT_ROWS` rows the scores themselves are kept for the threshold
statistics, which are then exact; above, fine cells are counted and the statistics
are bracketed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mipaudit.maths.ladder import Ladder, exact_ladder
from mipaudit.summaries.buckets import Locator
from mipaudit.summaries.identity import MICRO_BLOCKS, micro_blocks, rank_bytes
from mipaudit.summaries.sample import in_burn_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.summaries.cells import Cells
    from mipaudit.summaries.rows import Rows

EXACT_ROWS: Final = 1 << 22
_CHUNK: Final = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnCounts:
    """What one score column is estimated from.

    Attributes:
        blocks: int64, shape (64, K, 2): micro-block, coarse cell, (holdout, member).
        burn_in: number of micro-blocks that only train.
        single: bool, shape (K,): coarse cells that hold one value.
        everyone: ladder of all rows.
        evaluated: ladder of the rows outside the burn-in.
        infinite: number of infinite scores.
        discrete: whether every burn-in value is a cell of its own.
    """

    blocks: NDArray[np.int64]
    burn_in: int
    single: NDArray[np.bool_]
    everyone: Ladder
    evaluated: Ladder
    infinite: int
    discrete: bool

    @property
    def trained(self) -> NDArray[np.int64]:
        """Return the burn-in counts, shape (K, 2)."""
        return np.asarray(self.blocks[: self.burn_in].sum(axis=0))

    @property
    def scored(self) -> NDArray[np.int64]:
        """Return the counts outside the burn-in, shape (K, 2)."""
        return np.asarray(self.blocks[self.burn_in :].sum(axis=0))


class ColumnTally:
    """Counts of one column as they grow. Not thread-safe; one per worker, then merged."""

    __slots__ = ("_blocks", "_cells", "_fine", "_infinite", "_kept", "_locate", "_shared")

    def __init__(self, cells: Cells, *, exact: bool) -> None:
        """Start empty."""
        self._cells = cells
        self._locate = Locator(cells.edges, cells.buckets)
        coarse = cells.coarse.astype(np.int32)
        self._shared = np.asarray(coarse * 2)
        self._blocks = np.zeros(MICRO_BLOCKS * cells.coarse_count * 2, dtype=np.int64)
        self._fine = None if exact else np.zeros(cells.count * 4, dtype=np.int64)
        self._kept: list[tuple[NDArray[np.float64], NDArray[np.uint8]]] = []
        self._infinite = 0

    def add(
        self,
        scores: NDArray[np.float64],
        flags: NDArray[np.uint8],
        block_code: NDArray[np.int32],
    ) -> None:
        """Count a chunk.

        Args:
            scores: float64, shape (n,).
            flags: 2 * in burn-in + member, shape (n,).
            block_code: micro-block of each row, shape (n,).
        """
        cell = self._locate(scores)
        code = self._shared.take(cell)
        code += block_code * np.int32(2 * self._cells.coarse_count)
        code += flags & np.uint8(1)
        self._blocks += np.bincount(code, minlength=self._blocks.size)
        if self._fine is None:
            self._kept.append((scores, flags))
        else:
            cell <<= 2
            cell += flags
            self._fine += np.bincount(cell, minlength=self._fine.size)
        self._infinite += int(np.count_nonzero(np.isinf(scores)))

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self._blocks += other._blocks
        self._infinite += other._infinite
        self._kept.extend(other._kept)
        if self._fine is not None and other._fine is not None:
            self._fine += other._fine

    def counts(self, *, burn_in: int, discrete: bool) -> ColumnCounts:
        """Return the finished counts."""
        everyone, evaluated = self._exact_ladders() if self._fine is None else self._ladders()
        cells = self._cells
        single = np.zeros(cells.coarse_count, dtype=bool)
        single[cells.coarse[cells.single]] = True
        return ColumnCounts(
            blocks=self._blocks.reshape(MICRO_BLOCKS, cells.coarse_count, 2),
            burn_in=burn_in,
            single=single,
            everyone=everyone,
            evaluated=evaluated,
            infinite=self._infinite,
            discrete=discrete,
        )

    def _ladders(self) -> tuple[Ladder, Ladder]:
        assert self._fine is not None
        fine = self._fine.reshape(-1, 4)
        single = self._cells.single
        everyone = Ladder(
            members=fine[:, 1] + fine[:, 3], holdout=fine[:, 0] + fine[:, 2], single=single
        )
        return everyone, Ladder(members=fine[:, 1], holdout=fine[:, 0], single=single)

    def _exact_ladders(self) -> tuple[Ladder, Ladder]:
        scores = np.concatenate([part for part, _ in self._kept])
        flags = np.concatenate([part for _, part in self._kept])
        self._kept.clear()
        member, late = (flags & 1) == 1, flags < 2
        everyone = exact_ladder(scores[member], scores[~member])
        return everyone, exact_ladder(scores[member & late], scores[~member & late])


class Tally:
    """Counts of all score columns of the input as they grow."""

    __slots__ = ("_burn_in", "_seed", "columns")

    def __init__(self, cells: Sequence[Cells], *, burn_in: int, seed: int, exact: bool) -> None:
        """Start empty, one set of cells per score column."""
        self._burn_in = burn_in
        self._seed = seed
        self.columns = tuple(ColumnTally(one, exact=exact) for one in cells)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        top = rank_bytes(rows, self._seed)
        for start in range(0, top.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            flags = in_burn_in(top[part], self._burn_in).view(np.uint8) << np.uint8(1)
            flags |= rows.member[part].view(np.uint8)
            blocks = micro_blocks(top[part]).astype(np.int32)
            for tally, scores in zip(self.columns, rows.scores, strict=True):
                tally.add(scores[part], flags, blocks)

    def merge(self, other: Self) -> None:
        """Add the counts of another part; exactly associative and commutative."""
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            mine.merge(theirs)
