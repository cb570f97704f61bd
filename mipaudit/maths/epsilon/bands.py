"""Simultaneous limits of the whole ROC, and of epsilon at every delta.

Equal local levels: each order statistic of each class is bounded by the same quantiles
of its beta law (Berk and Jones 1979; Aldor-Noiman and others 2013), at two-ended
log-spaced ranks, with the step between two ranks taken on the safe side. The local level
is found by simulating the order statistics at these ranks as sums of gamma variables,
from a fixed seed; it is lowered by what the simulation may be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.maths.arrays import Bools, Floats, Ints
from mipaudit.maths.privacy.tradeoff import refuted_epsilon

_RANKS: Final = 48
_EVEN_RANKS: Final = 64
_DRAWS: Final = 10_000
_BATCH: Final = 2_000
_SEED: Final = 20_250_131
# Share of alpha for the event that the simulation overstated the local level.
_SIMULATION_SHARE: Final = 0.02
# Limits of TPR and FPR, and the counts behind them.
BandPart = tuple["Floats", "Floats", "Ints", "Ints"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RocBand:
    """Points that the attacker's ROC is jointly above, for both directions.

    Attributes:
        tpr: float64, shape (m,), lower limits of the true-positive rate.
        fpr: float64, shape (m,), upper limits of the false-positive rate.
        tp: int64, shape (m,), members that the point's attack guesses to be members.
        fp: int64, shape (m,), holdout records that it guesses to be members.
        members_high: bool, shape (m,): it guesses *member* above a threshold, or below.
    """

    tpr: Floats
    fpr: Floats
    tp: Ints
    fp: Ints
    members_high: Bools

    def epsilon(self, delta: float) -> float:
        """Return the lower limit of epsilon at delta; jointly valid for every delta."""
        return float(self.refuted(delta).max(initial=0.0))

    def refuted(self, delta: float) -> Floats:
        """Return the epsilon that each point refutes at delta, at least 0."""
        points = zip(self.tpr.tolist(), self.fpr.tolist(), strict=True)
        return np.array([refuted_epsilon(t, f, delta) for t, f in points])


def two_ended_ranks(size: int) -> Ints:
    """Return ranks in 1 .. ``size``, dense at both ends: chosen by the size alone."""
    half = np.geomspace(1, (size + 1) // 2, _RANKS).round().astype(np.int64)
    even = np.linspace(1, size, _EVEN_RANKS).round().astype(np.int64)
    return np.unique(np.concatenate([half, size + 1 - half, even]))


@lru_cache(maxsize=64)
def local_level(size: int, alpha: float) -> float:
    """Return a two-sided local level whose simultaneous error is at most ``alpha``.

    Args:
        size: independent observations, above 0.
        alpha: simultaneous error in (0, 1).

    Returns:
        Level in (0, alpha / 2] of each one-sided limit.
    """
    from scipy.special import bdtr

    ranks = two_ended_ranks(size)
    error, doubt = alpha * (1 - _SIMULATION_SHARE), alpha * _SIMULATION_SHARE
    # The k-th least simulated level errs by more only if fewer than k draws were below.
    places = np.arange(1, int(_DRAWS * error) + 1)
    allowed = int(np.count_nonzero(bdtr(places - 1.0, _DRAWS, error) <= doubt))
    if allowed == 0:
        return alpha / (2 * ranks.size)
    batches = range(_DRAWS // _BATCH)
    least = np.concatenate([_least_levels(ranks, size, batch) for batch in batches])
    return min(alpha / 2, float(np.partition(least, allowed - 1)[allowed - 1]))


def roc_band(
    members: NDArray[np.floating], holdout: NDArray[np.floating], *, alpha: float
) -> RocBand:
    """Return the lower band of the ROC in both directions, jointly at error ``alpha``.

    Args:
        members: scores, shape (n1,), no NaN; ties and infinities are allowed.
        holdout: scores, shape (n0,).
        alpha: joint error in (0, 1), half for each class.
    """
    ordered = np.sort(members), np.sort(holdout)
    both = True, False
    parts = [_one_direction(*ordered, alpha=alpha, high=high) for high in both]
    tpr, fpr, tp, fp = (np.concatenate(column) for column in zip(*parts, strict=True))
    members_high = np.repeat(both, [part[0].size for part in parts])
    return RocBand(tpr=tpr, fpr=fpr, tp=tp, fp=fp, members_high=members_high)


def _one_direction(
    members: NDArray[np.floating], holdout: NDArray[np.floating], *, alpha: float, high: bool
) -> BandPart:
    from scipy.special import betaincinv

    ranks = two_ended_ranks(members.size)
    thresholds = members[members.size - ranks if high else ranks - 1]
    found = counts_beyond(holdout, thresholds, high=high)
    level = local_level(members.size, alpha / 2)
    tpr = betaincinv(ranks, members.size - ranks + 1, level)
    # The rate beyond the threshold is at most that beyond a lesser order statistic.
    bounds = two_ended_ranks(holdout.size)
    index = np.searchsorted(bounds, found + 1)
    inside = np.append(bounds, holdout.size)[index]
    level = local_level(holdout.size, alpha / 2)
    upper = 1 - betaincinv(holdout.size - inside + 1, inside, level)
    fpr = np.where(index < bounds.size, upper, 1.0)
    return tpr, fpr, ranks, found


def counts_beyond(
    ordered: NDArray[np.floating], thresholds: NDArray[np.floating], *, high: bool
) -> Ints:
    """Return how many scores are at or above (``high``), or at or below, each threshold.

    Args:
        ordered: scores in rising order, shape (n,).
        thresholds: shape (m,), in any order.
        high: the side that is counted.
    """
    if high:
        return np.asarray(ordered.size - np.searchsorted(ordered, thresholds, side="left"))
    return np.asarray(np.searchsorted(ordered, thresholds, side="right"))


def _least_levels(ranks: Ints, size: int, batch: int) -> Floats:
    """Draw order statistics at ``ranks``; return each draw's least two-sided level."""
    from scipy.special import betainc

    rng = np.random.default_rng([_SEED, size, batch])
    steps = np.diff(ranks, prepend=0, append=size + 1)
    sums = rng.standard_gamma(steps, size=(_BATCH, steps.size)).cumsum(axis=1)
    below = betainc(ranks, size - ranks + 1, sums[:, :-1] / sums[:, -1:])
    return np.asarray(np.minimum(below, 1 - below).min(axis=1), dtype=np.float64)
