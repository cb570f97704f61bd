"""From rows that are kept to counts of scores, and of groups, whatever order they came in.

Every score is counted in its own canonical order with a seed of its own, both of which
follow from it, and from its groups, alone: a column more or less beside it changes none of its
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.counting.columns import Counts, How, Meter, count_over, count_vectors_over
from mipaudit.engine.fold import fold
from mipaudit.summaries.held_rows import HeldRows, one_of_each
from mipaudit.summaries.identity.content import ContentColumn, canonical_order, canonical_rows
from mipaudit.summaries.plan import kept_exactly
from mipaudit.summaries.rows import Rows

if TYPE_CHECKING:
    from mipaudit.data.rows.intake import Intake
    from mipaudit.data.source import ScoreSource
    from mipaudit.engine.run import SummaryT
    from mipaudit.engine.workers import Workers
    from mipaudit.summaries.identity.seed import SeedChoice


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeptInput:
    """Every row of an input in memory, in any order; of many rows each is known by its place.

    Attributes:
        rows: as one batch.
        source: that was read.
    """

    rows: Rows
    source: ScoreSource

    def in_order(self, places: Sequence[int], choice: SeedChoice) -> OrderedRows:
        """Return the rows of one statement, which some of the columns enter together.

        Args:
            places: of those columns, which need not stand in the order of their names.
            choice: of the seed.
        """
        rows, columns = self.rows, self.source.columns
        if not kept_exactly(self.source.rows_hint, 1):
            return OrderedRows(rows=rows.of_columns(places), seed=self.source.position_seed)
        entering = [
            ContentColumn(
                name=columns[at].name,
                values=rows.scores[at],
                labels=columns[at].kind == "string",
            )
            for at in places
        ]
        found, content = canonical_rows(entering, rows.member, rows.keys, units=self._units)
        return self._standing(found, choice.in_use(content))

    def with_groups(self, at: int, choice: SeedChoice) -> OrderedRows:
        """Return the rows of one column for a statement on groups, which were read.

        Rows of one score are exchangeable only within their group: who could say which of them
        bears which group's name would choose the group's rows that train.

        Args:
            at: place of the column.
            choice: of the seed.
        """
        rows, labels = self.rows, self.source.columns[at].kind == "string"
        assert rows.groups is not None  # noqa: S101 - the caller looked
        entering = [
            ContentColumn(name="1 score", values=rows.scores[at], labels=labels),
            ContentColumn(name="2 group", values=rows.groups, labels=True),
        ]
        found = canonical_order(entering, rows.member, rows.keys, units=self._units)
        ordered = rows.of_columns([at]).reordered(found.order)
        return self._standing(ordered, choice.in_use(found.content))

    @property
    def _units(self) -> bool:
        """Whether the keys are persons, who may have several rows."""
        return self.source.unit_seed is not None

    def _standing(self, rows: Rows, seed: int) -> OrderedRows:
        """Return one row for each person, and tell the source how many stand for nobody."""
        if not self._units:
            return OrderedRows(rows=rows, seed=seed)
        standing = one_of_each(rows, seed)
        members, holdout = (
            int(np.count_nonzero(rows.member == side) - np.count_nonzero(standing.member == side))
            for side in (True, False)
        )
        self.source.unit_rows_dropped = members, holdout
        return OrderedRows(rows=standing, seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedRows:
    """The rows of one statement in their canonical order.

    Attributes:
        rows: as one batch; a row's position is its place in the order.
        seed: in use for them.
    """

    rows: Rows
    seed: int

    def over(
        self, start: Callable[[], SummaryT], *, change: Callable[[Rows], Rows] | None = None
    ) -> SummaryT:
        """Return the summary of all rows, changed first where they are to be."""
        summary = start()
        summary.add(self.rows if change is None else change(self.rows))
        return summary


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowsInMemory:
    """Rows in memory as one partition."""

    rows: Rows

    @property
    def stays(self) -> bool:
        """They are in this process."""
        return True

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows as one batch; what was left out of them is known already."""
        del intake
        yield self.rows


def hold_input(
    source: ScoreSource,
    *,
    workers: Workers | None,
    progress: Callable[[int, int | None], None] | None,
    only: frozenset[int] | None = None,
) -> KeptInput:
    """Read an input into memory, in one pass and however many columns it has.

    Args:
        source: the opened input.
        workers: who reads; None for threads.
        progress: called with (rows done, rows in all or None).
        only: places of the columns whose scores are kept, the others are empty; None for all.

    Raises:
        InputError: rows that cannot be audited.
    """
    meter = None if progress is None else Meter(source.rows_hint, progress).advance
    rows = source.every_row() if kept_exactly(source.rows_hint, 1) else source.partitions()
    if only is not None:
        change = partial(_with_only, places=only)
        rows = rows.mapped(lambda one: one.then(change))
    held = fold(rows, HeldRows, workers=workers, progress=meter).joined()
    if held is None:
        held = Rows(
            first_row=0,
            source_rows=0,
            kept=None,
            keys=None,
            member=np.empty(0, dtype=bool),
            scores=(np.empty(0),) * len(source.columns),
        )
    return KeptInput(rows=held, source=source)


def _with_only(rows: Rows, *, places: frozenset[int]) -> Rows:
    """Return rows without the scores of other columns, whose places stay."""
    scores = (one if at in places else one[:0] for at, one in enumerate(rows.scores))
    return replace(rows, scores=tuple(scores))


def count_kept(
    kept: KeptInput, choice: SeedChoice, how: How, scores: Sequence[tuple[int, ...]]
) -> Counts:
    """Return the counts of some scores.

    Args:
        kept: the rows.
        choice: of the seed.
        how: to count.
        scores: of each the places of its columns: one, or those of a vector.

    Raises:
        InputError: a class is empty, keys repeat, or a score taken as discrete has too many
            values.
    """
    found = []
    for places in scores:
        ordered = kept.in_order(places, choice)
        kinds, seed = [kept.source.columns[at].kind for at in places], ordered.seed
        if len(places) == 1:
            found.append(count_over(ordered.over, kinds, how, seed=seed))
        else:
            own = tuple(range(len(places)))
            found.append(count_vectors_over(ordered.over, [own], kinds, how, seed=seed))
    return joined_counts(found)


def joined_counts(parts: Sequence[Counts]) -> Counts:
    """Return the counts of some scores and of others of the same rows, in order."""
    if len(parts) == 1:
        return parts[0]
    tables = [one.mace for one in parts if one.mace is not None]
    grids = [one.kernel for one in parts if one.kernel is not None]
    return Counts(
        columns=tuple(column for one in parts for column in one.columns),
        n_members=parts[0].n_members,
        n_holdout=parts[0].n_holdout,
        mace=np.concatenate(tables) if tables else None,
        kernel=tuple(grid for one in grids for grid in one) if grids else None,
        vectors=tuple(vector for one in parts for vector in one.vectors),
        mace_vectors=tuple(bins for one in parts for bins in one.mace_vectors),
        seeds=tuple(seed for one in parts for seed in one.seeds),
        vector_seeds=tuple(seed for one in parts for seed in one.vector_seeds),
    )
