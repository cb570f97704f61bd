"""Which columns of a table are a model's probabilities of the classes."""

from collections.abc import Sequence

from mipaudit.data.tables.coordinates import Coordinates, is_row_label, read_coordinates
from mipaudit.data.tables.table import AnyTable
from mipaudit.reading.columns.class_outputs import class_columns, lone_column
from mipaudit.reading.columns.names import is_id_like, says_score


def read_class_columns(table: AnyTable, source: str, *, reserved: Sequence[str]) -> Coordinates:
    """Read probabilities of classes, beside which a table may have other columns.

    They are found as the commands find them that audit scores; where that fails they are all
    columns.

    Args:
        table: the table.
        source: what messages call it.
        reserved: columns with another role.

    Raises:
        InputError: as ``read_coordinates``.
    """
    free = [one for one in table.fields if one.name not in reserved]
    numbers = [one for one in free if one.kind in {"float", "integer"} and not is_row_label(one)]
    # What is called a score may hold losses without bounds, and is not looked at.
    numbers = [one for one in numbers if not says_score(one.name)] or numbers
    if numbers:
        names = [one.name for one in numbers]
        values = table.matrix(names)[1]
        whole = {one.name for one in numbers if one.kind != "float" or is_id_like(one.name)}
        found = class_columns(names, list(values.T), whole)
        fine = [at for at, name in enumerate(names) if name not in whole]
        lone = lone_column([names[at] for at in fine], [values[:, at] for at in fine])
        if lone is not None and not found:
            found = [(fine[lone],)]
        if len(found) == 1:
            chosen = tuple(names[at] for at in found[0])
            skipped = tuple(one.name for one in free if one.name not in chosen)
            values = values[:, found[0]] if len(chosen) < len(names) else values
            return Coordinates(columns=chosen, values=values, skipped=skipped)
    return read_coordinates(table, source, reserved=reserved)
