"""From an opened input to the counts of its cells and groups, in two passes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.records.cells import RecordCells, RecordTally, cut_cells
from mipaudit.commands.records.groups import GroupCounts, choose_groups, words_of
from mipaudit.commands.records.options import RecordTableOptions
from mipaudit.commands.records.risk import RecordRisks
from mipaudit.counting.counts import Meter, settle_sample
from mipaudit.counting.scores import KeptInput, OrderedRows
from mipaudit.data.parts import ScoreColumn
from mipaudit.data.rows.units import Chosen
from mipaudit.data.source import Partitions, ScoreSource
from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Workers
from mipaudit.errors import InputError, UsageError
from mipaudit.model.row import Row
from mipaudit.statements.text.printable_names import quoted_name
from mipaudit.summaries.content import ContentColumn, canonical_order
from mipaudit.summaries.plan import BurnInSample, Plan, ScoreKind, kept_exactly, make_plan
from mipaudit.summaries.rows import HeldRows, Rows, one_of_each
from mipaudit.summaries.tally import GroupCensus, Grouping, Tally


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordCounts:
    """The cells of a score, their counts of shape (m, 2, 2), and the groups if asked for."""

    column: ScoreColumn
    cells: RecordCells
    counts: NDArray[np.int64]
    n_members: int
    n_holdout: int
    groups: GroupCounts | None

    def seeds(self) -> dict[str | None, int]:
        """Return the seeds in use: of the score's cells, and of its groups."""
        found: dict[str | None, int] = {self.column.name: self.cells.seed}
        if self.groups is not None:
            found[f"{self.column.name} by group"] = self.groups.seed
        return found

    def risks(self, asked: RecordTableOptions, confidence: float) -> RecordRisks:
        """Return what the counts show of every cell."""
        return RecordRisks(
            counts=self.counts,
            single=self.cells.single,
            prior=asked.prior,
            confidence=confidence,
            tau=asked.tau,
            rate=asked.fdr,
            population=asked.member_population,
            limit=asked.least_risk,
        )

    def of_groups(self, prior: float, confidence: float) -> list[Row]:
        """Return what they show of every group."""
        groups = self.groups
        return [] if groups is None else groups.estimates(self.column, prior, confidence)


def count_records(
    source: ScoreSource,
    asked: RecordTableOptions,
    *,
    workers: Workers | None,
    meter: Callable[[int], None] | None,
) -> RecordCounts:
    """Read the input twice and count.

    Raises:
        UsageError: several scores, no thread, or too many groups.
        InputError: a class is empty, keys repeat, groups are too small, or the population
            is smaller than the members.
    """
    require_one_score(source)
    kept = _kept(source, workers, meter)
    if kept is not None:
        return _count_kept(source, kept, asked)
    return _count_by_position(source, asked, workers=workers, meter=meter)


def _kept(
    source: ScoreSource, workers: Workers | None, meter: Callable[[int], None] | None
) -> KeptInput | None:
    """Read the input into memory; None for one that is too large.

    Raises:
        InputError: rows that cannot be audited, or a class without rows.
    """
    if not kept_exactly(source.rows_hint, 1):
        return None
    rows = fold(unnamed(source.every_row()), HeldRows, workers=workers, progress=meter).joined()
    source.check_classes()
    assert rows is not None  # noqa: S101 - neither class is empty
    return KeptInput(rows=rows, source=source)


def _count_kept(source: ScoreSource, kept: KeptInput, asked: RecordTableOptions) -> RecordCounts:
    """Count rows in memory, whatever their order.

    The cells and the groups are statements of their own, each with the order and the seed
    that follow from what enters it: groups beside the score change no record's risk.
    """
    ordered = kept.in_order([0], asked.chosen_seed)
    if source.unit_seed is not None:
        source.stand_for(_standing(kept, asked))
    sample = ordered.over(partial(BurnInSample, 1, ordered.seed))
    cells = _cells(sample, source.columns[0].kind, asked, ordered.seed)
    grouped = None
    if kept.rows.groups is not None:
        grouped = _count_groups(source, kept.with_groups(0, asked.chosen_seed), asked)
    return RecordCounts(
        column=source.columns[0],
        cells=cells,
        counts=ordered.over(partial(RecordTally, cells)).counts,
        n_members=sample.members.rows,
        n_holdout=sample.holdout.rows,
        groups=grouped,
    )


def _standing(kept: KeptInput, asked: RecordTableOptions) -> Chosen:
    """Return the rows that stand for persons where the risks of records are counted."""
    at = kept.rows.positions()
    rows = replace(kept.rows, scores=(*kept.rows.scores, at.astype(np.float64)))
    column = kept.source.columns[0]
    name, labels = column.name, column.kind == "string"
    found = canonical_order(
        [ContentColumn(name=name, values=rows.scores[0], labels=labels)],
        rows.member,
        rows.keys,
        units=True,
    )
    chosen = one_of_each(rows.reordered(found.order), asked.chosen_seed.in_use(found.content))
    dropped = kept.source.unit_rows_dropped
    return Chosen(
        positions=np.sort(chosen.scores[1].astype(np.int64)),
        dropped_members=dropped[0],
        dropped_holdout=dropped[1],
    )


def _count_groups(
    source: ScoreSource, ordered: OrderedRows, asked: RecordTableOptions
) -> GroupCounts:
    kind = source.columns[0].kind
    sizes, words = ordered.over(GroupCensus).sizes, words_of(source)
    chosen = choose_groups(sizes, words, asked, in_memory=True)
    sample = ordered.over(partial(BurnInSample, 1, ordered.seed))
    sample.settle()
    plan = make_plan(sample, [kind], prior=asked.prior, discrete=asked.discrete, seed=ordered.seed)
    tally = ordered.over(partial(Tally, plan, chosen.grouping))
    return replace(chosen, counts=tally.counts(), seed=ordered.seed)


def _count_by_position(
    source: ScoreSource,
    asked: RecordTableOptions,
    *,
    workers: Workers | None,
    meter: Callable[[int], None] | None,
) -> RecordCounts:
    """Read an input that is too large to keep twice, and count."""
    partitions = unnamed(source.partitions())
    seed = source.position_seed
    over = partial(fold, partitions, workers=workers, progress=meter)
    survey = over(partial(RecordSurvey, seed, grouped=source.groups is not None))
    sample = survey.sample
    kind = source.columns[0].kind
    cells = _cells(sample, kind, asked, seed)
    chosen = plan = None
    if survey.census is not None:
        words = words_of(source)
        chosen = choose_groups(survey.census.sizes, words, asked, in_memory=False)
        plan = make_plan(sample, [kind], prior=asked.prior, discrete=asked.discrete, seed=seed)
    tally = over(partial(RecordCount, cells, plan, None if chosen is None else chosen.grouping))
    return RecordCounts(
        column=source.columns[0],
        cells=cells,
        counts=tally.cells.counts,
        n_members=sample.members.rows,
        n_holdout=sample.holdout.rows,
        groups=None
        if chosen is None or tally.groups is None
        else replace(chosen, counts=tally.groups.counts(), seed=seed),
    )


def _cells(
    sample: BurnInSample, kind: ScoreKind, asked: RecordTableOptions, seed: int
) -> RecordCells:
    """Return the cells that the burn-in calls for, which the sample then holds in order.

    Raises:
        InputError: a class is empty, keys repeat, or the population is too small.
    """
    settle_sample(sample)
    _check_population(asked, sample)
    return cut_cells(
        sample, kind, seed=seed, discrete=asked.discrete, cells=asked.cells, least=asked.min_cell
    )


def record_meter(
    source: ScoreSource, passes: int, progress: Callable[[int, int | None], None] | None
) -> Callable[[int], None] | None:
    """Return what counts the rows of all passes for the progress bar."""
    if progress is None:
        return None
    return Meter(source.rows_hint * passes, progress).advance


def unnamed(partitions: Partitions) -> Partitions:
    """Return the partitions without the values of the key column: no count needs them."""
    return partitions.mapped(partial(replace, named=False))


def require_one_score(source: ScoreSource) -> None:
    """Raise UsageError ``several_scores`` unless the input has a single score column."""
    if len(source.columns) == 1:
        return
    names = ", ".join(quoted_name(column.name) for column in source.columns)
    raise UsageError(
        "several_scores",
        f"The risk of a record is that of one score, and there are several: {names}.",
        hint="Choose one with `score_col`.",
    )


def _check_population(asked: RecordTableOptions, sample: BurnInSample) -> None:
    members = sample.members.rows
    if asked.member_population is not None and asked.member_population < members:
        raise InputError(
            "population_too_small",
            f"There are {members:,} members, more than the training records that "
            "`member_population` says they were drawn from.",
            hint="Give the number of all training records.",
        )


class RecordSurvey:
    """Pass one: a burn-in sample of one score, and the sizes of the groups."""

    __slots__ = ("census", "sample")

    def __init__(self, seed: int, *, grouped: bool) -> None:
        """Start empty."""
        self.sample = BurnInSample(1, seed)
        self.census = GroupCensus() if grouped else None

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        self.sample.add(rows)
        if self.census is not None:
            self.census.add(rows)

    def merge(self, other: Self) -> None:
        """Take in the survey of another part."""
        self.sample.merge(other.sample)
        if self.census is not None and other.census is not None:
            self.census.merge(other.census)


class RecordCount:
    """Pass two: counts of the cells, and of the groups."""

    __slots__ = ("cells", "groups")

    def __init__(self, cells: RecordCells, plan: Plan | None, grouping: Grouping | None) -> None:
        """Start empty; a plan and a grouping go together."""
        self.cells = RecordTally(cells)
        self.groups = None if plan is None or grouping is None else Tally(plan, grouping)

    def add(self, rows: Rows) -> None:
        """Count a batch."""
        self.cells.add(rows)
        if self.groups is not None:
            self.groups.add(rows)

    def merge(self, other: Self) -> None:
        """Add the counts of another part."""
        self.cells.merge(other.cells)
        if self.groups is not None and other.groups is not None:
            self.groups.merge(other.groups)
