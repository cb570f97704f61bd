"""A model's outputs for records to scores: loss, confidence, entropy and their kin.

All in logarithms: p_j = exp(z_j - log sum exp z), and log(1 - p_j) is the log of the sum of
the others, so that a sure model (p near 1) loses no digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ModelScore = Literal[
    "loss", "conf_true", "conf_max", "entropy", "mod_entropy", "margin", "phi", "correct"
]
SCORES: Final[dict[ModelScore, str]] = {
    "loss": "cross-entropy, -log p of the true class; low for members",
    "conf_true": "p of the true class; high for members",
    "conf_max": "the largest p; high for members, and needs no label",
    "entropy": "-sum p log p; low for members, and needs no label",
    "mod_entropy": "modified entropy (Song and Mittal 2021); low for members",
    "margin": "log p of the true class less that of the best other; high for members",
    "phi": "log(p / (1 - p)) of the true class (Carlini et al. 2022); high for members",
    "correct": "whether the true class has the largest p; true for members",
}
# Rows at once: temporaries stay small beside the outputs.
_ROWS: Final = 1 << 14


def log_probabilities(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log p of each class, shape (n, c), from finite logits of the same shape.

    log1p of what the others add to the largest: a sure model's small loss keeps its digits.
    """
    rows = np.arange(logits.shape[0])
    largest = logits.argmax(axis=1)
    with np.errstate(over="ignore"):  # further than 1e308 below: p is 0
        below = logits - logits[rows, largest][:, None]
    others = np.exp(below)
    others[rows, largest] = 0.0
    return np.asarray(below - np.log1p(others.sum(axis=1))[:, None])


def binary_logits(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logits of two classes, shape (n, 2), from those of the second, shape (n, 1)."""
    return np.concatenate([np.zeros_like(logits), logits], axis=1)


def model_scores(
    log_p: NDArray[np.float64], labels: NDArray[np.intp]
) -> dict[ModelScore, NDArray[np.float64] | NDArray[np.bool_]]:
    """Return every score of every record.

    Args:
        log_p: log probabilities, shape (n, c), c at least 2; -inf for a probability of 0.
        labels: true class of each record, in [0, c), shape (n,).

    Returns:
        Arrays of shape (n,) by name; losses and margins may be infinite, never NaN.
    """
    parts = [
        _scores(log_p[start : start + _ROWS], labels[start : start + _ROWS])
        for start in range(0, labels.size, _ROWS)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in SCORES}


def _scores(
    log_p: NDArray[np.float64], labels: NDArray[np.intp]
) -> dict[ModelScore, NDArray[np.float64] | NDArray[np.bool_]]:
    rows = np.arange(labels.size)
    true = log_p[rows, labels]
    others = log_p.copy()
    others[rows, labels] = -np.inf
    log_rest = log_others(log_p)
    p = np.exp(log_p)
    rest_true = log_rest[rows, labels]
    entropy = -_times(p, log_p).sum(axis=1)
    # -(1-p_y) log p_y - sum over i other than y of p_i log(1-p_i).
    away = _times(p, log_rest)
    away[rows, labels] = 0.0
    modified = -_times(np.exp(rest_true), true) - away.sum(axis=1)
    return {
        # Of p = 1 a loss of 0, not -0.
        "loss": 0.0 - true,
        "conf_true": np.exp(true),
        "conf_max": p.max(axis=1),
        "entropy": np.maximum(entropy, 0.0),
        "mod_entropy": np.maximum(modified, 0.0),
        "margin": _less(true, others.max(axis=1)),
        "phi": _less(true, rest_true),
        "correct": log_p.argmax(axis=1) == labels,
    }


def log_others(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(1 - p_j) of each class, shape (n, c), to full precision.

    Where p_j is at most 1/2 it is log1p(-p_j); only the largest p can be above, and of it the
    others are added up.
    """
    rows = np.arange(log_p.shape[0])
    largest = log_p.argmax(axis=1)
    others = log_p.copy()
    others[rows, largest] = -np.inf
    with np.errstate(divide="ignore"):
        found = np.log1p(-np.minimum(np.exp(log_p), 1.0))
    found[rows, largest] = _log_sum_exp(others)
    return np.asarray(found)


def phi_of_probability(
    p: NDArray[np.float64], least: float, gap: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return log(p / (1-p)), and where p was moved to ``least`` above 0 or ``gap`` below 1."""
    moved = (p < least) | (p > 1 - gap)
    kept = np.clip(p, least, 1 - gap)
    return np.log(kept) - np.log1p(-kept), moved


def phi_of_loss(
    loss: NDArray[np.float64], least: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return log(p / (1-p)) of p = e^-loss, and where the loss was moved up to ``least``."""
    moved = loss < least
    kept = np.maximum(loss, least)
    # -log(e^loss - 1), which for large losses is -loss.
    return -(kept + np.log(-np.expm1(-kept))), moved


def _times(p: NDArray[np.float64], log: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p log with 0 log 0 = 0."""
    with np.errstate(invalid="ignore"):
        return np.where(p == 0, 0.0, p * log)


def _less(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one - other, where both are -inf -inf: a class that was ruled out."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(one), -np.inf, one - other)


def _log_sum_exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = values.max(axis=1, keepdims=True)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - safe).sum(axis=1)) + safe[:, 0])
