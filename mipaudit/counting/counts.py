"""From rows that can be gone through again and again to the counts of each score column.

Two passes: one for the cut points, one for the counts. A large input is counted in
the first one already, with cut points from its first rows; the second is needed only
where those do not serve, as in a file sorted by score.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from mipaudit.data.parts import BadPartsError
from mipaudit.data.words import empty_class_error
from mipaudit.engine.fold import fold
from mipaudit.errors import InputError
from mipaudit.evidence.scores.findings import constant, identical_classes
from mipaudit.maths.arrays import Ints
from mipaudit.summaries import plan as plans
from mipaudit.summaries.grids import EqualWidthCounts, GridColumn, SparseBins
from mipaudit.summaries.tally import Survey, Tally

if TYPE_CHECKING:
    from mipaudit.data.source import AuditedInput, Partitions, ScoreSource
    from mipaudit.engine.run import SummaryT
    from mipaudit.engine.workers import Workers
    from mipaudit.evidence.vectors import VectorCounts, VectorPlan
    from mipaudit.summaries.counts import ScoreCounts
    from mipaudit.summaries.plan import Plan
    from mipaudit.summaries.rows import Rows, ScoreKind

    Change = Callable[[Rows], Rows]
    Progress = Callable[[int, int | None], None]

_MACE_BINS: Final = 100
# 200 rows leave 24 of 64 micro-blocks empty less than once in 10^15 files.
_ROWS_THAT_SPREAD: Final = 200
_BLOCKS_FILLED: Final = 40
_EARLY_ROWS: Final = 1 << 20
# Of fewer rows threads are as soon done.
_ROWS_THAT_FORK: Final = 1 << 23


class Over(Protocol):
    """Goes through all rows, as often as it is asked to."""

    def __call__(self, start: Callable[[], SummaryT], *, change: Change | None = None) -> SummaryT:
        """Return the summary of all rows, given what makes an empty one.

        What becomes of the rows first is their ``change``; None for nothing.
        """


def row_meter(total: int | None, report: Progress | None) -> Callable[[int], None] | None:
    """Return what adds up the rows that several threads report; None where nobody listens.

    Args:
        total: rows in all passes, if that is known.
        report: called with (rows done, rows in all passes or None).
    """
    if report is None:
        return None
    lock, done = threading.Lock(), 0

    def advance(rows: int) -> None:
        """Count more rows that were read, by whichever thread."""
        nonlocal done
        with lock:
            done += rows
            report(done, total)

    return advance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """The counts of every score, in the order of the source.

    ``mace`` holds for each column counts in MACE's bins, shape (bins, 2), if asked for;
    ``kernel`` counts for kernel densities, likewise. ``vectors`` are the counts of the
    scores of several numbers, and ``mace_vectors`` the occupied bins of each, if asked for.
    ``seeds`` are in use for the columns, ``vector_seeds`` for the vectors; empty where others
    counted.
    """

    columns: tuple[ScoreCounts, ...]
    n_members: int
    n_holdout: int
    mace: tuple[Ints, ...] = ()
    kernel: tuple[GridColumn | None, ...] = ()
    vectors: tuple[VectorCounts, ...] = ()
    mace_vectors: tuple[Ints, ...] = ()
    seeds: tuple[int, ...] = ()
    vector_seeds: tuple[int, ...] = ()

    def seeds_by(self, source: AuditedInput) -> dict[str | None, int]:
        """Return the seeds in use by the names of the scores of what was counted."""
        names = [source.columns[at].name for at in source.scalars]
        names += source.vectors
        return dict(sorted(zip(names, (*self.seeds, *self.vector_seeds), strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How scores are counted.

    Attributes:
        prior: p in (0, 1), the weight of the members in the cut points.
        discrete: take every score as discrete.
        mace: count in MACE's bins too, in two more passes.
        kernel: count single columns for kernel densities too, in one more pass.
    """

    prior: float = 0.5
    discrete: bool = False
    mace: bool = False
    kernel: bool = False

    def passes(self, columns: int, vectors: int) -> int:
        """Return how often rows are gone through, at most, for so many scores."""
        of_columns = 2 + 2 * self.mace + self.kernel if columns else 0
        return of_columns + (2 + vectors * self.mace if vectors else 0)


def fold_source(
    source: ScoreSource,
    start: Callable[[], SummaryT],
    *,
    workers: Workers | None,
    progress: Callable[[int], None] | None,
    change: Change | None = None,
) -> SummaryT:
    """Return the summary of an input, as `fold` does; by forks where its rows are many and near.

    Args:
        source: the opened input.
        start: makes an empty summary.
        workers: who reads; None for threads.
        progress: called with the rows of each batch.
        change: what becomes of the rows first; None for nothing.
    """
    many = source.rows_hint >= _ROWS_THAT_FORK and not source.remote
    partitions = source.partitions().then(change)
    return fold(partitions, start, workers=workers, progress=progress, forks=many)


def count_over(
    over: Over, kinds: Sequence[ScoreKind], how: How, *, seed: int, early: Plan | None = None
) -> Counts:
    """Count columns, each by itself.

    Args:
        over: goes through the rows, whose scores are the columns.
        kinds: of the columns.
        how: to count.
        seed: of the row assignment.
        early: from the first rows, for a large input.

    Raises:
        InputError: a class is empty, keys repeat, or a score taken as discrete has too many
            values.
    """
    survey = over(partial(Survey, len(kinds), seed, early))
    sample, tally = survey.sample, survey.tally
    settle_sample(sample)
    plan = plans.make_plan(sample, kinds, prior=how.prior, discrete=how.discrete, seed=seed)
    if early is None or tally is None or not plans.plan_holds(early, sample, plan):
        tally = over(partial(Tally, plan))
    columns = tally.counts()
    require_spread(columns[0])
    mace: Iterable[Ints] = ()
    grids: tuple[GridColumn | None, ...] = ()
    if how.mace:
        extent = over(partial(plans.ScoreRange, len(kinds)))
        mace = over(partial(EqualWidthCounts, extent, _MACE_BINS)).counts
    if how.kernel:
        from mipaudit.summaries.grids import GridCounts, make_grid_plans

        grid_plans = make_grid_plans(sample, plan, kinds, prior=how.prior)
        grids = over(partial(GridCounts, grid_plans, burn_in=plan.burn_in, seed=seed)).columns()
    return Counts(
        columns=columns,
        n_members=sample.members.rows,
        n_holdout=sample.holdout.rows,
        mace=tuple(mace),
        kernel=grids,
        seeds=(seed,) * len(kinds),
    )


def count_vectors_over(
    over: Over,
    vectors: Sequence[tuple[int, ...]],
    kinds: Sequence[ScoreKind],
    how: How,
    *,
    seed: int,
) -> Counts:
    """Count scores of several numbers.

    One pass samples the burn-in, on which everything is fitted and chosen; the next counts
    the derived scores of all vectors; the published estimator takes one more for each.

    Args:
        over: goes through the rows.
        vectors: of each score the places of its coordinates among the rows' columns.
        kinds: of the columns.
        how: to count.
        seed: of the row assignment and of the fits.

    Raises:
        InputError: a class is empty, keys repeat, or a vector taken as discrete has too many
            values, or occupies too many bins.
    """
    # Here, since most inputs have none.
    from mipaudit.evidence.vectors import make_vector_plan

    survey = over(partial(plans.VectorSurvey, len(kinds), seed))
    settle_sample(survey.sample)
    made = make_vector_plan(
        survey, vectors, kinds, prior=how.prior, discrete=how.discrete, seed=seed
    )
    counts = over(partial(Tally, made.plan), change=partial(_derived, made)).counts()
    require_spread(counts[0])
    bins = []
    for places in vectors if how.mace else ():
        low, high = survey.low[list(places)], survey.high[list(places)]
        bins.append(over(partial(SparseBins, places, low, high, _MACE_BINS)).counts())
    return Counts(
        columns=(),
        n_members=survey.sample.members.rows,
        n_holdout=survey.sample.holdout.rows,
        vectors=made.counted(counts, survey),
        mace_vectors=tuple(bins),
        vector_seeds=(seed,) * len(vectors),
    )


def _derived(made: VectorPlan, rows: Rows) -> Rows:
    """Return the rows with the scores that the plan makes of all coordinates."""
    return replace(rows, scores=made.derive(rows.scores))


def early_plan(
    partitions: Partitions, rows: int, kinds: Sequence[ScoreKind], how: How, *, seed: int
) -> Plan | None:
    """Return a plan from the first rows of an input of many.

    Args:
        partitions: of the input.
        rows: about how many there are.
        kinds: of the columns.
        how: to count.
        seed: of the row assignment.

    Returns:
        None for few rows, or where the first lack a class.
    """
    if plans.kept_exactly(rows, len(kinds)):
        return None
    sample, left = plans.BurnInSample(len(kinds), seed), _EARLY_ROWS
    try:
        for batch in partitions.rows():
            sample.add(batch.head(left))
            left -= batch.source_rows
            if left <= 0:
                break
    except BadPartsError:
        # The pass to come finds all of them at once.
        return None
    sample.settle()
    if not sample.members.rows or not sample.holdout.rows:
        return None
    return plans.make_plan(
        sample, kinds, prior=how.prior, discrete=how.discrete, seed=seed, early_for=rows
    )


def settle_sample(sample: plans.BurnInSample) -> None:
    """Put a sample of all rows in order.

    Raises:
        InputError: a class has no row, or keys repeat.
    """
    sample.settle()
    require_classes(sample)
    require_identities(sample)


def require_classes(sample: plans.BurnInSample) -> None:
    """Raise InputError ``empty_class`` if a class has no row."""
    if not sample.members.rows or not sample.holdout.rows:
        raise empty_class_error(members=not sample.members.rows)


def require_identities(sample: plans.BurnInSample) -> None:
    """Refuse keys that repeat: blocks would then depend on what the key stands for."""
    for one in (sample.members, sample.holdout):
        ordered = np.sort(one.ranks)
        if (ordered[1:] == ordered[:-1]).any():
            raise repeated_keys()


def require_spread(counts: ScoreCounts) -> None:
    """Refuse keys so few that they leave micro-blocks empty."""
    rows = counts.blocks.sum(axis=(1, 2))
    if rows.sum() >= _ROWS_THAT_SPREAD and np.count_nonzero(rows) < _BLOCKS_FILLED:
        raise repeated_keys()


def repeated_keys(
    hint: str = "Leave `key_col` out, or give `unit_col` where a person has several rows.",
) -> InputError:
    """Return the error for keys that do not identify rows."""
    return InputError(
        "repeated_keys", "The key column repeats its values, so it does not identify rows.", hint
    )


def require_information(counts: Counts) -> None:
    """Refuse scores that cannot show anything.

    Raises:
        InputError: every score is constant, or both classes hold the same scores.
    """
    vectors = [one for vector in counts.vectors for one in vector.learned]
    varying = [one for one in (*counts.columns, *vectors) if not constant(one)]
    still = all(len(vector.constant) == vector.width for vector in counts.vectors)
    if still and all(map(constant, counts.columns)):
        raise InputError(
            "constant_scores",
            "Every score is the same in all rows: there is nothing to audit.",
            "Name another score column with `score_col`.",
        )
    if all(identical_classes(one) for one in varying):
        raise InputError(
            "identical_classes",
            "Members and holdout hold exactly the same scores.",
            "Were the same records written to both?",
        )
