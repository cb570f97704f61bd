"""One numeric vector to be released: read from its file, and written with the same names."""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from mipaudit.data.parts import other_hints
from mipaudit.data.tables.coordinates import LEAVE_OUT
from mipaudit.data.tables.json_file import cells_part, load_json
from mipaudit.data.tables.table import (
    AnyTable,
    Matrix,
    Table,
    array_table,
    content_kind,
    csv_table,
    describe_unchanged,
    only_blob,
    parquet_table,
)
from mipaudit.errors import InputError
from mipaudit.reading.bytes.blob import Blob, Format, blob_format
from mipaudit.reading.bytes.unpacked import read_npy
from mipaudit.statements.sources import InputFile
from mipaudit.statements.text.printable_names import quoted_name

Floats = NDArray[np.float64]
ReleaseFormat = Literal["csv", "parquet", "npy", "json"]
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A vector, and what to write beside its numbers.

    Attributes:
        values: shape (d,), finite; an array in C order.
        names: of the d numbers; None where they have only a position.
        column: of a table, what their one column is called where they have no names; None for no
            header.
        shape: of the array or of the lists; (d,) for a table.
        format: of the file.
        source: the file, with its rows and its hash.
    """

    values: Floats
    names: tuple[str, ...] | None
    shape: tuple[int, ...]
    format: ReleaseFormat
    source: InputFile
    column: str | None = None


def suffix_format(path: str) -> ReleaseFormat | None:
    """Return the format that the suffix of ``path`` means; None for any other suffix."""
    return _SUFFIXES.get(PurePath(path).suffix.casefold())


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
        kind = blob_format(blob)
        with other_hints({"unparsable": LEAVE_OUT}):
            match content_kind(blob, kind):
                case "parquet":
                    return _read_parquet(blob)
                case "npy":
                    return _read_array(blob, kind)
                case "json":
                    return _read_json(blob, kind)
                case _:
                    return _read_csv(blob, kind)
    finally:
        blob.close()


def _read_csv(blob: Blob, kind: Format) -> Release:
    table = csv_table(blob, kind)
    names, values = _matrix(table, blob.name)
    rows = len(values)
    across = _is_across(rows, len(names), blob.name)
    return Release(
        values=values.ravel(),
        names=names if table.named and across else None,
        column=names[0] if table.named else None,
        shape=(values.size,),
        format="csv",
        source=describe_unchanged(blob, rows),
    )


def _read_parquet(blob: Blob) -> Release:
    table = parquet_table(blob)
    rows = table.part.rows_about
    across = _is_across(rows, len(table.fields), blob.name)
    if table.lists and not across:
        raise _not_a_vector(blob.name, f"{rows} rows of lists")
    names, values = _matrix(table, blob.name)
    return Release(
        values=values.ravel(),
        names=names if across else None,
        shape=(values.size,),
        column=names[0],
        format="parquet",
        source=describe_unchanged(blob, rows),
    )


def _read_array(blob: Blob, kind: Format) -> Release:
    array = read_npy(blob, kind)
    if not array.size:
        raise InputError("no_rows", f"{blob.name}: the array is empty.")
    table = array_table(array.reshape(-1, 1), blob.name)
    return Release(
        values=table.matrix(["c0"])[1].ravel(),
        names=None,
        shape=array.shape,
        format="npy",
        source=describe_unchanged(blob, array.shape[0] if array.ndim else 1),
    )


def _read_json(blob: Blob, kind: Format) -> Release:
    found = load_json(blob, kind)
    alone = isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict)
    document = found[0] if alone else found
    named = isinstance(document, dict)
    if named:
        shape: tuple[int, ...] = (len(document),)
        cells = {key: [cell] for key, cell in document.items()}
    else:
        shape, flat = _flattened(document, blob.name)
        cells = {"values": flat}
    if not document and isinstance(document, (dict, list)):
        raise InputError("no_rows", f"{blob.name}: there is no number in it.")
    names = tuple(cells) if named else None
    table = Table(part=cells_part(blob.name, cells), named=named)
    return Release(
        values=_matrix(table, blob.name)[1].ravel(),
        names=names,
        shape=shape,
        format="json",
        source=describe_unchanged(blob, 1 if named or not shape else shape[0]),
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
    if rows > 1 and width > 1:
        raise _not_a_vector(name, f"{rows} rows and {width} columns")
    return rows == 1


def _not_a_vector(name: str, found: str) -> InputError:
    return InputError("not_a_vector", f"{name}: {found} where one vector is expected.", hint=_HINT)


def _matrix(table: AnyTable, name: str) -> Matrix:
    for field in table.fields:
        if field.kind in {"string", "other"} and field.name not in table.lists:
            raise InputError(
                "text_column",
                f"{name}: column {quoted_name(field.name)} holds no numbers.",
                hint="Noise can only be added to numbers: remove this column from the release.",
            )
    return table.matrix([field.name for field in table.fields])


def encode_release(release: Release, values: Floats) -> bytes:
    """Return ``values`` as a file like that of ``release``: its format, names, order and shape.

    Names are a header or an object; everything is float64, written so that it reads back the same.

    Args:
        release: what was read.
        values: shape (d,), finite, in the order of ``release.values``.

    Raises:
        ValueError: a wrong shape, or a number that is not finite.
    """
    if values.shape != release.values.shape or not np.isfinite(values).all():
        raise ValueError("a release needs finite numbers in its own shape")
    header = release.names or (() if release.column is None else (release.column,))
    rows = values.reshape(-1, max(1, len(header)))
    match release.format:
        case "csv":
            return _csv([header] if header else [], rows)
        case "parquet":
            return _parquet(header, rows)
        case "npy":
            stream = io.BytesIO()
            np.save(stream, values.reshape(release.shape), allow_pickle=False)
            return stream.getvalue()
        case "json":
            document: Any = values.reshape(release.shape).tolist()
            if release.names is not None:
                document = dict(zip(release.names, document, strict=True))
            return (json.dumps(document) + "\n").encode("ascii")
        case _:
            assert_never(release.format)


def _csv(head: list[tuple[str, ...]], rows: Floats) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([*head, *rows.tolist()])
    return text.getvalue().encode("utf-8")


def _parquet(names: tuple[str, ...], rows: Floats) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table([*rows.T], names=names), sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written
