"""A cell of a coverage run: one setting, and the files that are drawn from it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mipaudit.validation.laws.catalogue import law

if TYPE_CHECKING:
    from numpy.typing import NDArray

Order = Literal["shuffled", "sorted", "reversed", "by class"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One setting to replicate.

    Attributes:
        scenario: name of the law that the scores are drawn from.
        n_members: members per file, above 0.
        n_holdout: holdout records per file, above 0.
        prior: p in (0, 1).
        order: rows shuffled, or sorted by score (members first among ties), or that reversed,
            or sorted within each class, the members first.
        replications: files to draw, above 0.
        discrete: whether the audit is told that the score has few values, all known.
    """

    scenario: str
    n_members: int
    n_holdout: int
    prior: float
    order: Order
    replications: int
    discrete: bool = False

    @property
    def records(self) -> int:
        """Rows of a file."""
        return self.n_members + self.n_holdout


def stream_of(cell: Cell) -> int:
    """Return a number that tells the cell's random numbers from those of other cells."""
    text = f"{cell.scenario} {cell.n_members} {cell.n_holdout} {cell.prior!r} {cell.order}"
    return zlib.crc32(text.encode())


def draw_file(
    cell: Cell, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the membership and the scores of one file, in the cell's order of rows."""
    members, holdout = law(cell.scenario).sample(rng, cell.n_members, cell.n_holdout)
    score = np.concatenate([members, holdout])
    member = np.arange(len(score)) < cell.n_members
    rows = _row_order(cell.order, member, score, rng)
    return member[rows], score[rows]


def _row_order(
    order: Order,
    member: NDArray[np.bool_],
    score: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    match order:
        case "shuffled":
            return rng.permutation(len(score))
        case "sorted":
            return np.argsort(_first_number(score), kind="stable")
        case "reversed":
            return np.argsort(_first_number(score), kind="stable")[::-1]
        case "by class":
            return np.lexsort((_first_number(score), ~member))


def _first_number(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores, or the first number of each where they have several."""
    return score if score.ndim == 1 else score[:, 0]
