"""What one pass over the burn-in decides for the pass that counts vector scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mipaudit.evidence.vectors.derived_scores import (
    BurnInRows,
    Derivation,
    DerivedScore,
    VectorBurnIn,
    make_derivation,
    split_burn_in,
)
from mipaudit.evidence.vectors.evidence import VectorCounts
from mipaudit.summaries.cells.cells import Cells
from mipaudit.summaries.cells.vector_cells import JointAlphabet, ProductGrid
from mipaudit.summaries.plan import ColumnPlan, Plan, ScoreKind, column_plan, kept_exactly

if TYPE_CHECKING:
    from mipaudit.summaries.counts import ScoreCounts
    from mipaudit.summaries.sample import VectorSurvey


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorPlan:
    """How all vectors are counted.

    Attributes:
        coordinates: which columns each vector is made of.
        derivations: what is derived from each.
        plan: of the derived scores of all, one after the other.
        fit_blocks: leading micro-blocks that are in no table.
    """

    coordinates: tuple[tuple[int, ...], ...]
    derivations: tuple[Derivation, ...]
    plan: Plan
    fit_blocks: int

    def derive(self, columns: tuple[NDArray[np.float64], ...]) -> tuple[NDArray[np.float64], ...]:
        """Return the derived scores of all vectors for rows of all columns."""
        return tuple(
            scores
            for own, derivation in zip(self.coordinates, self.derivations, strict=True)
            for scores in derivation.scores([columns[at] for at in own])
        )

    def counted(
        self, counts: Sequence[ScoreCounts], survey: VectorSurvey
    ) -> tuple[VectorCounts, ...]:
        """Return the counts of each vector from those of all derived scores in order."""
        left = (one.without_blocks(self.fit_blocks) for one in counts)
        return tuple(
            VectorCounts(
                derivation=derivation,
                counts=tuple(next(left) for _ in derivation.derived),
                width=len(own),
                constant=tuple(place for place, at in enumerate(own) if survey.constant(at)),
                infinite=int(survey.infinite[list(own)].sum()),
            )
            for own, derivation in zip(self.coordinates, self.derivations, strict=True)
        )


def make_vector_plan(
    survey: VectorSurvey,
    vectors: Sequence[tuple[int, ...]],
    kinds: Sequence[ScoreKind],
    *,
    prior: float,
    discrete: bool,
    seed: int,
) -> VectorPlan:
    """Fit and choose on the burn-in, and cut the cells of what was chosen.

    Args:
        survey: settled, neither class empty.
        vectors: the columns of each vector.
        kinds: of all columns.
        prior: p in (0, 1).
        discrete: take every vector as discrete.
        seed: of the row assignment and of the fits.

    Raises:
        InputError: a vector taken as discrete has too many values.
    """
    sample = survey.sample
    burn_in = split_burn_in(sample)
    rows = sample.members.rows + sample.holdout.rows
    derivations = []
    for own in vectors:
        parts = VectorBurnIn(
            fitting=_narrowed(burn_in.fitting, own),
            choosing=_narrowed(burn_in.choosing, own),
            fit_blocks=burn_in.fit_blocks,
            blocks=burn_in.blocks,
        )
        own_kinds = [kinds[at] for at in own]
        derivations.append(
            (
                make_derivation(parts, own_kinds, prior=prior, discrete=discrete, seed=seed),
                parts.choosing,
            )
        )
    exact = kept_exactly(rows, sum(len(one.derived) for one, _ in derivations))
    columns = [
        column
        for derivation, choosing in derivations
        for column in column_plans(derivation, choosing, prior=prior, rows=rows, exact=exact)
    ]
    return VectorPlan(
        coordinates=tuple(vectors),
        derivations=tuple(derivation for derivation, _ in derivations),
        plan=Plan(columns=tuple(columns), burn_in=burn_in.blocks, seed=seed, exact=exact),
        fit_blocks=burn_in.fit_blocks,
    )


def _narrowed(rows: BurnInRows, coordinates: tuple[int, ...]) -> BurnInRows:
    return BurnInRows(values=rows.values[:, list(coordinates)], member=rows.member)


def column_plans(
    derivation: Derivation, choosing: BurnInRows, *, prior: float, rows: int, exact: bool
) -> list[ColumnPlan]:
    """Return the cells of every derived score, cut on the rows that chose among them.

    Args:
        derivation: of the scores.
        choosing: rows that chose among them.
        prior: p in (0, 1).
        rows: of the whole input.
        exact: whether the scores are kept.
    """
    scores = derivation.scores(choosing.columns(tuple(range(choosing.values.shape[1]))))
    return [
        _known_cells(one)
        or column_plan(
            values[choosing.member],
            values[~choosing.member],
            "float",
            prior=prior,
            discrete=False,
            rows=rows,
            exact=exact,
        )
        for one, values in zip(derivation.derived, scores, strict=True)
    ]


def _known_cells(one: DerivedScore) -> ColumnPlan | None:
    """Return the cells of a score whose values are known; None for any other."""
    match one.fitted:
        case ProductGrid(count=count):
            cells = Cells(
                edges=np.arange(count - 1, dtype=np.float64) + 0.5,
                single=np.ones(count, dtype=bool),
                coarse=np.arange(count),
                buckets=None,
            )
        case JointAlphabet(cells=cells):
            pass
        case _:
            return None
    return ColumnPlan(cells=cells, discrete=True)
