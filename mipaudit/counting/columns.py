"""From an opened input to the counts of each score column.

Two passes: one for the cut points, one for the counts. A large input is counted in
the first one already, with cut points from its first rows; the second is needed only
where those do not serve, as in a file sorted by score.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.parts import BadPartsError
from mipaudit.engine.fold import fold
from mipaudit.errors import InputError
from mipaudit.evidence.scores.findings import constant, identical_classes
from mipaudit.summaries.grids.mace_bins import EqualWidthCounts, ScoreRange
from mipaudit.summaries.plan import Plan, ScoreKind, kept_exactly, make_plan, plan_holds
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Survey, Tally

if TYPE_CHECKING:
    from mipaudit.data.parts import Partition, Partitions
    from mipaudit.data.source import AuditedInput, PiecePartition, ScoreSource
    from mipaudit.engine.run import SummaryT
    from mipaudit.engine.workers import Workers
    from mipaudit.evidence.vectors.evidence import VectorCounts
    from mipaudit.summaries.counts import ScoreCounts
    from mipaudit.summaries.grids.counts import GridColumn
    from mipaudit.summaries.rows import Rows

_MACE_BINS: Final = 100
# 200 rows leave 24 of 64 micro-blocks empty less than once in 10^15 files.
_ROWS_THAT_SPREAD: Final = 200
_BLOCKS_FILLED: Final = 40
_EARLY_ROWS: Final = 1 << 20
# Of fewer rows threads are as soon done.
_ROWS_THAT_FORK: Final = 1 << 23


class Meter:
    """Adds up the rows that several threads report."""

    def __init__(self, total: int | None, report: Callable[[int, int | None], None]) -> None:
        """Report to ``report`` the rows done of ``total``."""
        self._lock = threading.Lock()
        self._done = 0
        self._total = total
        self._report = report

    def advance(self, rows: int) -> None:
        """Add rows."""
        with self._lock:
            self._done += rows
            self._report(self._done, self._total)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """The counts of every score column, in the order of the source.

    ``mace`` holds counts in MACE's bins, shape (columns, bins, 2), if asked for;
    ``kernel`` counts for kernel densities, likewise. ``vectors`` are the counts of the
    scores of several numbers, and ``mace_vectors`` the occupied bins of each, if asked for.
    ``seeds`` are in use for the columns, ``vector_seeds`` for the vectors; empty where others
    counted.
    """

    columns: tuple[ScoreCounts, ...]
    n_members: int
    n_holdout: int
    mace: NDArray[np.int64] | None
    kernel: tuple[GridColumn | None, ...] | None = None
    vectors: tuple[VectorCounts, ...] = ()
    mace_vectors: tuple[NDArray[np.int64], ...] = ()
    seeds: tuple[int, ...] = ()
    vector_seeds: tuple[int, ...] = ()

    def seeds_by(self, source: AuditedInput) -> dict[str | None, int]:
        """Return the seeds in use by the names of the scores of what was counted."""
        names = [source.columns[at].name for at in source.scalars]
        names += [vector.name for vector in source.vectors]
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


def count(
    source: ScoreSource,
    how: How,
    *,
    seed: int,
    only: Sequence[int] | None = None,
    workers: Workers | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Counts:
    """Read the input once or twice and count its columns, each by itself.

    Args:
        source: the opened input; see `counting.scores.count_all` for one with vectors.
        how: to count.
        seed: of the row assignment.
        only: places of the columns that are counted; None for all.
        workers: who reads; None for threads.
        progress: called with (rows done, rows in all passes or None).

    Raises:
        InputError: a class is empty, or a score taken as discrete has too many values.
    """
    change = None if only is None else methodcaller("of_columns", only)
    passes = 2 + 2 * how.mace + how.kernel
    hint = source.rows_hint
    meter = None
    if progress is not None:
        meter = Meter(hint * passes, progress).advance
    columns = source.columns if only is None else [source.columns[at] for at in only]
    kinds = [column.kind for column in columns]
    early = None
    if not kept_exactly(hint, len(kinds)):
        plan_for = partial(
            make_plan, kinds=kinds, prior=how.prior, discrete=how.discrete, seed=seed
        )
        partitions = _partitions(source, change)
        early = _early_plan(partitions, len(kinds), seed, partial(plan_for, early_for=hint))
    over = partial(fold_source, source, workers=workers, progress=meter, change=change)
    return count_over(over, kinds, how, seed=seed, early=early)


def fold_source(
    source: ScoreSource,
    start: Callable[[], SummaryT],
    *,
    workers: Workers | None,
    progress: Callable[[int], None] | None,
    change: Callable[[Rows], Rows] | None = None,
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
    partitions = _partitions(source, change)
    return fold(partitions, start, workers=workers, progress=progress, forks=many)


def _partitions(
    source: ScoreSource, change: Callable[[Rows], Rows] | None
) -> Partitions[PiecePartition]:
    found = source.partitions()
    return found if change is None else found.mapped(lambda one: one.then(change))


def count_over(
    over: Callable[[Callable[[], Any]], Any],
    kinds: Sequence[ScoreKind],
    how: How,
    *,
    seed: int,
    early: Plan | None = None,
) -> Counts:
    """Count the columns of rows that can be gone through again and again.

    Args:
        over: returns the summary of all rows, given what makes an empty one.
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
    plan = make_plan(sample, kinds, prior=how.prior, discrete=how.discrete, seed=seed)
    if early is None or tally is None or not plan_holds(early, sample, plan):
        tally = over(partial(Tally, plan))
    columns = tally.counts()
    require_spread(columns[0])
    mace = _mace(over, len(kinds)) if how.mace else None
    grids = None
    if how.kernel:
        from mipaudit.summaries.grids.counts import GridCounts
        from mipaudit.summaries.grids.plan import make_grid_plans

        grid_plans = make_grid_plans(sample, plan, kinds, prior=how.prior)
        grids = over(partial(GridCounts, grid_plans, burn_in=plan.burn_in, seed=seed)).columns()
    return Counts(
        columns=columns,
        n_members=sample.members.rows,
        n_holdout=sample.holdout.rows,
        mace=mace,
        kernel=grids,
        seeds=(seed,) * len(kinds),
    )


def _early_plan(
    partitions: Partitions[Partition],
    columns: int,
    seed: int,
    plan_for: Callable[[BurnInSample], Plan],
) -> Plan | None:
    """Return a plan from the first rows, or None where they lack a class."""
    sample = BurnInSample(columns, seed)
    left = _EARLY_ROWS
    try:
        for rows in partitions.rows():
            sample.add(rows.head(left))
            left -= rows.source_rows
            if left <= 0:
                break
    except BadPartsError:
        # The pass to come finds all of them at once.
        return None
    sample.settle()
    return plan_for(sample) if min(sample.members.rows, sample.holdout.rows) else None


def settle_sample(sample: BurnInSample) -> None:
    """Put a sample of all rows in order.

    Raises:
        InputError: a class has no row, or keys repeat.
    """
    sample.settle()
    require_classes(sample)
    require_identities(sample)


def require_classes(sample: BurnInSample) -> None:
    """Raise InputError ``empty_class`` if a class has no row."""
    for rows, missing in ((sample.members.rows, "members"), (sample.holdout.rows, "holdout")):
        if rows == 0:
            raise InputError(
                "empty_class",
                f"No row is a {'member' if missing == 'members' else 'holdout record'}.",
                hint="Check `member_col`, `member_value` and `where`.",
            )


def require_identities(sample: BurnInSample) -> None:
    """Refuse keys that repeat: blocks would then depend on what the key stands for."""
    for one in (sample.members, sample.holdout):
        ordered = np.sort(one.ranks)
        if (ordered[1:] == ordered[:-1]).any():
            raise _repeated_keys()


def require_spread(counts: ScoreCounts) -> None:
    """Refuse keys so few that they leave micro-blocks empty."""
    rows = counts.blocks.sum(axis=(1, 2))
    if rows.sum() >= _ROWS_THAT_SPREAD and np.count_nonzero(rows) < _BLOCKS_FILLED:
        raise _repeated_keys()


def _repeated_keys() -> InputError:
    return InputError(
        "repeated_keys",
        "The key column repeats its values: it does not tell rows apart.",
        hint="Leave `key_col` out, or give `unit_col` where a person has several rows.",
    )


def _mace(over: Callable[..., Any], width: int) -> NDArray[np.int64]:
    extent = over(partial(ScoreRange, width))
    counts: NDArray[np.int64] = over(partial(EqualWidthCounts, extent, _MACE_BINS)).counts
    return counts


def require_information(counts: Counts) -> None:
    """Refuse scores that cannot show anything.

    Raises:
        InputError: every score is constant, or both classes hold the same scores.
    """
    if all(constant(one) for one in counts.columns) and all(
        len(vector.constant) == vector.width for vector in counts.vectors
    ):
        raise InputError(
            "constant_scores",
            "Every score is the same in all rows: there is nothing to audit.",
            hint="Name another score column with `score_col`.",
        )
    vectors = (one for vector in counts.vectors for one in vector.learned)
    varying = [one for one in (*counts.columns, *vectors) if not constant(one)]
    if all(identical_classes(one) for one in varying):
        raise InputError(
            "identical_classes",
            "Members and holdout hold exactly the same scores.",
            hint="Were the same records written to both?",
        )
