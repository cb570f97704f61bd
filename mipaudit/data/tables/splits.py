"""Vectors that were released, and points of an ROC that a guarantee allows.

A vector is a row for each random split, or there are pairs with one record swapped for another. The
points are a claim that an accountant wrote down.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.choice import unreadable_column
from mipaudit.data.column import Column, Field
from mipaudit.data.parts import other_hints
from mipaudit.data.tables.json_file import Json, cells_part
from mipaudit.data.tables.table import AnyTable, Matrix, Table, Whole, open_whole
from mipaudit.data.words import find_column, shown_column, shown_names
from mipaudit.errors import InputError, UsageError
from mipaudit.maths.arrays import Floats, Places
from mipaudit.statements.printable_names import quoted_name

if TYPE_CHECKING:
    from mipaudit.statements.provenance import InputFile

# Narrower than the names that never are a score: a released vector may well hold
# the mean of "target" or the count of "group_2", and a coordinate that is passed
# over would get no noise.
_ROW_LABEL: Final = re.compile(
    r"^(id|idx|index|row|rownum|row_number|run|rep|repl|replicate|repeat|fold|seed|trial|split"
    r"|uuid|key)$|^unnamed([:_ ].*)?$|^__index_level_\d+__$|[_\W](id|idx|index|uuid)$"
)
# The place of a number in a list.
_LIST_PLACE: Final = re.compile(r"\[\d+\]\Z")
# A cell that is no number: there are no scores here.
LEAVE_OUT: Final = "Leave it out with `ignore`, or name the coordinates with `columns`."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coordinates:
    """Finite numbers of shape (rows, columns), in file order, and the columns passed over.

    Attributes:
        columns: names; c0, c1 and so on of a table that names none.
        values: shape (rows, columns), finite; in either memory order.
        skipped: columns that were passed over: they name the rows, or were to be ignored.
    """

    columns: tuple[str, ...]
    values: Floats
    skipped: tuple[str, ...]


def is_row_label(field: Field) -> bool:
    """Tell whether ``field`` numbers or names the rows.

    Only its name is looked at, and that it does not hold floats: ``body_mass_index``
    may be a coordinate, and its mean is not an integer.
    """
    return field.kind != "float" and _ROW_LABEL.search(field.name.strip().casefold()) is not None


def read_coordinates(
    table: AnyTable,
    *,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
    reserved: Collection[str] = (),
) -> Coordinates:
    """Read the numeric columns of ``table``.

    Args:
        table: the table.
        columns: the coordinates by name, also ``name[0]`` in a column of lists; empty for
            every column that is not a row label.
        ignore: columns that are left out.
        reserved: columns with another role, which are neither taken nor skipped.

    Raises:
        UsageError: ``two_roles``.
        InputError: ``unknown_column``, ``text_column``, ``unreadable_column`` or
            ``no_numeric_column``, or as ``Table.matrix``.
    """
    fields, lists = table.fields, table.lists
    named = _present(fields, columns, lists, option="`columns`")
    ignored = _present(fields, ignore, frozenset(), option="`ignore`")
    if named & (ignored | set(reserved)):
        raise UsageError("two_roles", "A column in `columns` is also in `ignore`, or labels rows.")

    def is_taken(one: Field) -> bool:
        """Tell whether a column is a coordinate."""
        if named:
            return one.name in named
        plain = one.name in lists or not table.named or not is_row_label(one)
        return plain and one.name not in ignored

    free = [one for one in fields if one.name not in reserved]
    taken = [one for one in free if is_taken(one)]
    _refuse_others([one for one in taken if one.name not in lists], taken, table.name)
    if not taken:
        names = shown_names([one.name for one in fields])
        what = f"no column is a coordinate among: {names}" if fields else "there is no column"
        raise InputError("no_numeric_column", f"{table.name}: {what}.")
    chosen = {one.name for one in taken}
    skipped = tuple(one.name for one in free if one.name not in chosen)
    matrix = table.matrix([one.name for one in taken])
    if not named <= set(columns):
        matrix = _only(matrix, set(columns), lists)
    return Coordinates(columns=matrix[0], values=matrix[1], skipped=skipped)


def _present(
    fields: Sequence[Field], names: Sequence[str], lists: frozenset[str], *, option: str
) -> set[str]:
    """Return the columns of the file that ``names`` are, or are numbers of.

    Raises:
        InputError: ``unknown_column``.
    """
    known = {field.name for field in fields}
    found: set[str] = set()
    for name in names:
        vector = name if name in known else _LIST_PLACE.sub("", name)
        if name not in known and vector not in lists:
            find_column(fields, name, option=option)
        found.add(vector)
    return found


def _only(matrix: Matrix, wanted: set[str], lists: frozenset[str]) -> Matrix:
    """Return the named numbers of ``matrix``, where only some of a list's are named."""
    columns, values = matrix
    absent = wanted - set(columns) - lists
    if absent:
        fields = [Field(name=name, kind="float") for name in columns]
        find_column(fields, min(absent), option="`columns`")
    vectors = wanted & lists
    places = [
        at
        for at, name in enumerate(columns)
        if name in wanted or _LIST_PLACE.sub("", name) in vectors
    ]
    return tuple(columns[at] for at in places), values[:, places]


def _refuse_others(plain: Sequence[Field], taken: Sequence[Field], source: str) -> None:
    for kind, code, what in (
        ("string", "text_column", "text"),
        ("other", "unreadable_column", "neither numbers nor lists of numbers"),
    ):
        names = [one.name for one in plain if one.kind == kind]
        if names:
            more = f", as do {len(names) - 1} more" if len(names) > 1 else ""
            raise InputError(
                code,
                f"{source}: column {shown_column(names[0], taken)} holds {what}{more}.",
                LEAVE_OUT,
            )


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
    one: Floats
    other: Floats
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
                "Pairs need the columns pair_id and side beside the coordinates.",
            )
    for field in roles.values():
        if field.kind == "other" or field.name in table.lists:
            raise unreadable_column(field.name, option=table.name)
    return {role: field.name for role, field in roles.items()}


def _whole_column(column: Column, role: str, table: AnyTable) -> NDArray[np.uint64]:
    """Return the labels of all rows, as hashes."""
    if column.missing is not None and column.missing.any():
        raise InputError(
            "missing_labels",
            f"{table.name}: column {quoted_name(role)} is empty in data row "
            f"{int(np.argmax(column.missing)) + 1} (such rows: "
            f"{np.count_nonzero(column.missing)}).",
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
            "many_sides", f"{source}: column 'side' must have two different labels, not {count}."
        )
    pairs = _codes(labels[PAIR_COLUMN])
    total = int(pairs.max()) + 1
    cells = np.bincount(_SIDES * pairs + sides, minlength=_SIDES * total).reshape(total, _SIDES)
    wrong = int(np.count_nonzero((cells != 1).any(axis=1)))
    if wrong:
        raise InputError(
            "incomplete_pairs",
            f"{source}: {wrong} of {total} pairs do not have exactly one row on each side.",
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
            "Write the record that is swapped in both rows of its pair.",
        )
    return one, other, _codes(records[one])


def _codes(hashes: NDArray[np.uint64]) -> Places:
    """Return equal hashes as equal codes, 0, 1, ... by first appearance."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


_RATES: Final = ("fpr", "tpr")
_CURVES: Final = ("curve", "x", "y")
_ROC: Final = "roc"
_ROC_HINT: Final = (
    "Give columns 'fpr' and 'tpr', the most true positives at each false-positive rate, or the "
    "file that `mipaudit bounds --curve FILE` writes."
)


def read_roc_points(path: str) -> tuple[Floats, InputFile]:
    """Read the points from CSV, Parquet or JSON: at each FPR no attacker has a greater TPR.

    CSV and Parquet have columns ``fpr`` and ``tpr``, or the rows ``roc`` of the file that
    ``bounds --curve`` writes; JSON is an object with lists of these names.

    Args:
        path: a file, or ``-`` for standard input.

    Returns:
        FPR and TPR, shape (k, 2), k at least 1, from 0 to 1, the TPR at least the FPR; the file.

    Raises:
        UsageError: an empty or remote path.
        InputError: ``no_curve`` or ``bad_curve``, or it cannot be read.
    """
    with open_whole(path, "the points") as whole:
        rates = _roc_rates(whole)
        _require_roc(rates, whole.name)
        return rates, whole.described(len(rates))


def _roc_rates(whole: Whole) -> Floats:
    """Return FPR and TPR, shape (k, 2)."""
    if whole.form == "json":
        return _json_rates(whole.document, whole.name)
    if whole.table is None:
        raise _no_curve(whole.name)
    kinds = {field.name: field.kind for field in whole.table.fields}
    if kinds.keys() >= set(_RATES):
        return whole.table.matrix(_RATES)[1]
    curves = kinds.keys() >= set(_CURVES) and kinds[_CURVES[0]] == "string"
    if whole.form != "csv" or not curves or not kinds.keys().isdisjoint(_RATES):
        raise _no_curve(whole.name)
    # Only numbers may be asked for as numbers: the other curves' rows are too.
    chosen = whole.table.words(_CURVES[0]) == _ROC
    return np.asarray(whole.table.matrix(_CURVES[1:])[1][chosen])


def _json_rates(document: Json, name: str) -> Floats:
    found = [document.get(one) for one in _RATES] if isinstance(document, dict) else []
    lists = [one for one in found if isinstance(one, list)]
    if len(lists) < len(_RATES):
        raise _no_curve(name)
    if len({len(one) for one in lists}) > 1:
        raise InputError("bad_curve", f"{name}: 'fpr' and 'tpr' differ in length.", _ROC_HINT)
    cells = dict(zip(_RATES, lists, strict=True))
    return Table(part=cells_part(name, cells)).matrix(_RATES)[1]


def _require_roc(rates: Floats, name: str) -> None:
    if not len(rates):
        raise _no_curve(name)
    wrong = ((rates < 0) | (rates > 1)).any(axis=1) | (rates[:, 1] < rates[:, 0])
    order = np.argsort(rates[:, 0], kind="stable")
    wrong[order[1:]] |= np.diff(rates[order, 1]) < 0
    if wrong.any():
        raise InputError(
            "bad_curve",
            f"{name}: some points are impossible: {np.count_nonzero(wrong)}, the first is point "
            f"{int(wrong.argmax()) + 1}. Both rates must be from 0 to 1, the TPR at least the FPR, "
            "and the TPR must not fall as the FPR rises.",
            _ROC_HINT,
        )


def _no_curve(name: str) -> InputError:
    return InputError("no_curve", f"{name}: no points of an ROC are found.", _ROC_HINT)
