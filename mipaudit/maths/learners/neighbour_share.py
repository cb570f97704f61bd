"""The share of members among the nearest reference rows: a learned score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_COORDINATES: Final = 5
MOST_REFERENCES: Final = 4096
_FEWEST: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeighbourShare:
    """Reference rows in a tree, and how many of the nearest vote.

    Attributes:
        coordinates: which coordinates distances are taken in.
        tree: a k-d tree of the reference rows.
        weight: of each reference row, shape (m,), that of a holdout record negative.
        neighbours: how many vote, at least 1.
    """

    coordinates: tuple[int, ...]
    tree: Any
    weight: NDArray[np.float64]
    neighbours: int

    def score(self, columns: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the difference of both classes' weights among the nearest, shape (n,).

        Args:
            columns: all coordinates on the common scale, each of shape (n,).
        """
        points = np.stack([columns[index] for index in self.coordinates], axis=1)
        _, nearest = self.tree.query(points, k=self.neighbours)
        return np.asarray(self.weight[nearest.reshape(len(points), -1)].sum(axis=1))


def fit_neighbour_share(
    rows: NDArray[np.float64], member: NDArray[np.bool_], coordinates: tuple[int, ...]
) -> NeighbourShare:
    """Return the score for these rows as references.

    Args:
        rows: on the common scale, shape (n, d), in an order that tells nothing; at most
            2,048 of each class are kept.
        member: shape (n,), both classes present; each class votes with the same total weight.
        coordinates: at most 5, or neighbours are no longer near.
    """
    from scipy.spatial import cKDTree

    half = MOST_REFERENCES // 2
    kept = np.sort(np.concatenate([np.flatnonzero(member)[:half], np.flatnonzero(~member)[:half]]))
    inside = member[kept]
    members = int(inside.sum())
    weight = np.where(inside, 1 / max(1, members), -1 / max(1, kept.size - members))
    count = max(_FEWEST, round(kept.size**0.5))
    return NeighbourShare(
        coordinates=coordinates,
        tree=cKDTree(rows[kept][:, list(coordinates)]),
        # In units of the larger vote, so that sums of equal votes are exact.
        weight=weight / np.abs(weight).max() if kept.size else weight,
        neighbours=min(count, kept.size),
    )
