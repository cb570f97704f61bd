"""Released vectors: a row for each random split, or pairs with one record swapped for another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.parts import other_hints
from mipaudit.data.tables.coordinates import LEAVE_OUT, Coordinates, read_coordinates
from mipaudit.data.tables.table import AnyTable, Table, open_whole
from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from mipaudit.data.columns.column import Hashes
    from mipaudit.statements.sources import InputFile

Places = NDArray[np.intp]
# What messages call splits that are in memory.
_IN_MEMORY: Final = "the splits"
PAIR_COLUMN: Final = "pair_id"
SIDE_COLUMN: Final = "side"
RECORD_COLUMN: Final = "record"
_SIDES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Splits(Coordinates):
    """The vectors that one algorithm released over B random splits, a row each.

    Attributes:
        named: whether the file names its columns.
        source: the file, with its rows and its hash.
    """

    named: bool
    source: InputFile


def read_splits(data: object, *, columns: Sequence[str] = (), ignore: Sequence[str] = ()) -> Splits:
    """Read one vector per row from CSV, Parquet, ``.npy`` or JSON, or from memory.

    CSV may be compressed (gzip, zstd), and have no header if it holds only numbers. A Parquet
    column of lists is a vector; JSON is a list of lists or of objects. Booleans count
    as 0 and 1.

    Args:
        data: a file, or ``-`` for standard input; an array of shape (B, d), masked values being
            missing; or a pandas or polars frame, or an Arrow table.
        columns: the coordinates by name; by default all columns but row labels.
        ignore: columns that are left out.

    Raises:
        UsageError: an empty or remote path, or a column with two roles.
        InputError: there is no such table, or a cell of it is not a finite number.
    """
    with open_whole(data, _IN_MEMORY) as whole, other_hints({"unparsable": LEAVE_OUT}):
        table = whole.as_table()
        found = read_coordinates(table, columns=columns, ignore=ignore)
        return Splits(
            columns=found.columns,
            values=found.values,
            skipped=found.skipped,
            named=table.named,
            source=whole.described(len(found.values)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """The vectors of P pairs, in the order in which the pairs first appear.

    Attributes:
        columns: the d names of the coordinates.
        one: shape (P, d), finite: the side that the first row is on.
        other: shape (P, d), finite: the other side.
        records: which record was swapped, as codes 0, 1, ... by first appearance,
            shape (P,); None without a column ``record``.
        source: the file, with its rows and its hash.
    """

    columns: tuple[str, ...]
    one: NDArray[np.float64]
    other: NDArray[np.float64]
    records: Places | None
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
    with open_whole(path, _IN_MEMORY) as whole, other_hints({"unparsable": LEAVE_OUT}):
        table = whole.as_table()
        names = _roles(table)
        assert isinstance(table, Table)  # noqa: S101 - arrays name no columns
        labels = table.keys(tuple(names.values()))
        by_role = {role: _whole_column(labels[name], role, table) for role, name in names.items()}
        one, other, records = _match(by_role, table.name)
        reserved = names.values()
        found = read_coordinates(table, columns=columns, ignore=ignore, reserved=reserved)
        return Pairs(
            columns=found.columns,
            one=found.values[one],
            other=found.values[other],
            records=records,
            source=whole.described(len(found.values)),
        )


def _roles(table: AnyTable) -> dict[str, str]:
    """Return the columns by role; their names may be written in any case."""
    fields = table.fields if table.named else ()
    folded = {field.name.strip().casefold(): field for field in reversed(fields)}
    roles = {
        role: folded[role] for role in (PAIR_COLUMN, SIDE_COLUMN, RECORD_COLUMN) if role in folded
    }
    for role in (PAIR_COLUMN, SIDE_COLUMN):
        if role not in roles:
            raise InputError(
                "no_pair_columns",
                f"{table.name}: there is no column {quoted_name(role)}.",
                hint="Pairs need the columns pair_id and side beside the coordinates.",
            )
    for field in roles.values():
        if field.kind == "other" or field.name in table.lists:
            raise InputError(
                "unreadable_column",
                f"{table.name}: column {quoted_name(field.name)} holds neither numbers nor text.",
            )
    return {role: field.name for role, field in roles.items()}


def _whole_column(column: Hashes, role: str, table: AnyTable) -> NDArray[np.uint64]:
    """Return the labels of all rows, as hashes."""
    if column.missing is not None and column.missing.any():
        raise InputError(
            "missing_labels",
            f"{table.name}: column {quoted_name(role)} is empty in "
            f"{np.count_nonzero(column.missing)} rows, first in data row "
            f"{int(np.argmax(column.missing)) + 1}.",
        )
    return column.values


def _match(
    labels: Mapping[str, NDArray[np.uint64]], source: str
) -> tuple[Places, Places, Places | None]:
    """Return the row of each pair on each side, and its record."""
    sides = _codes(labels[SIDE_COLUMN])
    count = int(sides.max()) + 1
    if count != _SIDES:
        raise InputError(
            "many_sides", f"{source}: column 'side' has {count} different labels; two are expected."
        )
    pairs = _codes(labels[PAIR_COLUMN])
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
    if RECORD_COLUMN not in labels:
        return one, other, None
    records = labels[RECORD_COLUMN]
    differing = int(np.count_nonzero(records[one] != records[other]))
    if differing:
        raise InputError(
            "record_differs",
            f"{source}: in {differing} of {one.size} pairs the two rows name different records.",
            hint="Write the record that is swapped in both rows of its pair.",
        )
    return one, other, _codes(records[one])


def _codes(hashes: NDArray[np.uint64]) -> Places:
    """Return equal hashes as equal codes, 0, 1, ... by first appearance."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]
