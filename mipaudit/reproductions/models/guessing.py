"""How well named adversaries guess, on scores where high means 'member'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.reproductions.report import Curve

if TYPE_CHECKING:
    from mipaudit.reproductions.reproduction import Array

_BINS: Final = 100


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


def histogram_advantage(
    members: Array, holdout: Array, prior: float = 0.5, bins: int = _BINS
) -> float:
    """Return W_N of MACE: sum over equal-width bins, 100 on each axis, of |p P - (1-p) Q|.

    Args:
        members: (n,) or (n, d).
        holdout: likewise.
        prior: p in (0, 1).
        bins: on each axis.
    """
    both = np.concatenate([members, holdout])
    rows = both.reshape(len(both), -1)
    low, high = rows.min(axis=0), rows.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    places = np.minimum((bins * (rows - low) / width).astype(np.int64), bins - 1)
    cells = places @ (bins ** np.arange(rows.shape[1]))
    _, cells = np.unique(cells, return_inverse=True)
    weight = np.concatenate(
        [
            np.full(len(members), prior / len(members)),
            np.full(len(holdout), (prior - 1) / len(holdout)),
        ]
    )
    return float(np.abs(np.bincount(cells, weights=weight)).sum())


def shuffled_advantage(
    members: Array, holdout: Array, rng: np.random.Generator, times: int, prior: float = 0.5
) -> float:
    """Return the mean W_N after the memberships are shuffled: nothing is then to be learnt."""
    both = np.concatenate([members, holdout])
    found = []
    for _ in range(times):
        mixed = both[rng.permutation(len(both))]
        found.append(histogram_advantage(mixed[: len(members)], mixed[len(members) :], prior))
    return float(np.mean(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over runs, with its standard error."""

    value: float
    error: float


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean of at least one number, and its standard error (0 for one)."""
    found = np.asarray(values, dtype=np.float64)
    error = float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else 0.0
    return Mean(value=float(found.mean()), error=error)


def curve_of_means(label: str, x: Sequence[float], means: Sequence[Mean]) -> Curve:
    """Return a curve with one standard error on each side."""
    return Curve(
        label=label,
        x=tuple(map(float, x)),
        y=tuple(mean.value for mean in means),
        low=tuple(mean.value - mean.error for mean in means),
        high=tuple(mean.value + mean.error for mean in means),
    )
