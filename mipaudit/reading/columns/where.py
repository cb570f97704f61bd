"""The row filter ``column = value``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import UsageError
from mipaudit.reading.columns.column import Column, Labels

_BOOLEANS: Final = {"true": True, "false": False}
_QUOTES: Final = ("'", '"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Keeps the rows whose ``column`` equals ``value``."""

    column: str
    value: str

    def mask(self, column: Column) -> NDArray[np.bool_]:
        """Return which rows are kept; a null equals nothing.

        Raises:
            UsageError: ``bad_where`` when the column is numeric and the value is not.
        """
        kept: NDArray[np.bool_]
        if isinstance(column, Labels):
            hits = [word == self.value for word in column.vocabulary.words]
            kept = np.array([*hits, False], dtype=np.bool_)[column.codes]
            return kept
        kept = np.asarray(column.values == self._number(column.values))
        return kept if column.missing is None else kept & ~column.missing

    def _number(self, values: NDArray[Any]) -> float:
        word = self.value.casefold()
        if word in _BOOLEANS:
            return _BOOLEANS[word]
        try:
            # A large integer would lose digits as a float.
            return int(word) if values.dtype.kind in "iu" else float(word)
        except ValueError:
            pass
        try:
            return float(word)
        except ValueError:
            raise UsageError(
                "bad_where",
                "`where`: the column holds numbers and the value is not one.",
            ) from None


def parse_where(text: str) -> Where:
    """Read ``"column = value"``; the value may be in quotes.

    Raises:
        UsageError: ``bad_where``.
    """
    column, equals, value = text.partition("=")
    column, value = column.strip(), value.removeprefix("=").strip()
    if not equals or not column or not value:
        raise UsageError("bad_where", '`where`: expected "column = value".')
    if len(value) > 1 and value[0] in _QUOTES and value[-1] == value[0]:
        value = value[1:-1]
    return Where(column=column, value=value)
