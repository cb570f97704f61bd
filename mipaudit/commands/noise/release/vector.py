"""One numeric vector to be released, and how it lies in its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Literal

from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import blob_format
from mipaudit.reading.bytes.npy import read_npy
from mipaudit.reading.sheets.coordinates import coordinate_hints
from mipaudit.reading.sheets.json_numbers import JsonTable, load_json
from mipaudit.reading.sheets.sheet import TextSheet, content_kind, only_blob, parquet_sheet
from mipaudit.reading.sheets.splits import describe_unchanged
from mipaudit.reading.sheets.tile import array_matrix
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from mipaudit.commands.noise.options import ReleaseFormat
    from mipaudit.reading.bytes.blob import Blob, Format
    from mipaudit.reading.sheets.sheet import Sheet
    from mipaudit.statements.origin import InputFile

_SUFFIXES: Final[dict[str, ReleaseFormat]] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".json": "json",
}
# numpy's own limit.
_DEEPEST: Final = 64
_HINT: Final = "A release is one row with a column per number, or one column with a row per number."


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvLayout:
    """One row of d cells, or d rows of one.

    Attributes:
        across: whether the vector is one row.
        delimiter: between two cells.
        newline: at the end of a row.
        header: everything before the first row, as it was written.
    """

    across: bool
    delimiter: str
    newline: str
    header: str
    format: Literal["csv"] = "csv"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParquetLayout:
    """One row of numbers and lists of numbers, or d rows of one number.

    Attributes:
        across: whether the vector is one row.
        schema: the columns with their types.
        widths: how many numbers each column holds in a row.
    """

    across: bool
    schema: pa.Schema
    widths: tuple[int, ...]
    format: Literal["parquet"] = "parquet"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArrayLayout:
    """An array: its shape, type and order in memory."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    format: Literal["npy"] = "npy"


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLayout:
    """Nested lists of some shape, or an object, which may be the only one in a list."""

    shape: tuple[int, ...]
    wrapped: bool = False
    format: Literal["json"] = "json"


Layout = CsvLayout | ParquetLayout | ArrayLayout | JsonLayout


def suffix_format(path: str) -> ReleaseFormat | None:
    """Return the format that the suffix of ``path`` means; None for any other suffix."""
    return _SUFFIXES.get(PurePath(path).suffix.casefold())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A vector, and how to write it the same way.

    Attributes:
        values: shape (d,), finite; an array in C order.
        names: of the d numbers; None where they have only a position.
        layout: the form that it has in its file.
        source: the file, with its rows and its hash.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...] | None
    layout: Layout
    source: InputFile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Vector:
    values: NDArray[np.float64]
    names: tuple[str, ...] | None
    layout: Layout
    rows: int


def read_release(path: str) -> Release:
    """Read one numeric vector from CSV, Parquet, ``.npy`` or JSON.

    CSV and Parquet: one row of d columns, or one column of d rows. ``.npy``: an array of
    any shape. JSON: a number, lists of numbers of one shape, or an object of numbers.
    Every number is part of the vector, also what looks like a row number.

    Args:
        path: a file, or ``-`` for standard input.

    Raises:
        UsageError: an empty or remote path.
        InputError: ``not_a_vector``, or it cannot be read, or is not finite.
    """
    blob = only_blob(path)
    try:
        with coordinate_hints():
            vector = _read(blob)
        return Release(
            values=vector.values,
            names=vector.names,
            layout=vector.layout,
            source=describe_unchanged(blob, vector.rows),
        )
    finally:
        blob.close()


def _read(blob: Blob) -> _Vector:
    kind = blob_format(blob)
    match content_kind(blob, kind):
        case "parquet":
            return _read_parquet(blob)
        case "npy":
            return _read_array(blob, kind)
        case "json":
            return _read_json(load_json(blob, kind), blob.name)
        case _:
            return _read_csv(blob, kind)


def _read_csv(blob: Blob, kind: Format) -> _Vector:
    from mipaudit.reading.csv.text import read_csv_text

    table = read_csv_text(blob, kind)
    names = table.dialect.names
    across = _is_across(table.rows, len(names), blob.name)
    matrix = _numeric(TextSheet(table=table), blob.name)
    layout = CsvLayout(
        across=across,
        delimiter=table.dialect.delimiter,
        newline=table.newline,
        header=table.header,
    )
    return _Vector(
        values=matrix.ravel(),
        names=names if across and table.named else None,
        layout=layout,
        rows=table.rows,
    )


def _read_parquet(blob: Blob) -> _Vector:
    sheet = parquet_sheet(blob)
    rows = sheet.part.rows_about
    fields = [field.name for field in sheet.fields]
    across = _is_across(rows, len(fields), blob.name)
    if sheet.lists and not across:
        raise _not_a_vector(blob.name, f"{rows} rows of lists")
    _refuse_text(sheet, blob.name)
    matrix = sheet.matrix(fields)
    layout = ParquetLayout(across=across, schema=sheet.schema, widths=matrix.widths)
    return _Vector(
        values=matrix.values.ravel(),
        names=matrix.columns if across else None,
        layout=layout,
        rows=rows,
    )


def _read_array(blob: Blob, kind: Format) -> _Vector:
    array = read_npy(blob, kind)
    if not array.size:
        raise InputError("no_rows", f"{blob.name}: the array is empty.")
    flat = array.ravel()
    values = array_matrix(flat[:, None], columns=("values",), source=blob.name).ravel()
    layout = ArrayLayout(
        shape=array.shape,
        dtype=array.dtype,
        fortran=array.flags.f_contiguous and not array.flags.c_contiguous,
    )
    return _Vector(
        values=values, names=None, layout=layout, rows=array.shape[0] if array.ndim else 1
    )


def _read_json(document: Any, name: str) -> _Vector:  # noqa: ANN401 - any JSON document
    wrapped = isinstance(document, list) and len(document) == 1 and isinstance(document[0], dict)
    found = document[0] if wrapped else document
    if isinstance(found, dict):
        if not found:
            raise InputError("no_rows", f"{name}: the object is empty.")
        cells = {key: [cell] for key, cell in found.items()}
        table = JsonTable(name=name, cells=cells, rows=1, named=True)
        matrix = _numeric(TextSheet(table=table), name)
        layout = JsonLayout(shape=(len(cells),), wrapped=wrapped)
        return _Vector(values=matrix.ravel(), names=tuple(cells), layout=layout, rows=1)
    shape, flat = _flattened(found, name)
    table = JsonTable(name=name, cells={"values": flat}, rows=len(flat), named=False)
    rows = shape[0] if shape else 1
    layout = JsonLayout(shape=shape)
    return _Vector(
        values=_numeric(TextSheet(table=table), name).ravel(), names=None, layout=layout, rows=rows
    )


def _flattened(document: Any, name: str) -> tuple[tuple[int, ...], list[Any]]:  # noqa: ANN401
    """Return the shape of nested lists, and their cells in C order."""
    shape: list[int] = []
    level = [document]
    while any(isinstance(item, list) for item in level):
        lengths = {len(item) if isinstance(item, list) else -1 for item in level}
        if len(lengths) > 1 or len(shape) == _DEEPEST:
            raise _not_a_vector(name, "lists of different lengths or depths")
        shape += lengths
        level = [cell for item in level for cell in item]
    if not level:
        raise InputError("no_rows", f"{name}: the list is empty.")
    return tuple(shape), level


def _is_across(rows: int, width: int, name: str) -> bool:
    if rows == 1:
        return True
    if width == 1:
        return False
    raise _not_a_vector(name, f"{rows} rows and {width} columns")


def _not_a_vector(name: str, found: str) -> InputError:
    return InputError("not_a_vector", f"{name}: {found} where one vector is expected.", hint=_HINT)


def _numeric(sheet: Sheet, name: str) -> NDArray[np.float64]:
    _refuse_text(sheet, name)
    return sheet.matrix([field.name for field in sheet.fields]).values


def _refuse_text(sheet: Sheet, name: str) -> None:
    for field in sheet.fields:
        if field.kind in {"string", "other"} and field.name not in sheet.lists:
            raise InputError(
                "text_column",
                f"{name}: column {quoted_name(field.name)} holds no numbers.",
                hint="Noise can only be added to numbers: remove this column from the release.",
            )
