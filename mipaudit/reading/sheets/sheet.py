"""A file of numbers as columns, of which only those asked for are converted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import ZIP_MAGIC, Blob, Format, blob_format
from mipaudit.reading.bytes.foreign import require_table
from mipaudit.reading.bytes.paths import input_blobs
from mipaudit.reading.bytes.unpacked import NPY_MAGIC, plain_stream, read_npy
from mipaudit.reading.columns.column import Chunk, Field, Hashes, Numbers, column_hashes
from mipaudit.reading.columns.names import unique_names
from mipaudit.reading.sheets.json_numbers import json_table, load_json, looks_like_json
from mipaudit.reading.sheets.tile import (
    Matrix,
    Tile,
    array_matrix,
    column_tile,
    fill_matrix,
    plain_matrix,
    text_words,
)
from mipaudit.reading.source.part import CHUNK_ROWS, Part

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.reading.parquet.list_column import ListColumn

# Arrow needs several times the memory of what it decodes at once.
_BLOCK_CELLS: Final = 1 << 24


class Sheet(Protocol):
    """A file as columns, of which only those asked for are converted."""

    @property
    def named(self) -> bool:
        """Whether the file names its columns; else they are c0, c1 and so on."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """All columns, in file order."""

    @property
    def lists(self) -> frozenset[str]:
        """The columns whose cells are lists of numbers."""

    def matrix(self, names: Sequence[str]) -> Matrix:
        """Return the named columns; a list becomes columns ``name[0]``, ``name[1]``, ..."""

    def keys(self, names: Sequence[str]) -> dict[str, Hashes]:
        """Return a hash per row of each named column."""

    def words(self, name: str) -> NDArray[np.str_]:
        """Return a column of text, empty where it is null."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArraySheet:
    """The columns of an array of shape (rows, columns)."""

    name: str
    array: NDArray[Any]
    lists: frozenset[str] = frozenset()
    named: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns, called by their position."""
        return tuple(Field(name=f"c{at}", kind="float") for at in range(self.array.shape[1]))

    def matrix(self, names: Sequence[str]) -> Matrix:
        """Return the named columns."""
        places = [int(name[1:]) for name in names]
        whole = places == list(range(self.array.shape[1]))
        chosen = self.array if whole else self.array[:, places]
        values = array_matrix(chosen, columns=names, source=self.name)
        return plain_matrix(names, values)

    def keys(self, names: Sequence[str]) -> dict[str, Hashes]:
        """Return a hash per row of each named column."""
        columns = {name: self.array[:, int(name[1:])] for name in names}
        return {name: column_hashes(Numbers(values=column)) for name, column in columns.items()}

    def words(self, name: str) -> NDArray[np.str_]:
        """Return a column as text."""
        return self.array[:, int(name[1:])].astype(np.str_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartSheet:
    """The columns of a CSV part, or of a Parquet part with its schema.

    ``read_lists`` reads the columns in ``lists``.
    """

    part: Part
    schema: pa.Schema | None = None
    lists: frozenset[str] = frozenset()
    read_lists: Callable[[Sequence[str]], dict[str, ListColumn]] | None = None
    named: bool = True

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns by kind."""
        return self.part.fields

    def matrix(self, names: Sequence[str]) -> Matrix:
        """Return the named columns; a list becomes columns ``name[0]``, ``name[1]``, ..."""
        plain = [name for name in names if name not in self.lists]
        vectors = self._vectors([name for name in names if name in self.lists])
        widths = [vectors[name].width if name in vectors else 1 for name in names]
        columns = _expanded(names, vectors, self.part.name)
        ends = np.cumsum(widths).tolist()
        start = {n: end - width for n, width, end in zip(names, widths, ends, strict=True)}
        self.part.load(frozenset(plain), ())
        values = fill_matrix(
            self._tiles(plain, vectors, start),
            rows=_row_count(self.part),
            columns=columns,
            source=self.part.name,
        )
        return Matrix(columns=columns, values=values, widths=tuple(widths))

    def keys(self, names: Sequence[str]) -> dict[str, Hashes]:
        """Return a hash per row of each named column."""
        self.part.load(names, names)
        chunks = [
            {name: column_hashes(chunk.columns[name]) for name in names}
            for chunk in self._chunks(names)
        ]
        joined: dict[str, Hashes] = {}
        for name in names:
            found = [chunk[name] for chunk in chunks]
            masks = [_mask(hashes) for hashes in found]
            joined[name] = Hashes(
                values=np.concatenate([hashes.values for hashes in found]),
                missing=np.concatenate(masks),
            )
        return joined

    def words(self, name: str) -> NDArray[np.str_]:
        """Return a column of text, empty where it is null."""
        self.part.load([name], ())
        return np.concatenate([text_words(chunk.columns[name]) for chunk in self._chunks([name])])

    def _vectors(self, names: Sequence[str]) -> dict[str, ListColumn]:
        return {} if self.read_lists is None else self.read_lists(names)

    def _tiles(
        self, plain: Sequence[str], vectors: dict[str, ListColumn], start: dict[str, int]
    ) -> Iterator[Tile]:
        for name, vector in vectors.items():
            yield from vector.tiles_at(start[name])
        for block in self._blocks(plain):
            for chunk in self._chunks(block):
                for name in block:
                    column = chunk.columns[name]
                    if not isinstance(column, Numbers):
                        raise _mixed(self.part.name)
                    yield column_tile(column, row=chunk.first_row, column=start[name])

    def _blocks(self, names: Sequence[str]) -> Iterator[Sequence[str]]:
        """Yield the names in runs that are decoded together."""
        rows = max(1, min(_row_count(self.part), CHUNK_ROWS))
        width = max(1, _BLOCK_CELLS // rows)
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


def _mask(hashes: Hashes) -> NDArray[np.bool_]:
    none = np.zeros(hashes.values.shape, dtype=np.bool_)
    return none if hashes.missing is None else hashes.missing


def _mixed(source: str) -> InputError:
    return InputError("mixed_column", f"{source}: a column turns from numbers into text.")


def _row_count(part: Part) -> int:
    return sum(piece.rows for piece in part.pieces())


def _expanded(names: Sequence[str], vectors: dict[str, ListColumn], source: str) -> tuple[str, ...]:
    """Return the names, in place of a list's name those of its numbers."""
    columns: list[str] = []
    for name in names:
        vector = vectors.get(name)
        columns += [name] if vector is None else [f"{name}[{at}]" for at in range(vector.width)]
    if not columns:
        raise InputError("no_numeric_column", f"{source}: every list is empty.")
    unique_names(columns, source)
    return tuple(columns)


_STDIN_IN_MEMORY: Final = 4 << 20
_HEAD: Final = 4096
_TEXT_SUFFIXES: Final = (".csv", ".tsv", ".txt")
# No header, or lines longer than what CsvPart reads to find the columns: the text
# as a whole says which.
_SECOND_LOOK: Final = frozenset({"no_header", "not_a_table", "no_rows", "long_row"})


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


def open_sheet(blob: Blob) -> Sheet:
    """Open one file by its first bytes and its suffix.

    Raises:
        InputError: it is none of CSV, Parquet, .npy and JSON, or damaged.
    """
    kind = blob_format(blob)
    match content_kind(blob, kind):
        case "parquet":
            return parquet_sheet(blob)
        case "npy":
            return array_sheet(read_npy(blob, kind), blob.name)
        case "json":
            return json_table(load_json(blob, kind), blob.name)
        case _:
            return csv_sheet(blob, kind)


def parquet_sheet(blob: Blob) -> PartSheet:
    """Open a Parquet file.

    Raises:
        InputError: ``bad_parquet``, ``duplicate_columns`` or ``no_rows``.
    """
    from mipaudit.reading.parquet.list_column import is_number_list, read_lists
    from mipaudit.reading.parquet.parquet import open_parquet

    part = open_parquet(blob)
    if not part.rows_about:
        raise InputError("no_rows", f"{blob.name}: there are columns and no row.")
    schema = part.metadata.schema.to_arrow_schema()
    lists = frozenset(field.name for field in schema if is_number_list(field.type))
    return PartSheet(part=part, schema=schema, lists=lists, read_lists=partial(read_lists, part))


def array_sheet(array: NDArray[Any], name: str) -> ArraySheet:
    """Return an array as a sheet.

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
    return ArraySheet(name=name, array=array)


def csv_sheet(blob: Blob, kind: Format) -> PartSheet:
    """Open a CSV file, which may have no header if it holds only numbers.

    Raises:
        InputError: every fault of the header and of the rows' lengths.
    """
    from mipaudit.data.csv_file import CsvPart

    try:
        return PartSheet(part=CsvPart(blob, kind))
    except InputError as error:
        if error.code not in _SECOND_LOOK:
            raise
    part = CsvPart(blob, kind, unnamed=True)
    return PartSheet(part=part, named=part.dialect.named)
