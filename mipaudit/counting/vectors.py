"""From an opened input to the counts of its vector scores.

One pass samples the burn-in, on which everything is fitted and chosen; the next counts
the derived scores of all vectors; the published estimator takes one more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from mipaudit.counting.columns import Counts, How, fold_source, require_spread, settle_sample
from mipaudit.evidence.vectors.plan import VectorPlan, make_vector_plan
from mipaudit.summaries.grids.mace_bins import SparseBins
from mipaudit.summaries.sample import VectorSurvey
from mipaudit.summaries.tally import Tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.data.source import ScoreSource
    from mipaudit.engine.workers import Workers
    from mipaudit.evidence.vectors.evidence import VectorCounts
    from mipaudit.summaries.plan import ScoreKind
    from mipaudit.summaries.rows import Rows


Advance = Callable[[int], None] | None

_MACE_BINS: Final = 100


def survey_vectors(
    source: ScoreSource, *, seed: int, workers: Workers | None, meter: Advance
) -> VectorSurvey:
    """Return the settled sample and the extremes of all columns, in one pass.

    Raises:
        InputError: a class has no row, or keys repeat.
    """
    width = len(source.columns)
    start = partial(VectorSurvey, width, seed)
    survey = fold_source(source, start, workers=workers, progress=meter)
    settle_sample(survey.sample)
    return survey


def count_vectors(
    source: ScoreSource,
    survey: VectorSurvey,
    how: How,
    *,
    seed: int,
    workers: Workers | None,
    meter: Advance,
) -> tuple[VectorCounts, ...]:
    """Fit, choose and count the derived scores of all vectors, in one pass.

    Args:
        source: the opened input, with vectors.
        survey: of it, settled, neither class empty.
        how: to count.
        seed: of the row assignment and of the fits.
        workers: who reads; None for threads.
        meter: called with the rows of each batch.

    Raises:
        InputError: a vector taken as discrete has too many values.
    """
    made = make_vector_plan(
        survey,
        [vector.coordinates for vector in source.vectors],
        [column.kind for column in source.columns],
        prior=how.prior,
        discrete=how.discrete,
        seed=seed,
    )
    tally = fold_source(
        source,
        partial(Tally, made.plan),
        workers=workers,
        progress=meter,
        change=partial(_derived, made),
    )
    counts = tally.counts()
    require_spread(counts[0])
    return made.counted(counts, survey)


def count_kept_vector(rows: Rows, kinds: Sequence[ScoreKind], how: How, *, seed: int) -> Counts:
    """Return the counts of one vector.

    Args:
        rows: all of them; their scores are the coordinates.
        kinds: of the coordinates.
        how: to count.
        seed: of the row assignment and of the fits.

    Raises:
        InputError: a class is empty, keys repeat, or a vector taken as discrete has too many
            values.
    """
    places = tuple(range(len(kinds)))
    survey = VectorSurvey(len(kinds), seed)
    survey.add(rows)
    settle_sample(survey.sample)
    made = make_vector_plan(
        survey, [places], kinds, prior=how.prior, discrete=how.discrete, seed=seed
    )
    tally = Tally(made.plan)
    tally.add(_derived(made, rows))
    counts = tally.counts()
    require_spread(counts[0])
    found = Counts(
        columns=(),
        n_members=survey.sample.members.rows,
        n_holdout=survey.sample.holdout.rows,
        mace=None,
        vectors=made.counted(counts, survey),
        vector_seeds=(seed,),
    )
    if not how.mace:
        return found
    bins = SparseBins(places, survey.low, survey.high, _MACE_BINS)
    bins.add(rows)
    return replace(found, mace_vectors=(bins.counts(),))


def count_mace_bins(
    source: ScoreSource, survey: VectorSurvey, *, workers: Workers | None, meter: Advance
) -> tuple[NDArray[np.int64], ...]:
    """Return MACE's occupied bins of each vector, shape (K, 2), in one pass for each.

    Raises:
        InputError: a vector occupies too many bins.
    """
    counts = []
    for vector in source.vectors:
        own = list(vector.coordinates)
        low, high = survey.low[own], survey.high[own]
        start = partial(SparseBins, vector.coordinates, low, high, _MACE_BINS)
        bins = fold_source(source, start, workers=workers, progress=meter)
        counts.append(bins.counts())
    return tuple(counts)


def _derived(made: VectorPlan, rows: Rows) -> Rows:
    """Return the rows with the scores that the plan makes of all coordinates."""
    return replace(rows, scores=made.derive(rows.scores))
