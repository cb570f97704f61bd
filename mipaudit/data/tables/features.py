"""Two tables of records, members and holdout, as features: columns of numbers.

A number is itself and NaN where it is missing; a text is a hash of itself, which orders
nothing but tells texts apart; a day, a time or a duration counts in days.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Final, Literal, Self

import numpy as np

from mipaudit.data.choice import unreadable_column
from mipaudit.data.column import (
    Chunk,
    Column,
    Field,
    Part,
    Piece,
    are_days,
    column_hashes,
    column_scores,
    is_day,
    word_days,
)
from mipaudit.data.files.blob import closed_on_error
from mipaudit.data.parts import (
    Opened,
    merge_fields,
    merged_kind,
    other_hints,
    part_rows,
    uneven_storage,
)
from mipaudit.data.rows.units import Chosen, choose_units
from mipaudit.data.tables.records import open_records
from mipaudit.data.words import CANDIDATES, find_column, is_id_like
from mipaudit.errors import InputError
from mipaudit.statements.printable_names import quoted_name
from mipaudit.summaries.plan import kept_exactly
from mipaudit.summaries.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from mipaudit.data.rows.intake import Intake
    from mipaudit.maths.arrays import Floats

FeatureKind = Literal["number", "category", "date"]
# The parts of the members' table, and of the holdout's.
Sides = tuple[tuple["Part", ...], tuple["Part", ...]]

_NO_NUMBER: Final = "Correct the cell, or leave the column out with `ignore`."
_WORDS_LOOKED_AT: Final = 1000
_ROWS_TO_TELL: Final = 20  # fewer may differ by chance
_MEMBERSHIP: Final = frozenset({*CANDIDATES, "part"})
# Names of records: other names like an id are labels, features as any other.
_OF_RECORDS: Final = re.compile(
    r"(^|[_\W])(id|idx|index|uuid|key|row|rownum|row_number)$|^unnamed|^__index_level"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureColumn:
    """A column that both tables have.

    Attributes:
        name: of the column.
        kind: what its cells are.
        fractions: whether its numbers are stored as such.
        precision: the float type that its numbers are rounded to, because some files are.
    """

    name: str
    kind: FeatureKind
    fractions: bool = False
    precision: str | None = None

    def numbers(self, chunk: Chunk) -> Floats:
        """Return the feature of some rows, shape (n,), NaN where missing.

        Raises:
            InputError: ``mixed_column`` or ``not_a_date``.
        """
        found = chunk.columns[self.name]
        if found.vocabulary is None or self.kind == "category":
            return column_scores(found, self.precision)
        if self.kind == "number":
            raise _mixed_column(self.name)
        used = found.used_words
        days = word_days(used)
        if days is None:
            raise InputError(
                "not_a_date",
                f"Column {quoted_name(self.name)} holds days in its first rows, and text that is "
                "no day further down.",
                "Write days as 2024-05-31 and leave unknown ones empty, or leave the column "
                "out with `ignore`.",
            )
        table = dict(zip(used, days.tolist(), strict=True))
        return found.told([table.get(word) for word in found.words], None, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class FeaturePartition:
    """A piece of one table."""

    piece: Piece
    member: bool
    first_row: int
    source: FeatureSource

    @property
    def stays(self) -> bool:
        """Rows are read in this process: its threads share what ids stand for."""
        return True

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows in order: their scores are the features, NaN where missing."""
        del intake  # nothing is left out
        columns, person = self.source.columns, self.source.id_column
        wanted = {*(column.name for column in columns), *([person] if person else [])}
        for chunk in self.piece.chunks(wanted, self.first_row):
            rows = Rows(
                first_row=chunk.first_row,
                source_rows=chunk.rows,
                kept=None,
                keys=None if person is None else self._ids(chunk.columns[person]),
                member=np.full(chunk.rows, self.member),
                scores=tuple(column.numbers(chunk) for column in columns),
            )
            yield rows if self.source.chosen is None else self.source.chosen.among(rows)

    def _ids(self, column: Column) -> NDArray[np.uint64]:
        """Return the hash of each row's person."""
        hashes = column_hashes(column)
        if hashes.missing is not None and hashes.missing.any():
            raise InputError(
                "missing_id",
                f"Column {quoted_name(str(self.source.id_column))} is empty in some rows, so it is "
                "unknown whose rows they are.",
                "Fill it in, or leave `id_col` out.",
            )
        return hashes.values


@dataclass(kw_only=True, eq=False)
class FeatureSource:
    """The opened tables. Use it as a context manager, or close it.

    Attributes:
        columns: the features, in the order of the members' table.
        skipped: (column, code of why) for every column that is left out.
        id_column: names the person behind a row.
        held: whether all rows fit in memory, so that no order of them can tell.
        opened: what they are read from.
        chosen: the rows that stand for their persons; None for every row.
        partitions: in row order, members first.
        rows: how many there are.
    """

    columns: tuple[FeatureColumn, ...]
    skipped: tuple[tuple[str, str], ...]
    id_column: str | None
    held: bool
    opened: Opened
    chosen: Chosen | None = None
    partitions: list[FeaturePartition] = field(default_factory=list)
    rows: int = 0

    def batches(self) -> Iterator[Rows]:
        """Yield all rows in order."""
        for partition in self.partitions:
            yield from partition.batches()

    def choose(self, seed: int) -> Chosen:
        """Let one row of each person and class stand for them from now on.

        Args:
            seed: in use for the positions of the rows.

        Raises:
            InputError: ``missing_id``.
        """
        self.chosen = choose_units(self.batches(), seed)
        return self.chosen

    def __enter__(self) -> Self:
        """Return the source itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Release files and memory."""
        self.opened.close()


def open_features(
    members: object,
    holdout: object,
    *,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
    id_col: str | None = None,
) -> FeatureSource:
    """Open two tables of records, and choose what is compared of them.

    Args:
        members: a file, a directory or a glob of parts, ``-``, or a frame.
        holdout: likewise.
        columns: what to take; by default all but ids and membership.
        ignore: what to leave out.
        id_col: names the person behind a row.

    Raises:
        InputError: a table cannot be read or is empty, or they have no column in common.
    """
    tables = open_records({"members": members, "holdout": holdout})
    with closed_on_error(tables.values()):
        sides = (tables["members"].parts, tables["holdout"].parts)
        parts = [part for side in sides for part in side]
        names, skipped = _selected(sides, columns, ignore, id_col)
        person = [] if id_col is None else [id_col]
        for part in parts:
            _require_columns(part, {*names, *person})
            with other_hints({"unparsable": _NO_NUMBER}):
                part.load({*names, *person}, person)
        whole = kept_exactly(sum(map(part_rows, parts)), len(names))
        found = _features(names, sides, whole=whole, asked=bool(columns))
        features = [one for one in found.values() if isinstance(one, FeatureColumn)]
        if not features:
            raise InputError(
                "no_features",
                "No column is left to compare: all are empty, ids, or left out.",
                "Name them with `columns`.",
            )
        skipped += [(name, why) for name, why in found.items() if isinstance(why, str)]
        source = FeatureSource(
            columns=tuple(features),
            skipped=tuple(skipped),
            id_column=id_col,
            held=whole,
            opened=Opened(
                parts=tuple(parts), bare=(*tables["members"].bare, *tables["holdout"].bare)
            ),
        )
        for side, whose in zip(sides, ("members'", "holdout's"), strict=True):
            if not sum(map(part_rows, side)):
                raise InputError("empty_class", f"The {whose} table has no rows.")
            for piece in (piece for part in side for piece in part.pieces()):
                member, first_row = side is sides[0], source.rows
                source.partitions.append(FeaturePartition(piece, member, first_row, source))
                source.rows += piece.rows
    return source


def _selected(
    sides: Sides, columns: Sequence[str], ignore: Sequence[str], id_col: str | None
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the columns to read and those that are left out, with the code of why.

    Raises:
        InputError: ``unknown_column``, ``no_common_columns``, ``unreadable_column`` or
            ``mixed_column``.
    """
    inside, outside = map(merge_fields, sides)
    wanted = [("`columns`", name) for name in columns]
    wanted += [] if id_col is None else [("`id_col`", id_col)]
    for (option, name), fields in product(wanted, (inside, outside)):
        find_column(fields, name, option=option)
    for name in ignore:
        find_column((*inside, *outside), name, option="`ignore`")
    both = {one.name for one in inside} & {one.name for one in outside}
    if not both:
        raise InputError(
            "no_common_columns",
            "The two tables have no column in common: nothing can be compared.",
            "Give both tables the same header.",
        )
    parts = [part for side in sides for part in side]
    stored = _with_values(parts)
    if id_col is not None:
        _require_one_kind(id_col, stored.get(id_col, []))

    def why_not(name: str) -> str | None:
        """Return the code of why a column is left out; None where it is read."""
        if name not in both:
            return "in_one_table"
        if columns and name not in columns:
            return "not_asked_for"
        named = is_id_like(name) and _OF_RECORDS.search(name.casefold())
        for applies, why in (
            (name in ignore, "ignored_as_asked"),
            (name.casefold() in _MEMBERSHIP, "says_membership"),
            (named, "names_a_record"),
        ):
            if applies and not columns:
                return why
        nested = _is_nested(name, stored.get(name, []), asked=bool(columns))
        return "not_comparable_values" if nested else None

    reasons = {one.name: why_not(one.name) for one in merge_fields(parts) if one.name != id_col}
    kept = [name for name, why in reasons.items() if why is None]
    return kept, [(name, why) for name, why in reasons.items() if why is not None]


def _with_values(parts: Sequence[Part]) -> dict[str, list[Field]]:
    """Return every column as each part that has a value of it stores it."""
    found: dict[str, list[Field]] = {}
    for one in (one for part in parts for one in part.fields):
        if one.kind != "empty":
            found.setdefault(one.name, []).append(one)
    return found


def _is_nested(name: str, stored: Sequence[Field], *, asked: bool) -> bool:
    """Tell whether a column holds lists and the like everywhere.

    Raises:
        InputError: ``unreadable_column`` where it is asked for, ``mixed_column`` where it holds
            something else in another place.
    """
    nested = {one.kind == "other" and one.moment is None for one in stored}
    if len(nested) > 1:
        raise _mixed_column(name)
    if nested == {True} and asked:
        raise unreadable_column(name, option="`columns`")
    return nested == {True}


def _require_one_kind(name: str, stored: Sequence[Field]) -> None:
    """Refuse ids that are numbers in one place and text in another: none would be shared."""
    forms = {(one.kind, one.moment) for one in stored}
    if forms == {("other", None)}:
        raise unreadable_column(name, option="`id_col`")
    if len(forms) > 1 and merged_kind({one.kind for one in stored}) == "other":
        raise _mixed_column(name)


def _require_columns(part: Part, names: set[str]) -> None:
    missing = names - {one.name for one in part.fields}
    if missing:
        shown = ", ".join(quoted_name(name) for name in sorted(missing)[:5])
        raise InputError(
            "missing_column",
            f"{part.name}: it lacks columns that other files of the table have: {shown}.",
            "Give all files of a table the same columns, or leave them out with `ignore`.",
        )


def _mixed_column(name: str, what: str = "numbers in one place and text in another") -> InputError:
    return InputError(
        "mixed_column",
        f"Column {quoted_name(name)} holds {what}.",
        "Write it the same way everywhere, or leave it out with `ignore`.",
    )


def _features(
    names: Sequence[str], sides: Sides, *, whole: bool, asked: bool
) -> dict[str, FeatureColumn | str]:
    """Return the features; for a column that is none, the code of why.

    Args:
        names: of the columns that were read.
        sides: both tables, loaded.
        whole: all rows are looked at where the first do not tell, so that no order of the
            rows can decide.
        asked: whether the columns were named.

    Raises:
        InputError: ``mixed_column``.
    """
    parts = [part for side in sides for part in side]
    kinds = {one.name: one.kind for one in merge_fields(parts)}
    rounded, _ = uneven_storage(names, parts)
    stored = _with_values(parts)

    def feature(name: str) -> FeatureColumn | str:
        """Return the feature that a column is, or the code of why it is none."""
        kind, looked = kinds[name], partial(_pieces, name, sides, whole=whole)
        holds_days = partial(_holds_days, name, sides, whole=whole)
        if kind == "empty":
            return "without_values"
        if kind == "other":
            return FeatureColumn(name=name, kind=_of_time(name, stored[name], holds_days))
        if not asked and kind != "float" and all(map(_apart, looked())):
            parted = kind == "integer" and _is_parted(looked())
            return "numbers_apart" if parted else "another_in_every_row"
        if kind == "string":
            return FeatureColumn(name=name, kind="date" if holds_days() else "category")
        precision = rounded[name][0] if name in rounded else None
        fractions = kind == "float"
        return FeatureColumn(name=name, kind="number", fractions=fractions, precision=precision)

    return {name: feature(name) for name in names}


def _pieces(
    name: str, sides: Sides, *, whole: bool, texts: bool = False
) -> Iterator[Iterator[tuple[Column, int]]]:
    """Yield for each table a column and its rows, piece by piece.

    Args:
        name: of the column.
        sides: the parts of either table.
        whole: whether of all rows, or of the first piece of each table alone.
        texts: of parts where the column is text alone.
    """
    for side in sides:
        chunks = (
            (chunk.columns[name], chunk.rows)
            for part in side
            if not texts or any(one.name == name and one.kind == "string" for one in part.fields)
            for chunk in part.chunks({name})
        )
        yield chunks if whole else islice(chunks, 1)


def _holds_days(name: str, sides: Sides, *, whole: bool) -> bool:
    """Tell whether the texts of both tables, or the first, are days as 2024-05-31."""
    found: set[str] = set()
    for column, rows in chain.from_iterable(_pieces(name, sides, whole=whole, texts=True)):
        words = column.used_words[: rows if whole else _WORDS_LOOKED_AT]
        if not all(map(is_day, words)):
            return False
        found.update(words)
    return are_days(sorted(found))


def _is_parted(sides: Iterable[Iterator[tuple[Column, int]]]) -> bool:
    """Tell whether all numbers of one table lie below all of the other."""
    ends = []
    for chunks in sides:
        values = [one.values for one, rows in chunks if rows and one.numeric]
        ends.append((min(int(v.min()) for v in values), max(int(v.max()) for v in values)))
    (low, high), (other_low, other_high) = ends
    return high < other_low or other_high < low


def _of_time(name: str, stored: Sequence[Field], holds_days: Callable[[], bool]) -> FeatureKind:
    """Return what a column is that holds times somewhere; of texts it is told if all are days.

    Raises:
        InputError: ``mixed_column``.
    """
    moments = {one.moment for one in stored if one.kind == "other"}
    if moments == {"day", "zoned"}:
        raise _mixed_column(
            name, "times with a time zone in one place, and days or times without a zone in another"
        )
    others = {one.kind for one in stored} - {"other"}
    dated = moments <= {"day", "zoned"}
    fits = len(moments) == 1 and others <= {"string"}
    if not fits or (others and not (dated and holds_days())):
        raise _mixed_column(name)
    return "date" if dated else "number"


def _apart(pieces: Iterator[tuple[Column, int]]) -> bool:
    """Tell whether the rows of a table hold as many texts, or numbers without a gap."""
    hashes, ends, looked, days = [], [], 0, True
    for column, rows in pieces:
        own = column_hashes(column)
        whole = column.numeric and column.values.dtype.kind in "iu"
        # Most columns repeat a value soon, and need no further look.
        if not (whole or column.vocabulary) or own.missing is not None:
            return False
        if np.unique(own.values).size < rows:
            return False
        if column.numeric and rows:
            ends += [int(column.values.min()), int(column.values.max())]
        days = days and not whole and all(map(is_day, column.used_words))
        hashes.append(own.values)
        looked += rows
    if looked < _ROWS_TO_TELL or np.unique(np.concatenate(hashes)).size < looked:
        return False
    return max(ends) - min(ends) == looked - 1 if ends else not days
