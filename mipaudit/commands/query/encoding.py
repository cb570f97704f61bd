"""How tables of records become points: fitted on what was released, or a reference, alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.columns import AS_WRITTEN, PlainWord, RecordColumn, plain_word
from mipaudit.commands.query.options import QueryOptions, Scale
from mipaudit.commands.query.search.points import Geometry, Points
from mipaudit.commands.query.table import Role
from mipaudit.errors import InputError
from mipaudit.reading.bytes.storage_precision import DOUBLE_BITS, rounded_to_bits
from mipaudit.reading.columns.column import are_days, number_word, word_days
from mipaudit.statements.text.printable_names import quoted_name

Treated = Literal["number", "date", "category"]
Table = dict[str, "RecordColumn"]

# The robust range lies between these quantiles.
_QUANTILES: Final = (0.05, 0.95)
_FORMS: Final = {"date": "days", "time": "times of day", "duration": "durations"}
# In units of the scale: squares of more would swamp the other columns, and single precision.
_FARTHEST: Final = 1e12


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
    plain: PlainWord = AS_WRITTEN

    @property
    def levels(self) -> tuple[int, ...]:
        """Of the columns of codes: known words, one for others, perhaps one for missing."""
        if self.treated == "category":
            return (len(self.words) + 1 + self.blanks,)
        return (2,) if self.blanks else ()


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

        def known(code: ColumnCode) -> dict[str, int]:
            every = (_words(table[code.name], code.plain) for table in tables.values())
            words = dict.fromkeys(word for words in every for word in words)
            return {word: at for at, word in enumerate(words)}

        places = {code.name: known(code) for code in self.columns if code.treated == "category"}

        def coded(column: RecordColumn, code: ColumnCode) -> NDArray[np.int32]:
            return _word_codes(column, code, places[code.name], other=-1, missing=-2)

        return {role: self._stacked(table, _plain_numbers, coded) for role, table in tables.items()}

    def points(self, table: Table) -> Points:
        """Return a table's records as points."""

        def coded(column: RecordColumn, code: ColumnCode) -> NDArray[np.int32]:
            place = {word: at for at, word in enumerate(code.words)}
            return _word_codes(column, code, place, other=len(place), missing=len(place) + 1)

        return self._stacked(table, _scaled, coded)

    def _stacked(
        self,
        table: Table,
        numbered: Callable[[RecordColumn, ColumnCode], NDArray[np.float64]],
        coded: Callable[[RecordColumn, ColumnCode], NDArray[np.int32]],
    ) -> Points:
        rows = len(next(iter(table.values())).missing)
        numbers, codes = [], []
        for code in self.columns:
            column = table[code.name]
            if code.treated == "category":
                codes.append(coded(column, code))
                continue
            numbers.append(np.where(column.missing, 0.0, numbered(column, code)) + 0.0)
            if code.blanks:
                codes.append(column.missing.astype(np.int32))
        return Points(
            numbers=np.stack(numbers, axis=1) if numbers else np.empty((rows, 0)),
            codes=np.stack(codes, axis=1) if codes else np.empty((rows, 0), dtype=np.int32),
        )


def _scaled(column: RecordColumn, code: ColumnCode) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        found = (_plain_numbers(column, code) - code.centre) / code.width
    found = np.where(column.missing, 0.0, found)
    far = np.flatnonzero(~(np.abs(found) < _FARTHEST))
    if far.size:
        raise InputError(
            "too_far",
            f"Column {quoted_name(code.name)}: {far.size:,} cells of a table lie more than 10^12 "
            f"times the column's range away, the first in row {far[0] + 1:,}: no distance is "
            "exact.",
            hint="Is it a code for a missing value? Mend it, give `range`, or use `ignore`.",
        )
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


def _treated(name: str, held: Mapping[Role, RecordColumn], *, category: bool) -> Treated:
    kinds = {column.kind for column in held.values()}
    if category or kinds == {"bool"}:
        return "category"
    words = [role for role, column in held.items() if column.kind == "string"]
    if not words:
        (first, what), *forms = [
            (role, _FORMS.get(column.kind, "numbers")) for role, column in held.items()
        ]
        for other, form in forms:
            if form != what:
                raise _differ(name, first, what, other, form)
        return "date" if what == _FORMS["date"] else "number"
    others = [role for role in held if role not in words]
    dated = {role: are_days(held[role].words) for role in words}
    for other in others:
        if held[other].kind != "date":
            raise _differ(name, words[0], "words", other, _FORMS.get(held[other].kind, "numbers"))
    if all(dated.values()):
        return "date"
    # Where what was released holds days, a cell that is none is a fault.
    if others or dated.get("synthetic", False):
        role = next(role for role in words if not dated[role])
        raise InputError(
            "not_a_date",
            f"The {role} table: column {quoted_name(name)} holds days in other tables, and cells "
            "here that are none.",
            hint="Write days as 2024-12-31, or name the column in `categorical`.",
        )
    return "category"


def _differ(name: str, one: str, what: str, other: str, else_: str) -> InputError:
    return InputError(
        "types_differ",
        f"Column {quoted_name(name)} holds {what} in the {one} table and {else_} in the {other} "
        "table.",
        hint="Mend the cells, or name the column in `categorical` or `ignore`.",
    )


def _plain_numbers(column: RecordColumn, code: ColumnCode) -> NDArray[np.float64]:
    """Return numbers or days, anything where missing."""
    if column.numbers is not None:
        return rounded_to_bits(column.numbers, code.bits)
    assert column.codes is not None  # noqa: S101 - words have codes
    days = word_days(column.words)
    return np.append(np.empty(0) if days is None else days, 0.0)[column.codes]


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
    treated = _treated(name, held, category=named)
    kept = {column.bits for column in held.values() if column.kind != "empty"}
    code = ColumnCode(
        name=name,
        treated=treated,
        scale="equal or not",
        blanks=any(bool(column.missing.any()) for column in held.values()),
        bits=min(kept) if len(kept) > 1 else DOUBLE_BITS,
    )
    if treated != "category":
        values = _plain_numbers(fit, code)[~fit.missing]
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
    plain = plain_word({column.kind for column in held.values()}, named=named, bits=code.bits)
    released = [column for role, column in held.items() if role in {"synthetic", "reference"}]
    return replace(
        code,
        treated="category",
        plain=plain,
        words=tuple(sorted({word for column in released for word in _words(column, plain)})),
        constant=len(set(_words(fit, plain))) == 1,
    )


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


def _words(column: RecordColumn, plain: PlainWord) -> tuple[str, ...]:
    """Return the words of a category, numbers written out."""
    if column.numbers is None:
        return tuple(map(plain, column.words))
    held = rounded_to_bits(column.numbers[~column.missing], plain.bits)
    return tuple(map(number_word, np.unique(held).tolist()))


def _word_codes(
    column: RecordColumn, code: ColumnCode, place: Mapping[str, int], *, other: int, missing: int
) -> NDArray[np.int32]:
    if column.numbers is None:
        assert column.codes is not None  # noqa: S101 - words have codes
        words = map(code.plain, column.words)
        table = np.array([*(place.get(word, other) for word in words), missing])
        return np.asarray(table[column.codes], dtype=np.int32)
    values, inverse = np.unique(rounded_to_bits(column.numbers, code.bits), return_inverse=True)
    table = np.array([place.get(number_word(value), other) for value in values.tolist()])
    found = table[inverse]
    found[column.missing] = missing
    return np.asarray(found, dtype=np.int32)


def unseen_rows(points: Points, encoding: Encoding) -> dict[str, int]:
    """Return by column how many records hold a word that the released tables lack."""
    found, at = {}, 0
    for code in encoding.columns:
        if code.treated == "category":
            found[code.name] = int(np.count_nonzero(points.codes[:, at] == len(code.words)))
        at += len(code.levels)
    return found
