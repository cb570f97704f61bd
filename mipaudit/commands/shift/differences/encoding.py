"""Features of records as coordinates that an attacker can learn from.

Fitted on the burn-in alone: medians, and which texts are frequent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_WORDS: Final = 16
_FEWEST_OF_A_WORD: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledIn:
    """A number; where it is missing, the median of the burn-in."""

    column: int
    median: float

    def of(self, columns: Sequence[Floats]) -> Floats:
        """Return the coordinate, shape (n,)."""
        values = columns[self.column]
        missing = np.isnan(values)
        return np.where(missing, self.median, values) if missing.any() else values


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """1 where a cell is missing, else 0."""

    column: int

    def of(self, columns: Sequence[Floats]) -> Floats:
        """Return the coordinate, shape (n,)."""
        return np.isnan(columns[self.column]).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf:
    """1 where a text is one certain text, else 0."""

    column: int
    word: float

    def of(self, columns: Sequence[Floats]) -> Floats:
        """Return the coordinate, shape (n,)."""
        return np.asarray(columns[self.column] == self.word, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frequency:
    """How frequent a text is in the burn-in: log(1 + rows), 0 for one that is not there.

    Attributes:
        column: which.
        words: in increasing order, shape (k,).
        rows: of each, shape (k,).
    """

    column: int
    words: Floats
    rows: Floats

    def of(self, columns: Sequence[Floats]) -> Floats:
        """Return the coordinate, shape (n,)."""
        values = columns[self.column]
        at = np.minimum(np.searchsorted(self.words, values), self.words.size - 1)
        return np.where(self.words[at] == values, np.log1p(self.rows[at]), 0.0)


Coordinate = FilledIn | Missing | OneOf | Frequency


def fit_encoding(values: Floats, categories: Sequence[bool]) -> tuple[Coordinate, ...]:
    """Return the coordinates that rows of the burn-in call for; constant ones are left out.

    Args:
        values: shape (n, d), NaN where missing.
        categories: for each column, whether its numbers stand for texts.
    """
    found: list[Coordinate] = []
    for at, category in enumerate(categories):
        column = values[:, at]
        missing = np.isnan(column)
        if missing.any() and not missing.all():
            found.append(Missing(column=at))
        present = column[~missing]
        if not present.size:
            continue
        if category:
            found += _words(at, present)
        elif present.min() < present.max():
            found.append(FilledIn(column=at, median=_middle(present)))
    return tuple(found)


def _middle(values: Floats) -> float:
    """Return a value in the middle: a mean of two could be one of infinities."""
    at = values.size // 2
    return float(np.partition(values, at)[at])


def _words(at: int, present: Floats) -> list[Coordinate]:
    words, rows = np.unique(present, return_counts=True)
    if words.size == 1:
        return []
    frequent = np.argsort(-rows, kind="stable")[:MOST_WORDS]
    kept = [word for word in frequent.tolist() if rows[word] >= _FEWEST_OF_A_WORD]
    if words.size == len(kept) == 2:  # noqa: PLR2004 - the other says the same
        kept = kept[:1]
    found: list[Coordinate] = [OneOf(column=at, word=float(words[word])) for word in kept]
    if words.size > MOST_WORDS or not kept:
        found.append(Frequency(column=at, words=words, rows=rows.astype(np.float64)))
    return found


def little_known(values: Floats, categories: Sequence[bool]) -> tuple[bool, ...]:
    """Return for each column whether most of its rows have a text that no coordinate is about.

    Args:
        values: of the burn-in, shape (n, d), NaN where missing.
        categories: for each column, whether its numbers stand for texts.
    """
    found = []
    for column, category in zip(values.T, categories, strict=True):
        present = column[~np.isnan(column)]
        rows = np.sort(np.unique(present, return_counts=True)[1])[::-1][:MOST_WORDS]
        known = int(rows[rows >= _FEWEST_OF_A_WORD].sum())
        found.append(category and 2 * known < present.size)
    return tuple(found)


def encode(coordinates: Sequence[Coordinate], columns: Sequence[Floats]) -> list[Floats]:
    """Return each coordinate of rows whose columns are given, each of shape (n,)."""
    return [one.of(columns) for one in coordinates]
