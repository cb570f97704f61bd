"""A law: how the scores of both classes are distributed, and what is true of it.

Every truth is computed from a ladder: the two distributions, cut into ordered rungs.
A rung is an atom, or a narrow cell of the continuous parts. An attacker's guess may
change only between rungs, except for the true positive rate at a false positive rate,
which is interpolated inside a cell. What that loses is of the order of the square of
a cell's mass, because an optimal attacker changes his guess in few cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mipaudit.validation.laws.mixture import Mixture

Side = Literal["high", "low"]
# Cumulative masses of up to 10^6 rungs are exact to about this much.
_ROUNDING: Final = 1e-11
# Four times as many change no truth by more than 1e-8 (a test says so).
CELLS: Final = 2**15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ladder:
    """Masses of both classes on rungs in increasing order of score.

    Attributes:
        members: float64[J], sums to 1.
        holdout: float64[J], sums to 1.
        atom: bool[J], True where the rung is one value and cannot be cut.
        upper: float64[J], where each rung ends; the value of an atom. May be empty.
    """

    members: NDArray[np.float64]
    holdout: NDArray[np.float64]
    atom: NDArray[np.bool_]
    upper: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    def gains(self, prior: float) -> NDArray[np.float64]:
        """Return p P_j - (1-p) Q_j per rung."""
        return prior * self.members - (1 - prior) * self.holdout

    def advantage(self, prior: float) -> float:
        """Return the advantage of the best of all attackers, in [|2p-1|, 1]."""
        return float(np.abs(self.gains(prior)).sum())

    def advantage_thresholds(self, prior: float) -> float:
        """Return the best advantage of a threshold in either direction, or constant guess."""
        above = np.concatenate([[0.0], np.cumsum(self.gains(prior))])
        best = max(float(above.max()), float(above[-1] - above.min()))
        return 1 - 2 * prior + 2 * best

    def advantage_intervals(self, prior: float, k: int) -> float:
        """Return the best advantage of at most ``k`` intervals, or the complement of such."""
        gains = self.gains(prior)
        best = max(best_union(gains, k), 2 * prior - 1 + best_union(-gains, k))
        return 1 - 2 * prior + 2 * best

    def auc(self) -> float:
        """Return P(member > holdout) + P(tie)/2."""
        below = np.cumsum(self.holdout) - self.holdout
        return float(np.dot(self.members, below + self.holdout / 2))

    def tpr_at_fpr(self, fpr: float, side: Side) -> float:
        """Return the TPR at an FPR of a threshold on this side, a coin tossed among ties."""
        order = slice(None, None, -1) if side == "high" else slice(None)
        members, holdout = self.members[order], self.holdout[order]
        false, true = np.cumsum(holdout), np.cumsum(members)
        whole = int(np.searchsorted(false, fpr + _ROUNDING, side="right"))
        tpr = float(true[whole - 1]) if whole else 0.0
        if whole == len(false):
            return min(tpr, 1.0)
        spare = max(0.0, fpr - float(false[whole] - holdout[whole]))
        return min(1.0, tpr + float(members[whole]) * spare / float(holdout[whole]))


def best_union(gains: NDArray[np.float64], k: int) -> float:
    """Return the greatest sum of ``gains`` over at most ``k`` runs of neighbours.

    Dynamic programming on prefix sums, O(k J); the empty union counts, with sum 0.
    """
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    best = np.zeros(len(sums))
    for _ in range(k):
        opened = np.maximum.accumulate(best - sums)
        best = np.maximum.accumulate(opened + sums)
    return float(best[-1])


def build_ladder(members: Mixture, holdout: Mixture, cells: int) -> Ladder:
    """Cut both classes at the quantiles of all their parts, and at every atom.

    Args:
        members: law of member scores.
        holdout: law of holdout scores.
        cells: cells per continuous part, above 1.
    """
    values, member_atoms, holdout_atoms = _common_atoms(members, holdout)
    inner = np.concatenate([members.edges(cells), holdout.edges(cells)])
    edges = np.unique(np.concatenate([inner, values, [-np.inf, np.inf]]))
    if inner.size == 0:
        edges = np.empty(0)
    # A cell ends below its upper edge, so it comes before an atom there.
    position = np.concatenate([edges[1:], values])
    atom = np.arange(len(position)) >= len(position) - len(values)
    order = np.lexsort((atom, position))
    return Ladder(
        members=np.concatenate([np.diff(members.continuous_cdf(edges)), member_atoms])[order],
        holdout=np.concatenate([np.diff(holdout.continuous_cdf(edges)), holdout_atoms])[order],
        atom=atom[order],
        upper=position[order],
    )


def _common_atoms(
    members: Mixture, holdout: Mixture
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    member_values, member_masses = members.atoms()
    holdout_values, holdout_masses = holdout.atoms()
    values, rank = np.unique(np.concatenate([member_values, holdout_values]), return_inverse=True)
    split = len(member_values)
    at_members = np.zeros(len(values))
    at_holdout = np.zeros(len(values))
    np.add.at(at_members, rank[:split], member_masses)
    np.add.at(at_holdout, rank[split:], holdout_masses)
    return values, at_members, at_holdout


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
