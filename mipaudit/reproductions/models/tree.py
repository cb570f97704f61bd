"""A regression tree: splits that reduce the squared error most, to a given depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from mipaudit.reproductions.reproduction import Array

_FEWEST: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node: its mean, and how it divides (no further, where ``children`` is None)."""

    mean: float
    column: int = 0
    cut: float = 0.0
    children: tuple[Node, Node] | None = None


def fit_tree(inputs: Array, targets: Array, depth: int) -> Node:
    """Return the tree for (n, d) inputs and (n,) targets."""
    mean = float(targets.mean())
    if depth == 0 or len(targets) < 2 * _FEWEST or float(targets.std()) == 0:
        return Node(mean=mean)
    found = [_best_cut(inputs[:, column], targets) for column in range(inputs.shape[1])]
    column = int(np.argmax([gain for gain, _ in found]))
    gain, cut = found[column]
    if gain <= 0:
        return Node(mean=mean)
    left = inputs[:, column] <= cut
    parts = (left, ~left)
    low, high = (fit_tree(inputs[part], targets[part], depth - 1) for part in parts)
    return Node(mean=mean, column=column, cut=cut, children=(low, high))


def predictions(node: Node, inputs: Array) -> Array:
    """Return the predictions, shape (n,)."""
    if node.children is None:
        return np.full(len(inputs), node.mean)
    left = inputs[:, node.column] <= node.cut
    low, high = (predictions(child, inputs) for child in node.children)
    return np.where(left, low, high)


def _best_cut(values: Array, targets: Array) -> tuple[float, float]:
    """Return how much the best cut of one column reduces the squared error, and the cut."""
    order = np.argsort(values, kind="stable")
    ordered, sums = values[order], np.cumsum(targets[order] - targets.mean())
    sizes = np.arange(1, len(values) + 1)
    rest = len(values) - sizes[:-1]
    gains = sums[:-1] ** 2 * (1 / sizes[:-1] + 1 / rest)
    allowed = (ordered[:-1] < ordered[1:]) & (sizes[:-1] >= _FEWEST) & (rest >= _FEWEST)
    gains = np.where(allowed, gains, 0.0)
    best = int(np.argmax(gains))
    return float(gains[best]), float((ordered[best] + ordered[best + 1]) / 2)
