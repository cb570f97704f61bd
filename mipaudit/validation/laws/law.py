"""A law: how the scores of both classes are distributed, and what is true of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.validation.laws.law_on_rungs import build_ladder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.validation.laws.law_on_rungs import Ladder, Side
    from mipaudit.validation.laws.mixture import Mixture

# Four times as many change no truth by more than 1e-8 (a test says so).
CELLS: Final = 2**15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Law:
    """A joint law of independent member and holdout scores, with its truths.

    Attributes:
        name: stable, lower case, with hyphens.
        description: one line.
        discrete: whether the scores come from a small alphabet known beforehand.
        members: law of a member's score.
        holdout: law of a holdout record's score.
    """

    name: str
    description: str
    discrete: bool
    members: Mixture
    holdout: Mixture

    @property
    def width(self) -> int:
        """Return how many numbers a score has; see `vector_law.VectorLaw`."""
        return 1

    def sample(
        self, rng: np.random.Generator, n_members: int, n_holdout: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return independent member scores and holdout scores."""
        return self.members.draw(rng, n_members), self.holdout.draw(rng, n_holdout)

    def alphabet(self) -> NDArray[np.float64] | None:
        """Return all possible scores, increasing; None unless the law is discrete."""
        if not self.discrete:
            return None
        return np.unique(np.concatenate([self.members.atoms()[0], self.holdout.atoms()[0]]))

    def advantage(self, prior: float) -> float:
        """Return the advantage of the best of all attackers at this prior, in [|2p-1|, 1]."""
        return ladder_of(self).advantage(prior)

    def advantage_thresholds(self, prior: float) -> float:
        """Return the best advantage of a threshold in either direction, or constant guess."""
        return ladder_of(self).advantage_thresholds(prior)

    def advantage_intervals(self, prior: float, k: int) -> float:
        """Return the best advantage of at most ``k`` intervals, or the complement of such."""
        return ladder_of(self).advantage_intervals(prior, k)

    def advantage_bins(self, prior: float, edges: Sequence[float]) -> float:
        """Return the best advantage when only the bin is seen.

        Args:
            prior: p in (0, 1).
            edges: increasing cut points e_i: the bins are (e_i-1, e_i], and an open one
                at each end.
        """
        cuts = np.asarray(edges, dtype=np.float64)
        members = np.diff(self.members.cdf(cuts), prepend=0.0, append=1.0)
        holdout = np.diff(self.holdout.cdf(cuts), prepend=0.0, append=1.0)
        return float(np.abs(prior * members - (1 - prior) * holdout).sum())

    def auc(self) -> float:
        """Return P(member > holdout) + P(tie)/2."""
        return ladder_of(self).auc()

    def tpr_at_fpr(self, fpr: float, side: Side = "high") -> float:
        """Return the TPR at an FPR of a threshold on this side, a coin tossed among ties."""
        return ladder_of(self).tpr_at_fpr(fpr, side)


@lru_cache(maxsize=64)
def ladder_of(law: Law, cells: int = CELLS) -> Ladder:
    """Return the law's ladder with this many cells per continuous part."""
    return build_ladder(law.members, law.holdout, cells)
