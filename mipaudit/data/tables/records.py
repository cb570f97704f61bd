"""Tables of records, opened, and their columns read whole: numbers, days, or words.

1 and 1.0 say the same, and so may true and 1, a day and its date.

A model's outputs for members and for the holdout may come in files of different precision.
Their scores would then lie on different grids, and the storage would tell who is a member: the
same numbers can be stored more coarsely.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from mipaudit.data.choice import unreadable_column
from mipaudit.data.column import (
    EXACT,
    Column,
    Field,
    Part,
    merged_numbers,
    missing_cells,
    number_word,
    text_column,
)
from mipaudit.data.files.blob import Blob, closed_on_error
from mipaudit.data.files.contents import claim_buffers
from mipaudit.data.files.paths import check_different, input_blobs
from mipaudit.data.formats.cells import MISSING, without
from mipaudit.data.formats.csv_file import CsvPart
from mipaudit.data.opening import open_parts
from mipaudit.data.parts import Opened, open_arrow, other_hints
from mipaudit.data.tables.splits import is_row_label
from mipaudit.data.words import find_column, is_candidate
from mipaudit.errors import InputError, UsageError
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.provenance import InputFile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.maths.arrays import Bools, Floats, Ints


# Significant bits of a float64.
DOUBLE_BITS: Final = 53
_ROWS: Final = 1 << 14


def rounded_to_bits(values: Floats, bits: int) -> Floats:
    """Return the numbers with so many significant bits, and any exponent."""
    if bits == DOUBLE_BITS:
        return values
    fractions, exponents = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(fractions, bits)), exponents - bits))


def _stored_as(values: Floats, kind: str) -> Floats:
    """Return the numbers as a float type holds them; beyond its range, its largest."""
    most = float(np.finfo(kind).max)
    return np.clip(values, -most, most).astype(kind).astype(np.float64)


# What rounds numbers to each precision, the coarsest first: bfloat16, with the range of single
# precision, half, single and double.
_ROUNDING: Final[tuple[Callable[[Floats], Floats], ...]] = (
    lambda values: rounded_to_bits(values, 8),
    lambda values: _stored_as(values, "float16"),
    lambda values: _stored_as(values, "float32"),
    lambda values: values,
)


def rounded_alike(tables: Sequence[Floats]) -> tuple[list[Floats], bool]:
    """Return numbers as the coarsest precision among tables holds them, and if some were finer.

    Args:
        tables: finite numbers of shape (n, c).
    """
    held = []
    for values in tables:
        blocks = [values[start : start + _ROWS] for start in range(0, len(values), _ROWS)]
        fits = (all((to(one) == one).all() for one in blocks) for to in _ROUNDING)
        held.append(next(at for at, fit in enumerate(fits) if fit))
    if len(set(held)) <= 1:
        return [*tables], False
    return [_ROUNDING[min(held)](values) for values in tables], True


Role = Literal["members", "holdout", "synthetic", "reference"]

MOMENT_KINDS: Final = frozenset({"date", "time", "duration"})
# Significant bits of stored numbers.
_BITS: Final = {"float32": 24, "float16": 11}
_SHOWN: Final = 8
_NO_NUMBER: Final = (
    "Correct the cell, take the column as words with `categorical`, or leave it out with `ignore`."
)
_FIX: Final = "Rename it, leave it out with `ignore`, or name what to compare with `columns`."
_AS_WORDS: Final = "Leave the column out with `ignore`, or take it as words with `categorical`."


def open_records(given: Mapping[str, Any]) -> dict[str, Opened]:
    """Open tables of records by what they are given as: ``members``, ``holdout`` and so on.

    Args:
        given: a file, a directory or a glob of parts, ``-``, or a frame.

    Raises:
        InputError: one is no table, or a file is there twice.
        UsageError: ``two_stdin``, or an empty or remote path.
    """
    claim_buffers()
    if sum(isinstance(one, str) and one == "-" for one in given.values()) > 1:
        raise UsageError(
            "two_stdin", "Only one table can be standard input.", "Write the others to files first."
        )
    blobs: dict[str, list[Blob]] = {role: [] for role in given}
    with closed_on_error(blob for found in blobs.values() for blob in found):
        for role, one in given.items():
            blobs[role] += input_blobs(one) if isinstance(one, str) else []
        check_different(blobs.items())
        opened = {}
        for role, one in given.items():
            if isinstance(one, str):
                parts, bare = open_parts([(blob, ()) for blob in blobs[role]])
                opened[role] = Opened(parts=parts, bare=bare)
            else:
                whose = "members'" if role == "members" else role
                opened[role] = Opened(parts=(open_arrow(one, f"the {whose} frame"),))
    return opened


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordColumn:
    """One column of a table.

    Attributes:
        kind: ``date`` for days with or without a time, as days since 1970; ``time`` of a day
            and ``duration``, in days.
        values: shape (n,): finite numbers, 0 where missing; or the codes of words, negative
            where missing.
        words: what the codes stand for; None for numbers.
        missing: which cells are empty, shape (n,).
        bits: that the stored numbers have at least: 53, or 24 in single precision.
    """

    kind: str
    values: NDArray[Any]
    words: tuple[str, ...] | None
    missing: Bools
    bits: int = DOUBLE_BITS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordTable:
    """One table, its columns not yet read.

    Attributes:
        role: what it holds.
        opened: its files, or the frame.
        fields: its columns.
        kinds: of each column in each part.
    """

    role: Role
    opened: Opened
    fields: tuple[Field, ...]
    kinds: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, role: Role, opened: Opened) -> RecordTable:
        """Return a table, all parts of which have rows and the columns of the first.

        Raises:
            InputError: ``no_rows`` or ``columns_differ``.
        """
        empty = [f"{blob.name}: there is a header but no row." for blob in opened.bare]
        empty += [
            f"{one.name}: the table has no rows." for one in opened.parts if not one.rows_about
        ]
        if empty:
            raise InputError("no_rows", empty[0])
        fields = opened.parts[0].fields
        return cls(role=role, opened=opened, fields=fields, kinds=_kinds(opened.parts))

    @property
    def rows_about(self) -> int:
        """How many rows, as far as known before they are read."""
        return sum(part.rows_about for part in self.opened.parts)

    @property
    def texts(self) -> set[bool]:
        """Whether parts are text: True, False, or both."""
        return {isinstance(part, CsvPart) for part in self.opened.parts}

    def read(
        self, names: Sequence[str], *, categorical: Collection[str] = (), mixed: bool = False
    ) -> dict[str, RecordColumn]:
        """Return the named columns.

        Args:
            names: of the columns.
            categorical: those whose numbers are words, whole ones digit by digit.
            mixed: whether some tables are text and some are not: words by which text
                says that a cell is empty say so everywhere.

        Raises:
            InputError: a cell does not fit its column, or a file changed meanwhile.
        """
        for part in self.opened.parts:
            if isinstance(part, CsvPart):
                part.take_as_words(categorical)
            with other_hints({"unparsable": _NO_NUMBER}):
                part.load(names, ())
        # Now that all rows are parsed, and not only the first.
        kinds = _kinds(self.opened.parts)
        blank = MISSING if mixed else ()
        found = {}
        for name in names:
            read = (chunk for part in self.opened.parts for chunk in part.chunks([name]))
            chunks = [chunk.columns[name] for chunk in read]
            found[name] = self._joined(name, chunks, kinds[name], name in categorical, blank)
        self.opened.check_unchanged()
        return found

    def _joined(
        self,
        name: str,
        chunks: Sequence[Column],
        kinds: Sequence[str],
        category: bool,  # noqa: FBT001 - of the column
        blank: Collection[str],
    ) -> RecordColumn:
        where = f"{self.opened.parts[0].name}: column {quoted_name(name)}"
        held = set(kinds) - {"empty"}
        if held & MOMENT_KINDS and len(held) > 1:
            what = "holds times in one part of the table and something else in another"
            raise InputError("mixed_column", f"{where} {what}.")
        stored = [one.values.dtype.name for one in chunks if one.numeric]
        bits = min((_BITS.get(one, DOUBLE_BITS) for one in stored), default=DOUBLE_BITS)
        if category:
            chunks = [number_labels(one) if one.numeric else one for one in chunks]
        chunks = [one if one.numeric else without(one, blank) for one in chunks]
        numbers = [one for one in chunks if one.numeric]
        missing = np.concatenate([missing_cells(one) for one in chunks])
        kind = _merged(held)
        if len(numbers) < len(chunks):
            # A part without any value reads as numbers.
            if not all(missing_cells(one).all() for one in numbers):
                raise InputError("mixed_column", f"{where} mixes words and numbers.")
            codes, words = _in_one_vocabulary(chunks)
            kind = kind if category else "string"
            return RecordColumn(kind=kind, values=codes, words=words, missing=missing, bits=bits)
        if any(_loses_digits(one, text=True in self.texts) for one in numbers):
            what = "has numbers with too many digits to tell them apart"
            raise InputError("too_many_digits", f"{where} {what}.", _AS_WORDS)
        values = np.concatenate([np.asarray(one.values, np.float64) for one in numbers])
        values[missing] = 0.0
        infinite = np.flatnonzero(~np.isfinite(values))
        if infinite.size:
            raise InputError(
                "infinite_cell",
                f"{where} is infinite in row {infinite[0] + 1:,} (such rows: {infinite.size:,}), "
                "so no distance exists.",
                _AS_WORDS,
            )
        values += 0.0
        return RecordColumn(kind=kind, values=values, words=None, missing=missing, bits=bits)

    def described(self, rows: int) -> tuple[InputFile, ...]:
        """Return how the report names what was read."""
        if not self.opened.blobs:
            return (InputFile(name=f"the {self.role}", rows=rows, bytes=None),)
        return self.opened.described(hash_all=False)


def _kinds(parts: Sequence[Part]) -> dict[str, tuple[str, ...]]:
    """Return the kinds of the columns of the first part, by part.

    Raises:
        InputError: ``columns_differ``.
    """
    every = [{field.name: _kind(field) for field in part.fields} for part in parts]
    for part, own in zip(parts, every, strict=True):
        lacking = [name for name in every[0] if name not in own]
        if lacking:
            raise InputError(
                "columns_differ",
                f"{part.name}: column {quoted_name(lacking[0])} of the first part is missing.",
                "All parts of a table need the same columns.",
            )
    return {name: tuple(own[name] for own in every) for name in every[0]}


def _kind(field: Field) -> str:
    if field.moment is None:
        return field.kind
    return "date" if field.moment in {"day", "zoned"} else field.moment


def _merged(held: set[str]) -> str:
    """Return the kind of a column that has these in different parts."""
    if not held:
        return "empty"
    if len(held) == 1 and held <= {"bool", *MOMENT_KINDS}:
        return next(iter(held))
    if "string" in held:
        return "string"
    return "integer" if held <= {"bool", "integer"} else "float"


def number_labels(column: Column) -> Column:
    """Return numbers as words: whole ones by all of their digits, true as 1."""
    values = column.values.astype(np.int8) if column.values.dtype == np.bool_ else column.values
    there = ~missing_cells(column)
    known, places = np.unique(values[there], return_inverse=True)
    codes = np.full(values.size, -1, dtype=np.int64)
    codes[there] = places
    return text_column(codes, [*map(number_word, known.tolist())])


def _loses_digits(column: Column, *, text: bool) -> bool:
    """Tell whether numbers are not those in the file: two of them may have become one."""
    held = column.values[~missing_cells(column)]
    # Whole numbers too large for an integer are read from text as floats.
    whole = text and held.size > 0 and bool((np.isfinite(held) & (np.floor(held) == held)).all())
    return merged_numbers(column) is not None or (whole and float(np.abs(held).max()) > EXACT)


def _in_one_vocabulary(columns: Sequence[Column]) -> tuple[Ints, tuple[str, ...]]:
    known: dict[str, int] = {}
    codes = []
    for column in columns:
        if column.numeric:
            codes.append(np.full(column.values.size, -1, dtype=np.int64))
            continue
        places = [known.setdefault(word, len(known)) for word in column.words]
        codes.append(column.told(places, -1, np.int64))
    return np.concatenate(codes), tuple(known)


def common_columns(
    tables: Sequence[RecordTable], *, columns: Sequence[str] = (), ignore: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the columns that all tables have, and are to be compared in, and the others.

    The first are in the order of the synthetic table; the others are with why they are not.

    Args:
        tables: the synthetic among them, which says what there is.
        columns: what to take; by default all but row labels and membership.
        ignore: what to leave out.

    Raises:
        UsageError: a column is both named and left out.
        InputError: ``unknown_column``, ``columns_differ``, ``no_common_columns`` or
            ``unreadable_column``.
    """
    synthetic = next(table for table in tables if table.role == "synthetic")
    every = [field for table in tables for field in table.fields]
    for name in columns:
        find_column(synthetic.fields, name, option="`columns`")
    for name in ignore:
        find_column(every, name, option="`ignore`")

    def why_not(field: Field) -> str | None:
        """Return why a column is not compared; None where it is."""
        if field.name in ignore:
            return "to be ignored"
        if columns:
            return None if field.name in columns else "not named"
        if is_candidate(field.name):
            return "says who is a member"
        return "labels the rows" if is_row_label(field) else None

    reasons = {field.name: why_not(field) for field in synthetic.fields}
    names = [name for name, why in reasons.items() if why is None]
    _require_common(tables, names)
    skipped = {name: why for name, why in reasons.items() if why is not None}
    for field in every:
        if field.name not in reasons:
            skipped.setdefault(field.name, why_not(field) or "not released")
    return tuple(names), tuple(skipped.items())


def _require_common(tables: Sequence[RecordTable], names: Sequence[str]) -> None:
    """Require that there are columns to compare, and that every table has and can read them."""
    if not set.intersection(*(set(table.kinds) for table in tables)):
        raise InputError(
            "no_common_columns",
            "The tables have no column in common.",
            "Are the names spelt alike, and is every table the right one?",
        )
    for table in tables:
        absent = [quoted_name(name) for name in names if name not in table.kinds]
        if absent:
            more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
            raise InputError(
                "columns_differ",
                f"The {table.role} table lacks columns of the synthetic one: "
                f"{', '.join(absent[:_SHOWN])}{more}.",
                _FIX,
            )
    if not names:
        raise InputError(
            "no_common_columns", "No column is left to compare.", "Name some with `columns`."
        )
    for table, name in product(tables, names):
        if "other" in table.kinds[name]:
            raise unreadable_column(name, option=f"The {table.role} table")
