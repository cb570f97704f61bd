"""The column that says which records were released word for word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mipaudit.errors import InputError
from mipaudit.reading.columns.names import name_words
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from mipaudit.reading.columns.column import Field

_KINDS: Final = frozenset({"bool", "integer", "float", "string"})
_WORDS: Final = name_words(COPY_COLUMN)


def tells_copies(fields: Sequence[Field]) -> bool:
    """Tell whether a column of a part says which records were released word for word."""
    return any(field.name == COPY_COLUMN and field.kind in _KINDS for field in fields)


def require_copies_read(fields: Sequence[Field], *, told: bool) -> None:
    """Refuse a column that would say it, under another name or in a kind that is not read.

    Args:
        fields: of the whole input.
        told: whether a part says it in a way that is read.

    Raises:
        InputError: ``copies_unread``.
    """
    for field in fields:
        unread = field.name != COPY_COLUMN or (field.kind == "other" and not told)
        if unread and name_words(field.name) == _WORDS:
            raise InputError(
                "copies_unread",
                f"Column {quoted_name(field.name)} is not read, and seems to say which records "
                "were released word for word.",
                hint=f"Call it {COPY_COLUMN}, and write 1 or 0 in it.",
            )
