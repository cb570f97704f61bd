"""A file, a frame or an array as columns, of which only those asked for are converted.

They are wanted whole and in memory: released vectors, what a model said, points of a curve.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.parts import Part, input_changed
from mipaudit.data.tables.json_file import json_part, load_json, looks_like_json
from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import ZIP_MAGIC, Blob, Format, blob_format, describe_blob
from mipaudit.reading.bytes.foreign import require_table
from mipaudit.reading.bytes.paths import input_blobs
from mipaudit.reading.bytes.unpacked import NPY_MAGIC, plain_stream, read_npy
from mipaudit.reading.columns.column import (
    Chunk,
    Field,
    Hashes,
    Labels,
    Numbers,
    column_hashes,
    merged_numbers,
)
from mipaudit.reading.columns.column_cache import CHUNK_ROWS
from mipaudit.reading.columns.names import unique_names
from mipaudit.reading.rows.intake import Fault
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mipaudit.reading.parquet.parquet import ParquetPart
    from mipaudit.statements.sources import InputFile

# Names of columns, and finite numbers of shape (rows, columns).
Matrix = tuple[tuple[str, ...], NDArray[np.float64]]

# Arrow needs several times the memory of what it decodes at once.
_BLOCK_CELLS: Final = 1 << 24
_SHOWN: Final = 3
_STDIN_IN_MEMORY: Final = 4 << 20
_HEAD: Final = 4096
_TEXT_SUFFIXES: Final = (".csv", ".tsv", ".txt")
# No header, or lines longer than what is read to find the columns: the text as a whole says which.
_SECOND_LOOK: Final = frozenset({"no_header", "not_a_table", "no_rows", "long_row"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """The columns of one part.

    Attributes:
        part: has them.
        named: whether the file names its columns; else they are c0, c1 and so on.
        lists: the columns whose cells are lists of numbers.
    """

    part: Part
    named: bool = True
    lists: frozenset[str] = frozenset()

    @property
    def fields(self) -> tuple[Field, ...]:
        """All columns, in file order."""
        return self.part.fields

    @property
    def _rows(self) -> int:
        return sum(piece.rows for piece in self.part.pieces())

    def matrix(self, names: Sequence[str]) -> Matrix:
        """Return the named columns; a list becomes columns ``name[0]``, ``name[1]``, ...

        Raises:
            InputError: ``missing_cells``, ``infinite_cells``, ``large_integers`` or ``unparsable``;
                as the part, or ``no_numeric_column`` where every list is empty.
        """
        plain = [name for name in names if name not in self.lists]
        vectors = self._vectors([name for name in names if name in self.lists])
        self.part.load(frozenset(plain), ())
        columns: list[str] = []
        start: dict[str, int] = {}
        for name in names:
            start[name] = len(columns)
            width = vectors[name][0].values.shape[1] if name in vectors else None
            columns += [name] if width is None else [f"{name}[{at}]" for at in range(width)]
        if not columns:
            raise InputError("no_numeric_column", f"{self.part.name}: every list is empty.")
        unique_names(columns, self.part.name)
        filled = _Filling(np.empty((self._rows, len(columns)), order="F"))
        for name, found in vectors.items():
            row = 0
            for numbers in found:
                filled.put(row, start[name], numbers)
                row += len(numbers.values)
        for block in self._blocks(plain):
            for chunk in self._chunks(block):
                for name in block:
                    column = chunk.columns[name]
                    if not isinstance(column, Numbers):
                        raise InputError(
                            "unparsable",
                            f"{self.part.name}: column {quoted_name(name)} is no number.",
                        )
                    filled.put(chunk.first_row, start[name], column)
        return tuple(columns), filled.checked(columns, self.part.name)

    def keys(self, names: Sequence[str]) -> dict[str, Hashes]:
        """Return a hash per row of each named column."""
        self.part.load(names, names)
        chunks = [
            [column_hashes(chunk.columns[name]) for name in names] for chunk in self._chunks(names)
        ]
        return {
            name: Hashes(
                values=np.concatenate([one.values for one in found]),
                missing=np.concatenate([_mask(one) for one in found]),
            )
            for name, found in zip(names, zip(*chunks, strict=True), strict=True)
        }

    def words(self, name: str) -> NDArray[np.str_]:
        """Return a column of text, empty where it is null."""
        self.part.load([name], ())
        found = []
        for chunk in self._chunks([name]):
            column = chunk.columns[name]
            assert isinstance(column, Labels)  # noqa: S101 - the caller knows the kind
            # The last entry is for nulls, whose code is -1.
            found.append(np.array([*column.vocabulary.words, ""], dtype=np.str_)[column.codes])
        return np.concatenate(found)

    def _vectors(self, names: Sequence[str]) -> dict[str, list[Numbers]]:
        if not names:
            return {}
        from mipaudit.data.tables.list_column import read_lists

        return read_lists(self.part, names)

    def _blocks(self, names: Sequence[str]) -> Iterator[Sequence[str]]:
        """Yield the names in runs that are decoded together."""
        width = max(1, _BLOCK_CELLS // max(1, min(self._rows, CHUNK_ROWS)))
        for first in range(0, len(names), width):
            yield names[first : first + width]

    def _chunks(self, names: Sequence[str]) -> Iterator[Chunk]:
        row = 0
        # Found at once, and in the order of the file, in which columns are read.
        wanted = dict.fromkeys(names)
        for piece in self.part.pieces():
            for chunk in piece.chunks(wanted, row):
                yield chunk
                row += chunk.rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArrayTable:
    """The columns of an array of shape (rows, columns)."""

    named: ClassVar[bool] = False
    lists: ClassVar[frozenset[str]] = frozenset()

    name: str
    array: NDArray[Any]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns, called by their position."""
        return tuple(Field(name=f"c{at}", kind="float") for at in range(self.array.shape[1]))

    def matrix(self, names: Sequence[str]) -> Matrix:
        """Return the named columns; as of `Table`."""
        places = [int(name[1:]) for name in names]
        whole = places == list(range(self.array.shape[1]))
        chosen = self.array if whole else self.array[:, places]
        filled = _Filling(np.empty(chosen.shape))
        filled.put(0, 0, Numbers(values=chosen))
        return tuple(names), filled.checked(names, self.name)


AnyTable = Table | ArrayTable


@dataclass(slots=True)
class _Filling:
    """A matrix on its way, and what a float64 cannot hold of it, by column."""

    values: NDArray[np.float64]
    inexact: dict[int, Fault] = field(default_factory=dict)

    def put(self, row: int, column: int, numbers: Numbers) -> None:
        """Take numbers whose first is at (row, column), of one column or of several."""
        given = numbers.values if numbers.values.ndim > 1 else numbers.values[:, None]
        height, width = given.shape
        part = self.values[row : row + height, column : column + width]
        # A wider float that does not fit becomes infinite, and is counted as that.
        with np.errstate(over="ignore", invalid="ignore"):
            part[...] = given
        if numbers.missing is not None:
            part[numbers.missing.reshape(part.shape)] = np.nan
        mask = merged_numbers(numbers)
        if mask is not None:
            for at, fault in _counted(mask.reshape(part.shape), row).items():
                self.inexact.setdefault(column + at, Fault()).add(fault.count, fault.first_row)

    def checked(self, columns: Sequence[str], source: str) -> NDArray[np.float64]:
        """Return the whole matrix, or raise the gravest fault."""
        if not np.isfinite(self.values).all():
            missing = _counted(np.isnan(self.values), 0)
            if missing:
                raise InputError(
                    "missing_cells",
                    f"{source}: empty cells or NaN: {_places(missing, columns)}.",
                    hint="Leave out these rows or columns: every number is needed.",
                )
            infinite = _places(_counted(np.isinf(self.values), 0), columns)
            raise InputError(
                "infinite_cells",
                f"{source}: infinite numbers: {infinite}.",
                hint="No noise hides an infinite number: leave out these rows or columns.",
            )
        if self.inexact:
            raise InputError(
                "large_integers",
                f"{source}: integers beyond 2^53, which cannot be told apart: "
                f"{_places(self.inexact, columns)}.",
                hint="Subtract a constant, or store them as floats if their last digits do not "
                "matter.",
            )
        return self.values


def _counted(mask: NDArray[np.bool_], row: int) -> dict[int, Fault]:
    """Return how many cells of each column are marked, and the first row: its number is given."""
    return {
        at: Fault(count=int(mask[:, at].sum()), first_row=row + int(mask[:, at].argmax()))
        for at in np.flatnonzero(mask.any(axis=0)).tolist()
    }


def _places(faults: dict[int, Fault], columns: Sequence[str]) -> str:
    shown = sorted(faults)[:_SHOWN]
    listed = "; ".join(f"column {quoted_name(columns[at])} in {faults[at].told}" for at in shown)
    more = len(faults) - len(shown)
    return listed if not more else f"{listed}; and {more} more columns"


def _mask(hashes: Hashes) -> NDArray[np.bool_]:
    none = np.zeros(hashes.values.shape, dtype=np.bool_)
    return none if hashes.missing is None else hashes.missing


def only_blob(path: str) -> Blob:
    """Return the one file that ``path`` means; ``-`` is standard input.

    Raises:
        InputError: ``several_files``, or as ``input_blobs``.
        UsageError: as ``input_blobs``.
    """
    blobs = input_blobs(path, in_memory=_STDIN_IN_MEMORY)
    if len(blobs) == 1:
        return blobs[0]
    raise InputError(
        "several_files",
        f"{len(blobs)} files where one is expected.",
        hint="Give one file, not a directory or a pattern.",
    )


def describe_unchanged(blob: Blob, rows: int) -> InputFile:
    """Return how the report names ``blob``.

    Raises:
        InputError: ``input_changed`` when it is not as it was when it was opened.
    """
    described = describe_blob(blob, rows, hash_all=False)
    if blob.changed():
        raise input_changed(blob)
    return described


def content_kind(blob: Blob, kind: Format) -> str:
    """Tell ``parquet``, ``npy``, ``json`` and ``csv`` apart by the first bytes.

    Raises:
        InputError: ``empty_file``, ``archive``, ``not_a_table`` or ``truncated``.
    """
    if kind == "parquet":
        return "parquet"
    with plain_stream(blob, kind) as stream:
        head = stream.read(_HEAD)
    require_table(blob.name, head, numbers=True)
    if head.startswith(ZIP_MAGIC):
        raise InputError(
            "archive",
            f"{blob.name}: a zip archive, such as .npz, can hold several arrays.",
            hint="Save one array with numpy.save.",
        )
    suffixed = blob.name.removesuffix(".gz").removesuffix(".zst").casefold()
    if head.startswith(NPY_MAGIC) or suffixed.endswith(".npy"):
        return "npy"
    if suffixed.endswith(".json"):
        return "json"
    return "json" if looks_like_json(head) and not suffixed.endswith(_TEXT_SUFFIXES) else "csv"


def open_table(blob: Blob) -> AnyTable:
    """Open one file by its first bytes and its suffix.

    Raises:
        InputError: it is none of CSV, Parquet, .npy and JSON, or damaged.
    """
    kind = blob_format(blob)
    content = content_kind(blob, kind)
    if content == "npy":
        return array_table(read_npy(blob, kind), blob.name)
    return part_table(blob, kind, content)


def part_table(blob: Blob, kind: Format, content: str) -> Table:
    """Open a file of CSV, Parquet or JSON, whichever `content_kind` says."""
    match content:
        case "parquet":
            return parquet_table(blob)
        case "json":
            part, named = json_part(load_json(blob, kind), blob.name)
            return Table(part=part, named=named)
        case _:
            return csv_table(blob, kind)


def parquet_table(blob: Blob) -> Table:
    """Open a Parquet file.

    Raises:
        InputError: ``bad_parquet``, ``duplicate_columns`` or ``no_rows``.
    """
    from mipaudit.data.tables.list_column import number_lists
    from mipaudit.reading.parquet.parquet import open_parquet

    part: ParquetPart = open_parquet(blob)
    if not part.rows_about:
        raise InputError("no_rows", f"{blob.name}: there are columns and no row.")
    return Table(part=part, lists=number_lists(part))


def array_table(array: NDArray[Any], name: str) -> ArrayTable:
    """Return an array as a table.

    Raises:
        InputError: ``wrong_shape`` or ``no_rows``.
    """
    if array.ndim != 2:  # noqa: PLR2004
        raise InputError(
            "wrong_shape",
            f"{name}: an array of {array.ndim} dimensions where rows and columns are expected.",
            hint="Reshape it: one row per split, also where a split is one number.",
        )
    if not array.shape[0]:
        raise InputError("no_rows", f"{name}: the array has no rows.")
    return ArrayTable(name=name, array=array)


def csv_table(blob: Blob, kind: Format) -> Table:
    """Open a CSV file, which may have no header if it holds only numbers.

    Raises:
        InputError: every fault of the header and of the rows' lengths.
    """
    from mipaudit.data.csv.file import CsvPart

    try:
        return Table(part=CsvPart(blob, kind))
    except InputError as error:
        if error.code not in _SECOND_LOOK:
            raise
    part = CsvPart(blob, kind, unnamed=True)
    return Table(part=part, named=part.dialect.named)
