"""The columns of a table of records as they are: numbers, or words in one spelling.

1 and 1.0 say the same, and so may true and 1, a day and its date.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.csv.cells import FALSE, TRUE, is_number, without
from mipaudit.data.csv.file import CsvPart
from mipaudit.data.parts import Part
from mipaudit.errors import InputError
from mipaudit.reading.bytes.storage_precision import DOUBLE_BITS, rounded_to_bits
from mipaudit.reading.columns.column import (
    EXACT,
    Column,
    Kind,
    Labels,
    Moment,
    Numbers,
    Vocabulary,
    column_missing,
    number_word,
    word_days,
)
from mipaudit.statements.text.printable_names import quoted_name

MOMENT_KINDS: Final = frozenset({"date", "time", "duration"})
# Significant bits of stored numbers.
_BITS: Final = {"float32": 24, "float16": 11}
# A code such as 007 is no number, unless another table holds it as one.
_NUMBER: Final = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WHOLE: Final = re.compile(r"[+-]?[0-9]+(\.0*)?")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordColumn:
    """One column of a table.

    Attributes:
        kind: ``date`` for days with or without a time, as days since 1970; ``time`` of a day
            and ``duration``, in days.
        numbers: shape (n,), 0 where missing; None for words.
        codes: of words, shape (n,), negative where missing; None for numbers.
        words: what the codes stand for.
        missing: which cells are empty, shape (n,).
        bits: that the stored numbers have at least: 53, or 24 in single precision.
    """

    kind: Kind | str
    numbers: NDArray[np.float64] | None
    codes: NDArray[np.int64] | None
    words: tuple[str, ...]
    missing: NDArray[np.bool_]
    bits: int = DOUBLE_BITS


def read_record_column(
    parts: Sequence[Part],
    name: str,
    kinds: Sequence[str],
    *,
    category: bool = False,
    blank: Collection[str] = (),
) -> RecordColumn:
    """Return a column of all parts, one after the other.

    Args:
        parts: loaded for this column.
        name: of the column.
        kinds: what the column is, by part.
        category: take numbers as words, whole ones digit by digit.
        blank: words that stand for an empty cell.

    Raises:
        InputError: ``mixed_column``, ``infinite_cell``, ``too_many_digits``,
            ``unreadable_column``.
    """
    found = [column for part in parts for column in _columns(part, name)]
    _refuse_some_times(parts, name, kinds)
    kind = "empty" if all(kind == "empty" for kind in kinds) else _merged(kinds)
    stored = [column.values.dtype.name for column in found if isinstance(column, Numbers)]
    bits = min((_BITS.get(one, DOUBLE_BITS) for one in stored), default=DOUBLE_BITS)
    if category:
        found = [number_labels(c) if isinstance(c, Numbers) else c for c in found]
    found = [without(c, blank) if isinstance(c, Labels) else c for c in found]
    missing = np.concatenate([_missing(column) for column in found])
    labels = any(isinstance(column, Labels) for column in found)
    # A part without any value reads as numbers.
    if labels and any(isinstance(c, Numbers) and not _missing(c).all() for c in found):
        raise InputError(
            "mixed_column", f"{parts[0].name}: column {quoted_name(name)} mixes words and numbers."
        )
    numbers, codes = None, None
    words: tuple[str, ...] = ()
    if labels:
        codes, words = _joined(found)
        kind = kind if category else "string"
    else:
        plain = [column for column in found if isinstance(column, Numbers)]
        text = any(isinstance(part, CsvPart) for part in parts)
        _refuse_digits(plain, parts[0].name, name, text=text)
        numbers = np.concatenate([np.asarray(column.values, np.float64) for column in plain])
        numbers[missing] = 0.0
        _refuse_infinite(numbers, parts[0].name, name)
        numbers += 0.0
    return RecordColumn(
        kind=kind, numbers=numbers, codes=codes, words=words, missing=missing, bits=bits
    )


def _refuse_some_times(parts: Sequence[Part], name: str, kinds: Sequence[str]) -> None:
    held = set(kinds) - {"empty"}
    if held & MOMENT_KINDS and len(held) > 1:
        raise InputError(
            "mixed_column",
            f"{parts[0].name}: column {quoted_name(name)} holds times in one part of the table and "
            "something else in another.",
        )


def number_labels(column: Numbers) -> Labels:
    """Return numbers as words: whole ones by all of their digits, true as 1."""
    gaps = column_missing(column)
    values = column.values.astype(np.int8) if column.values.dtype == np.bool_ else column.values
    held = values if gaps is None else values[~gaps]
    known, places = np.unique(held, return_inverse=True)
    codes = np.full(values.size, -1, dtype=np.int64)
    codes[slice(None) if gaps is None else ~gaps] = places
    return Labels(codes=codes, vocabulary=Vocabulary(tuple(map(number_word, known.tolist()))))


def _refuse_digits(columns: Sequence[Numbers], source: str, name: str, *, text: bool) -> None:
    """Refuse numbers that are not those in the file: two of them may have become one."""
    for column in columns:
        gaps = column_missing(column)
        held = column.values if gaps is None else column.values[~gaps]
        # Whole numbers too large for an integer are read from text as floats.
        whole = held.dtype.kind in "iu" or (
            text and bool(np.isfinite(held).all() and (np.floor(held) == held).all())
        )
        large = held.size > 0 and whole and max(int(held.max()), -int(held.min())) > EXACT
        if large or column.lost is not None:
            raise InputError(
                "too_many_digits",
                f"{source}: column {quoted_name(name)} has numbers of more digits than can be "
                "told apart.",
                hint="Leave the column out with `ignore`, or take it as words with `categorical`.",
            )


def _merged(kinds: Sequence[str]) -> str:
    held = {kind for kind in kinds if kind != "empty"}
    if len(held) == 1 and held <= {"bool", *MOMENT_KINDS}:
        return held.pop()
    if "string" in held:
        return "string"
    return "integer" if held <= {"bool", "integer"} else "float"


def _missing(column: Column) -> NDArray[np.bool_]:
    found = column_missing(column)
    if found is not None:
        return found
    held = column.codes if isinstance(column, Labels) else column.values
    return np.zeros(held.shape, dtype=np.bool_)


def _columns(part: Part, name: str) -> Iterator[Column]:
    row = 0
    for piece in part.pieces():
        for chunk in piece.chunks([name], row):
            yield chunk.columns[name]
            row += chunk.rows


def _joined(columns: Sequence[Column]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the codes of all chunks in one vocabulary."""
    known: dict[str, int] = {}
    codes = []
    for column in columns:
        if not isinstance(column, Labels):
            codes.append(np.full(len(_missing(column)), -1, dtype=np.int64))
            continue
        places = [known.setdefault(word, len(known)) for word in column.vocabulary.words]
        # A null's code -1 finds the entry at the end.
        codes.append(np.array([*places, -1], dtype=np.int64)[column.codes])
    return np.concatenate(codes), tuple(known)


def _refuse_infinite(numbers: NDArray[np.float64], source: str, name: str) -> None:
    infinite = np.flatnonzero(~np.isfinite(numbers))
    if infinite.size:
        raise InputError(
            "infinite_cell",
            f"{source}: column {quoted_name(name)} is infinite in {infinite.size:,} rows, "
            f"first in row {infinite[0] + 1:,}: no distance can be taken.",
            hint="Leave the column out with `ignore`, or take it as words with `categorical`.",
        )


def moment_kind(moment: Moment) -> str:
    """Return the kind of a column of moments: ``date``, ``time`` or ``duration``."""
    return "date" if moment in {"day", "zoned"} else moment


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
