"""Derived scores of a vector: fitted and chosen on the burn-in, then counted as one number each.

All are fitted before any evaluated row is looked at, so that whatever an attacker does
with a derived score is something that can be done with the vector itself. A lower
limit for the derived scores together is one for the vector; an upper limit holds for
the attackers who use no more than the derived score that it names.

One part of the burn-in fits learned scores, the rest chooses among them. The rows that fit are in
no table, not even a training one: a score that was fitted on them looks better there than it is,
and attackers trained on that would be misled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final, Literal, Protocol

import numpy as np

from mipaudit.errors import InputError
from mipaudit.maths.advantage import baseline
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.maths.class_limits.class_sets import best_ordered, best_thresholds
from mipaudit.maths.class_limits.roc_counts import Ladder, exact_ladder
from mipaudit.maths.learners import (
    MOST_COORDINATES,
    Boosting,
    RobustScale,
    fit_boosting,
    fit_logistic,
    fit_neighbour_share,
    robust_scale,
)
from mipaudit.summaries.cells import (
    MOST_GRIDDED,
    MOST_PATTERNS,
    MOST_PATTERNS_ASKED,
    joint_alphabet,
    make_grid,
)
from mipaudit.summaries.plan import BurnInSample, is_discrete
from mipaudit.summaries.rows import MICRO_BLOCKS, ScoreKind

Form = Literal["product-grid", "joint", "logistic", "neighbours", "boosting", "coordinate"]
LEARNED: Final[frozenset[Form]] = frozenset({"logistic", "neighbours", "boosting"})
_FEWEST_TO_FIT: Final = 8
_MOST_TO_FIT: Final = 50_000
_MOST_SINGLES: Final = 3
_CLEARLY: Final = 2.0  # standard errors
_SHARE_AT: Final = 20.0
_SMALLEST: Final = 0.1
_LARGEST: Final = 0.3
_FITTED: Final = 2 / 3
_BLOCK_BITS: Final = 58  # a micro-block is the top 6 bits of a row's rank


class Fitted(Protocol):
    """Something that makes one number of the coordinates."""

    def score(self, columns: list[Floats], /) -> Floats:
        """Return one number for each row, shape (n,)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coordinate:
    """A single coordinate as it is."""

    index: int

    def score(self, columns: list[Floats]) -> Floats:
        """Return the coordinate."""
        return columns[self.index]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DerivedScore:
    """A derived score, higher for what looks like a member unless it is a coordinate.

    Attributes:
        form: what it is.
        fitted: makes it.
        scale: of the coordinates that it takes, or None where it takes them as they are.
    """

    form: Form
    fitted: Fitted
    scale: RobustScale | None

    @property
    def learned(self) -> bool:
        """Tell whether it is one of the learned scores."""
        return self.form in LEARNED


def derive(derived: Sequence[DerivedScore], columns: Sequence[Floats]) -> tuple[Floats, ...]:
    """Return each derived score of rows whose coordinates are given, each of shape (n,)."""
    raw = list(columns)
    scaled: list[Floats] = []
    found = []
    for one in derived:
        if one.scale is None:
            found.append(one.fitted.score(raw))
            continue
        if not scaled:
            scaled = [one.scale.column(column, at) for at, column in enumerate(raw)]
        found.append(one.fitted.score(scaled))
    return tuple(found)


def learned_scores(
    rows: BurnInRows, order: Sequence[int], *, seed: int, most: int = _MOST_TO_FIT
) -> Iterator[DerivedScore]:
    """Yield the learned scores, fitted on these rows; there is always the logistic one.

    Args:
        rows: of the burn-in, for fitting.
        order: the coordinates, the most telling one first; none where no neighbours are wanted.
        seed: of the trees.
        most: rows that are fitted.
    """
    values, member = rows.values[:most], rows.member[:most]
    scale = robust_scale(values)
    scaled = scale.matrix(values)
    yield DerivedScore(form="logistic", fitted=fit_logistic(scaled, member), scale=scale)
    if min(int(member.sum()), int((~member).sum())) < _FEWEST_TO_FIT:
        return
    near = tuple(sorted(order[:MOST_COORDINATES]))
    if near:
        neighbours = fit_neighbour_share(scaled, member, near)
        yield DerivedScore(form="neighbours", fitted=neighbours, scale=scale)
    boosting = fit_boosting(scaled, member, seed=seed)
    if boosting is not None:
        yield DerivedScore(form="boosting", fitted=boosting, scale=scale)


def product_grid_score(rows: BurnInRows) -> DerivedScore | None:
    """Return the number of the grid's cell, or None beyond 3 coordinates."""
    d = rows.values.shape[1]
    if d > MOST_GRIDDED:
        return None
    columns = rows.columns(tuple(range(d)))
    grid = make_grid(columns).ranked(columns, rows.member)
    return DerivedScore(form="product-grid", fitted=grid, scale=None)


def joint_score(
    burn_in: VectorBurnIn, kinds: Sequence[ScoreKind], *, asked: bool
) -> DerivedScore | None:
    """Return the number of the coordinates' combination, or None if they are not discrete.

    Args:
        burn_in: both parts.
        kinds: of the coordinates.
        asked: the user says that the score is discrete.

    Raises:
        InputError: the user says so, and there are more than 8,192 combinations.
    """
    values = np.concatenate([burn_in.fitting.values, burn_in.choosing.values])
    if not asked and not all(
        is_discrete(values[:, at], kind, asked=False) for at, kind in enumerate(kinds)
    ):
        return None
    member = np.zeros(len(values), dtype=bool)  # the choosing rows do not order the numbers
    member[: burn_in.fitting.member.size] = burn_in.fitting.member
    known = joint_alphabet(
        [np.ascontiguousarray(column) for column in values.T],
        member,
        most=MOST_PATTERNS_ASKED if asked else MOST_PATTERNS,
        asked=asked,
    )
    if known is None and asked:
        raise InputError(
            "too_many_values",
            f"A discrete vector score may have at most {MOST_PATTERNS_ASKED} combinations of "
            "values in the rows that set the cells; this one has more, or none.",
            "Leave `discrete` out.",
        )
    return None if known is None else DerivedScore(form="joint", fitted=known, scale=None)


def telling_order(rows: BurnInRows, prior: float) -> list[int]:
    """Return the coordinates by what one interval of each tells on these rows, most first."""
    told = [
        best_ordered(_ladder(column, rows.member), prior, (1,))[1] if rows.member.size else 0.0
        for column in rows.values.T
    ]
    return sorted(range(len(told)), key=lambda at: -told[at])


def single_scores(order: Sequence[int]) -> list[DerivedScore]:
    """Return the three most telling coordinates as they are."""
    return [
        DerivedScore(form="coordinate", fitted=Coordinate(index=at), scale=None)
        for at in order[:_MOST_SINGLES]
    ]


def threshold_value(scores: Floats, member: Bools, prior: float) -> float:
    """Return the best observed advantage of a threshold on these rows, at least |2p-1|."""
    if not member.any() or member.all():
        return baseline(prior)
    return best_thresholds(_ladder(scores, member), prior)


def _ladder(scores: Floats, member: Bools) -> Ladder:
    return exact_ladder(scores[member], scores[~member])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Derivation:
    """The derived scores of a vector, fitted and chosen on the burn-in.

    Attributes:
        derived: those that are counted.
        tried: forms of all that were fitted, each once.
        library: name and version of the library that grew trees, None if none did.
        chosen: which of them is the learned score that has class limits.
        strongest: which did best on the choosing rows.
    """

    derived: tuple[DerivedScore, ...]
    tried: tuple[Form, ...]
    library: str | None
    chosen: int
    strongest: int

    def index(self, form: Form) -> int | None:
        """Return which derived score has a form, None if none has."""
        return next((at for at, one in enumerate(self.derived) if one.form == form), None)

    def find(self, form: Form) -> DerivedScore | None:
        """Return the derived score of a form that is counted, None if none is."""
        at = self.index(form)
        return None if at is None else self.derived[at]

    def scores(self, columns: Sequence[Floats]) -> tuple[Floats, ...]:
        """Return every derived score of rows whose coordinates are given, each of shape (n,)."""
        return derive(self.derived, columns)


def make_derivation(
    burn_in: VectorBurnIn, kinds: Sequence[ScoreKind], *, prior: float, discrete: bool, seed: int
) -> Derivation:
    """Return what is derived from a vector.

    A learned score is left out where another learned one does clearly better on the choosing rows.

    Args:
        burn_in: both parts.
        kinds: of the coordinates.
        prior: p in (0, 1).
        discrete: the user says that the vector has few values.
        seed: of the fits.

    Raises:
        InputError: a vector said to be discrete has too many values.
    """
    order = telling_order(burn_in.fitting, prior)
    learned = list(learned_scores(burn_in.fitting, order, seed=seed))
    others = [
        product_grid_score(burn_in.fitting),
        joint_score(burn_in, kinds, asked=discrete),
        *single_scores(order),
    ]
    fitted = [*learned, *(one for one in others if one is not None)]
    return choose_among(fitted, burn_in.choosing, prior, rivals=len(learned))


def choose_among(
    fitted: Sequence[DerivedScore], rows: BurnInRows, prior: float, *, rivals: int
) -> Derivation:
    """Return which derived scores are counted: a learned one is not where another is better.

    Args:
        fitted: all of them.
        rows: that choose.
        prior: p in (0, 1).
        rivals: the first so many are what learned ones are held against; one must do clearly
            better.
    """
    values = _values(fitted, rows, prior)
    best = max(values[:rivals])
    slack = _CLEARLY * _standard_error(rows, prior)
    kept = [at for at, one in enumerate(fitted) if not one.learned or values[at] >= best - slack]
    return Derivation(
        derived=tuple(fitted[at] for at in kept),
        tried=tuple(dict.fromkeys(one.form for one in fitted)),
        library=next(
            (one.fitted.library for one in fitted if isinstance(one.fitted, Boosting)), None
        ),
        chosen=max(range(len(kept)), key=lambda at: _rank(fitted, values, kept[at])),
        strongest=max(range(len(kept)), key=lambda at: values[kept[at]]),
    )


def _rank(fitted: Sequence[DerivedScore], values: Sequence[float], at: int) -> float:
    """Return the value of a learned score; others are never the chosen one."""
    return values[at] if fitted[at].learned else -1.0


def _values(fitted: Sequence[DerivedScore], rows: BurnInRows, prior: float) -> list[float]:
    columns = rows.columns(tuple(range(rows.values.shape[1])))
    return [threshold_value(scores, rows.member, prior) for scores in derive(fitted, columns)]


def _standard_error(rows: BurnInRows, prior: float) -> float:
    """Return an upper limit of the standard error of an advantage on these rows."""
    inside = max(1, int(rows.member.sum()))
    outside = max(1, rows.member.size - inside)
    return sqrt(prior**2 / inside + (1 - prior) ** 2 / outside)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BurnInRows:
    """Rows of both classes in the order of their ranks, which tells nothing.

    Attributes:
        values: coordinates, shape (n, d).
        member: shape (n,).
    """

    values: Floats
    member: Bools

    def columns(self, coordinates: tuple[int, ...]) -> list[Floats]:
        """Return some coordinates, each contiguous, of shape (n,)."""
        return [np.ascontiguousarray(self.values[:, at]) for at in coordinates]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorBurnIn:
    """The two parts of the burn-in.

    Attributes:
        fitting: rows that learned scores are fitted on.
        choosing: rows that choose among them and cut their cells.
        fit_blocks: leading micro-blocks that hold fitting rows; they are in no table.
        blocks: all micro-blocks of the burn-in, more than ``fit_blocks``.
    """

    fitting: BurnInRows
    choosing: BurnInRows
    fit_blocks: int
    blocks: int


def vector_burn_in_blocks(n_members: int, n_holdout: int) -> int:
    """Return how many of the 64 micro-blocks fit or choose before any row counts.

    A share of 20/sqrt(min N), within [0.1, 0.3]: a learned score needs more rows than
    cut points do.
    """
    smaller = max(1, min(n_members, n_holdout))
    share = min(max(_SHARE_AT / math.sqrt(smaller), _SMALLEST), _LARGEST)
    return math.ceil(MICRO_BLOCKS * share)


def split_burn_in(sample: BurnInSample) -> VectorBurnIn:
    """Return the parts of the burn-in of a settled sample.

    Two thirds of the micro-blocks fit; of a large input, of which the sample has only the
    rows of smallest rank, two thirds of those ranks.
    """
    blocks = vector_burn_in_blocks(sample.members.rows, sample.holdout.rows)
    seen = min(blocks << _BLOCK_BITS, int(sample.members.limit) + 1, int(sample.holdout.limit) + 1)
    whole = round(blocks * _FITTED) << _BLOCK_BITS
    border = whole if seen == blocks << _BLOCK_BITS else int(seen * _FITTED)
    return VectorBurnIn(
        fitting=_between(sample, 0, border),
        choosing=_between(sample, border, seen),
        fit_blocks=-(-border >> _BLOCK_BITS),
        blocks=blocks,
    )


def _between(sample: BurnInSample, low: int, high: int) -> BurnInRows:
    """Return the rows whose ranks are in [low, high), in order of rank."""
    sides = (sample.members, sample.holdout)
    inside = [
        (side.ranks >= np.uint64(low)) & (side.ranks <= np.uint64(high - 1)) for side in sides
    ]
    ranks = np.concatenate([side.ranks[one] for side, one in zip(sides, inside, strict=True)])
    values = np.concatenate([side.scores[one] for side, one in zip(sides, inside, strict=True)])
    member = np.arange(ranks.size) < int(inside[0].sum())
    order = np.argsort(ranks, kind="stable")
    return BurnInRows(values=values[order], member=member[order])
