"""Which columns of a table are the coordinates of a released vector."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mipaudit.errors import InputError, UsageError
from mipaudit.reading.columns.column import Field
from mipaudit.reading.columns.score_selection import find_column, shown_column, shown_names

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
    """Finite numbers of shape (rows, columns), in file order, and the columns passed over."""

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
    source: str,
    *,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
    reserved: Collection[str] = (),
) -> Coordinates:
    """Read the numeric columns of ``table``.

    Args:
        table: the table.
        source: what messages call it.
        columns: the coordinates by name, also ``name[0]`` in a column of lists; empty for
            every column that is not a row label.
        ignore: columns that are left out.
        reserved: columns with another role, which are neither taken nor skipped.

    Raises:
        UsageError: ``two_roles``.
        InputError: ``unknown_column``, ``text_column``, ``unreadable_column`` or
            ``no_numeric_column``, or as ``Table.matrix``.
    """
    fields = table.fields
    named = _present(fields, columns, table.lists, option="`columns`")
    ignored = _present(fields, ignore, frozenset(), option="`ignore`")
    if named & (ignored | set(reserved)):
        raise UsageError("two_roles", "`columns`: a column has another role already.")
    free = [field for field in fields if field.name not in reserved]
    taken = [field for field in free if _is_taken(field, table, named, ignored)]
    _refuse_others(taken, table, source)
    if not taken:
        names = [field.name for field in fields]
        raise InputError("no_numeric_column", _nothing(names, source))
    chosen = {field.name for field in taken}
    skipped = tuple(field.name for field in free if field.name not in chosen)
    matrix = table.matrix([field.name for field in taken])
    if named <= set(columns):
        return Coordinates(columns=matrix[0], values=matrix[1], skipped=skipped)
    return _only(matrix, columns, table, skipped)


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
        if name in known or vector in lists:
            found.add(vector)
        else:
            find_column(fields, name, option=option)
    return found


def _only(
    matrix: Matrix, names: Sequence[str], table: AnyTable, skipped: tuple[str, ...]
) -> Coordinates:
    """Return the named numbers of ``matrix``, where only some of a list's are named."""
    wanted = set(names)
    columns, values = matrix
    places = [
        at
        for at, name in enumerate(columns)
        if name in wanted or _LIST_PLACE.sub("", name) in wanted & table.lists
    ]
    absent = wanted - set(columns) - table.lists
    if absent:
        fields = [Field(name=name, kind="float") for name in columns]
        find_column(fields, min(absent), option="`columns`")
    return Coordinates(
        columns=tuple(columns[at] for at in places),
        values=values[:, places],
        skipped=skipped,
    )


def _is_taken(field: Field, table: AnyTable, named: set[str], ignored: set[str]) -> bool:
    if named:
        return field.name in named
    if field.name in ignored:
        return False
    return field.name in table.lists or not table.named or not is_row_label(field)


def _refuse_others(fields: Sequence[Field], table: AnyTable, source: str) -> None:
    for kind, code, what in (
        ("string", "text_column", "text"),
        ("other", "unreadable_column", "neither numbers nor lists of numbers"),
    ):
        names = [f.name for f in fields if f.kind == kind and f.name not in table.lists]
        if names:
            more = f", and {len(names) - 1} more columns do" if len(names) > 1 else ""
            raise InputError(
                code,
                f"{source}: column {shown_column(names[0], fields)} holds {what}{more}.",
                hint=LEAVE_OUT,
            )


def _nothing(names: Sequence[str], source: str) -> str:
    if not names:
        return f"{source}: there is no column."
    return f"{source}: no column is a coordinate among: {shown_names(names)}."
