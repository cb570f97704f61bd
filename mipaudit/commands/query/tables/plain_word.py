"""One spelling for words that say the same: 1 and 1.0, true and 1, a day and its date."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.query.tables.columns import number_word
from mipaudit.reading.bytes.storage_precision import DOUBLE_BITS, rounded_to_bits
from mipaudit.reading.columns.column import word_days
from mipaudit.reading.csv.cells import FALSE, TRUE, is_number

if TYPE_CHECKING:
    from collections.abc import Collection

# A code such as 007 is no number, unless another table holds it as one.
_NUMBER: Final = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WHOLE: Final = re.compile(r"[+-]?[0-9]+(\.0*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainWord:
    """What is taken for what in a column of words.

    Attributes:
        numbers: ``1.0`` for ``1``.
        padded: ``007`` for ``7``, too.
        truths: ``true`` for ``1``.
        days: ``2024-12-31`` for the days since 1970.
        bits: to which numbers are rounded, 53 for none.
    """

    numbers: bool = False
    padded: bool = False
    truths: bool = False
    days: bool = False
    bits: int = DOUBLE_BITS

    def __call__(self, word: str) -> str:
        """Return the plain spelling of ``word``."""
        text = word.strip()
        if self.truths and text in TRUE | FALSE:
            return "1" if text in TRUE else "0"
        if self.days and (days := word_days((text,))) is not None:
            return number_word(float(days[0]))
        if self.padded if _NUMBER.fullmatch(text) is None else self.numbers:
            return _number(text, self.bits) if is_number(text) else word
        return word


AS_WRITTEN: Final = PlainWord()


def plain_word(kinds: Collection[str], *, named: bool, bits: int = DOUBLE_BITS) -> PlainWord:
    """Return the spelling of a category.

    Args:
        kinds: of its columns in the tables.
        named: whether the user says that it is one: its numbers may be written in two ways.
        bits: of the coarsest table, 53 where all are alike.
    """
    numbers = not {"integer", "float", "bool", "date"}.isdisjoint(kinds)
    return PlainWord(
        numbers=named or numbers,
        padded=not {"integer", "float"}.isdisjoint(kinds),
        truths=named or "bool" in kinds,
        days="date" in kinds,
        bits=bits,
    )


def _number(text: str, bits: int) -> str:
    if bits < DOUBLE_BITS:
        return number_word(float(rounded_to_bits(np.array(float(text)), bits)))
    # Long numbers keep all of their digits.
    return str(int(text.partition(".")[0])) if _WHOLE.fullmatch(text) else number_word(float(text))
