"""From rows to queries that can be compared: the passes over them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from mipaudit.commands.compare.queries.pairs import Cohort, Meeting, same_rows
from mipaudit.commands.compare.queries.rows import MOST_TOGETHER
from mipaudit.counting.columns import (
    Counts,
    require_classes,
    require_identities,
    require_information,
)
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Workers
from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.evidence.scores.findings import constant
from mipaudit.reading.source.part import Partition
from mipaudit.summaries.challenger_counts import (
    GridTally,
    MeetingTally,
    ValueSet,
    cells_at_once,
    score_cells,
)
from mipaudit.summaries.plan import ScoreKind, make_plan
from mipaudit.summaries.sample import BurnInSample
from mipaudit.summaries.tally import Tally

_CLASSES: Final = 5
_BLOCKS: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Score columns of the same rows.

    Attributes:
        names: of the queries.
        kinds: of the columns.
        first: number of the first of them among all queries.
        partitions: their rows.
    """

    names: tuple[str, ...]
    kinds: tuple[ScoreKind, ...]
    first: int
    partitions: Sequence[Partition]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes:
    """How the rows are read: what every pass needs.

    Attributes:
        prior: p in (0, 1).
        discrete: take every score as discrete.
        workers: who reads; threads of this process.
        progress: called with the number of rows of each batch.
    """

    prior: float
    discrete: bool
    workers: Workers
    progress: Callable[[int], None] | None


def count_cohort(
    columns: Columns, pairs: Sequence[tuple[int, int]], passes: Passes, seed: int
) -> tuple[Cohort, tuple[Evidence, ...]]:
    """Return the queries of one set of rows, counted, and how they met.

    Args:
        columns: of the rows.
        pairs: the pairs to compare, by number among these columns.
        passes: how to read.
        seed: of the row assignment.

    Raises:
        InputError: a class is empty or keys repeat.
    """
    many = len(columns.names)
    over = partial(fold, columns.partitions, workers=passes.workers, progress=passes.progress)
    sample = over(lambda: BurnInSample(many, seed))
    sample.settle()
    require_classes(sample)
    require_identities(sample)
    plan = make_plan(sample, columns.kinds, prior=passes.prior, discrete=passes.discrete, seed=seed)
    tally = over(lambda: Tally(plan))
    counts = tally.counts()
    evidence = tuple(
        Evidence(score=name, counts=one, prior=passes.prior, seed=seed, ordered=kind != "string")
        for name, one, kind in zip(columns.names, counts, columns.kinds, strict=True)
    )
    queries = tuple(range(columns.first, columns.first + many))
    if not pairs:
        return Cohort(queries=queries, met=None, meetings=()), evidence
    values = None
    count = cells_at_once(2 * len(pairs) * _CLASSES, _BLOCKS)
    if sample.members.rows + sample.holdout.rows <= count:
        values = over(lambda: ValueSet(many)).values()
    scores = [
        score_cells(
            plan.columns[index].cells,
            sample,
            index,
            burn_in=plan.burn_in,
            prior=passes.prior,
            count=count,
            values=None if values is None else values[index],
        )
        for index in range(many)
    ]
    together = _seen_together(pairs, counts_constant=[constant(one) for one in counts])
    grids = over(lambda: GridTally(scores, together, seed)).counts if together else ()
    met = same_rows(
        evidence,
        scores,
        pairs=pairs,
        grids=dict(zip(together, grids, strict=True)),
        seed=seed,
    )
    meetings: list[Meeting] = []
    for part in met.plan.parts():
        found = over(MeetingTally(part).shared)
        meetings += met.meetings(part, found.counts)
    return Cohort(queries=queries, met=met, meetings=meetings), evidence


def require_comparable(evidence: Sequence[Evidence]) -> None:
    """Refuse queries of which none can show anything; one that leaks nothing is compared.

    Args:
        evidence: of every query.

    Raises:
        InputError: every score is constant, or both classes hold the same scores in all.
    """
    columns = tuple(one.counts for one in evidence)
    everyone = columns[0].everyone
    require_information(
        Counts(
            columns=columns,
            n_members=everyone.n_members,
            n_holdout=everyone.n_holdout,
            mace=None,
        )
    )


def _seen_together(
    pairs: Sequence[tuple[int, int]], *, counts_constant: Sequence[bool]
) -> list[tuple[int, int]]:
    """Return the pairs that are looked at together: all, unless they are many."""
    found = [pair for pair in pairs if not any(counts_constant[one] for one in pair)]
    return found if len(found) <= MOST_TOGETHER else []
