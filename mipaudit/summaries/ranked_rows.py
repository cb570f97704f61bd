"""Rows in memory in order of their score, assigned to micro-blocks more than once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

# An alphabet of more values than these is cut into cells like any other score.
_MOST_VALUES: Final = 1 << 13


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedRows:
    """Rows in order of their score, and where each of several draws puts them.

    Attributes:
        rank: of each row's score among the distinct ones, increasing, shape (n,).
        member: shape (n,).
        micro_blocks: uint8, shape (draws, n), in [0, 64).
        discrete: the distinct scores are an alphabet, and each has a cell.
    """

    rank: NDArray[np.int64]
    member: NDArray[np.bool_]
    micro_blocks: NDArray[np.uint8]
    discrete: bool


def ranked(
    scores: NDArray[np.float64],
    labels: NDArray[np.uint8],
    further: NDArray[np.uint8],
    *,
    discrete: bool,
) -> RankedRows:
    """Return rows in order of their score.

    Args:
        scores: increasing, shape (n,).
        labels: 2 * micro-block of the first draw + member.
        further: micro-blocks of the other draws, shape (n, draws - 1).
        discrete: the scores were planned as an alphabet.
    """
    rank = np.zeros(scores.size, dtype=np.int64)
    np.cumsum(scores[1:] != scores[:-1], out=rank[1:])
    return RankedRows(
        rank=rank,
        member=(labels & np.uint8(1)).astype(bool),
        micro_blocks=np.vstack([labels >> np.uint8(1), further.T]),
        discrete=discrete and int(rank[-1]) < _MOST_VALUES,
    )
