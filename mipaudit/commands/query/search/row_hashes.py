"""Rows by their hashes: equal ones, which is checked, and an order that follows from them alone.

Who writes the tables would otherwise choose, at a seed that he knows, which rows are drawn,
and so the scores, by the order of the rows. Members and holdout have no part in it: what a
query says of a record must not depend on whom it is asked of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.commands.query.search.points import Points
from mipaudit.summaries.identity.content import ContentColumn, canonical_order
from mipaudit.summaries.identity.row_rank import splitmix64

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mipaudit.summaries.identity.seed import SeedChoice


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleasedRows:
    """Synthetic and reference rows in their own order.

    Attributes:
        synthetic: what was released.
        reference: records of neither; none where there is no such table.
        seed: in use, 64 bits.
    """

    synthetic: Points
    reference: Points
    seed: int


def released_rows(synthetic: Points, reference: Points | None, choice: SeedChoice) -> ReleasedRows:
    """Return the rows in the order of their hashes, and the seed that they decide.

    Args:
        synthetic: what was released.
        reference: records of neither, or None.
        choice: of the seed.
    """
    other = synthetic.take(slice(0)) if reference is None else reference
    both = Points(
        numbers=np.concatenate([synthetic.numbers, other.numbers]),
        codes=np.concatenate([synthetic.codes, other.codes]),
    )
    released = np.arange(len(both)) < len(synthetic)
    words = [
        *(np.ascontiguousarray(column).view(np.uint64) for column in both.numbers.T),
        *(column.astype(np.uint64) for column in both.codes.T),
    ]
    columns = [
        # Columns are taken in the order of their names, which is that of the table.
        ContentColumn(name=f"{at:09}", values=column, labels=True)
        for at, column in enumerate(words)
    ]
    found = canonical_order(columns, released, row_hashes(both))
    inside = released[found.order]
    return ReleasedRows(
        synthetic=both.take(found.order[inside]),
        reference=both.take(found.order[~inside]),
        seed=choice.in_use(found.content),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SameRecords:
    """Which records are in which other table.

    Attributes:
        copied: whether each record is in the synthetic table, members first, shape (n,).
        shared: how many members are among the holdout records.
        referenced: how many members, and how many holdout records, are in the reference
            table; zeros without one.
    """

    copied: NDArray[np.bool_]
    shared: int
    referenced: tuple[int, int]


def same_records(tables: Mapping[str, Points]) -> SameRecords:
    """Return which records are in which other table.

    Args:
        tables: ``members``, ``holdout``, ``synthetic`` and perhaps ``reference``, their
            records not scaled.
    """
    members, holdout = tables["members"], tables["holdout"]
    reference = tables.get("reference")
    return SameRecords(
        copied=np.concatenate([copies(one, tables["synthetic"]) for one in (members, holdout)]),
        shared=int(copies(members, holdout).sum()),
        referenced=(0, 0)
        if reference is None
        else (int(copies(members, reference).sum()), int(copies(holdout, reference).sum())),
    )
