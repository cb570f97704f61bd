"""Which columns of a table are the coordinates of a released vector."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.data.columns.column import Field
from mipaudit.data.columns.words import find_column, shown_column, shown_names
from mipaudit.errors import InputError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mipaudit.data.tables.table import AnyTable, Matrix

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
    values: NDArray[np.float64]
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
        raise UsageError("two_roles", "`columns`: a column has another role already.")

    def is_taken(one: Field) -> bool:
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
            more = f", and {len(names) - 1} more columns do" if len(names) > 1 else ""
            raise InputError(
                code,
                f"{source}: column {shown_column(names[0], taken)} holds {what}{more}.",
                hint=LEAVE_OUT,
            )
