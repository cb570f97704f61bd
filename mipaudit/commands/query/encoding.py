"""How tables of records become points: fitted on what was released, or a reference, alone."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.options import QueryOptions, Scale
from mipaudit.commands.query.points import Geometry, Points, copies
from mipaudit.commands.query.report import QueriedColumn
from mipaudit.data.column import Column, are_days, number_word, word_days
from mipaudit.data.formats.cells import FALSE, TRUE, is_number
from mipaudit.data.tables.records import (
    DOUBLE_BITS,
    RecordColumn,
    Role,
    number_labels,
    rounded_to_bits,
)
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.statements.printable_names import quoted_name

Treated = Literal["number", "date", "category"]
Spelling = Callable[[str], str]
# Different words, and the place of each row's among them, -1 where missing.
Worded = tuple[list[str], NDArray[Any]]
Held = Mapping[Role, RecordColumn]

_RELEASED: Final[set[Role]] = {"synthetic", "reference"}
# The robust range lies between these quantiles.
_QUANTILES: Final = (0.05, 0.95)
_FORMS: Final = {"string": "words", "date": "days", "time": "times of day", "duration": "durations"}
# In units of the scale: squares of more would swamp the other columns, and single precision.
_FARTHEST: Final = 1e12
# A code such as 007 is no number, unless another table holds it as one.
_NUMBER: Final = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WHOLE: Final = re.compile(r"[+-]?[0-9]+(\.0*)?")


class _Coded(NamedTuple):
    """One column, of the rows of all tables: numbers, codes, or both where some are missing.

    Attributes:
        told: how it is compared.
        constant: whether the table of the fit has one value alone.
        levels: how many codes there are once those of words are levels; none without codes.
        numbers: not scaled, 0 where missing.
        codes: of words, each its own and -1 where missing; or which numbers are missing.
        level: of each word, and at the end of what is missing: words that were not released
            share one.
        centre: of numbers, in the column's unit.
        width: of numbers: a difference of so much is 1.
    """

    told: QueriedColumn
    constant: bool = False
    levels: tuple[int, ...] = ()
    numbers: Floats | None = None
    codes: NDArray[np.int32] | None = None
    level: NDArray[np.int32] | None = None
    centre: float = 0.0
    width: float = 1.0

    def scaled(self, numbers: Floats, missing: Bools) -> Floats:
        """Return numbers of one table in units of the scale, 0 where missing.

        Raises:
            InputError: ``too_far``.
        """
        with np.errstate(over="ignore"):
            found = np.where(missing, 0.0, (numbers - self.centre) / self.width)
        far = np.flatnonzero(~(np.abs(found) < _FARTHEST))
        if far.size:
            raise InputError(
                "too_far",
                f"Column {quoted_name(self.told.column)}: the value in row {far[0] + 1:,} is more "
                f"than 10^12 times the column's range away (such cells: {far.size:,}), so "
                "distances would not be exact.",
                "Is it a code for a missing value? Correct it, give `range`, or use `ignore`.",
            )
        return found + 0.0


class Encoded(NamedTuple):
    """The records of all tables as points.

    Attributes:
        columns: how each was compared.
        constant: those with one value alone in the table of the fit.
        geometry: how records are compared.
        copied: whether each record is in the synthetic table, members first, shape (n,).
        shared: how many members are among the holdout records.
        referenced: how many members, and how many holdout records, are in the reference
            table; none without one.
        points: by table.
    """

    columns: tuple[QueriedColumn, ...]
    constant: tuple[str, ...]
    geometry: Geometry
    copied: Bools
    shared: int
    referenced: tuple[int, ...]
    points: Mapping[str, Points]


def encode(tables: Mapping[Role, dict[str, RecordColumn]], asked: QueryOptions) -> Encoded:
    """Return tables with the same columns as points; their columns are let go one by one.

    Scales come from the table `encode_on` alone; levels from the synthetic and the reference
    table. Of members and holdout nothing is looked at but the kinds of their columns, and
    whether cells are missing.

    Records are compared for equality before numbers are scaled and words share a level:
    scaling can make different numbers the same.

    Args:
        tables: by role.
        asked: which metric, scales and categories.

    Raises:
        InputError: ``types_differ``, ``all_missing``, ``not_a_date``; ``too_far``;
            ``not_a_number``, a range for a column that holds none.
    """
    names = list(tables[asked.encode_on])
    rows = {role: len(next(iter(table.values())).missing) for role, table in tables.items()}
    coded = [
        _coded(name, {role: table.pop(name) for role, table in tables.items()}, asked)
        for name in names
    ]
    points: dict[str, Points] = {}
    first = 0
    for role, count in rows.items():
        some = slice(first, first + count)
        numbers = [one.numbers[some] for one in coded if one.numbers is not None]
        codes = [one.codes[some] for one in coded if one.codes is not None]
        points[role] = Points(
            numbers=np.stack(numbers, axis=1) if numbers else np.empty((count, 0)),
            codes=np.stack(codes, axis=1) if codes else np.empty((count, 0), dtype=np.int32),
        )
        first += count
    levels = tuple(count for one in coded for count in one.levels)
    scored = points["members"], points["holdout"]
    reference = [points["reference"]] if "reference" in points else []
    copied = np.concatenate([copies(one, points["synthetic"]) for one in scored])
    shared = int(copies(*scored).sum())
    referenced = tuple(int(copies(one, other).sum()) for other in reference for one in scored)
    for one in points.values():
        _scale(coded, one)
    return Encoded(
        columns=tuple(one.told for one in coded),
        constant=tuple(one.told.column for one in coded if one.constant),
        geometry=Geometry(metric=asked.metric, levels=levels, columns=len(names)),
        copied=copied,
        shared=shared,
        referenced=referenced,
        points=points,
    )


def _scale(coded: list[_Coded], points: Points) -> None:
    """Scale the numbers of a table, and make levels of its words, where they stand."""
    none = np.zeros(len(points), dtype=np.bool_)
    number, code = iter(points.numbers.T), iter(points.codes.T)
    for one in coded:
        codes = None if one.codes is None else next(code)
        if one.level is not None and codes is not None:
            codes[:] = one.level[codes]
        else:
            numbers = next(number)
            numbers[:] = one.scaled(numbers, none if codes is None else codes == 1)


def _coded(name: str, held: Held, asked: QueryOptions) -> _Coded:
    """Return one column of all tables as numbers or as codes."""
    for role, column in held.items():
        if column.missing.all():
            raise InputError(
                "all_missing",
                f"The {role} table: column {quoted_name(name)} has no value at all.",
                "Leave it out with `ignore`.",
            )
    named, given = name in asked.categorical, (asked.range or {}).get(name)
    treated = _treated(name, held, category=named)
    kept = {column.bits for column in held.values() if column.kind != "empty"}
    # Numbers are rounded to those of the coarsest table.
    bits = min(kept) if len(kept) > 1 else DOUBLE_BITS
    missing = np.concatenate([column.missing for column in held.values()])
    told = QueriedColumn(
        column=name,
        treated=treated,
        scale="equal or not",
        levels=None,
        missing=int(missing.sum()),
        unseen=0,
        rounded=bits < DOUBLE_BITS,
    )
    if treated != "category":
        numbers = {role: _numbers(column, bits) for role, column in held.items()}
        fit = numbers[asked.encode_on][~held[asked.encode_on].missing]
        centre, width, said = _range(fit, asked.scale, given)
        if width > 0:
            blanks = bool(missing.any())
            return _Coded(
                told=replace(told, scale=said),
                levels=(2,) * blanks,
                numbers=np.where(missing, 0.0, np.concatenate([*numbers.values()])) + 0.0,
                codes=missing.astype(np.int32) if blanks else None,
                centre=centre,
                width=width,
            )
        # Other values are mismatches: there is no unit to measure them in.
    elif given is not None:
        raise InputError(
            "not_a_number",
            f"`range`: column {quoted_name(name)} holds no numbers.",
            "A range is for columns of numbers or days.",
        )
    plain = _spelling({column.kind for column in held.values()}, named=named, bits=bits)
    words = {role: _words(column, plain, bits) for role, column in held.items()}
    return _category(told, words, asked.encode_on)


def _numbers(column: RecordColumn, bits: int) -> Floats:
    """Return numbers or days, anything where missing."""
    if column.words is None:
        return rounded_to_bits(column.values, bits)
    days = word_days(column.words)
    table = np.append(np.empty(0) if days is None else days, 0.0)
    return np.asarray(table[column.values], dtype=np.float64)


def _words(column: RecordColumn, plain: Spelling, bits: int) -> Worded:
    """Return the words of a column, numbers written out, and the place of each row's."""
    if column.words is not None:
        return [*map(plain, column.words)], column.values
    values = rounded_to_bits(column.values, bits)
    labels = number_labels(Column(values=values, missing=column.missing))
    return [*labels.words], labels.values


def _category(told: QueriedColumn, held: Mapping[Role, Worded], fit: Role) -> _Coded:
    """Return a column of words, its levels those that were released."""
    every = dict.fromkeys(word for said, _ in held.values() for word in said)
    codes = {word: at for at, word in enumerate(every)}
    released = {word for role in _RELEASED & held.keys() for word in held[role][0]}
    level = {word: at for at, word in enumerate(sorted(released))}
    levels = np.array([*(level.get(word, len(level)) for word in every), len(level) + 1], np.int32)
    # A missing cell's code -1 finds the entry at the end, of words and of levels.
    own = {role: np.array([*map(codes.get, said), -1])[at] for role, (said, at) in held.items()}
    unseen = {role: int(np.count_nonzero(levels[one] == len(level))) for role, one in own.items()}
    return _Coded(
        told=replace(
            told,
            treated="category",
            levels=len(level),
            unseen=unseen["members"] + unseen["holdout"],
            unseen_members=unseen["members"],
        ),
        constant=len(set(held[fit][0])) == 1,
        levels=(len(level) + 1 + bool(told.missing),),
        codes=np.concatenate([*own.values()]).astype(np.int32),
        level=levels,
    )


def _treated(name: str, held: Mapping[Role, RecordColumn], *, category: bool) -> Treated:
    """Return what a column is taken for, which is the same in all tables."""
    if category or {column.kind for column in held.values()} == {"bool"}:
        return "category"
    forms = {role: _FORMS.get(column.kind, "numbers") for role, column in held.items()}
    texts = {role: held[role].words or () for role, form in forms.items() if form == "words"}
    # Words may be days, beside days or alone; anything else is one thing in all tables.
    first = next(iter(texts or forms))
    for role, form in forms.items():
        if form != forms[first] and not (texts and form in {"words", _FORMS["date"]}):
            raise InputError(
                "types_differ",
                f"Column {quoted_name(name)} holds {forms[first]} in the {first} table and "
                f"{form} in the {role} table.",
                "Correct the cells, or name the column in `categorical` or `ignore`.",
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
            f"The {undated[0]} table: column {quoted_name(name)} holds days in other tables, but "
            "other values here.",
            "Write days as 2024-12-31, or name the column in `categorical`.",
        )
    return "category"


def _range(
    values: Floats, scale: Scale, given: tuple[float, float] | None
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
