"""From an opened input to the counts of each score column, in two passes."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.engine.fold import default_jobs, fold
from mipaudit.errors import InputError, UsageError
from mipaudit.summaries.histogram import EqualWidthCounts, ScoreRange
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.api.terms import Terms
    from mipaudit.summaries.tally import ColumnCounts
    from mipaudit.tables.source import Partition, ScoreSource

_MACE_BINS: Final = 100


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

    ``mace`` holds counts in MACE's bins, shape (columns, bins, 2), if asked for.
    """

    columns: tuple[ColumnCounts, ...]
    n_members: int
    n_holdout: int
    mace: NDArray[np.int64] | None


def count(
    source: ScoreSource,
    terms: Terms,
    *,
    jobs: int | None,
    progress: Callable[[int, int | None], None] | None,
) -> Counts:
    """Read the input twice: for the cut points, then for the counts.

    Raises:
        InputError: a class is empty, or a score taken as discrete has too many values.
    """
    partitions = source.partitions()
    threads = default_jobs() if jobs is None else jobs
    if threads < 1:
        raise UsageError("jobs", "The number of jobs must be at least 1.")
    passes = 4 if terms.method == "mace" else 2
    hint = source.rows_hint
    meter = None
    if progress is not None:
        meter = Meter(None if hint is None else hint * passes, progress).advance
    width = len(source.columns)
    sample = fold(partitions, lambda: BurnInSample(width, terms.seed), jobs=threads, progress=meter)
    sample.settle()
    _require_classes(sample)
    n_members, n_holdout = sample.members.rows, sample.holdout.rows
    plan = make_plan(
        sample,
        [column.kind for column in source.columns],
        prior=terms.prior,
        discrete=terms.discrete,
        seed=terms.seed,
    )
    tally = fold(partitions, lambda: Tally(plan), jobs=threads, progress=meter)
    mace = _mace(partitions, width, threads, meter) if terms.method == "mace" else None
    return Counts(columns=tally.counts(), n_members=n_members, n_holdout=n_holdout, mace=mace)


def _require_classes(sample: BurnInSample) -> None:
    for rows, missing in ((sample.members.rows, "members"), (sample.holdout.rows, "holdout")):
        if rows == 0:
            raise InputError(
                "empty_class",
                f"No row is a {'member' if missing == 'members' else 'holdout record'}.",
                hint="Check --member-col, --member-value and --where.",
            )


def _mace(
    partitions: Sequence[Partition],
    width: int,
    jobs: int,
    meter: Callable[[int], None] | None,
) -> NDArray[np.int64]:
    extent = fold(partitions, lambda: ScoreRange(width), jobs=jobs, progress=meter)
    tally = fold(
        partitions, lambda: EqualWidthCounts(extent, _MACE_BINS), jobs=jobs, progress=meter
    )
    return tally.counts
