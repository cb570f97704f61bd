"""Two tables of records, members and holdout, as columns of numbers.

A number is itself and NaN where it is missing; a text is a hash of itself, which orders
nothing but tells texts apart; a day written as 2024-05-31 counts the days.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Self

import numpy as np

from mipaudit.errors import InputError, UsageError
from mipaudit.report.names import quoted_name
from mipaudit.report.origin import InputFile
from mipaudit.summaries.rows import Rows
from mipaudit.tables.blob import describe_blob
from mipaudit.tables.column import Labels, Numbers, column_hashes, column_scores
from mipaudit.tables.layout import merge_fields
from mipaudit.tables.part_opening import open_part
from mipaudit.tables.paths import check_different, input_blobs
from mipaudit.tables.selection import find_column, is_id_like
from mipaudit.tables.units import choose_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mipaudit.tables.blob import Blob
    from mipaudit.tables.column import Chunk, Column, Field
    from mipaudit.tables.intake import Intake
    from mipaudit.tables.part import Part, Piece
    from mipaudit.tables.units import Chosen

FeatureKind = Literal["number", "category", "date"]

_STDIN_IN_MEMORY: Final = 4 << 20
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORDS_LOOKED_AT: Final = 1000
_ROWS_TO_TELL: Final = 20  # fewer may differ by chance
_NAMES: Final = "a column that names a record"
_MEMBERSHIP: Final = frozenset(
    {"member", "is_member", "membership", "in_train", "canary", "included", "split", "part"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureColumn:
    """A column that both tables have; ``fractions`` where its numbers are stored as such."""

    name: str
    kind: FeatureKind
    fractions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRequest:
    """What to read of the two tables.

    Attributes:
        columns: the features by name; empty for all but those that name a record.
        ignore: columns that are left out.
        id_column: names the person behind a record; None for no such column.
        seed: of the choice of one row per person.
    """

    columns: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    id_column: str | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeaturePartition:
    """A piece of one table."""

    piece: Piece
    member: bool
    first_row: int
    columns: tuple[FeatureColumn, ...]
    id_column: str | None
    source: FeatureSource

    @property
    def stays(self) -> bool:
        """Rows are read in this process: its threads share what ids stand for."""
        return True

    def batches(self, intake: Intake | None = None) -> Iterator[Rows]:
        """Yield the rows in order: their scores are the features, NaN where missing."""
        del intake  # nothing is left out
        names = [column.name for column in self.columns]
        wanted = {*names, *([self.id_column] if self.id_column else [])}
        for chunk in self.piece.chunks(wanted, self.first_row):
            keys = None
            if self.id_column is not None:
                keys = self.source.ids(chunk.columns[self.id_column])
            rows = Rows(
                first_row=chunk.first_row,
                source_rows=chunk.rows,
                kept=None,
                keys=keys,
                member=np.full(chunk.rows, self.member),
                scores=tuple(_numbers(chunk, column) for column in self.columns),
            )
            yield rows if self.source.chosen is None else self.source.chosen.among(rows)


@dataclass(kw_only=True, eq=False)
class FeatureSource:
    """The opened tables. Use it as a context manager, or close it.

    Attributes:
        columns: the features, in the order of the members' table.
        skipped: (column, why) for every column that is left out.
        id_column: names the person behind a row.
        chosen: one row for each person and class; None without ``id_column``.
    """

    columns: tuple[FeatureColumn, ...]
    skipped: tuple[tuple[str, str], ...]
    id_column: str | None
    sides: tuple[tuple[bool, tuple[Part, ...]], ...]
    chosen: Chosen | None = None
    bare: tuple[Blob, ...] = ()
    _partitions: list[FeaturePartition] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Number the rows, members first."""
        row = 0
        for member, parts in self.sides:
            for part in parts:
                for piece in part.pieces():
                    self._partitions.append(
                        FeaturePartition(
                            piece=piece,
                            member=member,
                            first_row=row,
                            columns=self.columns,
                            id_column=self.id_column,
                            source=self,
                        )
                    )
                    row += piece.rows
        self.rows_hint = row

    def partitions(self) -> Sequence[FeaturePartition]:
        """Return the partitions in row order."""
        return tuple(self._partitions)

    def ids(self, column: Column) -> NDArray[np.uint64]:
        """Return the hash of each row's person.

        Raises:
            InputError: ``missing_id``.
        """
        hashes = column_hashes(column)
        if hashes.missing is not None and hashes.missing.any():
            raise InputError(
                "missing_id",
                f"Column {quoted_name(str(self.id_column))} is missing in some rows: whose they "
                "are is not known.",
                hint="Fill it in, or leave --id-col out.",
            )
        return hashes.values

    def inputs(self, *, hash_all: bool = False) -> tuple[InputFile, ...]:
        """Return the tables as they were read."""
        found = []
        for _, parts in self.sides:
            for part in parts:
                rows = sum(piece.rows for piece in part.pieces())
                found.append(
                    InputFile(name=part.name, rows=rows, bytes=None)
                    if part.blob is None
                    else describe_blob(part.blob, rows, hash_all=hash_all)
                )
        return (*found, *(describe_blob(blob, 0, hash_all=hash_all) for blob in self.bare))

    def check_unchanged(self) -> None:
        """Raise InputError ``input_changed`` if a file is not as it was at opening."""
        parts = [part for _, found in self.sides for part in found]
        for blob in (*(part.blob for part in parts), *self.bare):
            if blob is not None and blob.changed():
                raise InputError(
                    "input_changed",
                    f"{blob.name}: the file changed while it was read.",
                    hint="Read a copy that nobody writes to.",
                )

    def close(self) -> None:
        """Release files and memory."""
        for _, parts in self.sides:
            for part in parts:
                part.close()
        for blob in self.bare:
            blob.close()

    def __enter__(self) -> Self:
        """Return the source itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close it."""
        self.close()


def open_tables(members: object, holdout: object, request: FeatureRequest) -> FeatureSource:
    """Open two tables of records.

    Args:
        members: a path, directory or glob of CSV or Parquet, or a frame or Arrow table.
        holdout: the same.
        request: what to read of them.

    Raises:
        UsageError: a column has two roles, or both tables are standard input.
        InputError: a table cannot be read or is empty, or they have no column in common.
    """
    if isinstance(members, str) and members == holdout == "-":
        raise UsageError("two_stdin", "Members and holdout cannot both be standard input.")
    blobs = [(side, _blobs(given)) for side, given in ((True, members), (False, holdout))]
    try:
        check_different(blobs)
        opened = [
            (side, *_parts(given, found, side=side))
            for (side, found), given in zip(blobs, (members, holdout), strict=True)
        ]
        return _opened(opened, request)
    except BaseException:
        for _, found in blobs:
            for blob in found:
                blob.close()
        raise


def _blobs(given: object) -> list[Blob]:
    return input_blobs(given, in_memory=_STDIN_IN_MEMORY) if isinstance(given, str) else []


def _parts(
    given: object, blobs: Sequence[Blob], *, side: bool
) -> tuple[tuple[Part, ...], tuple[Blob, ...]]:
    if not isinstance(given, str):
        from mipaudit.tables.frame_part import open_arrow

        return (open_arrow(given, "the members' frame" if side else "the holdout frame"),), ()
    parts: list[Part] = []
    bare: list[Blob] = []
    for blob in blobs:
        try:
            parts.append(open_part(blob))
        except InputError as error:
            if error.code != "no_rows" or (blob is blobs[-1] and not parts):
                raise
            bare.append(blob)
    return tuple(parts), tuple(bare)


def _opened(
    opened: Sequence[tuple[bool, tuple[Part, ...], tuple[Blob, ...]]], request: FeatureRequest
) -> FeatureSource:
    tables = [(side, parts) for side, parts, _ in opened]
    kept, skipped = _selected(tables, request)
    names = [one.name for one in kept]
    _require_one_kind(tables, request.id_column)
    hashed = {request.id_column} - {None, *names}
    for _, parts in tables:
        for part in parts:
            _require_same(part, names, request.id_column)
            part.load({*names, *(name for name in hashed if name)}, {n for n in hashed if n})
    kinds = {one.name: one.kind for one in merge_fields([p for _, ps in tables for p in ps])}
    features, empty = _features(names, kinds, tables, asked=bool(request.columns))
    source = FeatureSource(
        columns=features,
        skipped=(*skipped, *empty),
        id_column=request.id_column,
        sides=tuple(tables),
        bare=tuple(blob for _, _, found in opened for blob in found),
    )
    for side, parts in tables:
        if not sum(piece.rows for part in parts for piece in part.pieces()):
            which = "members'" if side else "holdout's"
            raise InputError("empty_class", f"The {which} table has no rows.")
    if request.id_column is not None:
        batches = (rows for part in source.partitions() for rows in part.batches())
        source.chosen = choose_units(batches, request.seed)
    return source


def _selected(
    tables: Sequence[tuple[bool, tuple[Part, ...]]], request: FeatureRequest
) -> tuple[list[Field], list[tuple[str, str]]]:
    """Return the columns to read and those that are left out, with the reason."""
    (_, members), (_, holdout) = tables
    inside, outside = merge_fields(members), merge_fields(holdout)
    for option, names in (("--columns", request.columns), ("--id-col", _only(request.id_column))):
        for name in names:
            find_column(inside, name, option=option)
            find_column(outside, name, option=option)
    for name in request.ignore:
        find_column((*inside, *outside), name, option="--ignore")
    both = {f.name for f in inside} & {f.name for f in outside}
    if not both:
        raise InputError(
            "no_common_columns",
            "The two tables have no column in common: nothing can be compared.",
            hint="Give both tables the same header.",
        )
    taken = {request.id_column, *request.ignore} & set(request.columns)
    if taken:
        raise UsageError("two_roles", "A column of --columns cannot be the id or be ignored.")
    kept: list[Field] = []
    skipped: list[tuple[str, str]] = []
    for one in merge_fields([*members, *holdout]):
        why = _left_out(one, both, request)
        if why is None:
            kept.append(one)
        elif why:
            skipped.append((one.name, why))
    return kept, skipped


def _only(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def _left_out(one: Field, both: set[str], request: FeatureRequest) -> str | None:
    """Return why a column is left out: empty for no need to say, None for it is kept."""
    name = one.name
    if name == request.id_column:
        return ""
    if name not in both:
        return "in one of the two tables only"
    if name in request.columns:
        return None
    if request.columns:
        return "not asked for"
    rules = (
        (name in request.ignore, "ignored as asked"),
        (name.casefold() in _MEMBERSHIP, "says membership"),
        (is_id_like(name) and _may_name(name), _NAMES),
    )
    return next((why for applies, why in rules if applies), None)


def _may_name(name: str) -> bool:
    """Tell a name of records from a label, which is a feature as any other."""
    folded = name.casefold()
    return re.search(r"(^|[_\W])(id|idx|index|uuid|key|row|rownum|row_number)$", folded) is not (
        None
    ) or folded.startswith(("unnamed", "__index_level"))


def _require_one_kind(
    tables: Sequence[tuple[bool, tuple[Part, ...]]], id_column: str | None
) -> None:
    """Refuse ids that are numbers in one place and text in another: none would be shared."""
    fields = merge_fields([part for _, parts in tables for part in parts])
    if any(one.name == id_column and one.kind == "other" for one in fields):
        raise _mixed(str(id_column))


def _mixed(name: str) -> InputError:
    return InputError(
        "mixed_column",
        f"Column {quoted_name(name)} holds numbers in one place and text in another.",
        hint="Write it the same way everywhere, or leave it out with --ignore.",
    )


def _require_same(part: Part, names: Sequence[str], id_column: str | None) -> None:
    missing = {*names, *([id_column] if id_column else [])} - {one.name for one in part.fields}
    if missing:
        shown = ", ".join(quoted_name(name) for name in sorted(missing)[:5])
        raise InputError(
            "missing_column",
            f"{part.name}: columns that other files of the table have are missing: {shown}.",
            hint="Give all files of a table the same columns, or leave them out with --ignore.",
        )


def _features(
    names: Sequence[str],
    kinds: Mapping[str, str],
    tables: Sequence[tuple[bool, tuple[Part, ...]]],
    *,
    asked: bool,
) -> tuple[tuple[FeatureColumn, ...], list[tuple[str, str]]]:
    found: list[FeatureColumn] = []
    skipped: list[tuple[str, str]] = []
    for name in names:
        kind = kinds[name]
        if kind == "empty":
            skipped.append((name, "no value in any row"))
        elif kind == "other":
            own = {f.kind for _, ps in tables for p in ps for f in p.fields if f.name == name}
            if own - {"other", "empty"}:
                raise _mixed(name)
            skipped.append((name, "neither numbers nor text"))
        elif not asked and _tells_rows_apart(name, tables):
            skipped.append((name, "another value in every row: it names records"))
        else:
            days = kind == "string" and _holds_days(name, tables)
            text: FeatureKind = "date" if days else "category"
            found.append(
                FeatureColumn(
                    name=name,
                    kind=text if kind == "string" else "number",
                    fractions=kind == "float",
                )
            )
    if not found:
        raise InputError(
            "no_features",
            "No column is left to compare: all are empty, ids, or left out.",
            hint="Name them with --columns.",
        )
    return tuple(found), skipped


def _first(
    name: str, tables: Sequence[tuple[bool, tuple[Part, ...]]]
) -> Iterator[tuple[Column, int]]:
    """Yield the first rows of a column in each table, and how many they are."""
    for _, parts in tables:
        piece = next((piece for part in parts for piece in part.pieces()), None)
        chunk = None if piece is None else next(iter(piece.chunks({name}, 0)), None)
        if chunk is not None:
            yield chunk.columns[name], chunk.rows


def _holds_days(name: str, tables: Sequence[tuple[bool, tuple[Part, ...]]]) -> bool:
    """Tell whether the first texts of both tables are days as 2024-05-31."""
    words: list[str] = []
    for column, _ in _first(name, tables):
        if isinstance(column, Labels):
            words += column.vocabulary.words[:_WORDS_LOOKED_AT]
    return bool(words) and all(map(_DAY.match, words))


def _tells_rows_apart(name: str, tables: Sequence[tuple[bool, tuple[Part, ...]]]) -> bool:
    """Tell whether the first rows of both tables hold as many texts, or are counted on."""
    looked = 0
    for column, rows in _first(name, tables):
        if isinstance(column, Labels):
            apart = np.unique(column.codes).size == rows and int(column.codes.min(initial=0)) >= 0
            apart = apart and not all(map(_DAY.match, column.vocabulary.words[:_WORDS_LOOKED_AT]))
        elif isinstance(column, Numbers) and column.values.dtype.kind in "iu":
            apart = column.missing is None and bool((np.diff(column.values) == 1).all())
        else:
            return False
        if not apart or rows < _ROWS_TO_TELL:
            return False
        looked += 1
    return looked > 0


def _numbers(chunk: Chunk, column: FeatureColumn) -> NDArray[np.float64]:
    found = chunk.columns[column.name]
    if column.kind == "date" and isinstance(found, Labels):
        days = np.array([_day(word) for word in found.vocabulary.words] + [np.nan])
        return np.asarray(days[found.codes], dtype=np.float64)
    if column.kind == "number" and not isinstance(found, Numbers):
        raise _mixed(column.name)
    return column_scores(found)


def _day(word: str) -> float:
    """Return the days since 1970 of a text that begins with a day; NaN for any other."""
    try:
        return float(np.datetime64(word[:10], "D").astype(np.int64))
    except ValueError:
        return np.nan
