"""One row for each person and class, where a person has several."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.summaries.identity.row_rank import splitmix64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.summaries.rows import Rows

# Apart from the stream that says in which block a person is.
_STREAM: Final = 1
_HALF: Final = np.uint64(32)


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
    return _among(rows, chosen)


def _among(rows: Rows, chosen: NDArray[np.intp]) -> Rows:
    """Return some rows as a batch of their own."""
    assert rows.keys is not None  # noqa: S101 - the caller looked
    return replace(
        rows,
        source_rows=int(chosen.size),
        keys=rows.keys[chosen],
        member=rows.member[chosen],
        scores=tuple(score[chosen] for score in rows.scores),
        groups=None if rows.groups is None else rows.groups[chosen],
        names=None if rows.names is None else rows.names[chosen],
    )
