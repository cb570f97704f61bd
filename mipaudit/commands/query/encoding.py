"""How tables of records become points: fitted on what was released, or a reference, alone."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.options import QueryOptions, Scale
from mipaudit.commands.query.points import Geometry, Points
from mipaudit.data.column import are_days, number_word, word_days
from mipaudit.data.formats.csv_cells import FALSE, TRUE, is_number
from mipaudit.data.tables.records import DOUBLE_BITS, RecordColumn, Role, rounded_to_bits
from mipaudit.errors import InputError
from mipaudit.statements.printable_names import quoted_name

Treated = Literal["number", "date", "category"]
Spelling = Callable[[str], str]
Table = dict[str, RecordColumn]

# The robust range lies between these quantiles.
_QUANTILES: Final = (0.05, 0.95)
_FORMS: Final = {"date": "days", "time": "times of day", "duration": "durations"}
# In units of the scale: squares of more would swamp the other columns, and single precision.
_FARTHEST: Final = 1e12
# A code such as 007 is no number, unless another table holds it as one.
_NUMBER: Final = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WHOLE: Final = re.compile(r"[+-]?[0-9]+(\.0*)?")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnCode:
    """How one column is encoded.

    Attributes:
        name: of the column.
        treated: as what.
        scale: what a difference of 1 is, in words.
        centre: of numbers, in the column's unit.
        width: of numbers: a difference of so much is 1.
        words: levels of a category; numbers for columns of numbers.
        blanks: whether a cell of any table is missing.
        constant: whether the table of the fit has one value alone.
        bits: to which numbers are rounded, 53 for none: those of the coarsest table.
        plain: of a category, how a word that says the same otherwise is written.
    """

    name: str
    treated: Treated
    scale: str
    centre: float = 0.0
    width: float = 1.0
    words: tuple[str, ...] = ()
    blanks: bool = False
    constant: bool = False
    bits: int = DOUBLE_BITS
    plain: Spelling = str

    @property
    def levels(self) -> tuple[int, ...]:
        """Of the columns of codes: known words, one for others, perhaps one for missing."""
        if self.treated == "category":
            return (len(self.words) + 1 + self.blanks,)
        return (2,) if self.blanks else ()

    def numbers(self, column: RecordColumn) -> NDArray[np.float64]:
        """Return numbers or days, anything where missing."""
        if column.words is None:
            return rounded_to_bits(column.values, self.bits)
        days = word_days(column.words)
        table = np.append(np.empty(0) if days is None else days, 0.0)
        return np.asarray(table[column.values], dtype=np.float64)

    def scaled(self, column: RecordColumn) -> NDArray[np.float64]:
        """Return numbers in units of the scale, 0 where missing.

        Raises:
            InputError: ``too_far``.
        """
        with np.errstate(over="ignore"):
            found = (self.numbers(column) - self.centre) / self.width
        found = np.where(column.missing, 0.0, found)
        far = np.flatnonzero(~(np.abs(found) < _FARTHEST))
        if far.size:
            raise InputError(
                "too_far",
                f"Column {quoted_name(self.name)}: {far.size:,} cells of a table lie more than "
                f"10^12 times the column's range away, the first in row {far[0] + 1:,}: no "
                "distance is exact.",
                hint="Is it a code for a missing value? Mend it, give `range`, or use `ignore`.",
            )
        return found

    def said(self, column: RecordColumn) -> tuple[str, ...]:
        """Return the words of a category, numbers written out."""
        if column.words is not None:
            return tuple(map(self.plain, column.words))
        held = rounded_to_bits(column.values[~column.missing], self.bits)
        return tuple(map(number_word, np.unique(held).tolist()))

    def coded(
        self, column: RecordColumn, words: Mapping[str, int], *, other: int, missing: int
    ) -> NDArray[np.int32]:
        """Return the level of each row, given those of the words."""
        codes = column.values
        if column.words is None:
            numbers, codes = np.unique(
                rounded_to_bits(column.values, self.bits), return_inverse=True
            )
            codes[column.missing] = -1
            said = map(number_word, numbers.tolist())
        else:
            said = map(self.plain, column.words)
        levels = np.array([*(words.get(word, other) for word in said), missing])
        return np.asarray(levels[codes], dtype=np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Encoding:
    """How all columns are encoded, and how records are compared."""

    columns: tuple[ColumnCode, ...]
    geometry: Geometry

    def exact(self, tables: Mapping[Role, Table]) -> dict[str, Points]:
        """Return the tables as they are, not scaled, every word a level of its own.

        Records are equal in all columns just where these points are: scaling can make
        different numbers the same, and words that were not released share a level.
        """
        words = {}
        for code in self.columns:
            if code.treated == "category":
                every = (code.said(table[code.name]) for table in tables.values())
                known = dict.fromkeys(word for said in every for word in said)
                words[code.name] = {word: at for at, word in enumerate(known)}
        return {role: self._stacked(table, words) for role, table in tables.items()}

    def points(self, table: Table) -> Points:
        """Return a table's records as points."""
        return self._stacked(table)

    def _stacked(self, table: Table, words: Mapping[str, dict[str, int]] | None = None) -> Points:
        """Return records, scaled and by the words that were released unless words are given."""
        rows = len(next(iter(table.values())).missing)
        numbers, codes = [], []
        for code in self.columns:
            column = table[code.name]
            if code.treated == "category" and words is not None:
                codes.append(code.coded(column, words[code.name], other=-1, missing=-2))
            elif code.treated == "category":
                known = {word: at for at, word in enumerate(code.words)}
                codes.append(code.coded(column, known, other=len(known), missing=len(known) + 1))
            else:
                values = code.scaled(column) if words is None else code.numbers(column)
                numbers.append(np.where(column.missing, 0.0, values) + 0.0)
                codes += [column.missing.astype(np.int32)] if code.blanks else []
        return Points(
            numbers=np.stack(numbers, axis=1) if numbers else np.empty((rows, 0)),
            codes=np.stack(codes, axis=1) if codes else np.empty((rows, 0), dtype=np.int32),
        )

    def unseen(self, points: Points) -> dict[str, int]:
        """Return by column how many records hold a word that the released tables lack."""
        found, at = {}, 0
        for code in self.columns:
            if code.treated == "category":
                found[code.name] = int(np.count_nonzero(points.codes[:, at] == len(code.words)))
            at += len(code.levels)
        return found


def fit_encoding(tables: Mapping[Role, Table], asked: QueryOptions) -> Encoding:
    """Return the encoding of tables with the same columns.

    Scales come from the table `encode_on` alone; levels from it, the synthetic and the
    reference table. Of members and holdout nothing is looked at but the kinds of their
    columns, and whether cells are missing.

    Args:
        tables: by role.
        asked: which metric, scales and categories.

    Raises:
        InputError: ``types_differ``, ``all_missing``, ``not_a_date``; ``not_a_number``, a range
            for a column that holds none.
    """
    names = list(tables[asked.encode_on])
    codes = tuple(
        _fit(name, {role: table[name] for role, table in tables.items()}, asked) for name in names
    )
    levels = tuple(count for code in codes for count in code.levels)
    geometry = Geometry(metric=asked.metric, levels=levels, columns=len(names))
    return Encoding(columns=codes, geometry=geometry)


def _fit(name: str, held: Mapping[Role, RecordColumn], asked: QueryOptions) -> ColumnCode:
    for role, column in held.items():
        if column.missing.all():
            raise InputError(
                "all_missing",
                f"The {role} table: column {quoted_name(name)} has no value at all.",
                hint="Leave it out with `ignore`.",
            )
    fit, named = held[asked.encode_on], name in asked.categorical
    given = (asked.range or {}).get(name)
    kept = {column.bits for column in held.values() if column.kind != "empty"}
    code = ColumnCode(
        name=name,
        treated=_treated(name, held, category=named),
        scale="equal or not",
        blanks=any(bool(column.missing.any()) for column in held.values()),
        bits=min(kept) if len(kept) > 1 else DOUBLE_BITS,
    )
    if code.treated != "category":
        values = code.numbers(fit)[~fit.missing]
        centre, width, said = _range(values, asked.scale, given)
        if width > 0:
            return replace(code, scale=said, centre=centre, width=width)
        # Other values are mismatches: there is no unit to measure them in.
    elif given is not None:
        raise InputError(
            "not_a_number",
            f"`range`: column {quoted_name(name)} holds no numbers.",
            hint="A range is for columns of numbers or days.",
        )
    plain = _spelling({column.kind for column in held.values()}, named=named, bits=code.bits)
    code = replace(code, treated="category", plain=plain)
    released = [column for role, column in held.items() if role in {"synthetic", "reference"}]
    return replace(
        code,
        words=tuple(sorted({word for column in released for word in code.said(column)})),
        constant=len(set(code.said(fit))) == 1,
    )


def _treated(name: str, held: Mapping[Role, RecordColumn], *, category: bool) -> Treated:
    if category or {column.kind for column in held.values()} == {"bool"}:
        return "category"
    forms = {
        role: "words" if column.kind == "string" else _FORMS.get(column.kind, "numbers")
        for role, column in held.items()
    }
    texts = {role: held[role].words or () for role, form in forms.items() if form == "words"}
    # Words may be days, beside days or alone; anything else is one thing in all tables.
    first = next(iter(texts or forms))
    for role, form in forms.items():
        if form != forms[first] and not (texts and form in {"words", _FORMS["date"]}):
            raise InputError(
                "types_differ",
                f"Column {quoted_name(name)} holds {forms[first]} in the {first} table and "
                f"{form} in the {role} table.",
                hint="Mend the cells, or name the column in `categorical` or `ignore`.",
            )
    if not texts:
        return "date" if forms[first] == _FORMS["date"] else "number"
    undated = [role for role, words in texts.items() if not are_days(words)]
    if not undated:
        return "date"
    # Where what was released holds days, a cell that is none is a fault.
    if len(texts) < len(held) or ("synthetic" in texts and "synthetic" not in undated):
        raise InputError(
            "not_a_date",
            f"The {undated[0]} table: column {quoted_name(name)} holds days in other tables, and "
            "cells here that are none.",
            hint="Write days as 2024-12-31, or name the column in `categorical`.",
        )
    return "category"


def _range(
    values: NDArray[np.float64], scale: Scale, given: tuple[float, float] | None
) -> tuple[float, float, str]:
    """Return the centre, the width and what the width is; 0 for a constant."""
    centre = float(np.median(values))
    if given is not None:
        return centre, given[1] - given[0], "given range"
    if scale == "robust":
        low, high = np.quantile(values, _QUANTILES)
        if high > low:
            return centre, float(high - low), "robust range (5% to 95%)"
    width = float(values.max() - values.min())
    said = "full range" if scale == "range" else "full range (the robust one is 0)"
    return centre, width, said


def _spelling(kinds: Collection[str], *, named: bool, bits: int) -> Spelling:
    """Return the plain spelling of the words of a category.

    Args:
        kinds: of its columns in the tables.
        named: whether the user says that it is one: its numbers may be written in two ways.
        bits: of the coarsest table, 53 where all are alike.
    """
    numbers = named or not {"integer", "float", "bool", "date"}.isdisjoint(kinds)
    # 007 is 7 where a table holds numbers.
    padded = not {"integer", "float"}.isdisjoint(kinds)
    truths = named or "bool" in kinds

    def plain(word: str) -> str:
        text = word.strip()
        if truths and text in TRUE | FALSE:
            return "1" if text in TRUE else "0"
        if "date" in kinds and (days := word_days((text,))) is not None:
            return number_word(float(days[0]))
        taken = padded if _NUMBER.fullmatch(text) is None else numbers
        return _number(text, bits) if taken and is_number(text) else word

    return plain


def _number(text: str, bits: int) -> str:
    if bits < DOUBLE_BITS:
        return number_word(float(rounded_to_bits(np.array(float(text)), bits)))
    # Long numbers keep all of their digits.
    return str(int(text.partition(".")[0])) if _WHOLE.fullmatch(text) else number_word(float(text))
