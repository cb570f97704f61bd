"""Files, frames and arrays that are wanted whole, in memory: only what is asked for is read.

They are released vectors, what a model said, and points of a curve. A Parquet column of lists of
numbers is a vector in each row.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.column import (
    CHUNK_ROWS,
    Column,
    Field,
    Part,
    column_hashes,
    merged_numbers,
    missing_cells,
)
from mipaudit.data.files.blob import (
    ZIP_MAGIC,
    Blob,
    Format,
    blob_format,
    closed_on_error,
    describe_blob,
)
from mipaudit.data.files.contents import (
    NPY_MAGIC,
    plain_stream,
    read_array,
    read_npy,
    require_room,
    require_table,
)
from mipaudit.data.files.paths import input_blobs
from mipaudit.data.formats.cells import arrow_kind, column_of, is_list
from mipaudit.data.formats.parquet import ParquetPart, arrow_errors
from mipaudit.data.parts import input_changed, is_frame, open_arrow, part_rows
from mipaudit.data.rows.intake import Fault
from mipaudit.data.tables.json_file import Json, cells_part, json_cells, load_json, looks_like_json
from mipaudit.data.words import unique_names
from mipaudit.errors import InputError
from mipaudit.maths.arrays import Bools, Floats
from mipaudit.statements.printable_names import quoted_name
from mipaudit.statements.provenance import InputFile

if TYPE_CHECKING:
    import pyarrow as pa


def _number_lists(part: ParquetPart) -> frozenset[str]:
    """Return the columns whose cells are lists of plain numbers."""
    return frozenset(
        one.name
        for one in part.schema
        if is_list(one.type) and arrow_kind(one.type.value_type) in {"float", "integer", "bool"}
    )


def _read_lists(part: Part, names: Sequence[str]) -> dict[str, list[Column]]:
    """Read the named columns, which hold lists of numbers, as numbers of shape (rows, width).

    Args:
        part: a Parquet file.
        names: of the columns.

    Raises:
        InputError: ``bad_parquet``, ``missing_cells`` for a row without a list, or
            ``ragged_rows`` where lists differ in length.
    """
    import pyarrow.parquet as pq

    assert isinstance(part, ParquetPart)  # noqa: S101 - no other has lists
    with arrow_errors(part.name), part.blob.open_ranges() as stream:
        file = pq.ParquetFile(
            stream, metadata=part.metadata, pre_buffer=False, page_checksum_verification=True
        )
        table = file.read(columns=list(names), use_threads=False)
    return {name: list(_vectors(table.column(name).chunks, name, part.name)) for name in names}


def _vectors(chunks: Sequence[pa.Array], name: str, source: str) -> Iterator[Column]:
    import pyarrow.compute as pc

    width, row = None, 0
    for chunk in filter(len, chunks):
        if chunk.null_count:
            at = row + int(chunk.is_null().to_numpy(zero_copy_only=False).argmax())
            raise InputError(
                "missing_cells",
                f"{source}: column {quoted_name(name)} has no list in data row {at + 1}.",
            )
        lengths = pc.list_value_length(chunk).to_numpy(zero_copy_only=False)
        width = int(lengths[0]) if width is None else width
        if (lengths != width).any():
            at = row + int(np.argmax(lengths != width))
            raise InputError(
                "ragged_rows",
                f"{source}: column {quoted_name(name)}: the list in data row {at + 1} is not as "
                "long as the first.",
            )
        flat, shape = column_of(chunk.flatten()), (len(chunk), width)
        missing = None if flat.missing is None else flat.missing.reshape(shape)
        yield Column(values=flat.values.reshape(shape), missing=missing)
        row += len(chunk)


Form = Literal["csv", "parquet", "json", "npy", "npz"]
# Names of columns, and finite numbers of shape (rows, columns).
Matrix = tuple[tuple[str, ...], Floats]

# Arrow needs several times the memory of what it decodes at once.
_BLOCK_CELLS: Final = 1 << 24
_SHOWN: Final = 3
_HEAD: Final = 4096
_TEXT_SUFFIXES: Final = (".csv", ".tsv", ".txt")
# No header, or lines longer than what is read to find the columns: the text as a whole says which.
_SECOND_LOOK: Final = frozenset({"no_header", "not_a_table", "no_rows", "long_row"})
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError)
_SUFFIX: Final = ".npy"


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
    def name(self) -> str:
        """What messages call it."""
        return self.part.name

    @property
    def fields(self) -> tuple[Field, ...]:
        """All columns, in file order."""
        return self.part.fields

    def matrix(self, names: Sequence[str]) -> Matrix:
        """Return the named columns; a list becomes columns ``name[0]``, ``name[1]``, ...

        Raises:
            InputError: ``missing_cells``, ``infinite_cells``, ``large_integers`` or ``unparsable``;
                as the part, or ``no_numeric_column`` where every list is empty.
        """
        plain = [name for name in names if name not in self.lists]
        listed = [name for name in names if name in self.lists]
        vectors = _read_lists(self.part, listed) if listed else {}
        self.part.load(frozenset(plain), ())
        columns: list[str] = []
        first: dict[str, int] = {}
        for name in names:
            first[name] = len(columns)
            width = vectors[name][0].values.shape[1] if name in vectors else None
            columns += [name] if width is None else [f"{name}[{at}]" for at in range(width)]
        if not columns:
            raise InputError("no_numeric_column", f"{self.name}: every list is empty.")
        unique_names(columns, self.name)
        values = np.empty((part_rows(self.part), len(columns)), order="F")
        placed = self._placed(plain, vectors, first)
        return _filled(values, placed, tuple(columns), self.name)

    def _placed(
        self, plain: Sequence[str], vectors: Mapping[str, list[Column]], first: Mapping[str, int]
    ) -> Iterator[tuple[int, int, Column]]:
        """Yield (row, column, numbers that begin there)."""
        for name, found in vectors.items():
            row = 0
            for numbers in found:
                yield row, first[name], numbers
                row += len(numbers.values)
        rows = max(1, min(part_rows(self.part), CHUNK_ROWS))
        width = max(1, _BLOCK_CELLS // rows)
        for start in range(0, len(plain), width):
            # Found at once, and in the order of the file, in which columns are read.
            together = dict.fromkeys(plain[start : start + width])
            for chunk in self.part.chunks(together):
                for name in together:
                    column = chunk.columns[name]
                    if not column.numeric:
                        raise InputError(
                            "unparsable",
                            f"{self.name}: column {quoted_name(name)} is not a number.",
                        )
                    yield chunk.first_row, first[name], column

    def keys(self, names: Sequence[str]) -> dict[str, Column]:
        """Return a hash for each row of each named column."""
        self.part.load(names, names)
        chunks = list(self.part.chunks(names))
        found = {name: [column_hashes(one.columns[name]) for one in chunks] for name in names}
        return {
            name: Column(
                values=np.concatenate([one.values for one in own]),
                missing=np.concatenate([missing_cells(one) for one in own]),
                hashed=True,
            )
            for name, own in found.items()
        }

    def words(self, name: str) -> NDArray[np.str_]:
        """Return a column of text, empty where it is null."""
        self.part.load([name], ())
        found = []
        for chunk in self.part.chunks([name]):
            column = chunk.columns[name]
            found.append(column.told(column.words, "", np.str_))
        return np.concatenate(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArrayTable:
    """The columns of an array of shape (rows, columns): c0, c1 and so on."""

    name: str
    array: NDArray[Any]
    named: bool = False
    lists: frozenset[str] = frozenset()

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns, called by their position."""
        return tuple(Field(name=f"c{at}", kind="float") for at in range(self.array.shape[1]))

    def matrix(self, names: Sequence[str]) -> Matrix:
        """Return the named columns; as of `Table`."""
        places = [int(name[1:]) for name in names]
        whole = places == list(range(self.array.shape[1]))
        chosen = self.array if whole else self.array[:, places]
        placed = [(0, 0, Column(values=chosen))]
        return _filled(np.empty(chosen.shape), placed, tuple(names), self.name)


AnyTable = Table | ArrayTable


def _filled(
    values: Floats, placed: Iterable[tuple[int, int, Column]], columns: tuple[str, ...], source: str
) -> Matrix:
    """Write numbers to their places, of one column or of several; raise the gravest fault."""
    lost = None
    for row, first, numbers in placed:
        given = numbers.values if numbers.values.ndim > 1 else numbers.values[:, None]
        place = slice(row, row + len(given)), slice(first, first + given.shape[1])
        # A wider float that does not fit becomes infinite, and is counted as that.
        with np.errstate(over="ignore", invalid="ignore"):
            values[place] = given
        if numbers.missing is not None:
            values[place][numbers.missing.reshape(given.shape)] = np.nan
        mask = merged_numbers(numbers)
        if mask is not None:
            lost = np.zeros(values.shape, dtype=np.bool_) if lost is None else lost
            lost[place] = mask.reshape(given.shape)
    finite = bool(np.isfinite(values).all())
    for code, what, wrong, hint in (
        (
            "missing_cells",
            "empty cells or NaN",
            None if finite else np.isnan(values),
            "Leave out these rows or columns: every number is needed.",
        ),
        (
            "infinite_cells",
            "infinite numbers",
            None if finite else np.isinf(values),
            "No noise hides an infinite number: leave out these rows or columns.",
        ),
        (
            "large_integers",
            "integers beyond 2^53, which cannot be told apart",
            lost,
            "Subtract a constant, or store them as floats if their last digits do not matter.",
        ),
    ):
        if wrong is not None and wrong.any():
            raise InputError(code, f"{source}: {what}: {_places(wrong, columns)}.", hint)
    return columns, values


def _places(wrong: Bools, columns: Sequence[str]) -> str:
    """Return in which columns cells are wrong, in how many rows, and which is the first."""
    places = np.flatnonzero(wrong.any(axis=0)).tolist()
    told = []
    for at in places[:_SHOWN]:
        rows = Fault(count=int(wrong[:, at].sum()), first_row=int(wrong[:, at].argmax()))
        told.append(f"column {quoted_name(columns[at])} in {rows.told}")
    more = len(places) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Whole:
    """All that a file, a frame or an array holds. Use it as a context manager, or close it.

    Attributes:
        name: what messages call it.
        form: of a file; None for what is in memory.
        blob: the bytes of a file.
        table: of CSV, of Parquet or of a frame.
        arrays: of an .npz archive by their names; of an .npy file, or in memory, one without.
        document: of JSON.
    """

    name: str
    form: Form | None = None
    blob: Blob | None = None
    table: Table | None = None
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    document: Json = None

    def as_table(self) -> AnyTable:
        """Return rows and columns, whatever holds them.

        Raises:
            InputError: ``wrong_shape``, ``no_rows``, ``ragged_rows`` or ``columns_differ``.
        """
        if self.table is not None:
            return self.table
        if self.form == "json":
            return _json_table(self.document, self.name)
        array = self.arrays[""]
        if array.ndim != 2:  # noqa: PLR2004
            raise InputError(
                "wrong_shape",
                f"{self.name}: an array of {array.ndim} dimensions where rows and columns are "
                "expected.",
                "Reshape it: one row per split, also where a split is one number.",
            )
        if not array.shape[0]:
            raise InputError("no_rows", f"{self.name}: the array has no rows.")
        return ArrayTable(name=self.name, array=array)

    def described(self, rows: int) -> InputFile:
        """Return how the report names it.

        Raises:
            InputError: ``input_changed`` when it is not as it was when it was opened.
        """
        if self.blob is None:
            return InputFile(name=self.name, rows=rows, bytes=None)
        found = describe_blob(self.blob, rows, hash_all=False)
        if self.blob.changed():
            raise input_changed(self.blob)
        return found

    def close(self) -> None:
        """Release the bytes."""
        if self.blob is not None:
            self.blob.close()

    def __enter__(self) -> Self:
        """Return the whole itself."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Release the bytes."""
        self.close()


def open_whole(data: object, name: str, *, several: bool = False) -> Whole:
    """Open one file, by its first bytes and its suffix, or what is in memory.

    Args:
        data: a path, ``-`` for standard input; a frame or an Arrow table; or an array, of which
            masked values are missing.
        name: what messages call what is in memory.
        several: it may be an archive of arrays, and arrays may hold text.

    Raises:
        UsageError: an empty or remote path.
        InputError: ``several_files``, ``bad_array``; it is none of CSV, Parquet, .npy, .npz and
            JSON, or damaged.
    """
    if is_frame(data):
        return Whole(name=name, table=Table(part=open_arrow(data, name)))
    if not isinstance(data, str):
        return Whole(name=name, arrays={"": _array_of(data, name, words=several)})
    blobs = input_blobs(data)
    with closed_on_error(blobs):
        if len(blobs) > 1:
            raise InputError(
                "several_files",
                f"One file is expected, not {len(blobs)}.",
                "Give one file, not a directory or a pattern.",
            )
        return _open_file(blobs[0], several=several)


def _array_of(data: object, name: str, *, words: bool) -> NDArray[Any]:
    try:
        array = np.asanyarray(data)
    except (TypeError, ValueError):
        array = np.empty(0, dtype=object)
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    if words and array.size and array.dtype.kind in "OT":
        # Python's words as numpy's.
        array = array.astype(np.str_) if all(isinstance(one, str) for one in array.flat) else array
    if array.dtype.kind not in ("biufU" if words else "biuf") or (words and not array.ndim):
        raise InputError(
            "bad_array",
            f"{name}: not an array of numbers.",
            "Give numbers of one type; only labels may be text." if words else None,
        )
    return np.asarray(array)


def _open_file(blob: Blob, *, several: bool) -> Whole:
    kind = blob_format(blob)
    form = _form(blob, kind, archives=several)
    match form:
        case "parquet":
            return Whole(name=blob.name, form=form, blob=blob, table=_parquet_table(blob))
        case "csv":
            return Whole(name=blob.name, form=form, blob=blob, table=_csv_table(blob, kind))
        case "json":
            read = load_json(blob, kind)
            table = _json_table(read, blob.name) if several else None
            return Whole(name=blob.name, form=form, blob=blob, table=table, document=read)
        case "npy":
            arrays = {"": read_npy(blob, kind, words=several)}
        case _:
            arrays = _unpacked(blob)
    return Whole(name=blob.name, form=form, blob=blob, arrays=arrays)


def _form(blob: Blob, kind: Format, *, archives: bool) -> Form:
    """Tell the forms apart by the first bytes and the suffix.

    Raises:
        InputError: ``empty_file``, ``archive``, ``not_a_table`` or ``truncated``.
    """
    if kind == "parquet":
        return "parquet"
    with plain_stream(blob, kind) as stream:
        head = stream.read(_HEAD)
    require_table(blob.name, head, numbers=True)
    if head.startswith(ZIP_MAGIC):
        if archives and kind == "csv":
            return "npz"
        raise InputError(
            "archive",
            f"{blob.name}: a zip archive, such as .npz, can hold several arrays.",
            "Save one array with numpy.save.",
        )
    suffixed = blob.name.removesuffix(".gz").removesuffix(".zst").casefold()
    if head.startswith(NPY_MAGIC) or suffixed.endswith(_SUFFIX):
        return "npy"
    if suffixed.endswith(".json"):
        return "json"
    return "json" if looks_like_json(head) and not suffixed.endswith(_TEXT_SUFFIXES) else "csv"


def _json_table(document: Json, name: str) -> Table:
    cells, named = json_cells(document, name)
    return Table(part=cells_part(name, cells), named=named)


def _parquet_table(blob: Blob) -> Table:
    part = ParquetPart(blob)
    if not part.rows_about:
        raise InputError("no_rows", f"{blob.name}: the table has columns but no row.")
    return Table(part=part, lists=_number_lists(part))


def _csv_table(blob: Blob, kind: Format) -> Table:
    """Open a CSV file, which may have no header if it holds only numbers."""
    from mipaudit.data.formats.csv_file import CsvPart

    try:
        return Table(part=CsvPart(blob, kind))
    except InputError as error:
        if error.code not in _SECOND_LOOK:
            raise
    part = CsvPart(blob, kind, unnamed=True)
    return Table(part=part, named=part.dialect.named)


def _unpacked(blob: Blob) -> dict[str, NDArray[Any]]:
    found = {}
    try:
        with blob.open() as stream, zipfile.ZipFile(stream) as archive:
            require_room(blob, sum(one.file_size for one in archive.infolist()))
            for one in archive.namelist():
                if one.endswith(_SUFFIX):
                    with archive.open(one) as file:
                        array = read_array(file, blob, packed=True, words=True)
                    found[one.removesuffix(_SUFFIX)] = array
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk or of memory, not of the archive
        raise InputError(
            "bad_npz",
            f"{blob.name}: not a complete .npz archive of plain arrays.",
            "Write it with numpy.savez.",
        ) from None
    return found
