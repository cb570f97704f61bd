"""Tables of records: members, holdout, synthetic and reference, and their common columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.commands.query.tables.columns import MOMENT_KINDS, moment_kind, read_record_column
from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import describe_blob
from mipaudit.reading.bytes.paths import input_blobs
from mipaudit.reading.columns.score_selection import find_column, is_candidate
from mipaudit.reading.csv.cells import MISSING
from mipaudit.reading.csv.part import CsvPart
from mipaudit.reading.sheets.coordinates import is_row_label
from mipaudit.reading.source.opening import open_part
from mipaudit.statements.origin import InputFile
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from mipaudit.commands.query.tables.columns import RecordColumn
    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.reading.columns.column import Field
    from mipaudit.reading.source.part import Part

Role = Literal["members", "holdout", "synthetic", "reference"]

_STDIN_IN_MEMORY: Final = 4 << 20
_SHOWN: Final = 8
_NO_DISTANCE: Final = "neither numbers, nor words, nor times"
_NO_NUMBER: Final = (
    "Mend the cell, take the column as words with `categorical`, or leave it out with `ignore`."
)
_FIX: Final = "Rename it, leave it out with `ignore`, or name what to compare with `columns`."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordTable:
    """One table, its columns not yet read.

    Attributes:
        role: what it holds.
        parts: its files, or the frame.
        blobs: the bytes behind them.
        kinds: of each column in each part.
        fields: its columns.
    """

    role: Role
    parts: tuple[Part, ...]
    blobs: tuple[Blob, ...]
    kinds: dict[str, tuple[str, ...]]
    fields: tuple[Field, ...]

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
            _load(part, names)
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
        for blob in self.blobs:
            if blob.changed():
                raise InputError(
                    "input_changed",
                    f"{blob.name}: the file changed while it was read.",
                    hint="Read a copy that nobody writes to.",
                )
        return found

    def _found(self, name: str, fields: Sequence[Mapping[str, Field]]) -> tuple[str, ...]:
        """Return the kinds by part, now that all rows are parsed and not only the first."""
        each = zip(self.parts, fields, self.kinds[name], strict=True)
        return tuple(
            kind if kind in MOMENT_KINDS else _kind_of(part, name, own) for part, own, kind in each
        )

    def described(self, rows: int) -> tuple[InputFile, ...]:
        """Return how the report names what was read."""
        if not self.blobs:
            return (InputFile(name=f"the {self.role}", rows=rows, bytes=None),)
        if len(self.blobs) == 1:
            return (describe_blob(self.blobs[0], rows, hash_all=False),)
        return tuple(
            describe_blob(blob, sum(piece.rows for piece in part.pieces()), hash_all=False)
            for blob, part in zip(self.blobs, self.parts, strict=True)
        )

    def close(self) -> None:
        """Release what is held."""
        for part in self.parts:
            part.close()


def _load(part: Part, names: Sequence[str]) -> None:
    try:
        part.load(names, ())
    except InputError as error:
        if error.code != "unparsable":
            raise
        raise InputError(error.code, error.message, hint=_NO_NUMBER) from None


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
        return _table(role, (_frame_part(role, source),), ())
    blobs = tuple(input_blobs(source, in_memory=_STDIN_IN_MEMORY))
    try:
        parts = tuple(open_part(blob) for blob in blobs)
        return _table(role, parts, blobs)
    except BaseException:
        for blob in blobs:
            blob.close()
        raise


def _frame_part(role: Role, source: object) -> Part:
    from mipaudit.reading.source.any_input import open_arrow

    return open_arrow(source, f"the {role}' frame" if role == "members" else f"the {role} frame")


def _table(role: Role, parts: tuple[Part, ...], blobs: tuple[Blob, ...]) -> RecordTable:
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
    return RecordTable(role=role, parts=parts, blobs=blobs, kinds=kinds, fields=first)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonColumns:
    """The columns that are compared, in the order of the synthetic table, and the others.

    ``skipped`` has (column, why).
    """

    taken: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


def common_columns(
    tables: Sequence[RecordTable],
    *,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
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
    _check_named(tables, synthetic, columns, ignore)
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
    _refuse_absent(names, tables)
    if not names:
        raise InputError(
            "no_common_columns", "No column is left to compare.", hint="Name some with `columns`."
        )
    _refuse_unreadable(names, tables)
    taken = frozenset(names)
    for field in (field for table in tables for field in table.fields):
        if field.name not in taken:
            skipped.setdefault(field.name, _why_not(field, columns, ignore) or "not released")
    return CommonColumns(taken=tuple(names), skipped=tuple(skipped.items()))


def _check_named(
    tables: Sequence[RecordTable],
    synthetic: RecordTable,
    columns: Sequence[str],
    ignore: Sequence[str],
) -> None:
    for name in columns:
        find_column(synthetic.fields, name, option="`columns`")
    known = [field for table in tables for field in table.fields]
    for name in ignore:
        find_column(known, name, option="`ignore`")


def _why_not(field: Field, columns: Sequence[str], ignore: Sequence[str]) -> str | None:
    if field.name in ignore:
        return "to be ignored"
    if columns:
        return None if field.name in columns else "not named"
    if is_candidate(field.name):
        return "says who is a member"
    return "labels the rows" if is_row_label(field) else None


def _refuse_absent(names: Sequence[str], tables: Sequence[RecordTable]) -> None:
    for table in tables:
        present = {field.name for field in table.fields}
        absent = [name for name in names if name not in present]
        if absent:
            shown = ", ".join(map(quoted_name, absent[:_SHOWN]))
            more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
            raise InputError(
                "columns_differ",
                f"The {table.role} table lacks columns of the synthetic one: {shown}{more}.",
                hint=_FIX,
            )


def _refuse_unreadable(names: Sequence[str], tables: Sequence[RecordTable]) -> None:
    for table in tables:
        for name in names:
            if "other" in table.kinds[name]:
                raise InputError(
                    "unreadable_column",
                    f"The {table.role} table: column {quoted_name(name)} holds {_NO_DISTANCE}.",
                    hint=_FIX,
                )


def refuse_same_files(tables: Sequence[RecordTable]) -> None:
    """Check that no file is given twice.

    Raises:
        InputError: ``same_file``.
    """
    seen: dict[object, Role] = {}
    for table in tables:
        for blob in table.blobs:
            # Standard input and pipes have none.
            identity = getattr(blob, "identity", None)
            if identity is not None and identity in seen:
                raise InputError(
                    "same_file",
                    f"{blob.name}: the same file is given as {seen[identity]} and {table.role}.",
                    hint="Each table is a file of its own.",
                )
            seen[identity] = table.role
