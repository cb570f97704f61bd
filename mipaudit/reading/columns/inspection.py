"""Cheap looks at a whole input before it is audited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.errors import InputError
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from mipaudit.reading.columns.where import Where
    from mipaudit.reading.source.source import ScoreSource


def check_where(source: ScoreSource, where: Where) -> None:
    """Raise InputError ``no_rows`` when ``where`` keeps no row; stops at the first kept."""
    for partition in source.every_row():
        for chunk in partition.chunks((where.column,)):
            if where.mask(chunk.columns[where.column]).any():
                return
    raise InputError("no_rows", f"--where: no row of column {quoted_name(where.column)} matches.")
