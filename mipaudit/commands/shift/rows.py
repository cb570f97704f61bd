"""The rows that are compared, in an order and with a seed of their own.

What a row is, and so whether it only trains, follows from what it holds and not from where it
stands. Who orders the rows of a file chooses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.counting.kept_rows import RowsInMemory
from mipaudit.counting.large_seed import costs_a_pass, position_seed, rows_in_order
from mipaudit.engine.fold import fold
from mipaudit.summaries.held_rows import HeldRows, one_of_each
from mipaudit.summaries.identity.content import ContentColumn, canonical_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mipaudit.commands.shift.options import ShiftOptions
    from mipaudit.data.parts import Partition
    from mipaudit.data.records.features import FeatureSource
    from mipaudit.engine.workers import Workers
    from mipaudit.statements.estimate import Finding
    from mipaudit.summaries.identity.seed import SeedChoice
    from mipaudit.summaries.rows import Rows

_ROWS_AT_ONCE: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShiftRows:
    """What is compared.

    Attributes:
        partitions: the rows, one for each person and class where there are persons.
        seed: in use for them.
        choice: of the seed, as it is recorded.
        dropped: rows that stand for nobody.
        findings: on the seed.
    """

    partitions: Sequence[Partition]
    seed: int
    choice: SeedChoice
    dropped: int
    findings: tuple[Finding, ...] = ()


def shift_rows(
    source: FeatureSource,
    asked: ShiftOptions,
    *,
    workers: Workers,
    progress: Callable[[int], None] | None,
) -> ShiftRows:
    """Return the rows of the tables with the seed that they decide.

    Args:
        source: opened, no person's row chosen.
        asked: which seed, and whether every row of a large input is to be hashed, whatever it
            costs.
        workers: who reads.
        progress: called with numbers of rows.

    Raises:
        InputError: rows that cannot be compared.
    """
    if not source.held:
        return _in_place(source, asked)
    held = fold(source.partitions, HeldRows, workers=workers, progress=progress).joined()
    assert held is not None  # noqa: S101 - neither table is empty
    rows = _plain(held)
    columns = [
        # Words of the bits tell all values and the missing apart, whatever a column holds.
        ContentColumn(name=column.name, values=values.view(np.uint64), labels=True)
        for column, values in zip(source.columns, rows.scores, strict=True)
    ]
    persons = rows.keys is not None
    found = canonical_order(columns, rows.member, rows.keys, units=persons)
    choice = asked.chosen_seed
    seed = choice.in_use(found.content)
    rows = rows.reordered(found.order)
    every = rows.member.size
    if persons:
        rows = one_of_each(rows, seed)
    parts = [
        RowsInMemory(rows=rows.between(start, start + _ROWS_AT_ONCE))
        for start in range(0, rows.source_rows, _ROWS_AT_ONCE)
    ]
    return ShiftRows(partitions=parts, seed=seed, choice=choice, dropped=every - rows.member.size)


def _in_place(source: FeatureSource, asked: ShiftOptions) -> ShiftRows:
    """Return rows that are too many to keep: their positions tell them apart."""
    content = None
    if not costs_a_pass(source.opened.described(hash_all=asked.hash_inputs)):
        names = [column.name for column in source.columns]
        content = rows_in_order([(names, map(_plain, source.batches()))])
    choice, seed, findings = position_seed(asked.chosen_seed, content)
    dropped = 0
    if source.id_column is not None:
        chosen = source.choose(seed)
        dropped = chosen.dropped_members + chosen.dropped_holdout
    return ShiftRows(
        partitions=source.partitions, seed=seed, choice=choice, dropped=dropped, findings=findings
    )


def _plain(rows: Rows) -> Rows:
    """Return rows with one kind of zero and of NaN."""
    return replace(rows, scores=tuple(map(_one_zero, rows.scores)))


def _one_zero(column: NDArray[np.float64]) -> NDArray[np.float64]:
    values = column + 0.0
    values[np.isnan(values)] = np.nan
    return values
