"""The burn-in of a vector score: one part fits learned scores, the rest chooses among them.

The rows that fit are in no table, not even a training one: a score that was fitted on
them looks better there than it is, and attackers trained on that would be misled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS

if TYPE_CHECKING:
    from mipaudit.summaries.sample import BurnInSample

_SHARE_AT: Final = 20.0
_SMALLEST: Final = 0.1
_LARGEST: Final = 0.3
_FITTED: Final = 2 / 3
_BLOCK_BITS: Final = 58  # a micro-block is the top 6 bits of a row's rank


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BurnInRows:
    """Rows of both classes in the order of their ranks, which tells nothing.

    Attributes:
        values: coordinates, shape (n, d).
        member: shape (n,).
    """

    values: NDArray[np.float64]
    member: NDArray[np.bool_]

    def columns(self, coordinates: tuple[int, ...]) -> list[NDArray[np.float64]]:
        """Return some coordinates, each contiguous, of shape (n,)."""
        return [np.ascontiguousarray(self.values[:, at]) for at in coordinates]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorBurnIn:
    """The two parts of the burn-in.

    Attributes:
        fitting: rows that learned scores are fitted on.
        choosing: rows that choose among them and cut their cells.
        fit_blocks: leading micro-blocks that hold fitting rows; they are in no table.
        blocks: all micro-blocks of the burn-in, more than ``fit_blocks``.
    """

    fitting: BurnInRows
    choosing: BurnInRows
    fit_blocks: int
    blocks: int


def vector_burn_in_blocks(n_members: int, n_holdout: int) -> int:
    """Return how many of the 64 micro-blocks fit or choose before any row counts.

    A share of 20/sqrt(min N), within [0.1, 0.3]: a learned score needs more rows than
    cut points do.
    """
    smaller = max(1, min(n_members, n_holdout))
    share = min(max(_SHARE_AT / math.sqrt(smaller), _SMALLEST), _LARGEST)
    return math.ceil(MICRO_BLOCKS * share)


def split_burn_in(sample: BurnInSample) -> VectorBurnIn:
    """Return the parts of the burn-in of a settled sample.

    Two thirds of the micro-blocks fit; of a large input, of which the sample has only the
    rows of smallest rank, two thirds of those ranks.
    """
    blocks = vector_burn_in_blocks(sample.members.rows, sample.holdout.rows)
    seen = min(blocks << _BLOCK_BITS, int(sample.members.limit) + 1, int(sample.holdout.limit) + 1)
    whole = round(blocks * _FITTED) << _BLOCK_BITS
    border = whole if seen == blocks << _BLOCK_BITS else int(seen * _FITTED)
    return VectorBurnIn(
        fitting=_between(sample, 0, border),
        choosing=_between(sample, border, seen),
        fit_blocks=-(-border >> _BLOCK_BITS),
        blocks=blocks,
    )


def _between(sample: BurnInSample, low: int, high: int) -> BurnInRows:
    """Return the rows whose ranks are in [low, high), in order of rank."""
    sides = (sample.members, sample.holdout)
    inside = [
        (side.ranks >= np.uint64(low)) & (side.ranks <= np.uint64(high - 1)) for side in sides
    ]
    ranks = np.concatenate([side.ranks[one] for side, one in zip(sides, inside, strict=True)])
    values = np.concatenate([side.scores[one] for side, one in zip(sides, inside, strict=True)])
    member = np.arange(ranks.size) < int(inside[0].sum())
    order = np.argsort(ranks, kind="stable")
    return BurnInRows(values=values[order], member=member[order])
