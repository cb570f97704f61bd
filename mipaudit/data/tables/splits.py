"""Released vectors: a row for each random split, or pairs with one record swapped for another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.parts import other_hints
from mipaudit.data.tables.coordinates import LEAVE_OUT, Coordinates, read_coordinates
from mipaudit.data.tables.table import (
    AnyTable,
    Table,
    array_table,
    describe_unchanged,
    only_blob,
    open_table,
)
from mipaudit.errors import InputError
from mipaudit.statements.sources import InputFile
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from mipaudit.reading.columns.column import Hashes

# What messages call splits that are in memory.
_IN_MEMORY: Final = "the splits"
PAIR_COLUMN: Final = "pair_id"
SIDE_COLUMN: Final = "side"
RECORD_COLUMN: Final = "record"
_SIDES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Splits:
    """The vectors that one algorithm released over B random splits.

    Attributes:
        columns: the d names of the coordinates; c0, c1 and so on when not ``named``.
        values: shape (B, d), finite; in either memory order.
        named: whether the file names its columns.
        skipped: columns that were passed over: they name the rows, or were to be ignored.
        source: the file, with its rows and its hash.
    """

    columns: tuple[str, ...]
    values: NDArray[np.float64]
    named: bool
    skipped: tuple[str, ...]
    source: InputFile


def read_splits(path: str, *, columns: Sequence[str] = (), ignore: Sequence[str] = ()) -> Splits:
    """Read one vector per row from CSV, Parquet, ``.npy`` or JSON.

    CSV may be compressed (gzip, zstd), and have no header if it holds only numbers. A Parquet
    column of lists is a vector; JSON is a list of lists or of objects. Booleans count
    as 0 and 1.

    Args:
        path: a file, or ``-`` for standard input.
        columns: the coordinates by name; by default all columns but row labels.
        ignore: columns that are left out.

    Raises:
        UsageError: an empty or remote path, or a column with two roles.
        InputError: there is no such table, or a cell of it is not a finite number.
    """
    blob = only_blob(path)
    try:
        with other_hints({"unparsable": LEAVE_OUT}):
            table = open_table(blob)
            found = read_coordinates(table, blob.name, columns=columns, ignore=ignore)
        return _splits(found, table, describe_unchanged(blob, len(found.values)))
    finally:
        blob.close()


def splits_of(data: object, *, columns: Sequence[str] = (), ignore: Sequence[str] = ()) -> Splits:
    """Return vectors that are in memory, one per row.

    Args:
        data: an array of shape (B, d), masked values being missing; or a pandas or polars
            frame, or an Arrow table.
        columns: the coordinates by name; by default all columns but row labels.
        ignore: columns that are left out.

    Raises:
        UsageError: a column with two roles.
        InputError: ``bad_array``, or as ``read_splits``.
    """
    table = _table_of(data)
    found = read_coordinates(table, _IN_MEMORY, columns=columns, ignore=ignore)
    return _splits(found, table, InputFile(name=_IN_MEMORY, rows=len(found.values), bytes=None))


def _splits(found: Coordinates, table: AnyTable, source: InputFile) -> Splits:
    return Splits(
        columns=found.columns,
        values=found.values,
        named=table.named,
        skipped=found.skipped,
        source=source,
    )


def _table_of(data: object) -> AnyTable:
    if hasattr(data, "__arrow_c_stream__"):
        from mipaudit.data.memory import open_arrow

        return Table(part=open_arrow(data, _IN_MEMORY))
    try:
        array = np.asanyarray(data)
    except (TypeError, ValueError):
        raise _bad_array("they differ in length") from None
    if array.dtype.kind not in "biuf":
        raise _bad_array("they hold something else than numbers")
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    return array_table(np.asarray(array), _IN_MEMORY)


def _bad_array(why: str) -> InputError:
    return InputError("bad_array", f"The splits are no array of numbers: {why}.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """The vectors of P pairs, in the order in which the pairs first appear.

    Attributes:
        columns: the d names of the coordinates.
        one: shape (P, d), finite: the side that the first row is on.
        other: shape (P, d), finite: the other side.
        records: which record was swapped, as codes 0, 1, ... by first appearance,
            shape (P,); None without a column ``record``.
        named: whether the file names its columns, which is always so.
        skipped: columns that were passed over.
        source: the file, with its rows and its hash.
    """

    columns: tuple[str, ...]
    one: NDArray[np.float64]
    other: NDArray[np.float64]
    records: NDArray[np.intp] | None
    named: bool
    skipped: tuple[str, ...]
    source: InputFile


def read_pairs(path: str, *, columns: Sequence[str] = (), ignore: Sequence[str] = ()) -> Pairs:
    """Read pairs of vectors, formats as for ``read_splits``.

    The columns ``pair_id`` and ``side`` say which two rows belong together; every pair
    has exactly one row on each of two sides. ``record`` is optional.

    Args:
        path: a file, or ``-`` for standard input.
        columns: the coordinates by name; by default all columns but row labels.
        ignore: columns that are left out.

    Raises:
        UsageError: as ``read_splits``.
        InputError: as ``read_splits``; ``no_pair_columns``, ``missing_labels``,
            ``many_sides``, ``incomplete_pairs`` or ``record_differs``.
    """
    blob = only_blob(path)
    try:
        with other_hints({"unparsable": LEAVE_OUT}):
            table = open_table(blob)
            if not isinstance(table, Table) or not table.named:
                raise _no_pairs(blob.name, PAIR_COLUMN)
            roles = _roles(table, blob.name)
            labels = table.keys(tuple(roles.values()))
            one, other, records = _match(
                {role: labels[name] for role, name in roles.items()}, blob.name
            )
            found = read_coordinates(
                table, blob.name, columns=columns, ignore=ignore, reserved=roles.values()
            )
        return Pairs(
            columns=found.columns,
            one=found.values[one],
            other=found.values[other],
            records=records,
            named=table.named,
            skipped=found.skipped,
            source=describe_unchanged(blob, len(found.values)),
        )
    finally:
        blob.close()


def _no_pairs(source: str, absent: str) -> InputError:
    return InputError(
        "no_pair_columns",
        f"{source}: there is no column {quoted_name(absent)}.",
        hint="Pairs need the columns pair_id and side beside the coordinates.",
    )


def _roles(table: Table, source: str) -> dict[str, str]:
    """Return the columns by role; their names may be written in any case."""
    folded = {field.name.strip().casefold(): field.name for field in reversed(table.fields)}
    wanted = (PAIR_COLUMN, SIDE_COLUMN, RECORD_COLUMN)
    roles = {role: folded[role] for role in wanted if role in folded}
    absent = [role for role in (PAIR_COLUMN, SIDE_COLUMN) if role not in roles]
    if absent:
        raise _no_pairs(source, absent[0])
    for name in roles.values():
        unreadable = name in table.lists or any(
            field.name == name and field.kind == "other" for field in table.fields
        )
        if unreadable:
            raise InputError(
                "unreadable_column",
                f"{source}: column {quoted_name(name)} holds neither numbers nor text.",
            )
    return roles


def _match(
    labels: Mapping[str, Hashes], source: str
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp] | None]:
    """Return the row of each pair on each side, and its record."""
    for role, column in labels.items():
        _refuse_missing(role, column, source)
    sides = _codes(labels[SIDE_COLUMN].values)
    count = int(sides.max()) + 1
    if count != _SIDES:
        raise InputError(
            "many_sides",
            f"{source}: column 'side' has {count} different labels; two are expected.",
        )
    pairs = _codes(labels[PAIR_COLUMN].values)
    total = int(pairs.max()) + 1
    cells = np.bincount(_SIDES * pairs + sides, minlength=_SIDES * total).reshape(total, _SIDES)
    wrong = int(np.count_nonzero((cells != 1).any(axis=1)))
    if wrong:
        raise InputError(
            "incomplete_pairs",
            f"{source}: {wrong} of {total} pairs have not exactly one row on each side.",
        )
    # Every pair is once on each side, so sorting by pair lines the sides up.
    rows = np.lexsort((sides, pairs)).reshape(total, _SIDES)
    one, other = rows[:, 0], rows[:, 1]
    records = labels.get(RECORD_COLUMN)
    named = None if records is None else _records(records.values, one, other, source)
    return one, other, named


def _refuse_missing(role: str, column: Hashes, source: str) -> None:
    if column.missing is None or not column.missing.any():
        return
    count = int(np.count_nonzero(column.missing))
    first = int(np.argmax(column.missing)) + 1
    raise InputError(
        "missing_labels",
        f"{source}: column {quoted_name(role)} is empty in {count} rows, "
        f"first in data row {first}.",
    )


def _records(
    hashes: NDArray[np.uint64], one: NDArray[np.intp], other: NDArray[np.intp], source: str
) -> NDArray[np.intp]:
    differing = int(np.count_nonzero(hashes[one] != hashes[other]))
    if differing:
        raise InputError(
            "record_differs",
            f"{source}: in {differing} of {one.size} pairs the two rows name different records.",
            hint="Write the record that is swapped in both rows of its pair.",
        )
    return _codes(hashes[one])


def _codes(hashes: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return equal hashes as equal codes, 0, 1, ... by first appearance."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]
