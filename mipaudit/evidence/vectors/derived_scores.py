"""The derived scores that could be used: fitted on one part of the burn-in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.errors import InputError
from mipaudit.evidence.vectors.derived_score import Coordinate, DerivedScore
from mipaudit.maths.class_limits.best_attackers import best_ordered, best_thresholds
from mipaudit.maths.class_limits.roc_counts import exact_ladder
from mipaudit.maths.learners import (
    MOST_COORDINATES,
    fit_boosting,
    fit_logistic,
    fit_neighbour_share,
    robust_scale,
)
from mipaudit.summaries.cells import product_grid
from mipaudit.summaries.cells.joint_alphabet import (
    MOST_PATTERNS,
    MOST_PATTERNS_ASKED,
    joint_alphabet,
)
from mipaudit.summaries.plan import is_discrete

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mipaudit.evidence.vectors.burn_in import BurnInRows, VectorBurnIn
    from mipaudit.maths.class_limits.roc_counts import Ladder
    from mipaudit.summaries.plan import ScoreKind

_FEWEST_TO_FIT: Final = 8
_MOST_TO_FIT: Final = 50_000
_MOST_SINGLES: Final = 3


def learned_scores(rows: BurnInRows, order: Sequence[int], *, seed: int) -> Iterator[DerivedScore]:
    """Yield the learned scores, fitted on these rows; there is always the logistic one.

    Args:
        rows: of the burn-in, for fitting.
        order: the coordinates, the most telling one first.
        seed: of the trees.
    """
    values, member = rows.values[:_MOST_TO_FIT], rows.member[:_MOST_TO_FIT]
    scale = robust_scale(values)
    scaled = scale.matrix(values)
    yield DerivedScore(form="logistic", fitted=fit_logistic(scaled, member), scale=scale)
    if min(int(member.sum()), int((~member).sum())) < _FEWEST_TO_FIT:
        return
    near = tuple(sorted(order[:MOST_COORDINATES]))
    neighbours = fit_neighbour_share(scaled, member, near)
    yield DerivedScore(form="neighbours", fitted=neighbours, scale=scale)
    boosting = fit_boosting(scaled, member, seed=seed)
    if boosting is not None:
        yield DerivedScore(form="boosting", fitted=boosting, scale=scale)


def product_grid_score(rows: BurnInRows) -> DerivedScore | None:
    """Return the number of the grid's cell, or None beyond 3 coordinates."""
    d = rows.values.shape[1]
    if d > product_grid.MOST_COORDINATES:
        return None
    columns = rows.columns(tuple(range(d)))
    grid = product_grid.make_grid(columns).ranked(columns, rows.member)
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
            f"A discrete vector score may have at most {MOST_PATTERNS_ASKED} combinations "
            "among the rows that choose the cells; this one has more, or none.",
            hint="Leave --discrete out.",
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


def threshold_value(scores: NDArray[np.float64], member: NDArray[np.bool_], prior: float) -> float:
    """Return the best observed advantage of a threshold on these rows, at least |2p-1|."""
    if not member.any() or member.all():
        return abs(2 * prior - 1)
    return best_thresholds(_ladder(scores, member), prior)


def _ladder(scores: NDArray[np.float64], member: NDArray[np.bool_]) -> Ladder:
    return exact_ladder(scores[member], scores[~member])
