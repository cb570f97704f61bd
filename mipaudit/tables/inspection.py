"""Cheap looks at a whole input before it is audited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mipaudit.errors import InputError
from mipaudit.report.names import quoted_name
from mipaudit.tables.column import column_hashes
from mipaudit.tables.intake import Intake
from mipaudit.tables.layout import IDS_COMPARED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mipaudit.tables.source import PiecePartition, ScoreSource
    from mipaudit.tables.where import Where


def check_where(source: ScoreSource, where: Where) -> None:
    """Raise InputError ``no_rows`` when ``where`` keeps no row; stops at the first kept."""
    for partition in source.partitions():
        for chunk in partition.chunks((where.column,)):
            if where.mask(chunk.columns[where.column]).any():
                return
    raise InputError("no_rows", f"--where: no row of column {quoted_name(where.column)} matches.")


def duplicated_ids(source: ScoreSource, column: str) -> None:
    """Raise InputError ``duplicate_ids`` when a record is in both classes.

    Inputs above 4,194,304 rows are not looked at: it would take 8 bytes a row.
    """
    if not source.rows_hint or source.rows_hint > IDS_COMPARED:
        return
    sides: tuple[list[NDArray[np.uint64]], ...] = ([], [])
    for partition in source.partitions():
        _collect(partition, column, sides)
    holdout, members = (_distinct(side) for side in sides)
    both = np.intersect1d(members, holdout, assume_unique=True).size
    if both:
        raise InputError(
            "duplicate_ids",
            f"{both} values of column {quoted_name(column)} occur in both classes; "
            "a record is either a member or holdout.",
            hint="Remove the duplicates, or the column if it does not name records.",
        )


def _distinct(ids: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    # numpy's unique hashes integers, which takes ten times as long as sorting them.
    ordered = np.sort(np.concatenate(ids))
    new = np.ones(ordered.size, dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    distinct: NDArray[np.uint64] = ordered[new]
    return distinct


def _collect(
    partition: PiecePartition, column: str, sides: tuple[list[NDArray[np.uint64]], ...]
) -> None:
    """Add the hashed ids of a partition's rows to those of their class."""
    assembly = replace(partition.assembly, scores=(), key=None)
    for chunk in partition.chunks({*assembly.columns, column}):
        rows = assembly.rows(chunk, Intake())
        hashes = column_hashes(chunk.columns[column])
        present = np.ones(chunk.rows, dtype=np.bool_)
        if hashes.missing is not None:
            present = ~hashes.missing
        ids, known = hashes.values, present
        if rows.kept is not None:
            ids, known = ids[rows.kept], known[rows.kept]
        sides[0].append(ids[known & ~rows.member])
        sides[1].append(ids[known & rows.member])
