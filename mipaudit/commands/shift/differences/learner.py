"""What tells members from holdout records without the model, learned on the burn-in.

Everything is fitted and chosen before any evaluated row is looked at, so that whatever
an attacker does with a learned score is something that can be done with the record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.shift.differences.encoding import Coordinate, encode, fit_encoding
from mipaudit.evidence.vectors.burn_in import BurnInRows, split_burn_in
from mipaudit.evidence.vectors.derived_scores import (
    DerivedScore,
    derive,
    single_scores,
    telling_order,
    threshold_value,
)
from mipaudit.maths.learners import Boosting, fit_boosting, fit_logistic, robust_scale
from mipaudit.summaries.plan import Plan, column_plan, kept_exactly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mipaudit.summaries.sample import BurnInSample

    Columns = tuple[NDArray[np.float64], ...]

PRIOR: Final = 0.5  # the blind advantage is the total variation of the two laws
_MOST_COORDINATES: Final = 64
_MOST_TO_FIT: Final = 1 << 20  # numbers: rows by coordinates
_FEWEST_TO_FIT: Final = 8
_ROWS_AT_ONCE: Final = 1 << 14
_CLEARLY: Final = 2.0  # standard errors


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
