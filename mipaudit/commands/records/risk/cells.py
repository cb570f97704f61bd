"""Cells of records: cut on the burn-in, each with enough rows to say something.

The risk that can be estimated is that of a cell: the average over the records whose scores
fall into it. Few cells blur the exposed records with others, many leave few rows in each,
so their number grows with the cube root of the rows, the usual balance of blur and noise
in a histogram. Leaks of a few records show at the ends of the score, so the outermost
cells are halved as long as enough rows are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mipaudit.commands.records.options import MOST_CELLS
from mipaudit.summaries.cells.cells import Locator, atoms
from mipaudit.summaries.identity.row_rank import micro_blocks, rank_bytes
from mipaudit.summaries.plan import is_discrete
from mipaudit.summaries.sample import burn_in_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.summaries.plan import ScoreKind
    from mipaudit.summaries.rows import Rows
    from mipaudit.summaries.sample import BurnInSample

_CELLS_PER_CUBE_ROOT: Final = 2.0
_FEWEST: Final = 4
_END_ROWS: Final = 400
_MOST_HALVINGS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordCells:
    """Cells of one score, and which rows may count.

    Attributes:
        edges: increasing float64, shape (k-1,): pieces (e[i-1], e[i]] of the score axis.
        cell: int32, shape (k,), the cell of each piece; several pieces may share one.
        count: m, the number of cells; the last holds what the burn-in hardly saw.
        single: bool, shape (m,): cells that hold one value.
        burn_in: micro-blocks whose rows chose the cells and are in no count.
        seed: of the row assignment.
        discrete: whether every value that the burn-in has often enough is a cell.
    """

    edges: NDArray[np.float64]
    cell: NDArray[np.int32]
    count: int
    single: NDArray[np.bool_]
    burn_in: int
    seed: int
    discrete: bool

    def of(self, scores: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the cell of each score, shape (n,)."""
        return self.cell[Locator(self.edges, None)(scores)]


def cells_wanted(n_members: int, n_holdout: int) -> int:
    """Return the number of cells for class sizes above 0: twice the cube root of the less."""
    wanted = round(_CELLS_PER_CUBE_ROOT * np.cbrt(min(n_members, n_holdout)))
    return int(min(max(wanted, _FEWEST), MOST_CELLS))


def cut_cells(
    sample: BurnInSample,
    kind: ScoreKind,
    *,
    seed: int,
    discrete: bool = False,
    cells: int | None = None,
    least: int = 10,
) -> RecordCells:
    """Return the cells that the burn-in calls for.

    Args:
        sample: settled, of one score column, neither class empty.
        kind: of the column.
        seed: of the row assignment.
        discrete: take the score as discrete.
        cells: how many; None for as many as the rows bear.
        least: rows that a cell should have at least; with fewer it joins its neighbour.

    Raises:
        InputError: a score taken as discrete has too many values.
    """
    sizes = sample.members.rows, sample.holdout.rows
    burn_in = burn_in_blocks(*sizes)
    sides = (sample.members, sample.holdout)
    scores = [one.scores[one.within(burn_in), 0] for one in sides]
    values = np.concatenate(scores)
    order = np.argsort(values)
    values = values[order]
    each = is_discrete(values, kind, asked=discrete)
    # Both classes weigh the same, or the larger one alone would place the cells.
    weights = np.concatenate([np.full(one.size, 1 / max(1, one.size)) for one in scores])[order]
    levels = None if each else _levels(cells or cells_wanted(*sizes), sum(sizes))
    edges, points = _pieces(values, weights, levels)
    single = _holds_one(edges, points)
    mass = np.bincount(np.searchsorted(edges, values, side="left"), minlength=edges.size + 1)
    need = max(1.0, least * values.size / sum(sizes))
    cell, alone = _gather(mass, single, need)
    return RecordCells(
        edges=edges,
        cell=cell,
        count=int(cell.max()) + 1,
        single=alone,
        burn_in=burn_in,
        seed=seed,
        discrete=each,
    )


def _pieces(
    values: NDArray[np.float64], weights: NDArray[np.float64], levels: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the cut points, and the values that stand alone between two of them.

    Args:
        values: sorted burn-in scores.
        weights: of each.
        levels: quantile levels to cut at; None for a cell for every value.
    """
    points = atoms(values, all_values=levels is None) if values.size else values
    fences = np.concatenate([np.nextafter(points, -np.inf), points])
    if levels is not None and values.size:
        reached = np.cumsum(weights)
        at = np.searchsorted(reached, levels * reached[-1])
        fences = np.concatenate([fences, values[np.minimum(at, values.size - 1)]])
    return np.unique(fences[fences < np.inf]), points


def _levels(cells: int, rows: int) -> NDArray[np.float64]:
    """Return quantile levels of equal mass, the outermost cells halved while rows last."""
    even = np.arange(1, cells) / cells
    halved = 0.5 ** np.arange(1, _MOST_HALVINGS + 1) / cells
    halved = halved[halved * rows >= _END_ROWS]
    return np.sort(np.concatenate([even, halved, 1 - halved]))


def _holds_one(edges: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which pieces hold exactly one float."""
    upper = np.concatenate([edges, [np.inf]])
    below = np.concatenate([[-np.inf], edges])
    single = np.isin(upper, points) & (below == np.nextafter(upper, -np.inf))
    if edges.size and edges[0] == -np.inf:
        single[0] = True  # the value minus infinity
    return np.asarray(single)


def _gather(
    mass: NDArray[np.int64], single: NDArray[np.bool_], need: float
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the cell of each piece, and which cells hold one value.

    Values with enough rows stay alone; between two of them, pieces are joined from the
    left until they have enough. What is left over joins the cell before it, or, where there
    is none, a last cell for all that the burn-in hardly saw.
    """
    cell = np.full(mass.size, -1, dtype=np.int32)
    alone: list[bool] = []
    run: list[int] = []
    rows, before = 0, -1  # of the open run; the last cell of joined pieces since a lone value
    for at, (count, one) in enumerate(zip(mass.tolist(), single.tolist(), strict=True)):
        if one and count >= need:
            cell[run], cell[at] = before, len(alone)
            run, rows, before = [], 0, -1
            alone.append(True)
            continue
        run.append(at)
        rows += count
        if rows >= need:
            before = len(alone)
            cell[run] = before
            alone.append(False)
            run, rows = [], 0
    cell[run] = before
    if (cell < 0).any():
        cell[cell < 0] = len(alone)
        alone.append(False)
    return cell, np.array(alone, dtype=np.bool_)


class RecordTally:
    """Rows by cell, class, and whether they were in the burn-in; mergeable.

    Attributes:
        counts: int64, shape (m, 2, 2): cell, in burn-in, (holdout, member).
    """

    __slots__ = ("_cells", "counts")

    def __init__(self, cells: RecordCells) -> None:
        """Start empty."""
        self._cells = cells
        self.counts = np.zeros((cells.count, 2, 2), dtype=np.int64)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        early = micro_blocks(rank_bytes(rows, self._cells.seed)) < self._cells.burn_in
        code = self._cells.of(rows.scores[0]) << 2
        code += (early.view(np.uint8) << np.uint8(1)) + rows.member.view(np.uint8)
        self.counts += np.bincount(code, minlength=self.counts.size).reshape(self.counts.shape)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.counts += other.counts
