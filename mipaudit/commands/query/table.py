"""Tables of records: their common columns, and those that are carried to the score file."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from mipaudit.commands.query.columns import (
    MOMENT_KINDS,
    RecordColumn,
    moment_kind,
    read_record_column,
)
from mipaudit.data.csv.cells import MISSING
from mipaudit.data.csv.file import CsvPart
from mipaudit.data.memory import open_arrow
from mipaudit.data.opening import open_part
from mipaudit.data.parts import Opened, Part, other_hints
from mipaudit.data.tables.coordinates import is_row_label
from mipaudit.errors import InputError, UsageError
from mipaudit.reading.bytes.paths import input_blobs
from mipaudit.reading.columns.column import Field
from mipaudit.reading.columns.names import find_column, is_candidate, is_score_like
from mipaudit.statements.sources import InputFile
from mipaudit.statements.text.printable_names import quoted_name

Role = Literal["members", "holdout", "synthetic", "reference"]

_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
# What a CSV score file takes for whole, and so for a label: 19 digits are read as a fraction.
_LABEL: Final = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_STDIN_IN_MEMORY: Final = 4 << 20
_SHOWN: Final = 8
_NO_NUMBER: Final = (
    "Mend the cell, take the column as words with `categorical`, or leave it out with `ignore`."
)
_FIX: Final = "Rename it, leave it out with `ignore`, or name what to compare with `columns`."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordTable:
    """One table, its columns not yet read.

    Attributes:
        role: what it holds.
        opened: its files, or the frame.
        kinds: of each column in each part.
        fields: its columns.
    """

    role: Role
    opened: Opened
    kinds: dict[str, tuple[str, ...]]
    fields: tuple[Field, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its files, or the frame."""
        return self.opened.parts

    @property
    def rows_about(self) -> int:
        """How many rows, as far as known before they are read."""
        return sum(part.rows_about for part in self.parts)

    @property
    def texts(self) -> frozenset[bool]:
        """Whether parts are text: True, False, or both."""
        return frozenset(isinstance(part, CsvPart) for part in self.parts)

    def read(
        self, names: Sequence[str], *, categorical: Collection[str] = (), mixed: bool = False
    ) -> dict[str, RecordColumn]:
        """Return the named columns.

        Args:
            names: of the columns.
            categorical: those whose numbers are words.
            mixed: whether some tables are text and some are not: words by which text
                says that a cell is empty say so everywhere.

        Raises:
            InputError: a cell does not fit its column, or a file changed meanwhile.
        """
        for part in self.parts:
            if isinstance(part, CsvPart):
                part.take_as_words(categorical)
            with other_hints({"unparsable": _NO_NUMBER}):
                part.load(names, ())
        fields = [_by_name(part) for part in self.parts]
        found = {
            name: read_record_column(
                self.parts,
                name,
                self._found(name, fields),
                category=name in categorical,
                blank=MISSING if mixed else (),
            )
            for name in names
        }
        self.opened.check_unchanged()
        return found

    def _found(self, name: str, fields: Sequence[Mapping[str, Field]]) -> tuple[str, ...]:
        """Return the kinds by part, now that all rows are parsed and not only the first."""
        each = zip(self.parts, fields, self.kinds[name], strict=True)
        return tuple(
            kind if kind in MOMENT_KINDS else _kind_of(part, name, own) for part, own, kind in each
        )

    def described(self, rows: int) -> tuple[InputFile, ...]:
        """Return how the report names what was read."""
        if not self.opened.blobs:
            return (InputFile(name=f"the {self.role}", rows=rows, bytes=None),)
        return self.opened.described(hash_all=False)


def open_table(role: Role, source: Any) -> RecordTable:  # noqa: ANN401 - a path or a frame
    """Open a table.

    Args:
        role: what it holds.
        source: a file, a directory or a glob of parts, ``-``, or a frame.

    Raises:
        InputError: it is no table, has no rows, or its parts have different columns.
        UsageError: an empty or remote path.
    """
    if not isinstance(source, str):
        whose = "members'" if role == "members" else role
        return _table(role, (open_arrow(source, f"the {whose} frame"),))
    blobs = tuple(input_blobs(source, in_memory=_STDIN_IN_MEMORY))
    try:
        parts = tuple(open_part(blob) for blob in blobs)
        return _table(role, parts)
    except BaseException:
        for blob in blobs:
            blob.close()
        raise


def _table(role: Role, parts: tuple[Part, ...]) -> RecordTable:
    for part in parts:
        if not part.rows_about:
            raise InputError("no_rows", f"{part.name}: the table has no rows.")
    first = parts[0].fields
    every = [_by_name(part) for part in parts]
    kinds = {
        one.name: tuple(
            _kind_of(part, one.name, fields) for part, fields in zip(parts, every, strict=True)
        )
        for one in first
    }
    return RecordTable(role=role, opened=Opened(parts=parts), kinds=kinds, fields=first)


def _by_name(part: Part) -> dict[str, Field]:
    return {field.name: field for field in part.fields}


def _kind_of(part: Part, name: str, fields: Mapping[str, Field]) -> str:
    field = fields.get(name)
    if field is None:
        raise InputError(
            "columns_differ",
            f"{part.name}: column {quoted_name(name)} of the first part is missing.",
            hint="All parts of a table need the same columns.",
        )
    return field.kind if field.moment is None else moment_kind(field.moment)


class CommonColumns(NamedTuple):
    """The columns that are compared, in the order of the synthetic table, and the others.

    ``skipped`` has (column, why).
    """

    taken: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


def common_columns(
    tables: Sequence[RecordTable], *, columns: Sequence[str] = (), ignore: Sequence[str] = ()
) -> CommonColumns:
    """Return the columns that all tables have, and are to be compared in.

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
    for name in columns:
        find_column(synthetic.fields, name, option="`columns`")
    every = [field for table in tables for field in table.fields]
    for name in ignore:
        find_column(every, name, option="`ignore`")
    reasons = [(field.name, _why_not(field, columns, ignore)) for field in synthetic.fields]
    names = [name for name, why in reasons if why is None]
    skipped = {name: why for name, why in reasons if why is not None}
    held = set.intersection(*({field.name for field in table.fields} for table in tables))
    if not held:
        raise InputError(
            "no_common_columns",
            "The tables have no column in common.",
            hint="Are the names spelt alike, and is every table the right one?",
        )
    for table in tables:
        absent = [name for name in names if name not in table.kinds]
        if absent:
            shown = ", ".join(map(quoted_name, absent[:_SHOWN]))
            more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
            raise InputError(
                "columns_differ",
                f"The {table.role} table lacks columns of the synthetic one: {shown}{more}.",
                hint=_FIX,
            )
    if not names:
        raise InputError(
            "no_common_columns", "No column is left to compare.", hint="Name some with `columns`."
        )
    _refuse_unreadable(names, tables)
    for field in every:
        if field.name not in names:
            skipped.setdefault(field.name, _why_not(field, columns, ignore) or "not released")
    return CommonColumns(taken=tuple(names), skipped=tuple(skipped.items()))


def _refuse_unreadable(names: Sequence[str], tables: Sequence[RecordTable]) -> None:
    for table, name in product(tables, names):
        if "other" in table.kinds[name]:
            raise InputError(
                "unreadable_column",
                f"The {table.role} table: column {quoted_name(name)} holds neither numbers, nor "
                "words, nor times.",
                hint=_FIX,
            )


def _why_not(field: Field, columns: Sequence[str], ignore: Sequence[str]) -> str | None:
    if field.name in ignore:
        return "to be ignored"
    if columns:
        return None if field.name in columns else "not named"
    if is_candidate(field.name):
        return "says who is a member"
    return "labels the rows" if is_row_label(field) else None


def check_kept(
    tables: Sequence[RecordTable], names: Sequence[str], *, scores: Collection[str]
) -> None:
    """Check that columns can be carried to the score file.

    Args:
        tables: members and holdout among them.
        names: of the columns.
        scores: names of the score file's own columns.

    Raises:
        UsageError: ``keep``, its name would be taken for something else.
        InputError: ``unknown_column``, or ``unreadable_column``.
    """
    for name in names:
        if name in scores or is_candidate(name) or is_score_like(name):
            raise UsageError(
                "keep",
                f"`keep`: in the score file {quoted_name(name)} would be taken for a score, or "
                "for membership.",
                hint="Rename the column in the tables.",
            )
        for table in _scored(tables):
            find_column(table.fields, name, option=f"`keep`, in the {table.role} table")
            if "other" in table.kinds[name]:
                raise InputError(
                    "unreadable_column",
                    f"`keep`: column {quoted_name(name)} of the {table.role} table holds neither "
                    "numbers, nor words, nor days.",
                )


def _scored(tables: Sequence[RecordTable]) -> list[RecordTable]:
    return [table for role in ("members", "holdout") for table in tables if table.role == role]


def read_kept(tables: Sequence[RecordTable], names: Sequence[str]) -> dict[str, Any]:
    """Return the columns of members and holdout as Arrow arrays: whole numbers, or words.

    Raises:
        InputError: ``not_a_label``, for numbers that are not whole.
    """
    read = [table.read(names, categorical=names) for table in _scored(tables)]
    return {name: _labels(name, [one[name] for one in read]) for name in names}


def _labels(name: str, columns: Sequence[RecordColumn]) -> Any:  # noqa: ANN401 - Arrow's
    import pyarrow as pa

    texts = [
        [_day(float(word)) for word in one.words] if one.kind == "date" else one.words
        for one in columns
    ]
    every = [word for words in texts for word in words]
    # A reader of CSV, which knows no types, would take the words for scores.
    if all(map(_is_number, every)) and not all(map(_LABEL.fullmatch, every)):
        raise InputError(
            "not_a_label",
            f"`keep`: column {quoted_name(name)} holds numbers that are not whole, or that have "
            "more than 18 digits: in the score file they would be scores.",
            hint="Keep columns that name a record, a person or a group; a letter before the digits "
            "makes a name of a number.",
        )
    whole = all(map(_WHOLE.fullmatch, every))
    kind = pa.int64() if whole else pa.string()
    parts = []
    for words, column in zip(texts, columns, strict=True):
        known = pa.array([int(word) for word in words] if whole else words, type=kind)
        assert column.codes is not None  # noqa: S101 - read as words
        places = pa.array(np.maximum(column.codes, 0), mask=column.missing)
        parts.append(known.take(places))
    return pa.concat_arrays(parts)


def _is_number(word: str) -> bool:
    try:
        float(word.replace(",", ".", 1))
    except ValueError:
        return False
    return True


def _day(days: float) -> str:
    moment = _EPOCH + timedelta(days=days)
    return str(moment.date()) if days == int(days) else moment.replace(tzinfo=None).isoformat()
