"""Draws counted on a ladder's rungs, and attackers judged by such counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mipaudit.validation.laws.law import Ladder, Side
    from mipaudit.validation.scenarios.scenario import Attack


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """True and false positives of an attacker."""

    tpr: float
    fpr: float


@dataclass(slots=True, kw_only=True, eq=False)
class RungCounts:
    """How many draws fell on each rung, and whom named attacks called members.

    Attributes:
        ladder: of the law.
        members: int64[J].
        holdout: int64[J].
    """

    ladder: Ladder
    members: NDArray[np.int64]
    holdout: NDArray[np.int64]
    _attacks: tuple[Attack, ...] = ()
    _caught: list[list[int]] = field(default_factory=list)

    @classmethod
    def empty(cls, ladder: Ladder, attacks: tuple[Attack, ...] = ()) -> Self:
        """Return counts of nothing."""
        rungs = len(ladder.members)
        return cls(
            ladder=ladder,
            members=np.zeros(rungs, dtype=np.int64),
            holdout=np.zeros(rungs, dtype=np.int64),
            _attacks=attacks,
            _caught=[[0, 0] for _ in attacks],
        )

    @property
    def n_members(self) -> int:
        """Members counted."""
        return int(self.members.sum())

    @property
    def n_holdout(self) -> int:
        """Holdout records counted."""
        return int(self.holdout.sum())

    def add(self, members: NDArray[np.float64], holdout: NDArray[np.float64]) -> None:
        """Count scores of members and of holdout records."""
        self.members += _on_rungs(self.ladder, members)
        self.holdout += _on_rungs(self.ladder, holdout)
        for attack, caught in zip(self._attacks, self._caught, strict=True):
            caught[0] += int(attack.guesses(members).sum())
            caught[1] += int(attack.guesses(holdout).sum())

    def rates(self, guess: NDArray[np.bool_]) -> Rates:
        """Return the rates of who guesses "member" on these rungs."""
        return Rates(
            tpr=int(self.members[guess].sum()) / self.n_members,
            fpr=int(self.holdout[guess].sum()) / self.n_holdout,
        )

    def attacks(self) -> list[tuple[Attack, Rates]]:
        """Return the named attacks with their rates."""
        return [
            (attack, Rates(tpr=caught[0] / self.n_members, fpr=caught[1] / self.n_holdout))
            for attack, caught in zip(self._attacks, self._caught, strict=True)
        ]

    def auc(self) -> tuple[float, float]:
        """Return the AUC of the draws, and its standard error by the laws."""
        below = np.cumsum(self.holdout) - self.holdout / 2
        found = float(np.dot(self.members, below)) / self.n_members / self.n_holdout
        p, q = self.ladder.members, self.ladder.holdout
        of_members, of_holdout = np.cumsum(q) - q / 2, 1 - np.cumsum(p) + p / 2
        variance = _variance(of_members, p) / self.n_members
        variance += _variance(of_holdout, q) / self.n_holdout
        return found, math.sqrt(variance)

    def at_fpr(self, fpr: float, side: Side) -> Rates:
        """Return the rates of the threshold that has this FPR by the law."""
        order = slice(None, None, -1) if side == "high" else slice(None)
        law = np.cumsum(self.ladder.holdout[order])
        whole = int(np.searchsorted(law, fpr + 1e-11, side="right"))
        weight = np.zeros(len(law))
        weight[:whole] = 1.0
        if whole < len(law):
            before = float(law[whole - 1]) if whole else 0.0
            weight[whole] = max(0.0, fpr - before) / float(law[whole] - before)
        return Rates(
            tpr=float(np.dot(weight, self.members[order])) / self.n_members,
            fpr=float(np.dot(weight, self.holdout[order])) / self.n_holdout,
        )

    def distances(self) -> tuple[float, float]:
        """Return both classes' distances from the law, as normal deviates of equal p-value."""
        return (
            _deviate(self.members, self.ladder.members),
            _deviate(self.holdout, self.ladder.holdout),
        )


def best_guess(ladder: Ladder, prior: float, attackers: str) -> NDArray[np.bool_]:
    """Return where the best attacker of a class guesses "member".

    Args:
        ladder: of the law.
        prior: p in (0, 1).
        attackers: ``any``, ``thresholds`` or ``intervals-K``.
    """
    gains = ladder.gains(prior)
    if attackers == "any":
        return gains > 0
    if attackers == "thresholds":
        return _best_threshold(gains)
    k = int(attackers.removeprefix("intervals-"))
    inside, outside = best_runs(gains, k), best_runs(-gains, k)
    gain_inside, gain_outside = gains[inside].sum(), gains[~outside].sum()
    return inside if gain_inside >= gain_outside else ~outside


def oracle_rates(ladder: Ladder, guess: NDArray[np.bool_]) -> Rates:
    """Return the true rates of who guesses "member" on these rungs."""
    return Rates(tpr=float(ladder.members[guess].sum()), fpr=float(ladder.holdout[guess].sum()))


def best_runs(gains: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """Return at most ``k`` runs of neighbours that have the greatest sum together."""
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    levels = [np.zeros(len(sums))]
    for _ in range(k):
        opened = np.maximum.accumulate(levels[-1] - sums)
        levels.append(np.maximum.accumulate(opened + sums))
    chosen = np.zeros(len(gains), dtype=bool)
    end = len(gains)
    for level in range(k, 0, -1):
        opened = np.maximum.accumulate(levels[level - 1] - sums)
        end = int((opened + sums)[: end + 1].argmax())
        start = int((levels[level - 1] - sums)[: end + 1].argmax())
        chosen[start:end] = True
        end = start
    return chosen


def _best_threshold(gains: NDArray[np.float64]) -> NDArray[np.bool_]:
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    rungs = np.arange(len(gains))
    if sums.max() >= sums[-1] - sums.min():
        return rungs < int(sums.argmax())
    return rungs >= int(sums.argmin())


def _on_rungs(ladder: Ladder, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count scores on rungs."""
    ordered = np.sort(scores)
    below = np.where(
        ladder.atom,
        np.searchsorted(ordered, ladder.upper, side="right"),
        np.searchsorted(ordered, ladder.upper, side="left"),
    )
    if below.size == 0 or below[-1] != len(scores):
        raise ValueError("scores beyond the law's support")
    return np.diff(below, prepend=0)


def _variance(values: NDArray[np.float64], masses: NDArray[np.float64]) -> float:
    mean = float(np.dot(values, masses))
    return max(0.0, float(np.dot((values - mean) ** 2, masses)))


def _deviate(counts: NDArray[np.int64], masses: NDArray[np.float64]) -> float:
    """Return the normal deviate with the p-value of the Kolmogorov-Smirnov test."""
    from scipy.special import kolmogorov, ndtri

    total = int(counts.sum())
    distance = float(np.abs(np.cumsum(counts) / total - np.cumsum(masses)).max())
    p_value = float(kolmogorov(math.sqrt(total) * distance))
    return float(-ndtri(max(p_value, 1e-300) / 2))
