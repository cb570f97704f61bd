"""What tells members from holdout records without the model, learned on the burn-in.

Everything is fitted and chosen before any evaluated row is looked at, so that whatever
an attacker does with a learned score is something that can be done with the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.vectors.derived_scores import (
    BurnInRows,
    DerivedScore,
    derive,
    single_scores,
    split_burn_in,
    telling_order,
    threshold_value,
)
from mipaudit.maths.learners import Boosting, fit_boosting, fit_logistic, robust_scale
from mipaudit.summaries.plan import Plan, column_plan, kept_exactly

if TYPE_CHECKING:
    from mipaudit.summaries.sample import BurnInSample

    Floats = NDArray[np.float64]
    Columns = tuple[NDArray[np.float64], ...]

MOST_WORDS: Final = 16
_FEWEST_OF_A_WORD: Final = 5
PRIOR: Final = 0.5  # the blind advantage is the total variation of the two laws
_MOST_COORDINATES: Final = 64
_MOST_TO_FIT: Final = 1 << 20  # numbers: rows by coordinates
_FEWEST_TO_FIT: Final = 8
_ROWS_AT_ONCE: Final = 1 << 14
_CLEARLY: Final = 2.0  # standard errors


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learner:
    """The learned scores of records, and how they are counted.

    Attributes:
        coordinates: made of a record's columns.
        derived: scores made of the coordinates.
        chosen: which of them is the one that has class limits.
        library: name and version of the library that grew trees, None if none did.
        plan: of the counts of ``derived``.
        fit_blocks: leading micro-blocks that hold rows that were fitted on.
    """

    coordinates: tuple[Coordinate, ...]
    derived: tuple[DerivedScore, ...]
    chosen: int
    library: str | None
    plan: Plan
    fit_blocks: int

    def scores(self, columns: Sequence[NDArray[np.float64]]) -> Columns:
        """Return every score of rows whose columns are given, each of shape (n,)."""
        rows = columns[0].size
        found = tuple(np.empty(rows) for _ in self.derived)
        # A few rows at a time: the coordinates are several times as wide as the columns.
        for start in range(0, rows, _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            coordinates = encode(self.coordinates, [column[part] for column in columns])
            for whole, scores in zip(found, derive(self.derived, coordinates), strict=True):
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
    derived, chosen = _chosen([*_fitted(fitting, seed), *single_scores(order)], choosing)
    rows = sample.members.rows + sample.holdout.rows
    return Learner(
        coordinates=coordinates,
        derived=derived,
        chosen=chosen,
        library=next(
            (one.fitted.library for one in derived if isinstance(one.fitted, Boosting)), None
        ),
        plan=_plan(derived, choosing, rows=rows, burn_in=burn_in.blocks, seed=seed),
        fit_blocks=burn_in.fit_blocks,
    )


def _encoded(coordinates: Sequence[Coordinate], rows: BurnInRows) -> BurnInRows:
    columns = [np.ascontiguousarray(column) for column in rows.values.T]
    values = np.stack(encode(coordinates, columns), axis=1)
    return BurnInRows(values=values, member=rows.member)


def _fitted(rows: BurnInRows, seed: int) -> list[DerivedScore]:
    """Return the learned scores, fitted on these rows; there is always the logistic one."""
    most = _MOST_TO_FIT // rows.values.shape[1]
    values, member = rows.values[:most], rows.member[:most]
    scale = robust_scale(values)
    scaled = scale.matrix(values)
    found = [DerivedScore(form="logistic", fitted=fit_logistic(scaled, member), scale=scale)]
    if min(int(member.sum()), int((~member).sum())) >= _FEWEST_TO_FIT:
        boosting = fit_boosting(scaled, member, seed=seed)
        if boosting is not None:
            found.append(DerivedScore(form="boosting", fitted=boosting, scale=scale))
    return found


def _chosen(
    fitted: Sequence[DerivedScore], rows: BurnInRows
) -> tuple[tuple[DerivedScore, ...], int]:
    """Return the scores that are counted, and which is the best on these rows.

    A learned score is left out where another does clearly better.
    """
    scores = derive(fitted, rows.columns(tuple(range(rows.values.shape[1]))))
    values = [threshold_value(one, rows.member, PRIOR) for one in scores]
    inside = max(1, int(rows.member.sum()))
    outside = max(1, rows.member.size - inside)
    slack = _CLEARLY * PRIOR * sqrt(1 / inside + 1 / outside)
    kept = [
        at
        for at, value in enumerate(values)
        if value >= max(values) - slack or not fitted[at].learned
    ]
    best = max(range(len(kept)), key=lambda place: values[kept[place]])
    return tuple(fitted[at] for at in kept), best


def _plan(
    derived: Sequence[DerivedScore], rows_seen: BurnInRows, *, rows: int, burn_in: int, seed: int
) -> Plan:
    scores = derive(derived, rows_seen.columns(tuple(range(rows_seen.values.shape[1]))))
    exact = kept_exactly(rows, len(derived))
    member = rows_seen.member
    columns = (
        column_plan(
            values[member],
            values[~member],
            "float",
            prior=PRIOR,
            discrete=False,
            rows=rows,
            exact=exact,
        )
        for values in scores
    )
    return Plan(columns=tuple(columns), burn_in=burn_in, seed=seed, exact=exact)
