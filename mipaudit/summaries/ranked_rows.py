"""Rows in memory in order of their score, assigned to micro-blocks more than once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.identity.row_rank import micro_blocks, micro_labels, rank_bytes

if TYPE_CHECKING:
    from mipaudit.summaries.plan import Plan
    from mipaudit.summaries.rows import Rows

# An alphabet of more values than these is cut into cells like any other score.
_MOST_VALUES: Final = 1 << 13
# Added to the seed for each further draw.
_NEXT_DRAW: Final = 0x5EC0_5EC0_5EC0_5EC1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedRows:
    """Rows in order of their score, and where each of several draws puts them.

    Attributes:
        rank: of each row's score among the distinct ones, increasing, shape (n,).
        member: shape (n,).
        micro_blocks: uint8, shape (draws, n), in [0, 64).
        discrete: the distinct scores are an alphabet, and each has a cell.
        order: where each row stands among all, shape (n,); None where nobody asks.
    """

    rank: NDArray[np.int64]
    member: NDArray[np.bool_]
    micro_blocks: NDArray[np.uint8]
    discrete: bool
    order: NDArray[np.intp] | None = None


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


def further_blocks(rows: Rows, plan: Plan) -> NDArray[np.uint8]:
    """Return the micro-blocks of all draws but the first, shape (n, draws - 1)."""
    further = np.empty((rows.member.size, plan.draws - 1), dtype=np.uint8)
    for draw in range(further.shape[1]):
        further[:, draw] = micro_blocks(rank_bytes(rows, plan.seed + (draw + 1) * _NEXT_DRAW))
    return further


def rows_by_score(rows: Rows, plan: Plan) -> list[RankedRows]:
    """Return all rows of an input, which are one batch, in order of each of their scores."""
    labels = micro_labels(rank_bytes(rows, plan.seed))
    labels |= rows.member.view(np.uint8)
    further = further_blocks(rows, plan)
    found = []
    for scores, column in zip(rows.scores, plan.columns, strict=True):
        order = np.argsort(scores, kind="stable")
        own = ranked(scores[order], labels[order], further[order], discrete=column.discrete)
        found.append(replace(own, order=order))
    return found
