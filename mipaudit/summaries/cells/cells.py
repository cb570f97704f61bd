"""Cells of the score axis, cut on the burn-in, and the map from scores to cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.summaries.cells.buckets import Buckets, choose_buckets

if TYPE_CHECKING:
    from numpy.typing import NDArray

ATOM_SHARE: Final = 0.005
ATOM_COUNT: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Consecutive half-open cells (e[i-1], e[i]] of the score axis.

    Attributes:
        edges: strictly increasing float64, shape (m-1,); the last cell is open above.
        single: bool, shape (m,), True where the cell holds one float value (an atom).
        coarse: intp, shape (m,), the cell of a coarser division that holds it, used
            for the lower limit's tables; increasing from 0.
        buckets: the grid that the cut points were moved to, or None.
    """

    edges: NDArray[np.float64]
    single: NDArray[np.bool_]
    coarse: NDArray[np.intp]
    buckets: Buckets | None

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return int(self.single.size)

    @property
    def coarse_count(self) -> int:
        """Return the number of coarse cells."""
        return int(self.coarse[-1]) + 1


def atoms(values: NDArray[np.float64], *, all_values: bool) -> NDArray[np.float64]:
    """Return the values that get a cell of their own.

    Args:
        values: sorted burn-in scores, both classes, shape (n,).
        all_values: every distinct value is one (a discrete score); otherwise those
            repeated at least max(3, 0.5%) times.
    """
    distinct, counts = distinct_values(values)
    if all_values:
        return distinct
    return distinct[counts >= max(ATOM_COUNT, ATOM_SHARE * values.size)]


def distinct_values(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the distinct values of a sorted sample, and how often each occurs."""
    (starts,) = _new(values).nonzero()
    ends = np.append(starts[1:], values.size)
    return values[starts], ends - starts


def quantile_edges(
    values: NDArray[np.float64], weights: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """Return at most ``count - 1`` values that cut the sample into cells of equal mass.

    Values, not points between them: the cells are then the same for every strictly
    increasing map of the score.

    Args:
        values: sorted, shape (n,).
        weights: mass of each value, shape (n,), total 1.
        count: cells wanted, at least 1.
    """
    if not values.size:
        return values
    targets = np.arange(1, count) / count
    at = np.searchsorted(np.cumsum(weights), targets, side="left")
    cut = values[np.minimum(at, values.size - 1)]
    # Cells are closed above, so a value that many rows share may end one.
    cut = cut[_new(cut)]
    return np.asarray(cut[cut < values[-1]])


def build_cells(
    members: NDArray[np.float64],
    holdout: NDArray[np.float64],
    *,
    prior: float,
    coarse: int,
    fine: int,
    discrete: bool,
    grid: bool,
) -> Cells:
    """Return cells of equal prior-weighted mass in the burn-in, atoms apart.

    Args:
        members: burn-in scores, shape (b1,).
        holdout: burn-in scores, shape (b2,).
        prior: p in (0, 1), the weight of the members' law.
        coarse: cells wanted for the lower limit's tables.
        fine: cells wanted for threshold statistics, or 0 for none but the coarse ones;
            they halve the weight between the classes, whatever the prior.
        discrete: every distinct burn-in value is an atom.
        grid: move cut points, but no atom's fences, to a grid of equal-width buckets
            where one resolves them: many rows are then located without a search.
    """
    values = np.concatenate([members, holdout])
    order = _stable_order(values)
    values = values[order]
    points = atoms(values, all_values=discrete)
    buckets = None
    if discrete:
        coarse_edges = fine_edges = values[:0]
    else:
        weights = _weights(members.size, holdout.size, prior)[order]
        coarse_edges = quantile_edges(values, weights, coarse)
        fine_edges = coarse_edges
        if fine:
            even = _weights(members.size, holdout.size, 0.5)[order]
            fine_edges = quantile_edges(values, even, fine)
        buckets = choose_buckets(values, fine_edges) if grid else None
    return divide(points, coarse_edges, fine_edges, buckets=buckets)


def divide(
    points: NDArray[np.float64],
    coarse: NDArray[np.float64],
    fine: NDArray[np.float64],
    *,
    buckets: Buckets | None,
) -> Cells:
    """Return the cells that atoms and cut points make.

    Args:
        points: the atoms, increasing, shape (a,).
        coarse: cut points of the coarse cells, increasing.
        fine: cut points of the fine cells, increasing.
        buckets: the grid that cut points, but no atom's fences, are moved to, or None.
    """
    if buckets is not None:
        coarse, fine = buckets.snap(coarse), buckets.snap(fine)
    fence = fences(points)
    if fence.size:
        coarse = np.union1d(coarse, fence)
    edges = np.union1d(fine, coarse)
    return Cells(
        edges=edges,
        single=_single(edges, points),
        coarse=_coarse_of(edges, coarse),
        buckets=buckets,
    )


def fences(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the edges that shut atoms off from their neighbours, increasing."""
    fence = np.unique(np.concatenate([_float_below(points), points]))
    return fence[fence < np.inf]


def _new(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Tell which of some sorted values differ from the one before."""
    new = np.ones(values.size, dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def _stable_order(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the stable sorting permutation; without ties there is only one."""
    order = np.argsort(values)
    if not _new(values[order]).all():
        order = np.argsort(values, kind="stable")
    return order


def _coarse_of(fine: NDArray[np.float64], coarse: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the coarse cell of each fine one; the coarse edges are among the fine."""
    if fine.size == coarse.size:
        return np.arange(fine.size + 1)
    return np.concatenate([[0], np.cumsum(np.isin(fine, coarse))])


def _float_below(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the next smaller float of each value."""
    with np.errstate(over="ignore"):
        return np.nextafter(values, -np.inf)


def _weights(n_members: int, n_holdout: int, prior: float) -> NDArray[np.float64]:
    """Return the mass of each of the members, then of each holdout record."""
    return np.concatenate(
        [
            np.full(n_members, prior / max(n_members, 1)),
            np.full(n_holdout, (1 - prior) / max(n_holdout, 1)),
        ]
    )


def _single(edges: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which cells hold exactly one float: an atom between its two fences."""
    single = np.zeros(edges.size + 1, dtype=bool)
    if points.size:
        upper = np.concatenate([edges, [np.inf]])
        below = np.concatenate([[-np.inf], edges])
        single = np.isin(upper, points) & (below == _float_below(upper))
    if edges.size and edges[0] == -np.inf:
        single[0] = True
    return np.asarray(single)
