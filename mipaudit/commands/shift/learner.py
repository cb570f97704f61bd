"""What tells members from holdout records without the model, learned on the burn-in.

Everything is fitted and chosen before any evaluated row is looked at, so that whatever
an attacker does with a learned score is something that can be done with the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.evidence.derived_scores import (
    BurnInRows,
    Derivation,
    DerivedScore,
    choose_among,
    learned_scores,
    single_scores,
    split_burn_in,
    telling_order,
)
from mipaudit.evidence.vectors import column_plans
from mipaudit.maths.arrays import Floats
from mipaudit.maths.learners import Boosting
from mipaudit.summaries.plan import BurnInSample, Plan, kept_exactly

if TYPE_CHECKING:
    Columns = tuple[Floats, ...]

MOST_WORDS: Final = 16
_FEWEST_OF_A_WORD: Final = 5
PRIOR: Final = 0.5  # the blind advantage is the total variation of the two laws
_MOST_COORDINATES: Final = 64
_MOST_TO_FIT: Final = 1 << 20  # numbers: rows by coordinates
_ROWS_AT_ONCE: Final = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coordinate:
    """A number made of one column: its own, or what stands for each of some values.

    Attributes:
        column: which.
        missing: of a missing cell: of a column of numbers, the median of the burn-in.
        values: in increasing order, shape (k,); None where the column's own number is taken.
        worth: of each value, 1 for one text or log(1 + rows) of many, shape (k,); of all others
            it is 0.
    """

    column: int
    missing: float = 0.0
    values: Floats | None = None
    worth: Floats | None = None

    def of(self, columns: Sequence[Floats]) -> Floats:
        """Return the coordinate, shape (n,)."""
        found = given = columns[self.column]
        if self.values is not None and self.worth is not None:
            at = np.minimum(np.searchsorted(self.values, given), self.values.size - 1)
            found = np.where(self.values[at] == given, self.worth[at], 0.0)
        missing = np.isnan(given)
        return np.where(missing, self.missing, found) if missing.any() else found


def fit_encoding(values: Floats, categories: Sequence[bool]) -> tuple[Coordinate, ...]:
    """Return the coordinates that rows of the burn-in call for; constant ones are left out.

    Args:
        values: shape (n, d), NaN where missing.
        categories: for each column, whether its numbers stand for texts.
    """
    return tuple(
        coordinate
        for at, category in enumerate(categories)
        for coordinate in _of_column(at, values[:, at], category=category)
    )


def _of_column(at: int, column: Floats, *, category: bool) -> Iterator[Coordinate]:
    """Yield the coordinates of one column."""
    missing = np.isnan(column)
    present = column[~missing]
    if not present.size:
        return
    if missing.any():
        # Of no text that there is: it is about what is missing alone.
        yield Coordinate(column=at, missing=1.0, values=present[:1], worth=np.zeros(1))
    if category:
        yield from _words(at, present)
    elif present.min() < present.max():
        # A value in the middle: a mean of two could be one of infinities.
        middle = present.size // 2
        yield Coordinate(column=at, missing=float(np.partition(present, middle)[middle]))


def _words(at: int, present: Floats) -> Iterator[Coordinate]:
    """Yield one coordinate for each frequent text, and one of how frequent it is."""
    words, rows = np.unique(present, return_counts=True)
    if words.size == 1:
        return
    frequent = np.argsort(-rows, kind="stable")[:MOST_WORDS]
    kept = [word for word in frequent.tolist() if rows[word] >= _FEWEST_OF_A_WORD]
    if words.size == len(kept) == 2:  # noqa: PLR2004 - the other says the same
        kept = kept[:1]
    for word in kept:
        yield Coordinate(column=at, values=words[[word]], worth=np.ones(1))
    if words.size > MOST_WORDS or not kept:
        yield Coordinate(column=at, values=words, worth=np.log1p(rows.astype(np.float64)))


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learner:
    """The learned scores of records, and how they are counted.

    Attributes:
        coordinates: made of a record's columns.
        derivation: scores made of the coordinates.
        plan: of the counts of those scores.
        fit_blocks: leading micro-blocks that hold rows that were fitted on.
    """

    coordinates: tuple[Coordinate, ...]
    derivation: Derivation
    plan: Plan
    fit_blocks: int

    @property
    def chosen(self) -> int:
        """Which of the scores is the one that has class limits."""
        return self.derivation.strongest

    @property
    def best(self) -> DerivedScore:
        """That score."""
        return self.derivation.derived[self.chosen]

    @property
    def library(self) -> str | None:
        """Name and version of the library that grew the trees that are counted, None for none."""
        fitted = [one.fitted for one in self.derivation.derived]
        return next((one.library for one in fitted if isinstance(one, Boosting)), None)

    def scores(self, columns: Sequence[Floats]) -> Columns:
        """Return every score of rows whose columns are given, each of shape (n,)."""
        rows = columns[0].size
        found = tuple(np.empty(rows) for _ in self.derivation.derived)
        # A few rows at a time: the coordinates are several times as wide as the columns.
        for start in range(0, rows, _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            some = [column[part] for column in columns]
            coordinates = [one.of(some) for one in self.coordinates]
            for whole, scores in zip(found, self.derivation.scores(coordinates), strict=True):
                whole[part] = scores
        return found


def learn(sample: BurnInSample, categories: Sequence[bool], *, seed: int) -> Learner | None:
    """Return what the burn-in teaches; None where no column differs between its rows.

    Args:
        sample: of raw rows, settled, neither class empty.
        categories: for each column, whether its numbers stand for texts.
        seed: of the row assignment and of the trees.
    """
    burn_in = split_burn_in(sample)
    raw = np.concatenate([burn_in.fitting.values, burn_in.choosing.values])
    coordinates = fit_encoding(raw, categories)
    if not coordinates:
        return None
    fitting = _encoded(coordinates, burn_in.fitting)
    order = telling_order(fitting, PRIOR)
    if len(order) > _MOST_COORDINATES:
        kept = sorted(order[:_MOST_COORDINATES])
        coordinates = tuple(coordinates[at] for at in kept)
        fitting = replace(fitting, values=np.ascontiguousarray(fitting.values[:, kept]))
        order = [kept.index(at) for at in order[:_MOST_COORDINATES]]
    choosing = _encoded(coordinates, burn_in.choosing)
    most = _MOST_TO_FIT // fitting.values.shape[1]
    fitted = [*learned_scores(fitting, (), seed=seed, most=most), *single_scores(order)]
    derivation = choose_among(fitted, choosing, PRIOR, rivals=len(fitted))
    rows = sample.members.rows + sample.holdout.rows
    exact = kept_exactly(rows, len(derivation.derived))
    columns = column_plans(derivation, choosing, prior=PRIOR, rows=rows, exact=exact)
    return Learner(
        coordinates=coordinates,
        derivation=derivation,
        plan=Plan(columns=tuple(columns), burn_in=burn_in.blocks, seed=seed, exact=exact),
        fit_blocks=burn_in.fit_blocks,
    )


def _encoded(coordinates: Sequence[Coordinate], rows: BurnInRows) -> BurnInRows:
    columns = rows.columns(tuple(range(rows.values.shape[1])))
    return replace(rows, values=np.stack([one.of(columns) for one in coordinates], axis=1))
