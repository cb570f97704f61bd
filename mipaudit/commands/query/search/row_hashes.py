"""Rows as 64-bit hashes, to find equal ones; what they find is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.summaries.identity.row_rank import splitmix64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.commands.query.search.points import Points


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DistinctPoints:
    """Records without their repetitions.

    Attributes:
        points: the distinct records.
        counts: how often each is there, shape (n,).
    """

    points: Points
    counts: NDArray[np.int64]


def row_hashes(points: Points) -> NDArray[np.uint64]:
    """Return a hash for each record, shape (n,): equal for equal records."""
    state = np.zeros(len(points), dtype=np.uint64)
    for column in points.numbers.T:
        state = splitmix64(state ^ np.ascontiguousarray(column).view(np.uint64), 0)
    for codes in points.codes.T:
        state = splitmix64(state ^ codes.astype(np.uint64), 0)
    return state


def distinct_places(points: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each distinct record stands first, and which of those each record is.

    The distinct ones are in an order of their own, whatever that of the records is.
    """
    hashes = row_hashes(points)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if _are_equal(points, points, first[inverse]):
        return first, inverse
    order = np.argsort(hashes, kind="stable")
    return order, np.argsort(order)


def distinct_points(points: Points) -> DistinctPoints:
    """Return the records without repetitions, in the order of `distinct_places`."""
    first, inverse = distinct_places(points)
    return DistinctPoints(points=points.take(first), counts=np.bincount(inverse))


def copies(records: Points, others: Points) -> NDArray[np.bool_]:
    """Return which records are among the others, in all columns, shape (n,)."""
    theirs, first = np.unique(row_hashes(others), return_index=True)
    ours = row_hashes(records)
    place = np.minimum(np.searchsorted(theirs, ours), theirs.size - 1)
    same = theirs[place] == ours
    rows = np.flatnonzero(same)
    same[rows] = _equal(records, rows, others, first[place[rows]])
    return np.asarray(same)


def _are_equal(left: Points, right: Points, places: NDArray[np.intp]) -> bool:
    return bool(_equal(left, np.arange(len(left)), right, places).all())


def _equal(
    left: Points, i: NDArray[np.intp], right: Points, j: NDArray[np.intp]
) -> NDArray[np.bool_]:
    same = np.ones(i.size, dtype=np.bool_)
    for ours, theirs in zip(left.numbers.T, right.numbers.T, strict=True):
        same &= ours[i] == theirs[j]
    for codes, others in zip(left.codes.T, right.codes.T, strict=True):
        same &= codes[i] == others[j]
    return same
