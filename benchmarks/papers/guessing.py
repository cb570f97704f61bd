"""How well named adversaries guess, on scores where high means 'member'."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limits import Array


def threshold_advantage(members: Array, holdout: Array, threshold: float) -> float:
    """Return TPR - FPR of 'member where the score is at least the threshold'."""
    return float((members >= threshold).mean() - (holdout >= threshold).mean())


def accuracy_advantage(tpr: float, fpr: float, prior: float) -> float:
    """Return twice the accuracy at this prior, less 1."""
    return 1 - 2 * prior * (1 - tpr) - 2 * (1 - prior) * fpr


def top_rates(members: Array, holdout: Array, prior: float) -> tuple[float, float]:
    """Return TPR and FPR of Hayes et al.: the top share of all scores, p of them, are members."""
    scores = np.concatenate([members, holdout])
    cut = np.sort(scores)[-max(1, round(prior * len(scores)))]
    return float((members >= cut).mean()), float((holdout >= cut).mean())


def histogram_advantage(members: Array, holdout: Array, prior: float = 0.5) -> float:
    """Return W_N of MACE: sum over equal-width bins, 100 on each axis, of |p P - (1-p) Q|.

    The scores are of shape (n,) or (n, d).
    """
    both = np.concatenate([members, holdout])
    rows = both.reshape(len(both), -1)
    low, high = rows.min(axis=0), rows.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    places = np.minimum((100 * (rows - low) / width).astype(np.int64), 99)
    _, cells = np.unique(places @ (100 ** np.arange(rows.shape[1])), return_inverse=True)
    shares = prior / len(members), (prior - 1) / len(holdout)
    weights = np.repeat(shares, (len(members), len(holdout)))
    return float(np.abs(np.bincount(cells, weights=weights)).sum())


def shuffled_advantage(members: Array, holdout: Array, rng: np.random.Generator) -> float:
    """Return the mean W_N of ten shuffles of the memberships: nothing is then to be learnt."""
    both = np.concatenate([members, holdout])
    mixed = [both[rng.permutation(len(both))] for _ in range(10)]
    size = len(members)
    return float(np.mean([histogram_advantage(one[:size], one[size:]) for one in mixed]))


def mean_of(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of at least one number, and its standard error (0 for one)."""
    found = np.asarray(values, dtype=np.float64)
    error = float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else 0.0
    return float(found.mean()), error
