"""Cut points between which every count is large enough to leave a secure room."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.summaries.identity.row_rank import MICRO_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Standard deviations that a count is expected to lie above the least that is allowed, and
# that the sample, from which this is foretold, is taken to have been lucky.
_SPREADS: Final = 6
_SAMPLE_SPREADS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteCounts:
    """One site's sampled rows per cell.

    Attributes:
        edges: increasing, shape (m-1,).
        counts: int64, shape (m, 2), (holdout, member), known to within ``least``.
        rows: of the site, (holdout, member).
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    rows: tuple[int, int]

    def below(self, points: NDArray[np.float64], side: str) -> NDArray[np.int64]:
        """Return the sampled rows below each point, from the own edge next to it.

        Args:
            points: shape (k,).
            side: ``"at most"`` for the last own edge up to a point, ``"at least"`` for the
                first one from it on.
        """
        total = np.zeros((self.edges.size + 2, 2), dtype=np.int64)
        total[1:] = self.counts.cumsum(axis=0)
        if side == "at most":
            return total[np.searchsorted(self.edges, points, side="right")]
        return total[np.searchsorted(self.edges, points, side="left") + 1]

    def per_block(self, sampled: NDArray[np.int64], least: int) -> NDArray[np.float64]:
        """Return the rows to expect per micro-block, at the least, of sampled ones by class."""
        sure = np.maximum(sampled - _SAMPLE_SPREADS * np.sqrt(np.maximum(sampled, 0)) - least, 0)
        whole = np.maximum(self.counts.sum(axis=0), 1)
        return np.asarray(sure * (np.array(self.rows) / whole / MICRO_BLOCKS))


def safe_edges(sites: Sequence[SiteCounts], least: int) -> NDArray[np.float64]:
    """Return as many edges as leave every micro-block's count of a class at ``least`` or more.

    Only burn-in rows decide, so that limits from the counts stay valid; what they foretell
    can still fail, and whoever counts has to look.

    Args:
        sites: of the same score.
        least: fewest records of a count.
    """
    enough = (_SPREADS / 2 + math.sqrt(_SPREADS**2 / 4 + least)) ** 2
    points = np.unique(np.concatenate([one.edges for one in sites]))
    ends = [(one, one.below(points, "at most"), one.below(points, "at least")) for one in sites]

    def filled(start: int | None, end: int | None) -> bool:
        for one, at_most, at_least in ends:
            top = one.counts.sum(axis=0) if end is None else at_most[end]
            bottom = 0 if start is None else at_least[start]
            if (one.per_block(top - bottom, least) < enough).any():
                return False
        return True

    kept: list[int] = []
    for at in range(points.size):
        if filled(kept[-1] if kept else None, at):
            kept.append(at)
    while kept and not filled(kept[-1], None):
        kept.pop()
    return points[kept]
